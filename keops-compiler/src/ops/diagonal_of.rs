//! The numbers on the diagonal of a square matrix: the derivative of `diagonal`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "diagonal_of",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "The numbers on the diagonal of a square matrix, as a vector.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| match matrix(types, 0)? {
        (r, c) if r == c => Ok(Type::real(Shape::Vector(r))),
        _ => Err(TypeError::Expected {
            arg: 0,
            expected: "a square matrix".into(),
        }),
    },
    body: Body::Indexed {
        lower: |l, node, ix| l.number(node.args[0], &[ix[0].clone(), ix[0].clone()]),
        costly: false,
        vjp: |g, call| {
            let n = g.shape(call.node).len() as i64;
            vec![Some(g.apply_with(&diagonal::OP, &[call.cotangent], &[n]))]
        },
        linear: Linear::Each(|b, _, batch| match batch {
            Batch::Tensor(line, with, _) => Some(vec![Batch::Line(b.times(line, with))]),
            _ => None,
        }),
        simplify: |g, args, _| {
            let Shape::Matrix(n, _) = g.shape(args[0]) else {
                return None;
            };
            if let Some(value) = g.as_constant(args[0]) {
                return Some(g.constant(value, Shape::Vector(n)));
            }
            match g.as_op(args[0], &diagonal::OP) {
                Some(&[numbers]) if g.shape(numbers) != Shape::Scalar => Some(numbers),
                _ => None,
            }
        },
    },
    reference: Reference::Whole(|args, _| {
        let n = args[0].data.len().isqrt();
        Value::vector((0..n).map(|k| args[0].data[k * (n + 1)]).collect())
    }),
    test_range: (-4.0, 4.0),
};
