//! `tanh(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "tanh",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "Hyperbolic tangent; ±1 at ±inf.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Tanh, a),
        vjp: |g, call| {
            // 1 − tanh²
            let one = g.literal(1.0);
            let square = g.apply(&mul::OP, &[call.node, call.node]);
            let slope = g.apply(&sub::OP, &[one, square]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].tanh()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].tanh()),
    test_range: (-4.0, 4.0),
};
