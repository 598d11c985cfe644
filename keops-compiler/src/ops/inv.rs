//! `inv(a)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "inv",
    syntax: Syntax::Call,
    keops_name: "Inv",
    doc: "1/a; infinite at 0, with its sign.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Composite(|g, args, _| {
        let one = g.literal(1.0);
        g.apply(&div::OP, &[one, args[0]])
    }),
    reference: Reference::Elementwise(|a, _| 1.0 / a[0]),
    test_range: (0.5, 4.0),
};
