//! `sin(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "sin",
    syntax: Syntax::Call,
    keops_name: "Sin",
    doc: "Sine of an angle in radians; NaN at ±inf.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Sin, a),
        vjp: |g, call| {
            let slope = g.apply(&cos::OP, call.args);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].sin()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].sin()),
    test_range: (-4.0, 4.0),
};
