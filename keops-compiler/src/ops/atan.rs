//! `atan(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "atan",
    syntax: Syntax::Call,
    keops_name: "Atan",
    doc: "Inverse tangent; ±π/2 at ±inf.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Atan2, &[a[0].clone(), Operand::Const(1.0)]),
        vjp: |g, call| {
            let one = g.literal(1.0);
            let square = g.apply(&mul::OP, &[call.args[0], call.args[0]]);
            let divisor = g.apply(&add::OP, &[one, square]);
            vec![Some(g.apply(&div::OP, &[call.cotangent, divisor]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].atan()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].atan()),
    test_range: (-4.0, 4.0),
};
