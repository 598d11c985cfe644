//! `softplus(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "softplus",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "log(1 + exp(a)), without overflow; its derivative is `sigmoid`.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| {
            // max(a, 0) + log(1 + exp(−|a|))
            let size = l.prim(Prim::Abs, a);
            let minus = l.prim(Prim::Neg, &[size]);
            let t = l.prim(Prim::Exp, &[minus]);
            let rest = l.prim(Prim::Log1p, &[t]);
            let positive = l.prim(Prim::PickMax, &[Operand::Const(0.0), a[0].clone()]);
            l.prim(Prim::Add, &[positive, rest])
        },
        vjp: |g, call| {
            let slope = g.apply(&sigmoid::OP, call.args);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].exp().ln_1p()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].exp().ln_1p()),
    test_range: (-4.0, 4.0),
};
