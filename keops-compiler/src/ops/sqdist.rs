//! `sqdist(a, b)`, the squared Euclidean distance

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "sqdist",
    syntax: Syntax::Call,
    keops_name: "SqDist",
    doc: "Squared Euclidean distance of two vectors, always by differences: close points lose no accuracy.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| equal_vectors(types, 0, 1).map(|_| Type::SCALAR),
    body: Body::Composite(|g, args, _| {
        let difference = g.apply(&sub::OP, args);
        g.apply(&dot::OP, &[difference, difference])
    }),
    reference: Reference::Whole(|args, _| {
        Value::scalar(
            args[0]
                .data
                .iter()
                .zip(&args[1].data)
                .map(|(a, b)| (a - b) * (a - b))
                .sum(),
        )
    }),
    test_range: (-4.0, 4.0),
};
