//! `min_j body`

use super::*;
use crate::lower::flat;

/// The record.
pub static REDUCTION: Reduction = Reduction {
    name: "min",
    aliases: &[],
    keops_name: "Min",
    doc: "The smallest value, number by number; NaN is ignored; +inf of none; derivative to the row of `argmin`.",
    arity: 1,
    takes_k: false,
    infer: |types, _| real(types, 0),
    empty_has_value: true,
    body: Body::Primitive {
        feed: |_, args, _| Feed {
            reducer: Reducer::Min,
            nodes: args.to_vec(),
        },
        finish: |l, node, slot, ix| l.row_word(slot, &flat(node.ty.shape, ix)),
        vjp: Some(|g, call| {
            let rows = g.reduce(&argmin::REDUCTION, axis_of(g, call.node), call.args, 0);
            let cotangent = where_chosen(g, call, rows);
            vec![Some(in_chosen_rows(g, call, rows, cotangent))]
        }),
    },
    reference: |rows, _| elementwise(rows, f64::INFINITY, f64::min),
};
