//! `vecmat(x, A)`

use super::*;
use crate::lower::Term;

/// The record.
pub static OP: Op = Op {
    name: "vecmat",
    syntax: Syntax::Call,
    keops_name: "VecMatMult",
    doc: "Vector times matrix, row-major: r numbers and an r×c matrix give c numbers.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| {
        let (n, (r, c)) = (vector(types, 0)?, matrix(types, 1)?);
        if n != r {
            return Err(TypeError::Expected {
                arg: 0,
                expected: format!("a vector of dimension {r}"),
            });
        }
        Ok(Type::real(Shape::Vector(c)))
    },
    body: Body::Indexed {
        lower: |l, node, ix| {
            let (x, a) = (node.args[0], node.args[1]);
            l.sum(l.graph.shape(x).len(), &mut |l, k| {
                Term::Product(
                    l.number(x, std::slice::from_ref(k)),
                    l.number(a, &[k.clone(), ix[0].clone()]),
                )
            })
        },
        costly: true,
        vjp: |g, call| {
            let left = g.apply(&matvec::OP, &[call.args[1], call.cotangent]);
            let right = g.apply(&outer::OP, &[call.args[0], call.cotangent]);
            vec![Some(left), Some(right)]
        },
        linear: Linear::Each(|b, call, batch| match (call.which, batch) {
            (0, Batch::Line(line)) => Some(vec![Batch::Line(b.times_matrix(line, call.args[1]))]),
            (1, Batch::Tensor(line, with, Side::Row)) => {
                let s = b.dot(line, call.args[0]);
                Some(vec![b.scaled(s, with)])
            }
            (1, Batch::Tensor(line, with, Side::Column)) => {
                let s = b.g.apply(&dot::OP, &[with, call.args[0]]);
                Some(vec![Batch::Line(b.times(line, s))])
            }
            _ => None,
        }),
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        let (x, a) = (&args[0].data, &args[1].data);
        let columns = a.len() / x.len();
        Value::vector(
            (0..columns)
                .map(|c| {
                    x.iter()
                        .enumerate()
                        .map(|(r, x)| x * a[r * columns + c])
                        .sum()
                })
                .collect(),
        )
    }),
    test_range: (-4.0, 4.0),
};
