//! `powf(a, b)`, a real power

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "powf",
    syntax: Syntax::Call,
    keops_name: "Powf",
    doc: "aᵇ with the special values of C's `pow`; the derivatives are 0 where b = 0 (for a) and where aᵇ = 0 (for b).",
    arity: Arity::Exactly(2),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Powf, a),
        vjp: |g, call| {
            let (a, b) = (call.args[0], call.args[1]);
            let (zero, one) = (g.literal(0.0), g.literal(1.0));
            // b·a^(b−1), but 0 rather than 0·inf for b = 0, a = 0.
            let less = g.apply(&sub::OP, &[b, one]);
            let lower = g.apply(&OP, &[a, less]);
            let mut base = g.apply(&mul::OP, &[b, lower]);
            if g.as_constant(b).is_none() {
                let flat = g.apply(&eq::OP, &[b, zero]);
                base = g.apply(&select::OP, &[flat, zero, base]);
            }
            // aᵇ·log a, but 0 rather than 0·(−inf) for a = 0.
            let log = g.apply(&log::OP, &[a]);
            let slope = g.apply(&mul::OP, &[call.node, log]);
            let vanishes = g.apply(&eq::OP, &[call.node, zero]);
            let exponent = g.apply(&select::OP, &[vanishes, zero, slope]);
            vec![
                Some(g.apply(&mul::OP, &[call.cotangent, base])),
                Some(g.apply(&mul::OP, &[call.cotangent, exponent])),
            ]
        },
        linear: Linear::No,
        simplify: |g, args, _| {
            let whole = |g: &Graph, n: f64| {
                g.as_constant(args[1]) == Some(n) && g.shape(args[1]) == Shape::Scalar
            };
            if whole(g, 0.0) {
                return Some(g.constant(1.0, g.shape(args[0])));
            }
            if whole(g, 1.0) {
                return Some(args[0]);
            }
            if whole(g, 2.0) {
                return Some(g.apply(&mul::OP, &[args[0], args[0]]));
            }
            if whole(g, -1.0) {
                let one = g.literal(1.0);
                return Some(g.apply(&div::OP, &[one, args[0]]));
            }
            fold_constants(g, args, |a| a[0].powf(a[1]))
        },
        late: |g, args, _| {
            // Small integer powers by multiplication: at most 1.5 ulp.
            let n = g
                .as_constant(args[1])
                .filter(|n| g.shape(args[1]) == Shape::Scalar && n.fract() == 0.0)?;
            (n.abs() <= 4.0).then(|| g.apply_with(&pow::OP, &args[..1], &[n as i64]))
        },
    },
    reference: Reference::Elementwise(|a, _| a[0].powf(a[1])),
    test_range: (0.5, 3.0),
};
