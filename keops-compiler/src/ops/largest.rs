//! The largest number of a vector

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "largest",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "The largest number of a vector, NaN ignored (−inf if all are); derivative to the first of equal ones.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| vector(types, 0).map(|_| Type::SCALAR),
    body: Body::Indexed {
        lower: |l, node, _| folded(l, node, Prim::PickMax, f64::NEG_INFINITY),
        costly: true,
        vjp: to_first_equal,
        linear: Linear::No,
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        Value::scalar(
            args[0]
                .data
                .iter()
                .fold(f64::NEG_INFINITY, |m, &x| m.max(x)),
        )
    }),
    test_range: (-4.0, 4.0),
};

/// What is left of a vector when a primitive has picked of each number and the one before. For `smallest` too.
pub(super) fn folded(l: &mut Lowerer<'_>, node: &Node, pick: Prim, neutral: f64) -> Operand {
    let v = node.args[0];
    l.fold(
        l.graph.shape(v).len(),
        Operand::Const(neutral),
        &mut |l, best, k| {
            let next = l.number(v, std::slice::from_ref(k));
            l.prim(pick, &[next, best])
        },
    )
}

/// The cotangent to the first number that equals the result.
pub(super) fn to_first_equal(g: &mut Graph, call: &VjpCall<'_>) -> Vec<Option<NodeId>> {
    let (zero, one) = (g.literal(0.0), g.literal(1.0));
    let mask = g.apply(&first_equal::OP, &[call.args[0], call.node]);
    let chosen = g.apply(&eq::OP, &[mask, one]);
    vec![Some(g.apply(&select::OP, &[chosen, call.cotangent, zero]))]
}
