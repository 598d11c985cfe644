//! `cos(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "cos",
    syntax: Syntax::Call,
    keops_name: "Cos",
    doc: "Cosine of an angle in radians; NaN at ±inf.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Cos, a),
        vjp: |g, call| {
            let sine = g.apply(&sin::OP, call.args);
            let slope = g.apply(&neg::OP, &[sine]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].cos()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].cos()),
    test_range: (-4.0, 4.0),
};
