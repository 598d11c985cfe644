//! `-a`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "neg",
    syntax: Syntax::Operator("-"),
    keops_name: "Minus",
    doc: "Negation.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Neg, a),
        vjp: |g, call| vec![Some(g.apply(&OP, &[call.cotangent]))],
        simplify: |g, args, _| {
            if let Some(&[inner]) = g.as_op(args[0], &OP) {
                return Some(inner);
            }
            if let Some((part, offset)) = place::parts(g, args[0]) {
                let whole = g.shape(args[0]);
                let negative = g.apply(&OP, &[part]);
                return Some(place::in_zeros(g, negative, offset, whole));
            }
            fold_constants(g, args, |a| -a[0])
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| -a[0]),
    test_range: (-4.0, 4.0),
};
