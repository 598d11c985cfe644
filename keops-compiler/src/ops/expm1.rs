//! `expm1(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "expm1",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "exp(a) − 1 without cancellation; −1 at −inf.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Expm1, a),
        vjp: |g, call| {
            let slope = g.apply(&exp::OP, call.args);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].exp_m1()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].exp_m1()),
    test_range: (-4.0, 4.0),
};
