//! `asin(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "asin",
    syntax: Syntax::Call,
    keops_name: "Asin",
    doc: "Inverse sine; NaN beyond ±1; derivative 0 at ±1.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Asin, a),
        vjp: |g, call| {
            let slope = inverse_leg(g, call.args[0]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].asin()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].asin()),
    test_range: (-0.9, 0.9),
};

/// 1/√(1 − a²), and 0 at ±1.
pub(super) fn inverse_leg(g: &mut Graph, a: NodeId) -> NodeId {
    let one = g.literal(1.0);
    let (below, above) = (g.apply(&sub::OP, &[one, a]), g.apply(&add::OP, &[one, a]));
    let square = g.apply(&mul::OP, &[below, above]);
    let leg = g.apply(&sqrt::OP, &[square]);
    g.apply(&inv_or_zero::OP, &[leg])
}
