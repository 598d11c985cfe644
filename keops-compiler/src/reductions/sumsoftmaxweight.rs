//! `sumsoftmaxweight_j(score, value)`, also `softmax_j`

use super::*;
use crate::lower::Prim;
use crate::lower::flat;
use crate::ops::{dot, mul, sub, sum};

/// The record.
pub static REDUCTION: Reduction = Reduction {
    name: "sumsoftmaxweight",
    aliases: &["softmax"],
    keops_name: "SumSoftMaxWeight",
    doc: "Σ exp(score)·value / Σ exp(score), without overflow; rows of score −inf have no weight; NaN if all are −inf or any is +inf or NaN.",
    arity: 2,
    takes_k: false,
    infer: |types, _| {
        scalar_score(types)?;
        real(types, 1)
    },
    empty_has_value: false,
    body: Body::Primitive {
        feed: |g, args, _| Feed {
            reducer: Reducer::LogSumExp(g.shape(args[1]).len()),
            nodes: args.to_vec(),
        },
        finish: |l, node, slot, ix| {
            let weighted = l.relative_sum(slot, &flat(node.ty.shape, ix).plus(1));
            let total = l.relative_sum(slot, &Ix::at(0));
            l.prim(Prim::Div, &[weighted, total])
        },
        vjp: Some(|g, call| {
            let (score, value) = (call.args[0], call.args[1]);
            let total = g.reduce(&logsumexp::REDUCTION, axis_of(g, call.node), &[score], 0);
            let weight = logsumexp::weight(g, score, total);
            let of_value = g.apply(&mul::OP, &[weight, call.cotangent]);
            // d out = Σ wⱼ·(vⱼ − out)·dsⱼ
            let deviation = g.apply(&sub::OP, &[value, call.node]);
            let slope = match g.shape(value) {
                Shape::Scalar => g.apply(&mul::OP, &[deviation, call.cotangent]),
                Shape::Vector(_) => g.apply(&dot::OP, &[deviation, call.cotangent]),
                Shape::Matrix(..) => {
                    let product = g.apply(&mul::OP, &[deviation, call.cotangent]);
                    g.apply(&sum::OP, &[product])
                }
            };
            let of_score = g.apply(&mul::OP, &[weight, slope]);
            vec![Some(of_score), Some(of_value)]
        }),
    },
    reference: |rows, _| {
        let Some(first) = rows.first() else {
            return Value::scalar(f64::NAN);
        };
        let max = rows
            .iter()
            .map(|r| r[0].first())
            .fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = rows.iter().map(|r| (r[0].first() - max).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mean = |n: usize| {
            rows.iter()
                .zip(&weights)
                .map(|(r, w)| w * r[1].data[n])
                .sum::<f64>()
                / total
        };
        Value {
            shape: first[1].shape,
            data: (0..first[1].data.len()).map(mean).collect(),
        }
    },
};

/// The type rule of a score.
pub(super) fn scalar_score(types: &[Type]) -> Result<Type, TypeError> {
    match types.first() {
        Some(&Type::SCALAR) => Ok(Type::SCALAR),
        _ => Err(TypeError::Expected {
            arg: 0,
            expected: "a scalar".into(),
        }),
    }
}
