//! `a == b`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "eq",
    syntax: Syntax::Operator("=="),
    keops_name: "Equal",
    doc: "`a == b`; false where either is NaN.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: comparison,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Eq, a),
        vjp: |_, _| vec![None, None],
        linear: Linear::No,
        simplify: no_simplification,
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| f64::from(a[0] == a[1])),
    test_range: (-4.0, 4.0),
};
