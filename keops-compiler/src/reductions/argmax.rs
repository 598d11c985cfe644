//! `argmax_j body`

use super::*;
use crate::lower::flat;
use crate::ops::neg;

/// The record.
pub static REDUCTION: Reduction = Reduction {
    name: "argmax",
    aliases: &[],
    keops_name: "ArgMax",
    doc: "Index of the largest value, the lowest of equal ones; NaN is ignored, `usize::MAX` if all are NaN.",
    arity: 1,
    takes_k: false,
    infer: |types, _| {
        Ok(Type {
            element: Element::Index,
            ..real(types, 0)?
        })
    },
    empty_has_value: false,
    body: Body::Primitive {
        feed: |g, args, _| Feed {
            reducer: Reducer::KMin(1),
            nodes: vec![g.apply(&neg::OP, args)],
        },
        finish: |l, node, slot, ix| l.row_word(slot, &flat(node.ty.shape, ix).times(2).plus(1)),
        vjp: None,
    },
    reference: |rows, _| by_column(rows, |column| lowest(column, |a, b| a > b)),
};
