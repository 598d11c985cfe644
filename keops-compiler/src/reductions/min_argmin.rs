//! `min_argmin_j body`, a pair of results

use super::*;

/// The record.
pub static PAIR: Pair = Pair {
    name: "min_argmin",
    keops_name: "Min_ArgMin",
    doc: "The smallest value with its index: `(min_j, argmin_j)` in one state.",
    index: &argmin::REDUCTION,
    value: |g, axis, body, _| kmin::first(g, axis, body),
};
