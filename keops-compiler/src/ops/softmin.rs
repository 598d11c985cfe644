//! The soft minimum of a vector, −s·log Σ exp(−v/s): what `softdtw_sqdist` is made of

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "softmin",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "−s·log Σ exp(−v/s) of a vector v and a positive scalar s, without overflow.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| {
        vector(types, 0)?;
        match types[1] {
            Type::SCALAR => Ok(Type::SCALAR),
            _ => Err(TypeError::Expected {
                arg: 1,
                expected: "a scalar".into(),
            }),
        }
    },
    body: Body::Indexed {
        lower: |l, node, _| {
            let (v, n) = (node.args[0], l.graph.shape(node.args[0]).len());
            let scale = l.number(node.args[1], &[]);
            let highest = Operand::Const(f64::INFINITY);
            let low = l.fold(n, highest, &mut |l, best, k| {
                let next = l.number(v, std::slice::from_ref(k));
                l.prim(Prim::PickMin, &[next, best])
            });
            let total = l.fold(n, Operand::Const(0.0), &mut |l, sum, k| {
                let next = l.number(v, std::slice::from_ref(k));
                let below = l.prim(Prim::Sub, &[low.clone(), next]);
                let quotient = l.prim(Prim::Div, &[below, scale.clone()]);
                let share = l.prim(Prim::Exp, &[quotient]);
                l.prim(Prim::Add, &[sum, share])
            });
            let log = l.prim(Prim::Log, &[total]);
            l.prim(Prim::Fnma, &[scale, log, low])
        },
        costly: true,
        vjp: |g, call| {
            let (v, scale) = (call.args[0], call.args[1]);
            let quotient = g.apply(&div::OP, &[v, scale]);
            let minus = g.apply(&neg::OP, &[quotient]);
            let shares = g.apply(&softmax::OP, &[minus]);
            let mean = g.apply(&dot::OP, &[shares, v]);
            let excess = g.apply(&sub::OP, &[call.node, mean]);
            let slope = g.apply(&div::OP, &[excess, scale]);
            vec![
                Some(g.apply(&mul::OP, &[call.cotangent, shares])),
                Some(g.apply(&mul::OP, &[call.cotangent, slope])),
            ]
        },
        linear: Linear::No,
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| Value::scalar(reference(&args[0].data, args[1].first()))),
    test_range: (0.5, 4.0),
};

/// The soft minimum of some numbers.
pub(super) fn reference(v: &[f64], scale: f64) -> f64 {
    let low = v.iter().fold(f64::INFINITY, |m, &x| m.min(x));
    low - scale
        * v.iter()
            .map(|x| ((low - x) / scale).exp())
            .sum::<f64>()
            .ln()
}
