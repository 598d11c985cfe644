//! `logsumexp_j score`

use super::*;
use crate::lower::flat;
use crate::ops::{eq, exp, mul, select, sub};

/// The record.
pub static REDUCTION: Reduction = Reduction {
    name: "logsumexp",
    aliases: &[],
    keops_name: "LogSumExp",
    doc: "log Σ exp, number by number, without overflow; −inf of none and where all are −inf, +inf if any is, NaN only if any is.",
    arity: 1,
    takes_k: false,
    infer: |types, _| real(types, 0),
    empty_has_value: true,
    body: Body::Primitive {
        feed: |_, args, _| Feed {
            reducer: Reducer::LogSumExp(0),
            nodes: args.to_vec(),
        },
        finish: |l, node, slot, ix| l.logsumexp_value(slot, &flat(node.ty.shape, ix)),
        vjp: Some(|g, call| {
            let weight = weight(g, call.args[0], call.node);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, weight]))]
        }),
    },
    reference: |rows, _| by_column(rows, log_sum_exp),
};

fn log_sum_exp(column: &[f64]) -> f64 {
    let max = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if column.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    if max.is_infinite() {
        return max;
    }
    max + column.iter().map(|x| (x - max).exp()).sum::<f64>().ln()
}

/// exp(score − total), the share of a row in Σ exp: 0 for a score of −inf, even where all are.
pub(super) fn weight(g: &mut Graph, score: NodeId, total: NodeId) -> NodeId {
    // Guarding the total costs nothing per pair.
    let (zero, nothing) = (g.literal(0.0), g.literal(f64::NEG_INFINITY));
    let empty = g.apply(&eq::OP, &[total, nothing]);
    let total = g.apply(&select::OP, &[empty, zero, total]);
    let difference = g.apply(&sub::OP, &[score, total]);
    g.apply(&exp::OP, &[difference])
}
