//! `a && b`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "and",
    syntax: Syntax::Operator("&&"),
    keops_name: "",
    doc: "Both conditions; both sides are evaluated.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: logical,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::And, a),
        vjp: |_, _| vec![None, None],
        linear: Linear::No,
        simplify: |_, args, _| (args[0] == args[1]).then_some(args[0]),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0] * a[1]),
    test_range: (-4.0, 4.0),
};
