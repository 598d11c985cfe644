//! `log2(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "log2",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "Logarithm to base 2; exact at powers of two, −inf at 0, NaN below.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Log2, a),
        vjp: |g, call| {
            let factor = g.literal(std::f64::consts::LOG2_E);
            let scaled = g.apply(&mul::OP, &[call.cotangent, factor]);
            vec![Some(g.apply(&div::OP, &[scaled, call.args[0]]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].log2()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].log2()),
    test_range: (0.5, 4.0),
};
