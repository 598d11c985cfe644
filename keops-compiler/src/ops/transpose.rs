//! `transpose(A)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "transpose",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "The transposed matrix: r×c becomes c×r.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| matrix(types, 0).map(|(r, c)| Type::real(Shape::Matrix(c, r))),
    body: Body::Indexed {
        lower: |l, node, ix| l.number(node.args[0], &[ix[1].clone(), ix[0].clone()]),
        costly: false,
        vjp: |g, call| vec![Some(g.apply(&OP, &[call.cotangent]))],
        linear: Linear::Each(|_, call, batch| match (call.which, batch) {
            (_, Batch::Tensor(line, with, side)) => {
                Some(vec![Batch::Tensor(line, with, side.other())])
            }
            _ => None,
        }),
        simplify: |g, args, _| {
            if let Some(&[inner]) = g.as_op(args[0], &OP) {
                return Some(inner);
            }
            match (g.as_constant(args[0]), g.shape(args[0])) {
                (Some(value), Shape::Matrix(r, c)) => Some(g.constant(value, Shape::Matrix(c, r))),
                _ => None,
            }
        },
    },
    reference: Reference::Whole(|args, _| match args[0].shape {
        Shape::Matrix(r, c) => {
            let data = (0..r * c)
                .map(|n| args[0].data[(n % r) * c + n / r])
                .collect();
            Value {
                shape: Shape::Matrix(c, r),
                data,
            }
        }
        _ => args[0].clone(),
    }),
    test_range: (-4.0, 4.0),
};
