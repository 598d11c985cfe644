//! `mean_j body`

use super::*;
use crate::ops::div;

/// The record.
pub static REDUCTION: Reduction = Reduction {
    name: "mean",
    aliases: &[],
    keops_name: "",
    doc: "Mean over rows; an error of none; NaN if any term is.",
    arity: 1,
    takes_k: false,
    infer: |types, _| real(types, 0),
    empty_has_value: false,
    body: Body::Composite(|g, axis, args, _| {
        let total = g.sum_over(axis, args[0]);
        let count = g.extent(axis);
        g.apply(&div::OP, &[total, count])
    }),
    reference: |rows, _| {
        by_column(rows, |column| {
            column.iter().sum::<f64>() / column.len() as f64
        })
    },
};
