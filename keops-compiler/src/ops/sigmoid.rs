//! `sigmoid(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "sigmoid",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "1/(1 + exp(−a)), without overflow.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| {
            // With t = exp(−|a|): 1/(1 + t), or t/(1 + t) for negative a; what 1 + t lost in rounding is put back.
            let one = Operand::Const(1.0);
            let size = l.prim(Prim::Abs, a);
            let minus = l.prim(Prim::Neg, &[size]);
            let t = l.prim(Prim::Exp, &[minus]);
            let divisor = l.prim(Prim::Add, &[one.clone(), t.clone()]);
            let rounded = l.prim(Prim::Sub, &[divisor.clone(), one.clone()]);
            let lost = l.prim(Prim::Sub, &[t.clone(), rounded]);
            let negative = l.prim(Prim::Lt, &[a[0].clone(), Operand::Const(0.0)]);
            let top = l.prim(Prim::Select, &[negative, t, one]);
            let quotient = l.prim(Prim::Div, &[top, divisor]);
            // The divisor is from 1 to 2 and what it lost at most half a unit: first order, up to a factor, is enough.
            let share = l.prim(Prim::Mul, &[quotient.clone(), lost]);
            l.prim(Prim::Fnma, &[share, quotient.clone(), quotient])
        },
        vjp: |g, call| {
            let one = g.literal(1.0);
            let rest = g.apply(&sub::OP, &[one, call.node]);
            let slope = g.apply(&mul::OP, &[call.node, rest]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| 1.0 / (1.0 + (-a[0]).exp())),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| 1.0 / (1.0 + (-a[0]).exp())),
    test_range: (-4.0, 4.0),
};
