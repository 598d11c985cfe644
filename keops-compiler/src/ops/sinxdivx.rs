//! `sinxdivx(a)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "sinxdivx",
    syntax: Syntax::Call,
    keops_name: "SinXDivX",
    doc: "sin(a)/a; 1 at 0, where its derivative is 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Composite(|g, args, _| g.apply_with(&spherical_bessel::OP, args, &[0])),
    reference: Reference::Elementwise(|a, _| if a[0] == 0.0 { 1.0 } else { a[0].sin() / a[0] }),
    test_range: (-6.0, 6.0),
};
