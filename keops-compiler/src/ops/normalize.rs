//! `normalize(v)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "normalize",
    syntax: Syntax::Call,
    keops_name: "Normalize",
    doc: "The vector divided by its Euclidean norm; value and derivative 0 at 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| vector(types, 0).map(|n| Type::real(Shape::Vector(n))),
    body: Body::Composite(|g, args, _| {
        let norm = g.apply(&norm2::OP, args);
        let inverse = g.apply(&inv_or_zero::OP, &[norm]);
        g.apply(&mul::OP, &[args[0], inverse])
    }),
    reference: Reference::Whole(|args, _| {
        let norm = args[0].data.iter().map(|x| x * x).sum::<f64>().sqrt();
        Value::vector(
            args[0]
                .data
                .iter()
                .map(|x| if norm == 0.0 { 0.0 } else { x / norm })
                .collect(),
        )
    }),
    test_range: (-4.0, 4.0),
};
