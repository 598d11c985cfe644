//! `step(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "step",
    syntax: Syntax::Call,
    keops_name: "Step",
    doc: "0 where a < 0, 1 where a ≥ 0; NaN stays NaN (KeOps: 1); derivative 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| {
            let (zero, a) = (Operand::Const(0.0), &a[0]);
            let below = l.prim(Prim::Lt, &[a.clone(), zero.clone()]);
            let above = l.prim(Prim::Le, &[zero.clone(), a.clone()]);
            let other = l.prim(Prim::Select, &[above, Operand::Const(1.0), a.clone()]);
            l.prim(Prim::Select, &[below, zero, other])
        },
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| step(a[0])),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| step(a[0])),
    test_range: (-4.0, 4.0),
};

fn step(a: f64) -> f64 {
    if a.is_nan() { a } else { f64::from(a >= 0.0) }
}
