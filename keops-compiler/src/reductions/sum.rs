//! `sum_j body`

use super::*;
use crate::lower::flat;

/// The record.
pub static REDUCTION: Reduction = Reduction {
    name: "sum",
    aliases: &[],
    keops_name: "Sum",
    doc: "Sum over rows; 0 of none; NaN if any term is.",
    arity: 1,
    takes_k: false,
    infer: |types, _| real(types, 0),
    empty_has_value: true,
    body: Body::Primitive {
        feed: |_, args, _| Feed {
            reducer: Reducer::Sum,
            nodes: args.to_vec(),
        },
        finish: |l, node, slot, ix| l.sum_value(slot, &flat(node.ty.shape, ix)),
        vjp: Some(|_, call| vec![Some(call.cotangent)]),
    },
    reference: |rows, _| elementwise(rows, 0.0, |acc, x| acc + x),
};
