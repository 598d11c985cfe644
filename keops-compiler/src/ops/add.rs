//! `a + b`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "add",
    syntax: Syntax::Operator("+"),
    keops_name: "Add",
    doc: "Sum; scalars broadcast.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Add, a),
        vjp: |_, call| vec![Some(call.cotangent), Some(call.cotangent)],
        simplify: |g, args, _| fold_constants(g, args, |a| a[0] + a[1]),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0] + a[1]),
    test_range: (-4.0, 4.0),
};
