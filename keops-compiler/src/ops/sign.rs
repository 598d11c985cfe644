//! `sign(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "sign",
    syntax: Syntax::Call,
    keops_name: "Sign",
    doc: "−1, 0 or 1; NaN stays NaN (KeOps: 0); derivative 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| {
            let (zero, a) = (Operand::Const(0.0), &a[0]);
            let negative = l.prim(Prim::Lt, &[a.clone(), zero.clone()]);
            let positive = l.prim(Prim::Lt, &[zero, a.clone()]);
            let other = l.prim(Prim::Select, &[negative, Operand::Const(-1.0), a.clone()]);
            l.prim(Prim::Select, &[positive, Operand::Const(1.0), other])
        },
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| sign(a[0])),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| sign(a[0])),
    test_range: (-4.0, 4.0),
};

fn sign(a: f64) -> f64 {
    if a == 0.0 || a.is_nan() {
        a
    } else {
        a.signum()
    }
}
