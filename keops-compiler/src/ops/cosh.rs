//! `cosh(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "cosh",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "Hyperbolic cosine.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Cosh, a),
        vjp: |g, call| {
            let slope = g.apply(&sinh::OP, call.args);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].cosh()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].cosh()),
    test_range: (-3.0, 3.0),
};
