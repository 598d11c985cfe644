//! The smaller of two numbers

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "smaller",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "The smaller of two numbers, NaN only if both are; derivative to the first of equal ones.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| larger::known(l, a, Prim::PickMin),
        vjp: |g, call| larger::to_first(g, call, &le::OP),
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].min(a[1])),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].min(a[1])),
    test_range: (-4.0, 4.0),
};
