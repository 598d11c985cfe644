//! `acos(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "acos",
    syntax: Syntax::Call,
    keops_name: "Acos",
    doc: "Inverse cosine; NaN beyond ±1; derivative 0 at ±1.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Acos, a),
        vjp: |g, call| {
            let slope = asin::inverse_leg(g, call.args[0]);
            let slope = g.apply(&neg::OP, &[slope]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].acos()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].acos()),
    test_range: (-0.9, 0.9),
};
