//! `sqnorm2(v)`, the squared Euclidean norm

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "sqnorm2",
    syntax: Syntax::Call,
    keops_name: "SqNorm2",
    doc: "Squared Euclidean norm of a vector.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| vector(types, 0).map(|_| Type::SCALAR),
    body: Body::Composite(|g, args, _| g.apply(&dot::OP, &[args[0], args[0]])),
    reference: Reference::Whole(|args, _| Value::scalar(args[0].data.iter().map(|x| x * x).sum())),
    test_range: (-4.0, 4.0),
};
