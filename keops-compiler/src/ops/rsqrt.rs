//! `rsqrt(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "rsqrt",
    syntax: Syntax::Call,
    keops_name: "Rsqrt",
    doc: "1/√a; +inf at 0 (KeOps: 0), NaN below.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Rsqrt, a),
        vjp: |g, call| {
            let cube = g.apply_with(&pow::OP, &[call.node], &[3]);
            let factor = g.literal(-0.5);
            let slope = g.apply(&mul::OP, &[factor, cube]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| 1.0 / a[0].sqrt()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| 1.0 / a[0].sqrt()),
    test_range: (0.25, 4.0),
};
