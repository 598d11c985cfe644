//! `!a`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "not",
    syntax: Syntax::Operator("!"),
    keops_name: "",
    doc: "The opposite condition.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: logical,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Not, a),
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: |g, args, _| match g.as_op(args[0], &OP) {
            Some(&[inner]) => Some(inner),
            _ => None,
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| 1.0 - a[0]),
    test_range: (-4.0, 4.0),
};
