//! `sinh(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "sinh",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "Hyperbolic sine.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Sinh, a),
        vjp: |g, call| {
            let slope = g.apply(&cosh::OP, call.args);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].sinh()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].sinh()),
    test_range: (-3.0, 3.0),
};
