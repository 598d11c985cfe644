//! `logsumexp_j(score, weight)`, also `logsumexpweight_j`

use super::*;
use crate::lower::{Prim, flat};
use crate::ops::mul;

/// The record.
pub static REDUCTION: Reduction = Reduction {
    name: "logsumexpweight",
    aliases: &["logsumexp"],
    keops_name: "LogSumExpWeight, LogSumExp_WithWeight",
    doc: "log Σ exp(score)·weight of a scalar score, number by number of the weight, without overflow; −inf of none, NaN where the total is negative.",
    arity: 2,
    takes_k: false,
    infer: |types, _| {
        sumsoftmaxweight::scalar_score(types)?;
        real(types, 1)
    },
    empty_has_value: true,
    body: Body::Primitive {
        feed: |g, args, _| Feed {
            reducer: Reducer::LogSumExp(g.shape(args[1]).len()),
            nodes: args.to_vec(),
        },
        finish: |l, node, slot, ix| {
            let total = l.relative_sum(slot, &flat(node.ty.shape, ix).plus(1));
            let log = l.prim(Prim::Log, &[total]);
            let max = l.row_word(slot, &Ix::at(0));
            l.prim(Prim::Add, &[max, log])
        },
        vjp: Some(|g, call| {
            let share = logsumexp::weight(g, call.args[0], call.node);
            let of_weight = g.apply(&mul::OP, &[call.cotangent, share]);
            let of_score = g.apply(&mul::OP, &[of_weight, call.args[1]]);
            vec![Some(of_score), Some(of_weight)]
        }),
    },
    reference: |rows, _| {
        let Some(first) = rows.first() else {
            return Value::scalar(f64::NEG_INFINITY);
        };
        let max = rows
            .iter()
            .map(|r| r[0].first())
            .fold(f64::NEG_INFINITY, f64::max)
            .clamp(f64::MIN, f64::MAX);
        let total = |n: usize| {
            let terms = rows
                .iter()
                .map(|r| (r[0].first() - max).exp() * r[1].data[n]);
            max + terms.sum::<f64>().ln()
        };
        Value {
            shape: first[1].shape,
            data: (0..first[1].data.len()).map(total).collect(),
        }
    },
};
