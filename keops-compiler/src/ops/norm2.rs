//! `norm2(v)`, the Euclidean norm

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "norm2",
    syntax: Syntax::Call,
    keops_name: "Norm2",
    doc: "Euclidean norm of a vector; derivative 0 at 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| vector(types, 0).map(|_| Type::SCALAR),
    body: Body::Composite(|g, args, _| {
        let square = g.apply(&dot::OP, &[args[0], args[0]]);
        g.apply(&sqrt::OP, &[square])
    }),
    reference: Reference::Whole(|args, _| {
        Value::scalar(args[0].data.iter().map(|x| x * x).sum::<f64>().sqrt())
    }),
    test_range: (-4.0, 4.0),
};
