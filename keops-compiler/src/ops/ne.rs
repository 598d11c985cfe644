//! `a != b`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "ne",
    syntax: Syntax::Operator("!="),
    keops_name: "NotEqual",
    doc: "`a != b`; true where either is NaN.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: comparison,
    body: Body::Composite(|g, args, _| {
        let equal = g.apply(&eq::OP, args);
        g.apply(&not::OP, &[equal])
    }),
    reference: Reference::Elementwise(|a, _| f64::from(a[0] != a[1])),
    test_range: (-4.0, 4.0),
};
