//! `exp(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "exp",
    syntax: Syntax::Call,
    keops_name: "Exp",
    doc: "Exponential; 0 at −inf, +inf where it overflows.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Exp, a),
        vjp: |g, call| vec![Some(g.apply(&mul::OP, &[call.cotangent, call.node]))],
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].exp()),
        late: |g, args, _| exp2_sum::from_exp(g, args[0]),
    },
    reference: Reference::Elementwise(|a, _| a[0].exp()),
    test_range: (-4.0, 4.0),
};
