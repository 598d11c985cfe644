//! The smallest number of a vector

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "smallest",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "The smallest number of a vector, NaN ignored (+inf if all are); derivative to the first of equal ones.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| vector(types, 0).map(|_| Type::SCALAR),
    body: Body::Indexed {
        lower: |l, node, _| {
            let v = node.args[0];
            l.fold(
                l.graph.shape(v).len(),
                Operand::Const(f64::INFINITY),
                &mut |l, best, k| {
                    let next = l.number(v, std::slice::from_ref(k));
                    l.prim(Prim::PickMin, &[next, best])
                },
            )
        },
        costly: true,
        vjp: |g, call| {
            let (zero, one) = (g.literal(0.0), g.literal(1.0));
            let mask = g.apply(&first_equal::OP, &[call.args[0], call.node]);
            let chosen = g.apply(&eq::OP, &[mask, one]);
            vec![Some(g.apply(&select::OP, &[chosen, call.cotangent, zero]))]
        },
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        Value::scalar(args[0].data.iter().fold(f64::INFINITY, |m, &x| m.min(x)))
    }),
    test_range: (-4.0, 4.0),
};
