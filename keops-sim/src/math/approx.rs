//! Approximate instructions: any value within the documented error, as a [`Bias`] says.
//!
//! The exact value is computed in double precision, whose own error is far below every bound. Special values (infinities,
//! zeros, NaN) are exact, as documented. The bounds are those of the PTX ISA 9.1.
use super::float::flush;
use super::round::{Rounding, f32_of_f64};
use crate::options::Bias;

/// An approximate instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    Ex2,
    Lg2,
    Rsqrt,
    Sqrt,
    Rcp,
    Sin,
    Cos,
    Tanh,
    Div,
    /// `div.full`: the whole range of divisors.
    DivFull,
    /// At `f64`, with the lower half of the result zero.
    Rcp64,
    /// At `f64`, with the lower half of the result zero.
    Rsqrt64Gross,
    /// At `f64`.
    Rsqrt64,
}

/// A bound of the error against the exact value (`Ulp`: against the correctly rounded one).
#[derive(Clone, Copy)]
enum Bound {
    Ulp(u32),
    Relative(f64),
    Absolute(f64),
}

use Bound::{Absolute, Relative, Ulp};

const TWO_M11: f64 = 1.0 / 2048.0;
const TWO_M20: f64 = 1.0 / 1_048_576.0;
const TWO_M22: f64 = TWO_M20 / 4.0;
const TWO_M23: f64 = TWO_M20 / 8.0;
/// 2^−22.9
const TWO_M22_9: f64 = 1.277_663_115_440_8e-7;
/// 2^−20.5
const TWO_M20_5: f64 = 6.743_495_761_743e-7;
/// 2^−14.7
const TWO_M14_7: f64 = 3.757_013_286_6e-5;

