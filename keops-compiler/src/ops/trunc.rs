//! `trunc(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "trunc",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "a without its fraction, towards 0; derivative 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| {
            let size = l.prim(Prim::Abs, a);
            let floor = floor::floor(l, &size);
            l.prim(Prim::XorSign, &[floor, a[0].clone()])
        },
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].trunc()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].trunc()),
    test_range: (-4.0, 4.0),
};
