//! `max_argmax_j body`, a pair of results

use super::*;
use crate::ops::neg;

/// The record.
pub static PAIR: Pair = Pair {
    name: "max_argmax",
    keops_name: "Max_ArgMax",
    doc: "The largest value with its index: `(max_j, argmax_j)` in one state.",
    index: &argmax::REDUCTION,
    value: |g, axis, body, _| {
        let minus = g.apply(&neg::OP, &[body]);
        let smallest = kmin::first(g, axis, minus);
        g.apply(&neg::OP, &[smallest])
    },
};
