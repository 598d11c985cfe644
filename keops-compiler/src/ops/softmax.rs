//! `softmax(v)`, inside one vector (weighted sums over rows are the reduction `softmax_j`)

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "softmax",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "exp(v)/Σ exp(v), inside one vector, without overflow; NaN if all numbers are −inf or any is +inf or NaN.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| vector(types, 0).map(|n| Type::real(Shape::Vector(n))),
    body: Body::Indexed {
        lower: |l, node, ix| {
            let (v, n) = (node.args[0], node.ty.shape.len());
            let array = l.filled(node, &mut |l, array| {
                let lowest = Operand::Const(f64::NEG_INFINITY);
                let top = l.fold(n, lowest, &mut |l, best, k| {
                    let next = l.number(v, std::slice::from_ref(k));
                    l.prim(Prim::PickMax, &[next, best])
                });
                let total = l.fold(n, Operand::Const(0.0), &mut |l, sum, k| {
                    let next = l.number(v, std::slice::from_ref(k));
                    let below = l.prim(Prim::Sub, &[next, top.clone()]);
                    let share = l.prim(Prim::Exp, &[below]);
                    l.store(array, k.clone(), share.clone());
                    l.prim(Prim::Add, &[sum, share])
                });
                l.repeat(n, &mut |l, k| {
                    let share = Operand::Element(array, k.clone());
                    let quotient = l.prim(Prim::Div, &[share, total.clone()]);
                    l.store(array, k, quotient);
                });
            });
            Operand::Element(array, ix[0].clone())
        },
        costly: false,
        vjp: |g, call| {
            let mean = g.apply(&dot::OP, &[call.node, call.cotangent]);
            let deviation = g.apply(&sub::OP, &[call.cotangent, mean]);
            vec![Some(g.apply(&mul::OP, &[call.node, deviation]))]
        },
        linear: Linear::No,
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        let v = &args[0].data;
        let top = v.iter().fold(f64::NEG_INFINITY, |m, &x| m.max(x));
        let total: f64 = v.iter().map(|x| (x - top).exp()).sum();
        Value::vector(v.iter().map(|x| (x - top).exp() / total).collect())
    }),
    test_range: (-4.0, 4.0),
};
