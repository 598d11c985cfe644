//! `ceil(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "ceil",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "The smallest whole number from a on; derivative 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| {
            let minus = l.prim(Prim::Neg, a);
            let floor = floor::floor(l, &minus);
            l.prim(Prim::Neg, &[floor])
        },
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].ceil()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].ceil()),
    test_range: (-4.0, 4.0),
};
