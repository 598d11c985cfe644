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
        linear: Linear::Numbers(|g, args, _, params| Some(g.apply_with(&OP, args, params))),
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

/// A product of two values with the signs of both outside: (−a)·b = −(a·b) exactly.
pub(super) fn outside(g: &mut Graph, op: &'static Op, args: &[NodeId]) -> Option<NodeId> {
    for n in 0..2 {
        if let Some(&[inside]) = g.as_op(args[n], &OP) {
            let mut args = args.to_vec();
            args[n] = inside;
            let product = g.apply(op, &args);
            return Some(g.apply(&OP, &[product]));
        }
    }
    None
}
