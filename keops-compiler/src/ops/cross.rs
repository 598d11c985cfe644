//! `cross(a, b)`, of two vectors of dimension 3

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "cross",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "Cross product of two vectors of dimension 3.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| {
        for arg in 0..2 {
            if vector(types, arg)? != 3 {
                return Err(TypeError::Expected {
                    arg,
                    expected: "a vector of dimension 3".into(),
                });
            }
        }
        Ok(Type::real(Shape::Vector(3)))
    },
    body: Body::Composite(|g, args, _| {
        let mut numbers = vec![];
        for k in 0..3 {
            let mut product = |left: usize, right: usize| {
                let factors = [(args[0], left), (args[1], right)]
                    .map(|(v, at)| take::block(g, v, at % 3, Shape::Scalar));
                g.apply(&mul::OP, &factors)
            };
            let (plus, minus) = (product(k + 1, k + 2), product(k + 2, k + 1));
            numbers.push(g.apply(&sub::OP, &[plus, minus]));
        }
        g.apply(&array::OP, &numbers)
    }),
    reference: Reference::Whole(|args, _| {
        let (a, b) = (&args[0].data, &args[1].data);
        Value::vector(vec![
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ])
    }),
    test_range: (-4.0, 4.0),
};
