//! The larger of two numbers

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "larger",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "The larger of two numbers, NaN only if both are; derivative to the first of equal ones.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| known(l, a, Prim::PickMax),
        vjp: |g, call| to_first(g, call, &ge::OP),
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].max(a[1])),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].max(a[1])),
    test_range: (-4.0, 4.0),
};

/// What a primitive picks of two numbers, or the other number if one is NaN; the primitive gives its second operand when either
/// is. For `smaller` too.
pub(super) fn known(l: &mut Lowerer<'_>, a: &[Operand], pick: Prim) -> Operand {
    let picked = l.prim(pick, a);
    let known = l.prim(Prim::Eq, &[a[1].clone(), a[1].clone()]);
    l.prim(Prim::Select, &[known, picked, a[0].clone()])
}

/// The cotangent to the first argument where the comparison holds or the second is NaN, else to the second.
pub(super) fn to_first(
    g: &mut Graph,
    call: &VjpCall<'_>,
    wins: &'static Op,
) -> Vec<Option<NodeId>> {
    let (a, b) = (call.args[0], call.args[1]);
    let zero = g.literal(0.0);
    let wins = g.apply(wins, &[a, b]);
    let alone = g.apply(&ne::OP, &[b, b]);
    let first = g.apply(&or::OP, &[wins, alone]);
    let left = g.apply(&select::OP, &[first, call.cotangent, zero]);
    let right = g.apply(&select::OP, &[first, zero, call.cotangent]);
    vec![Some(left), Some(right)]
}
