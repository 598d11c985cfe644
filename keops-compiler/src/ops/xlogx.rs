//! `xlogx(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "xlogx",
    syntax: Syntax::Call,
    keops_name: "XLogX",
    doc: "a·log a; 0 at 0, derivative 0 there; NaN below.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| {
            let zero = Operand::Const(0.0);
            let log = l.prim(Prim::Log, a);
            let product = l.prim(Prim::Mul, &[a[0].clone(), log]);
            let at_zero = l.prim(Prim::Eq, &[a[0].clone(), zero.clone()]);
            l.prim(Prim::Select, &[at_zero, zero, product])
        },
        vjp: |g, call| {
            // 1 + log a, with another argument where it is not used, so that higher derivatives stay finite.
            let (zero, one) = (g.literal(0.0), g.literal(1.0));
            let at_zero = g.apply(&eq::OP, &[call.args[0], zero]);
            let safe = g.apply(&select::OP, &[at_zero, one, call.args[0]]);
            let log = g.apply(&log::OP, &[safe]);
            let slope = g.apply(&add::OP, &[one, log]);
            let slope = g.apply(&select::OP, &[at_zero, zero, slope]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| {
            fold_constants(
                g,
                args,
                |a| if a[0] == 0.0 { 0.0 } else { a[0] * a[0].ln() },
            )
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| if a[0] == 0.0 { 0.0 } else { a[0] * a[0].ln() }),
    test_range: (0.5, 4.0),
};
