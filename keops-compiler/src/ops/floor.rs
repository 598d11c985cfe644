//! `floor(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "floor",
    syntax: Syntax::Call,
    keops_name: "Floor",
    doc: "The largest whole number up to a; derivative 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| floor(l, &a[0]),
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].floor()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].floor()),
    test_range: (-4.0, 4.0),
};

/// The largest whole number up to a number.
pub(super) fn floor(l: &mut Lowerer<'_>, a: &Operand) -> Operand {
    let nearest = l.prim(Prim::Rint, std::slice::from_ref(a));
    let above = l.prim(Prim::Lt, &[a.clone(), nearest.clone()]);
    let below = l.prim(Prim::Sub, &[nearest.clone(), Operand::Const(1.0)]);
    l.prim(Prim::Select, &[above, below, nearest])
}
