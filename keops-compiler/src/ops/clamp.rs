//! `clamp(a, low, high)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "clamp",
    syntax: Syntax::Call,
    keops_name: "Clamp, ClampInt",
    doc: "a, but at least low and at most high (low if they are in the wrong order); NaN passes; derivative 1 inside and at the bounds.",
    arity: Arity::Exactly(3),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| {
            let at_most = l.prim(Prim::PickMin, &[a[2].clone(), a[0].clone()]);
            l.prim(Prim::PickMax, &[a[1].clone(), at_most])
        },
        vjp: |g, call| {
            let (a, low, high) = (call.args[0], call.args[1], call.args[2]);
            let zero = g.literal(0.0);
            let above_low = g.apply(&le::OP, &[low, a]);
            let below_high = g.apply(&le::OP, &[a, high]);
            let inside = g.apply(&and::OP, &[above_low, below_high]);
            // The lower bound has the last word.
            let crossed = g.apply(&lt::OP, &[high, low]);
            let under = g.apply(&lt::OP, &[a, low]);
            let at_low = g.apply(&or::OP, &[under, crossed]);
            let over = g.apply(&lt::OP, &[high, a]);
            let not_low = g.apply(&not::OP, &[at_low]);
            let at_high = g.apply(&and::OP, &[over, not_low]);
            [inside, at_low, at_high]
                .map(|condition| Some(g.apply(&select::OP, &[condition, call.cotangent, zero])))
                .to_vec()
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, clamp),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| clamp(a)),
    test_range: (-4.0, 4.0),
};

fn clamp(a: &[f64]) -> f64 {
    if a[0] < a[1] || a[2] < a[1] {
        a[1]
    } else if a[0] > a[2] {
        a[2]
    } else {
        a[0]
    }
}
