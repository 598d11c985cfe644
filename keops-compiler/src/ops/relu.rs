//! `relu(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "relu",
    syntax: Syntax::Call,
    keops_name: "ReLU",
    doc: "a where it is positive, else 0; NaN stays NaN; derivative 0 at 0 (KeOps: 1).",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::PickMax, &[Operand::Const(0.0), a[0].clone()]),
        vjp: |g, call| {
            let zero = g.literal(0.0);
            let positive = g.apply(&lt::OP, &[zero, call.args[0]]);
            vec![Some(
                g.apply(&select::OP, &[positive, call.cotangent, zero]),
            )]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| if a[0] < 0.0 { 0.0 } else { a[0] }),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| if a[0] < 0.0 { 0.0 } else { a[0] }),
    test_range: (-4.0, 4.0),
};
