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
        lower: |l, a, _| {
            // The primitive gives its second operand when either is NaN.
            let picked = l.prim(Prim::PickMax, a);
            let known = l.prim(Prim::Eq, &[a[1].clone(), a[1].clone()]);
            l.prim(Prim::Select, &[known, picked, a[0].clone()])
        },
        vjp: |g, call| {
            let (a, b) = (call.args[0], call.args[1]);
            let zero = g.literal(0.0);
            let wins = g.apply(&le::OP, &[b, a]);
            let alone = g.apply(&ne::OP, &[b, b]);
            let first = g.apply(&or::OP, &[wins, alone]);
            let left = g.apply(&select::OP, &[first, call.cotangent, zero]);
            let right = g.apply(&select::OP, &[first, zero, call.cotangent]);
            vec![Some(left), Some(right)]
        },
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].max(a[1])),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].max(a[1])),
    test_range: (-4.0, 4.0),
};
