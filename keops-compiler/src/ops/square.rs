//! `square(a)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "square",
    syntax: Syntax::Call,
    keops_name: "Square",
    doc: "a².",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Composite(|g, args, _| g.apply(&mul::OP, &[args[0], args[0]])),
    reference: Reference::Elementwise(|a, _| a[0] * a[0]),
    test_range: (-4.0, 4.0),
};
