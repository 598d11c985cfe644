//! `erfc(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "erfc",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "1 − erf(a) without cancellation.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Erfc, a),
        vjp: |g, call| {
            let slope = erf::slope(g, call.args[0]);
            let slope = g.apply(&neg::OP, &[slope]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| reference(a[0])),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| reference(a[0])),
    test_range: (-2.5, 4.0),
};

/// erfc in f64, from its continued fraction beyond 2.5.
pub fn reference(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() <= 2.5 {
        return 1.0 - erf::reference(x);
    }
    let mut fraction = x.abs();
    for k in (1..200).rev() {
        fraction = x.abs() + f64::from(k) / 2.0 / fraction;
    }
    let tail = 0.5 * std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() / fraction;
    if x < 0.0 { 2.0 - tail } else { tail }
}
