//! `dot(a, b)` and `a | b`

use super::*;
use crate::lower::Term;

/// The record.
pub static OP: Op = Op {
    name: "dot",
    syntax: Syntax::Call,
    keops_name: "Scalprod",
    doc: "Scalar product of two vectors of the same dimension; also written `a | b`.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| equal_vectors(types, 0, 1).map(|_| Type::SCALAR),
    body: Body::Indexed {
        lower: |l, node, _| {
            let (a, b) = (node.args[0], node.args[1]);
            sum_all(l, a, &mut |l, ix| Term::Product(l.number(a, ix), l.number(b, ix)))
        },
        costly: true,
        vjp: |g, call| {
            let left = g.apply(&mul::OP, &[call.cotangent, call.args[1]]);
            let right = g.apply(&mul::OP, &[call.cotangent, call.args[0]]);
            vec![Some(left), Some(right)]
        },
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        Value::scalar(args[0].data.iter().zip(&args[1].data).map(|(a, b)| a * b).sum())
    }),
    test_range: (-4.0, 4.0),
};
