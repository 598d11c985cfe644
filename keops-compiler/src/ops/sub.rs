//! `a - b`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "sub",
    syntax: Syntax::Operator("-"),
    keops_name: "Subtract",
    doc: "Difference; scalars broadcast.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Sub, a),
        vjp: |g, call| {
            vec![
                Some(call.cotangent),
                Some(g.apply(&neg::OP, &[call.cotangent])),
            ]
        },
        linear: Linear::Sum(|g, node, which| {
            let part = add::whole_shape(g, node, which);
            if which == 0 {
                part
            } else {
                g.apply(&neg::OP, &[part])
            }
        }),
        simplify: |g, args, _| {
            // a − 0 = a for every a, signed zeros included; 0 − a is not −a at +0.
            if g.as_constant(args[1]).map(f64::to_bits) == Some(0)
                && g.shape(args[1]) == Shape::Scalar
            {
                return Some(args[0]);
            }
            if let Some(&[b]) = g.as_op(args[1], &neg::OP) {
                return Some(g.apply(&add::OP, &[args[0], b]));
            }
            fold_constants(g, args, |a| a[0] - a[1])
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0] - a[1]),
    test_range: (-4.0, 4.0),
};
