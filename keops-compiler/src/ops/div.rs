//! `a / b`

use super::*;
use crate::lower::{Prim, keeps_form};

/// The record.
pub static OP: Op = Op {
    name: "div",
    syntax: Syntax::Operator("/"),
    keops_name: "Divide",
    doc: "Element-wise quotient; scalars broadcast.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Div, a),
        vjp: |g, call| {
            // d(a/b) = da/b − (a/b)·db/b
            if g.as_constant(call.args[0]) == Some(1.0) && g.shape(call.args[0]) == Shape::Scalar {
                // d(1/b) = −(1/b)²·db, without another division
                let square = g.apply(&mul::OP, &[call.node, call.node]);
                let scaled = g.apply(&mul::OP, &[call.cotangent, square]);
                return vec![None, Some(g.apply(&neg::OP, &[scaled]))];
            }
            let left = g.apply(&OP, &[call.cotangent, call.args[1]]);
            let scaled = g.apply(&mul::OP, &[left, call.node]);
            vec![Some(left), Some(g.apply(&neg::OP, &[scaled]))]
        },
        linear: Linear::Numbers(|g, args, which, _| (which == 0).then(|| g.apply(&OP, args))),
        simplify: |g, args, _| {
            if let Some(gate) = gate::times(g, &OP, args[0], args[1]) {
                return Some(gate);
            }
            // A one may stand for a const parameter.
            let one = g.as_constant(args[1]) == Some(1.0) && !keeps_form();
            if one && g.shape(args[1]) == Shape::Scalar {
                return Some(args[0]);
            }
            if let Some(&[a]) = g.as_op(args[0], &neg::OP) {
                let quotient = g.apply(&OP, &[a, args[1]]);
                return Some(g.apply(&neg::OP, &[quotient]));
            }
            fold_constants(g, args, |a| a[0] / a[1])
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0] / a[1]),
    test_range: (0.5, 4.0),
};
