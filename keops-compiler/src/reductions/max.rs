//! `max_j body`

use super::*;
use crate::lower::flat;

/// The record.
pub static REDUCTION: Reduction = Reduction {
    name: "max",
    aliases: &[],
    keops_name: "Max",
    doc: "The largest value, number by number; NaN is ignored; −inf of none; derivative to the row of `argmax`.",
    arity: 1,
    takes_k: false,
    infer: |types, _| real(types, 0),
    empty_has_value: true,
    body: Body::Primitive {
        feed: |_, args, _| Feed {
            reducer: Reducer::Max,
            nodes: args.to_vec(),
        },
        finish: |l, node, slot, ix| l.row_word(slot, &flat(node.ty.shape, ix)),
        vjp: Some(|g, call| {
            let rows = g.reduce(&argmax::REDUCTION, axis_of(g, call.node), call.args, 0);
            let cotangent = where_chosen(g, call, rows);
            vec![Some(in_chosen_rows(g, call, rows, cotangent))]
        }),
    },
    reference: |rows, _| elementwise(rows, f64::NEG_INFINITY, f64::max),
};
