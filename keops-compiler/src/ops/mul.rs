//! `a * b`

use super::*;
use crate::lower::{Prim, keeps_form};

/// The record.
pub static OP: Op = Op {
    name: "mul",
    syntax: Syntax::Operator("*"),
    keops_name: "Mult",
    doc: "Element-wise product; scalars broadcast.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Mul, a),
        vjp: |g, call| {
            if call.args[0] == call.args[1] {
                // d(a²) = 2·a·da, in one term
                let two = g.literal(2.0);
                let twice = g.apply(&OP, &[call.cotangent, two]);
                return vec![Some(g.apply(&OP, &[twice, call.args[0]])), None];
            }
            let left = g.apply(&OP, &[call.cotangent, call.args[1]]);
            let right = g.apply(&OP, &[call.cotangent, call.args[0]]);
            vec![Some(left), Some(right)]
        },
        linear: Linear::Numbers(|g, args, which, _| Some(times(g, args[which], args[1 - which]))),
        simplify: |g, args, _| {
            // 1·a = a and −1·a = −a exactly; 0·a is not 0 when a is infinite or NaN.
            for (this, other) in [(args[0], args[1]), (args[1], args[0])] {
                if g.shape(this) == Shape::Scalar || g.shape(this) == g.shape(other) {
                    match g.as_constant(this) {
                        // A one may stand for a const parameter.
                        Some(1.0) if !keeps_form() => return Some(other),
                        Some(-1.0) if !keeps_form() => return Some(g.apply(&neg::OP, &[other])),
                        _ => {}
                    }
                }
            }
            // (−a)·b = −(a·b) exactly: signs move outward, where sums and exponentials absorb them.
            if let Some(&[a]) = g.as_op(args[0], &neg::OP) {
                let product = g.apply(&OP, &[a, args[1]]);
                return Some(g.apply(&neg::OP, &[product]));
            }
            if let Some(&[b]) = g.as_op(args[1], &neg::OP) {
                let product = g.apply(&OP, &[args[0], b]);
                return Some(g.apply(&neg::OP, &[product]));
            }
            for (this, other) in [(args[0], args[1]), (args[1], args[0])] {
                if let Some(gate) = gate::times(g, &OP, this, other) {
                    return Some(gate);
                }
            }
            // The zeros of a derivative are zeros, whatever they meet.
            for (this, other) in [(args[0], args[1]), (args[1], args[0])] {
                if let Some((part, offset)) = place::parts(g, this) {
                    let (whole, shape) = (g.shape(this), g.shape(part));
                    let other = if g.shape(other) == whole {
                        take::block(g, other, offset, shape)
                    } else {
                        other
                    };
                    let product = g.apply(&OP, &[part, other]);
                    return Some(place::in_zeros(g, product, offset, whole));
                }
            }
            fold_constants(g, args, |a| a[0] * a[1])
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0] * a[1]),
    test_range: (-4.0, 4.0),
};

/// `value * other` of a value that depends on a cotangent: where that is the 1 of a unit vector, which stands for no const
/// parameter, it is no factor.
pub(crate) fn times(g: &mut Graph, value: NodeId, other: NodeId) -> NodeId {
    if g.as_constant(value) == Some(1.0) && g.shape(value) == Shape::Scalar {
        return other;
    }
    g.apply(&OP, &[value, other])
}