/// The instruction's result. `b` is the divisor of a division.
pub(crate) fn run(function: Function, ftz: bool, bias: Bias, a: u64, b: u64) -> u64 {
    match function {
        Function::Rcp64 | Function::Rsqrt64Gross | Function::Rsqrt64 => {
            return double(function, bias, a);
        }
        _ => {}
    }
    let (mut x, mut y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
    if ftz {
        (x, y) = (flush(x), flush(y));
    }
    let exact = match (function, f64::from(x), f64::from(y)) {
        (Function::Ex2, x, _) => x.exp2(),
        (Function::Lg2, x, _) => {
            if x == 0.0 {
                f64::NEG_INFINITY
            } else {
                x.log2()
            }
        }
        (Function::Rsqrt, x, _) => 1.0 / x.sqrt(),
        (Function::Sqrt, x, _) => x.sqrt(),
        (Function::Rcp, x, _) => 1.0 / x,
        (Function::Sin, x, _) => x.sin(),
        (Function::Cos, x, _) => x.cos(),
        (Function::Tanh, x, _) => x.tanh(),
        (Function::Div, x, y) if y.abs() > 2f64.powi(126) && y.is_finite() => {
            // Documented: the reciprocal of such a divisor is 0.
            x * 0f64.copysign(y)
        }
        (_, x, y) => x / y,
    };
    if bias == Bias::Nearest {
        return finish(exact as f32, ftz);
    }
    let magnitude = f64::from(x).abs();
    let special = !exact.is_finite() || exact == 0.0 || !x.is_finite() || x == 0.0;
    let bound = match function {
        Function::Ex2 => Ulp(2),
        Function::Lg2 if magnitude > 0.5 && magnitude < 2.0 => Absolute(TWO_M22),
        Function::Lg2 => Relative(TWO_M22),
        Function::Rsqrt => Relative(TWO_M22_9),
        Function::Sqrt => Relative(TWO_M23),
        Function::Rcp => Ulp(1),
        Function::Sin | Function::Cos if magnitude <= std::f64::consts::TAU => Absolute(TWO_M20_5),
        Function::Sin | Function::Cos if magnitude <= 50.0 * std::f64::consts::TAU => {
            Absolute(TWO_M14_7)
        }
        // No bound is documented.
        Function::Sin | Function::Cos => Absolute(2.0),
        // Subnormals pass through.
        Function::Tanh if x.is_subnormal() => Ulp(0),
        Function::Tanh => Relative(TWO_M11),
        _ => Ulp(2),
    };
    let out = if special {
        exact as f32
    } else {
        choose(exact, bound, bias, hash(function, a, b))
    };
    finish(out, ftz)
}

fn finish(out: f32, ftz: bool) -> u64 {
    let out = if ftz { flush(out) } else { out };
    u64::from(if out.is_nan() {
        0x7fff_ffff
    } else {
        out.to_bits()
    })
}

fn hash(function: Function, a: u64, b: u64) -> u64 {
    mix(mix(mix(function as u64) ^ a) ^ b)
}

/// SplitMix64's finaliser.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// A float within the bound.
fn choose(exact: f64, bound: Bound, bias: Bias, hash: u64) -> f32 {
    let nearest = exact as f32;
    let (low, high) = match bound {
        // Beyond the range by more than any bound.
        Ulp(_) if exact.abs() > 2f64.powi(128) * (1.0 + TWO_M20) => (nearest, nearest),
        Ulp(_) if nearest.is_infinite() => (nearest.next_down(), nearest.next_up()),
        // In the last place of the correctly rounded result, also where that is a power of two or right below one.
        Ulp(units) => {
            let size = nearest.abs();
            let ulp = f64::from(size) - f64::from(size.next_down());
            let ulp = ulp.max(f64::from(size.next_up().min(f32::MAX)) - f64::from(size));
            inside(nearest.into(), f64::from(units) * ulp)
        }
        Relative(e) => inside(exact, exact.abs() * e),
        Absolute(e) => inside(exact, e),
    };
    if low > high {
        return nearest;
    }
    match bias {
        Bias::Nearest => nearest,
        Bias::Up => high,
        Bias::Down => low,
        Bias::Hashed(seed) => {
            let (first, last) = (ordinal(low), ordinal(high));
            from_ordinal(first + (mix(seed ^ hash) % (last - first + 1) as u64) as i64)
        }
    }
}

/// The outermost floats within `error` of `exact`.
fn inside(exact: f64, error: f64) -> (f32, f32) {
    (
        f32_of_f64(exact - error, Rounding::Up),
        f32_of_f64(exact + error, Rounding::Down),
    )
}

/// Floats in order as integers.
fn ordinal(x: f32) -> i64 {
    let bits = i64::from(x.to_bits() & 0x7fff_ffff);
    if x.is_sign_negative() { -bits } else { bits }
}

fn from_ordinal(n: i64) -> f32 {
    let x = f32::from_bits(n.unsigned_abs() as u32);
    if n < 0 { -x } else { x }
}

/// The instructions at `f64`.
fn double(function: Function, bias: Bias, a: u64) -> u64 {
    let x = f64::from_bits(a);
    let gross = function != Function::Rsqrt64;
    let x = if gross && x.is_subnormal() {
        0f64.copysign(x)
    } else {
        x
    };
    let exact = if function == Function::Rcp64 {
        1.0 / x
    } else {
        1.0 / x.sqrt()
    };
    // The gross ones have 20 bits of fraction; the other one's error is not documented tighter than the single one's.
    let bound = if gross { TWO_M20 } else { TWO_M22_9 };
    let shift = match bias {
        Bias::Nearest => 0.0,
        Bias::Up => bound,
        Bias::Down => -bound,
        Bias::Hashed(seed) => {
            (mix(seed ^ hash(function, a, 0)) as f64 / u64::MAX as f64 * 2.0 - 1.0) * bound
        }
    };
    if !exact.is_finite() || exact == 0.0 {
        return exact.to_bits();
    }
    let out = (exact + exact.abs() * shift).to_bits();
    if gross { out & !0xffff_ffff } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(function: Function, ftz: bool, bias: Bias, a: f32, b: f32) -> f32 {
        f32::from_bits(run(function, ftz, bias, a.to_bits().into(), b.to_bits().into()) as u32)
    }

    /// Result minus exact value in units of the bound, and that the biases reach towards both ends.
    #[test]
    fn errors_stay_within_the_bound_and_use_it() {
        type Case = (Function, fn(f64) -> f64, fn(f64, f64) -> f64);
        let cases: [Case; 8] = [
            (Function::Ex2, f64::exp2, |_, y| 2.5 * ulp(y)),
            (Function::Lg2, f64::log2, |x, y| {
                if x > 0.5 && x < 2.0 {
                    TWO_M22
                } else {
                    y.abs() * TWO_M22
                }
            }),
            (Function::Rsqrt, |x| 1.0 / x.sqrt(), |_, y| y * TWO_M22_9),
            (Function::Sqrt, f64::sqrt, |_, y| y * TWO_M23),
            (Function::Rcp, |x| 1.0 / x, |_, y| 1.5 * ulp(y)),
            (Function::Sin, f64::sin, |_, _| TWO_M20_5),
            (Function::Cos, f64::cos, |_, _| TWO_M20_5),
            (Function::Tanh, f64::tanh, |_, y| y.abs() * TWO_M11),
        ];
        for (function, exact, bound) in cases {
            let (mut most, mut least) = (0f64, 0f64);
            for n in 1..500 {
                let x = n as f32 * 0.011;
                let y = exact(x.into());
                let error = |bias| {
                    (f64::from(value(function, false, bias, x, 0.0)) - y) / bound(x.into(), y)
                };
                let (nearest, up, down) =
                    (error(Bias::Nearest), error(Bias::Up), error(Bias::Down));
                assert!(down <= nearest && nearest <= up, "{function:?} {x}");
                for e in [
                    nearest,
                    up,
                    down,
                    error(Bias::Hashed(1)),
                    error(Bias::Hashed(2)),
                ] {
                    assert!(e.abs() <= 1.0 + 1e-6, "{function:?}({x}): {e}");
                }
                most = most.max(up);
                least = least.min(down);
            }
            assert!(most > 0.75 && least < -0.75, "{function:?} {most} {least}");
        }
    }

    fn ulp(y: f64) -> f64 {
        2f64.powi(y.abs().log2().floor() as i32 - 23)
    }

    #[test]
    fn special_values_are_exact() {
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        for bias in [Bias::Nearest, Bias::Up, Bias::Down, Bias::Hashed(7)] {
            let one = |function, x| value(function, false, bias, x, 0.0);
            assert_eq!(
                (one(Function::Ex2, 0.0), one(Function::Ex2, -0.0)),
                (1.0, 1.0)
            );
            assert_eq!(
                (one(Function::Ex2, inf), one(Function::Ex2, -inf)),
                (inf, 0.0)
            );
            assert_eq!(one(Function::Lg2, -0.0), -inf);
            assert!(one(Function::Lg2, -1.0).is_nan() && one(Function::Ex2, nan).is_nan());
            assert_eq!(
                (one(Function::Rsqrt, 0.0), one(Function::Rsqrt, -0.0)),
                (inf, -inf)
            );
            assert!(one(Function::Sqrt, -0.0).is_sign_negative());
            assert_eq!(
                (one(Function::Rcp, inf), one(Function::Rcp, -0.0)),
                (0.0, -inf)
            );
            assert!(one(Function::Sin, inf).is_nan());
            assert_eq!(value(Function::Div, false, bias, 1e38, 1e38), 0.0);
            assert!(value(Function::Div, false, bias, inf, 1e38).is_nan());
            assert!((value(Function::DivFull, false, bias, 1e38, 1e38) - 1.0).abs() < 4e-7);
            assert_eq!(value(Function::Ex2, true, bias, -130.0, 0.0), 0.0);
            assert!(value(Function::Ex2, false, bias, -130.0, 0.0) > 0.0);
        }
    }

    #[test]
    fn double_precision_seeds() {
        for bias in [Bias::Nearest, Bias::Up, Bias::Down, Bias::Hashed(3)] {
            let r = f64::from_bits(run(Function::Rcp64, true, bias, 3f64.to_bits(), 0));
            assert!((r * 3.0 - 1.0).abs() < 2.5e-6);
            assert_eq!(r.to_bits() & 0xffff_ffff, 0);
            let r = f64::from_bits(run(Function::Rsqrt64, false, bias, 4f64.to_bits(), 0));
            assert!((r * 2.0 - 1.0).abs() < 2e-7);
        }
    }
}
