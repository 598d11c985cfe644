//! `matvec(A, x)`

use super::*;
use crate::lower::Term;

/// The record.
pub static OP: Op = Op {
    name: "matvec",
    syntax: Syntax::Call,
    keops_name: "MatVecMult",
    doc: "Matrix times vector, row-major: an r×c matrix and c numbers give r numbers.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| {
        let ((r, c), n) = (matrix(types, 0)?, vector(types, 1)?);
        if n != c {
            return Err(TypeError::Expected {
                arg: 1,
                expected: format!("a vector of dimension {c}"),
            });
        }
        Ok(Type::real(Shape::Vector(r)))
    },
    body: Body::Indexed {
        lower: |l, node, ix| {
            let (a, x) = (node.args[0], node.args[1]);
            l.sum(l.graph.shape(x).len(), &mut |l, k| {
                Term::Product(
                    l.number(a, &[ix[0].clone(), k.clone()]),
                    l.number(x, std::slice::from_ref(k)),
                )
            })
        },
        costly: true,
        vjp: |g, call| {
            let left = g.apply(&outer::OP, &[call.cotangent, call.args[1]]);
            let right = g.apply(&vecmat::OP, &[call.cotangent, call.args[0]]);
            vec![Some(left), Some(right)]
        },
        linear: Linear::Each(|b, call, batch| match (call.which, batch) {
            (1, Batch::Line(line)) => {
                let a = b.g.apply(&transpose::OP, &[call.args[0]]);
                Some(vec![Batch::Line(b.times_matrix(line, a))])
            }
            (0, Batch::Tensor(line, with, Side::Row)) => {
                let s = b.g.apply(&dot::OP, &[with, call.args[1]]);
                Some(vec![Batch::Line(b.times(line, s))])
            }
            (0, Batch::Tensor(line, with, Side::Column)) => {
                let s = b.dot(line, call.args[1]);
                Some(vec![b.scaled(s, with)])
            }
            _ => None,
        }),
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        let x = &args[1].data;
        Value::vector(
            args[0]
                .data
                .chunks(x.len())
                .map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum())
                .collect(),
        )
    }),
    test_range: (-4.0, 4.0),
};
