//! `log1p(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "log1p",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "log(1 + a) without cancellation; −inf at −1, NaN below.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Log1p, a),
        vjp: |g, call| {
            let one = g.literal(1.0);
            let shifted = g.apply(&add::OP, &[one, call.args[0]]);
            vec![Some(g.apply(&div::OP, &[call.cotangent, shifted]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].ln_1p()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].ln_1p()),
    test_range: (-0.5, 4.0),
};
