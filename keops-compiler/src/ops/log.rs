//! `log(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "log",
    syntax: Syntax::Call,
    keops_name: "Log",
    doc: "Natural logarithm; −inf at 0, NaN below.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Log, a),
        vjp: |g, call| vec![Some(g.apply(&div::OP, &[call.cotangent, call.args[0]]))],
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].ln()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].ln()),
    test_range: (0.25, 4.0),
};
