//! The spherical Bessel functions jₙ: sin(a)/a and what its derivatives are made of
//!
//! jₙ′ = (n·jₙ₋₁ − (n + 1)·jₙ₊₁)/(2n + 1) needs no division by a, so derivatives of any order are finite at 0.

use super::*;
use crate::lower::Prim;

/// Largest order: sin(a)/a has this many derivatives.
const MAX_ORDER: i64 = 16;

/// The record.
pub static OP: Op = Op {
    name: "spherical_bessel",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "The spherical Bessel function of this order.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("order")],
    infer: |types, params| match params {
        [0..=MAX_ORDER] => broadcast(types, params),
        _ => Err(TypeError::Parameter {
            param: 0,
            expected: format!("from 0 to {MAX_ORDER}"),
        }),
    },
    body: Body::Elementwise {
        lower: |l, a, params| {
            let (a, order) = (&a[0], params[0] as u32);
            // Upward recurrence from j₀ is accurate for |a| > n, the power series below.
            let sine = l.prim(Prim::Sin, std::slice::from_ref(a));
            let first = l.prim(Prim::Div, &[sine, a.clone()]);
            let near = if order == 0 {
                l.prim(Prim::Eq, &[a.clone(), Operand::Const(0.0)])
            } else {
                let size = l.prim(Prim::Abs, std::slice::from_ref(a));
                l.prim(Prim::Le, &[size, Operand::Const(f64::from(order + 1))])
            };
            if order == 0 {
                return l.prim(Prim::Select, &[near, Operand::Const(1.0), first]);
            }
            let cosine = l.prim(Prim::Cos, std::slice::from_ref(a));
            let difference = l.prim(Prim::Sub, &[first.clone(), cosine]);
            let (mut before, mut far) = (first, l.prim(Prim::Div, &[difference, a.clone()]));
            for n in 1..order {
                let factor = Operand::Const(f64::from(2 * n + 1));
                let scaled = l.prim(Prim::Mul, &[factor, far.clone()]);
                let quotient = l.prim(Prim::Div, &[scaled, a.clone()]);
                let next = l.prim(Prim::Sub, &[quotient, before]);
                (before, far) = (far, next);
            }
            let series = series(l, a, order);
            l.prim(Prim::Select, &[near, series, far])
        },
        vjp: |g, call| {
            let n = call.params[0];
            if n == MAX_ORDER {
                // Beyond the documented number of derivatives.
                let nan = g.literal(f64::NAN);
                return vec![Some(g.apply(&mul::OP, &[call.cotangent, nan]))];
            }
            let next = g.apply_with(&OP, call.args, &[n + 1]);
            let factor = g.literal(-((n + 1) as f64) / (2 * n + 1) as f64);
            let mut slope = g.apply(&mul::OP, &[factor, next]);
            if n > 0 {
                let before = g.apply_with(&OP, call.args, &[n - 1]);
                let factor = g.literal(n as f64 / (2 * n + 1) as f64);
                let term = g.apply(&mul::OP, &[factor, before]);
                slope = g.apply(&add::OP, &[term, slope]);
            }
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: no_simplification,
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, params| reference(a[0], params[0] as usize)),
    test_range: (-6.0, 6.0),
};

/// aⁿ/(2n + 1)!!·Σ (−a²/2)ᵏ/(k!·(2n + 3)·(2n + 5)·…), as many terms as |a| ≤ n + 1 needs at f64.
fn series(l: &mut Lowerer<'_>, a: &Operand, order: u32) -> Operand {
    let n = f64::from(order);
    let mut coefficients = vec![(1..=order).fold(1.0, |c, m| c / f64::from(2 * m + 1))];
    let (mut term, mut k) = (1.0, 0.0);
    while term > 1e-19 {
        k += 1.0;
        let step = 1.0 / (2.0 * k * (2.0 * (n + k) + 1.0));
        term *= (n + 1.0) * (n + 1.0) * step;
        coefficients.push(-coefficients.last().copied().unwrap_or(0.0) * step);
    }
    let square = l.prim(Prim::Mul, &[a.clone(), a.clone()]);
    let mut sum = Operand::Const(coefficients.pop().unwrap_or(0.0));
    for c in coefficients.into_iter().rev() {
        sum = l.prim(Prim::Fma, &[sum, square.clone(), Operand::Const(c)]);
    }
    for _ in 0..order {
        sum = l.prim(Prim::Mul, &[sum, a.clone()]);
    }
    sum
}

/// Arguments for each order beyond which the reference recurs upwards: downwards it keeps as many numbers as |x|.
const FAR: f64 = 100.0;

/// Upward recurrence where |x| is far beyond the order, which is exact there; else downward, normalised by Σ (2n + 1)·jₙ² = 1.
fn reference(x: f64, order: usize) -> f64 {
    if x == 0.0 {
        return f64::from(order == 0);
    }
    if !x.is_finite() {
        return f64::NAN;
    }
    let size = x.abs();
    if size > FAR * (order + 1) as f64 {
        let (mut j, mut next) = (x.sin() / x, (x.sin() / x - x.cos()) / x);
        for n in 1..=order {
            (j, next) = (next, (2 * n + 1) as f64 / x * next - j);
        }
        return j;
    }
    // Beyond |x|, values fall as those of Airy's function do, over a few cube roots of |x|.
    let top = order + size as usize + 40 + (10.0 * size.cbrt()) as usize;
    let mut values = vec![0.0; top + 2];
    values[top] = 1e-30;
    for n in (1..=top).rev() {
        values[n - 1] = (2 * n + 1) as f64 / size * values[n] - values[n + 1];
        if values[n - 1].abs() > 1e100 {
            values.iter_mut().for_each(|v| *v *= 1e-200);
        }
    }
    let squares = values
        .iter()
        .enumerate()
        .map(|(n, v)| (2 * n + 1) as f64 * v * v);
    let norm = squares.sum::<f64>().sqrt();
    // The sign of j₀ or, near its zeros, of j₁.
    let (j0, j1) = (size.sin() / size, (size.sin() / size - size.cos()) / size);
    let sign = if j0.abs() > j1.abs() {
        j0 * values[0]
    } else {
        j1 * values[1]
    };
    let value = values[order] / norm.copysign(sign);
    if x < 0.0 && order % 2 == 1 {
        -value
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::reference;

    #[test]
    fn both_recurrences_agree() {
        for order in 0..8 {
            let far = super::FAR * (order + 1) as f64;
            // Close to one another on both sides; the derivative is at most 1/|x|.
            let (below, above) = (reference(far, order), reference(far + 1e-9, order));
            assert!((below - above).abs() < 1e-11, "{order}: {below} {above}");
        }
    }

    #[test]
    fn the_reference_is_exact_far_from_0() {
        for x in [0.3, 7.0, 99.0, 1234.5, 90_000.8, 160_000.3, -3e12, 1e300] {
            let error = (reference(x, 0) - x.sin() / x).abs() * x.abs();
            assert!(error < 1e-9, "{x}: {error:e}");
            let first = (x.sin() / x - x.cos()) / x;
            let error = (reference(x, 1) - first).abs() * x.abs();
            assert!(error < 1e-9, "{x}: {error:e}");
        }
    }
}
