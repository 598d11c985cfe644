//! `kmin_argkmin_j::<K> body`, a pair of results

use super::*;

/// The record.
pub static PAIR: Pair = Pair {
    name: "kmin_argkmin",
    keops_name: "KMin_ArgKMin",
    doc: "The K smallest values with their indices: `(kmin_j, argkmin_j)` in one state.",
    index: &argkmin::REDUCTION,
    value: |g, axis, body, k| g.reduce(&kmin::REDUCTION, axis, &[body], k),
};
