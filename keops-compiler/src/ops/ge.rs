//! `a >= b`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "ge",
    syntax: Syntax::Operator(">="),
    keops_name: "",
    doc: "`a >= b`; false where either is NaN.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: comparison,
    body: Body::Composite(|g, args, _| g.apply(&le::OP, &[args[1], args[0]])),
    reference: Reference::Elementwise(|a, _| f64::from(a[0] >= a[1])),
    test_range: (-4.0, 4.0),
};
