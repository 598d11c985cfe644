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
            sum_all(l, a, &mut |l, ix| {
                Term::Product(l.number(a, ix), l.number(b, ix))
            })
        },
        costly: true,
        vjp: |g, call| {
            if call.args[0] == call.args[1] {
                // d|a|² = 2·⟨a, da⟩, in one term
                let two = g.literal(2.0);
                let twice = g.apply(&mul::OP, &[call.cotangent, two]);
                return vec![Some(g.apply(&mul::OP, &[twice, call.args[0]])), None];
            }
            let left = g.apply(&mul::OP, &[call.cotangent, call.args[1]]);
            let right = g.apply(&mul::OP, &[call.cotangent, call.args[0]]);
            vec![Some(left), Some(right)]
        },
        linear: Linear::Each(|b, call, batch| match (call.which, batch) {
            (which, Batch::Line(line)) => Some(vec![b.dot(line, call.args[1 - which])]),
            _ => None,
        }),
        simplify: |g, args, _| {
            if let Some(outside) = neg::outside(g, &OP, args) {
                return Some(outside);
            }
            if let Some(outside) = gate::outside(g, &OP, args) {
                return Some(outside);
            }
            // The zeros of a derivative are zeros, whatever they meet.
            for (this, other) in [(args[0], args[1]), (args[1], args[0])] {
                if let Some((part, offset)) = place::parts(g, this) {
                    let shape = g.shape(part);
                    let other = take::block(g, other, offset, shape);
                    let op = if shape == Shape::Scalar {
                        &mul::OP
                    } else {
                        &OP
                    };
                    return Some(g.apply(op, &[part, other]));
                }
            }
            None
        },
    },
    reference: Reference::Whole(|args, _| {
        Value::scalar(
            args[0]
                .data
                .iter()
                .zip(&args[1].data)
                .map(|(a, b)| a * b)
                .sum(),
        )
    }),
    test_range: (-4.0, 4.0),
};
