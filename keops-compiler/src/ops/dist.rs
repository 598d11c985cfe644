//! `dist(a, b)`, the Euclidean distance

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "dist",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "Euclidean distance of two vectors, by differences; derivative 0 where they are equal.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| equal_vectors(types, 0, 1).map(|_| Type::SCALAR),
    body: Body::Composite(|g, args, _| {
        let difference = g.apply(&sub::OP, args);
        g.apply(&norm2::OP, &[difference])
    }),
    reference: Reference::Whole(|args, _| {
        let square: f64 = args[0]
            .data
            .iter()
            .zip(&args[1].data)
            .map(|(a, b)| (a - b) * (a - b))
            .sum();
        Value::scalar(square.sqrt())
    }),
    test_range: (-4.0, 4.0),
};
