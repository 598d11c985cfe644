//! `erf(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "erf",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "Error function, 2/√π ∫₀ᵃ exp(−t²) dt.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Erf, a),
        vjp: |g, call| {
            let slope = slope(g, call.args[0]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| reference(a[0])),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| reference(a[0])),
    test_range: (-2.5, 2.5),
};

/// 2/√π·exp(−a²)
pub(super) fn slope(g: &mut Graph, a: NodeId) -> NodeId {
    let square = g.apply(&mul::OP, &[a, a]);
    let minus = g.apply(&neg::OP, &[square]);
    let bell = g.apply(&exp::OP, &[minus]);
    let factor = g.literal(std::f64::consts::FRAC_2_SQRT_PI);
    g.apply(&mul::OP, &[factor, bell])
}

/// erf in f64, from its power series with positive terms, 2/√π·exp(−x²)·Σ 2ᵏ·x^(2k+1)/(2k+1)!!.
pub fn reference(x: f64) -> f64 {
    if x.is_nan() || x.abs() > 2.5 {
        return if x > 0.0 {
            1.0 - erfc::reference(x)
        } else {
            erfc::reference(-x) - 1.0
        };
    }
    let (mut term, mut sum) = (x, x);
    for k in 1..80 {
        term *= 2.0 * x * x / f64::from(2 * k + 1);
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}
