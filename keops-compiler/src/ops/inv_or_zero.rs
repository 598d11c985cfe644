//! 1/a, and 0 at 0: the factor that makes derivatives of roots and norms 0 there, at any order

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "inv_or_zero",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "1/a; 0 at 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| {
            let zero = Operand::Const(0.0);
            let inverse = l.prim(Prim::Div, &[Operand::Const(1.0), a[0].clone()]);
            let at_zero = l.prim(Prim::Eq, &[a[0].clone(), zero.clone()]);
            l.prim(Prim::Select, &[at_zero, zero, inverse])
        },
        vjp: |g, call| {
            let square = g.apply(&mul::OP, &[call.node, call.node]);
            let slope = g.apply(&neg::OP, &[square]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| {
            fold_constants(g, args, |a| if a[0] == 0.0 { 0.0 } else { 1.0 / a[0] })
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| if a[0] == 0.0 { 0.0 } else { 1.0 / a[0] }),
    test_range: (0.5, 4.0),
};
