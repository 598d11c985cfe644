//! `sqrt(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "sqrt",
    syntax: Syntax::Call,
    keops_name: "Sqrt",
    doc: "Square root; NaN below 0; derivative 0 at 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Sqrt, a),
        vjp: |g, call| {
            let inverse = g.apply(&inv_or_zero::OP, &[call.node]);
            let half = g.literal(0.5);
            let slope = g.apply(&mul::OP, &[half, inverse]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].sqrt()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].sqrt()),
    test_range: (0.25, 4.0),
};
