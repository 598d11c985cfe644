//! `outer(a, b)`, the tensor product of two vectors

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "outer",
    syntax: Syntax::Call,
    keops_name: "TensorProd",
    doc: "The r×c matrix of products of the numbers of two vectors, row-major.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| {
        let (r, c) = (vector(types, 0)?, vector(types, 1)?);
        sized(Shape::Matrix(r, c), 0)
    },
    body: Body::Indexed {
        lower: |l, node, ix| {
            let left = l.number(node.args[0], &ix[..1]);
            let right = l.number(node.args[1], &ix[1..]);
            l.prim(Prim::Mul, &[left, right])
        },
        costly: false,
        vjp: |g, call| {
            let left = g.apply(&matvec::OP, &[call.cotangent, call.args[1]]);
            let right = g.apply(&vecmat::OP, &[call.args[0], call.cotangent]);
            vec![Some(left), Some(right)]
        },
        linear: Linear::Each(|_, call, batch| match (call.which, batch) {
            (0, Batch::Line(line)) => Some(vec![Batch::Tensor(line, call.args[1], Side::Row)]),
            (1, Batch::Line(line)) => Some(vec![Batch::Tensor(line, call.args[0], Side::Column)]),
            _ => None,
        }),
        simplify: |g, args, _| neg::outside(g, &OP, args).or_else(|| gate::outside(g, &OP, args)),
    },
    reference: Reference::Whole(|args, _| {
        let (a, b) = (&args[0].data, &args[1].data);
        let data = a
            .iter()
            .flat_map(|x| b.iter().map(move |y| x * y))
            .collect();
        Value {
            shape: Shape::Matrix(a.len(), b.len()),
            data,
        }
    }),
    test_range: (-4.0, 4.0),
};
