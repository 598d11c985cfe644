//! Elementary functions in double-double arithmetic (about 100 bits), to measure f64 results against.
//!
//! Plain textbook series, chosen for being obviously right and not for speed; `std` agrees with them to its own accuracy
//! (tested at the end).
use std::ops::{Add, Div, Mul, Neg, Sub};

/// hi + lo, not evaluated; |lo| ≤ ulp(hi)/2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Double {
    pub(super) hi: f64,
    pub(super) lo: f64,
}

impl From<f64> for Double {
    fn from(hi: f64) -> Double {
        Double { hi, lo: 0.0 }
    }
}

/// hi + lo exactly, for |hi| ≥ |lo|.
fn renormalised(hi: f64, lo: f64) -> Double {
    let sum = hi + lo;
    Double {
        hi: sum,
        lo: lo - (sum - hi),
    }
}

impl Add for Double {
    type Output = Double;
    fn add(self, other: Double) -> Double {
        let hi = self.hi + other.hi;
        let t = hi - self.hi;
        let error = (self.hi - (hi - t)) + (other.hi - t);
        let low = self.lo + other.lo;
        let t = low - self.lo;
        let low_error = (self.lo - (low - t)) + (other.lo - t);
        let first = renormalised(hi, error + low);
        renormalised(first.hi, first.lo + low_error)
    }
}

impl Neg for Double {
    type Output = Double;
    fn neg(self) -> Double {
        Double {
            hi: -self.hi,
            lo: -self.lo,
        }
    }
}

impl Sub for Double {
    type Output = Double;
    fn sub(self, other: Double) -> Double {
        self + -other
    }
}

impl Mul for Double {
    type Output = Double;
    fn mul(self, other: Double) -> Double {
        let hi = self.hi * other.hi;
        let error = self.hi.mul_add(other.hi, -hi);
        renormalised(hi, error + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Double {
    type Output = Double;
    fn div(self, other: Double) -> Double {
        let first = self.hi / other.hi;
        let rest = self - other * Double::from(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Double::from(second);
        renormalised(first, second) + Double::from(rest.hi / other.hi)
    }
}

/// ln 2 and π as pairs and, for reductions, as longer sums.
const LN_2: [f64; 3] = [
    std::f64::consts::LN_2,
    2.319_046_813_846_299_6e-17,
    5.707_708_438_416_212e-34,
];
const PI: [f64; 4] = [
    std::f64::consts::PI,
    1.224_646_799_147_353_2e-16,
    -2.994_769_809_718_339_7e-33,
    1.112_454_220_863_365_3e-49,
];

/// a − n · Σ parts, one part after the other: cancellation happens while the products are exact pairs.
fn reduce(a: f64, n: f64, parts: &[f64]) -> Double {
    parts.iter().fold(Double::from(a), |rest, &part| {
        rest - Double::from(n) * Double::from(part)
    })
}

fn scaled(x: Double, n: i32) -> Double {
    // In two steps, since 2^n itself may be out of range.
    let (one, two) = (2f64.powi(n / 2), 2f64.powi(n - n / 2));
    Double {
        hi: x.hi * one * two,
        lo: x.lo * one * two,
    }
}

/// Σ x^k/k! from k = `first` in steps of `step`, with alternating signs if asked.
fn factorial_series(x: Double, first: u32, step: u32, alternate: bool) -> Double {
    let mut term = Double::from(1.0);
    let mut k = 0;
    let mut sum = if first == 0 { term } else { Double::from(0.0) };
    let mut sign = 1.0;
    while k < 60 {
        k += 1;
        term = term * x / Double::from(f64::from(k));
        if k >= first && (k - first).is_multiple_of(step) {
            if k > first && alternate {
                sign = -sign;
            }
            sum = sum + Double::from(sign) * term;
        }
    }
    sum
}

/// 2^n · m with the exponent kept apart, so that subnormal results keep all their bits until measured.
pub(super) fn exp_parts(x: Double) -> (Double, i32) {
    let n = (x.hi / LN_2[0]).round();
    let r = reduce(x.hi, n, &LN_2) + Double::from(x.lo);
    (factorial_series(r, 0, 1, false), n as i32)
}

pub(super) fn exp(x: f64) -> (Double, i32) {
    exp_parts(Double::from(x))
}

pub(super) fn exp2(x: f64) -> (Double, i32) {
    let n = x.round();
    let f = Double::from(x - n)
        * Double {
            hi: LN_2[0],
            lo: LN_2[1],
        };
    (factorial_series(f, 0, 1, false), n as i32)
}

pub(super) fn log_pair(x: f64) -> Double {
    let (mut m, mut e) = if x < f64::MIN_POSITIVE {
        (x * 2f64.powi(54), -54)
    } else {
        (x, 0)
    };
    let shift = ((m.to_bits() >> 52) as i32) - 1023;
    m = f64::from_bits((m.to_bits() & ((1 << 52) - 1)) | 1f64.to_bits());
    e += shift;
    if m > std::f64::consts::SQRT_2 {
        (m, e) = (m / 2.0, e + 1);
    }
    let t = (Double::from(m) - Double::from(1.0)) / (Double::from(m) + Double::from(1.0));
    let z = t * t;
    let mut sum = Double::from(0.0);
    let mut k = 61;
    while k > 0 {
        sum = sum * z + Double::from(1.0) / Double::from(f64::from(k));
        k -= 2;
    }
    let e = f64::from(e);
    let log_2 = Double::from(e) * Double::from(LN_2[0]) + Double::from(e * LN_2[1]);
    log_2 + Double::from(2.0) * t * sum
}

pub(super) fn log(x: f64) -> (Double, i32) {
    (log_pair(x), 0)
}

pub(super) fn sin(x: f64) -> (Double, i32) {
    let n = (x / PI[0]).round();
    let sine = factorial_series(reduce(x, n, &PI), 1, 2, true);
    (if n % 2.0 == 0.0 { sine } else { -sine }, 0)
}

pub(super) fn cos(x: f64) -> (Double, i32) {
    // A half-integral multiple of π, so that zeros of the cosine are zeros of the series.
    let k = (x / PI[0] + 0.5).round();
    let sine = factorial_series(reduce(x, k - 0.5, &PI), 1, 2, true);
    (if k % 2.0 == 0.0 { sine } else { -sine }, 0)
}

pub(super) fn tanh(x: f64) -> (Double, i32) {
    if x.abs() < 0.5 {
        let x = Double::from(x);
        return (
            factorial_series(x, 1, 2, false) / factorial_series(x, 0, 2, false),
            0,
        );
    }
    let (m, n) = exp(2.0 * x.abs().min(50.0));
    let grown = scaled(m, n) + Double::from(1.0);
    let tanh = Double::from(1.0) - Double::from(2.0) / grown;
    (if x < 0.0 { -tanh } else { tanh }, 0)
}

pub(super) fn rsqrt(x: f64) -> (Double, i32) {
    // One Newton step on 1/√x in pairs doubles the accuracy of the first guess.
    let scale = if x < 1e-290 { 512 } else { 0 };
    let x = x * 2f64.powi(scale);
    let y = Double::from(1.0 / x.sqrt());
    let correction = (Double::from(1.0) - Double::from(x) * y * y) * y * Double::from(0.5);
    (y + correction, scale / 2)
}

/// x^y for finite x > 0 whose power is not absurdly far out of range.
pub(super) fn pow(x: f64, y: f64) -> (Double, i32) {
    exp_parts(log_pair(x) * Double::from(y))
}

fn small_exp_m1(x: Double) -> Double {
    factorial_series(x, 1, 1, false)
}

/// A number as a double and a power of two, evaluated.
pub(super) fn value((m, n): (Double, i32)) -> f64 {
    scaled(m, n).hi
}

pub(super) fn expm1(x: f64) -> (Double, i32) {
    if x.abs() < 0.5 {
        return (small_exp_m1(Double::from(x)), 0);
    }
    if x > 100.0 {
        return exp(x);
    }
    let (m, n) = exp(x.max(-100.0));
    (scaled(m, n) - Double::from(1.0), 0)
}

pub(super) fn log1p(x: f64) -> (Double, i32) {
    let u = Double::from(1.0) + Double::from(x);
    let c = Double::from(u.lo) / Double::from(u.hi);
    let small = c - c * c * Double::from(0.5) + c * c * c / Double::from(3.0);
    (log_pair(u.hi) + small, 0)
}

pub(super) fn log2(x: f64) -> (Double, i32) {
    let ln_2 = Double {
        hi: LN_2[0],
        lo: LN_2[1],
    };
    (log_pair(x) / ln_2, 0)
}

pub(super) fn tan(x: f64) -> (Double, i32) {
    (sin(x).0 / cos(x).0, 0)
}

fn sqrt_pair(x: Double) -> Double {
    let y = Double::from(x.hi.sqrt());
    if y.hi == 0.0 {
        return y;
    }
    y + (x - y * y) / (Double::from(2.0) * y)
}

/// asin x for |x| ≤ 0.71, by a Newton step from `std`.
fn small_asin(x: Double) -> Double {
    let y = Double::from(x.hi.asin());
    let sine = factorial_series(y, 1, 2, true);
    y + (x - sine) / Double::from(y.hi.cos())
}

const HALF_PI: Double = Double {
    hi: PI[0] / 2.0,
    lo: PI[1] / 2.0,
};

pub(super) fn asin(x: f64) -> (Double, i32) {
    let size = Double::from(x.abs());
    let asin = if x.abs() <= 0.7 {
        small_asin(size)
    } else {
        let half = (Double::from(1.0) - size) * Double::from(0.5);
        HALF_PI - Double::from(2.0) * small_asin(sqrt_pair(half))
    };
    (if x < 0.0 { -asin } else { asin }, 0)
}

pub(super) fn acos(x: f64) -> (Double, i32) {
    if x > 0.7 {
        let half = (Double::from(1.0) - Double::from(x)) * Double::from(0.5);
        return (Double::from(2.0) * small_asin(sqrt_pair(half)), 0);
    }
    (HALF_PI - asin(x).0, 0)
}

/// For |x| and |y| far from the limits of the exponent range.
pub(super) fn atan2(y: f64, x: f64) -> (Double, i32) {
    // The angle between the point and the direction that `std` found.
    let angle = y.atan2(x);
    let (s, c) = (sin(angle).0, cos(angle).0);
    let (x, y) = (Double::from(x), Double::from(y));
    let left = (y * c - x * s) / (x * c + y * s);
    (Double::from(angle) + left, 0)
}

pub(super) fn sinh(x: f64) -> (Double, i32) {
    if x.abs() < 1.0 {
        return (factorial_series(Double::from(x), 1, 2, false), 0);
    }
    let (m, n) = exp(x.abs());
    let sinh = m - scaled(Double::from(1.0) / m, (-2 * n).max(-1000));
    (if x < 0.0 { -sinh } else { sinh }, n - 1)
}

pub(super) fn cosh(x: f64) -> (Double, i32) {
    let (m, n) = exp(x.abs());
    (
        m + scaled(Double::from(1.0) / m, (-2 * n).max(-1000)),
        n - 1,
    )
}

/// 2/√π
const TWO_OVER_SQRT_PI: Double = Double {
    hi: std::f64::consts::FRAC_2_SQRT_PI,
    lo: 1.533_545_961_316_588e-17,
};

/// e^−x² with its exponent apart.
fn gauss(x: f64) -> (Double, i32) {
    exp_parts(-(Double::from(x) * Double::from(x)))
}

pub(super) fn erf(x: f64) -> (Double, i32) {
    if x.abs() > 3.0 {
        let rest = erfc(x.abs());
        let erf = Double::from(1.0) - scaled(rest.0, rest.1.max(-900));
        return (if x < 0.0 { -erf } else { erf }, 0);
    }
    // e^−x²·Σ 2ᵏ·x^(2k+1)/(2k+1)!!: all terms have one sign.
    let square = Double::from(x) * Double::from(x);
    let mut term = Double::from(x);
    let mut sum = term;
    for k in 1..160 {
        term = term * square * Double::from(2.0) / Double::from(f64::from(2 * k + 1));
        sum = sum + term;
    }
    let (m, n) = gauss(x);
    (sum * TWO_OVER_SQRT_PI * m, n)
}

pub(super) fn erfc(x: f64) -> (Double, i32) {
    if x < 3.0 {
        let rest = erf(x);
        return (Double::from(1.0) - scaled(rest.0, rest.1.max(-900)), 0);
    }
    // The continued fraction x + (1/2)/(x + 1/(x + (3/2)/(x + …))), from its end.
    let mut fraction = Double::from(x);
    for k in (1..300).rev() {
        fraction = Double::from(x) + Double::from(f64::from(k) / 2.0) / fraction;
    }
    let (m, n) = gauss(x);
    (TWO_OVER_SQRT_PI * Double::from(0.5) * m / fraction, n)
}

#[test]
fn the_reference_agrees_with_std() {
    let close = |(m, n): (Double, i32), expected: f64| {
        let found = scaled(m, n).hi;
        assert!(
            (found - expected).abs() <= 5e-16 * expected.abs(),
            "{found} is not {expected}"
        );
    };
    for k in 1..2000 {
        let x = f64::from(k) * 0.037;
        close(exp(x), x.exp());
        close(exp(-x), (-x).exp());
        close(exp2(-x), (-x).exp2());
        close(log(x), x.ln());
        close(sin(x * 1e3), (x * 1e3).sin());
        close(cos(x * 1e3), (x * 1e3).cos());
        close(tanh(x * 0.1), (x * 0.1).tanh());
        close(rsqrt(x), 1.0 / x.sqrt());
        close(pow(x, 7.3), x.powf(7.3));
        for x in [x, -x] {
            close(expm1(x * 0.1), (x * 0.1).exp_m1());
            close(tan(x), x.tan());
            close(sinh(x), x.sinh());
            close(cosh(x), x.cosh());
            close(atan2(x, 3.0), x.atan2(3.0));
            close(asin(x / 75.0), (x / 75.0).asin());
            close(acos(x / 75.0), (x / 75.0).acos());
        }
        close(log1p(x), x.ln_1p());
        close(log1p(-x / 75.0), (-x / 75.0).ln_1p());
        close(log2(x), x.log2());
    }
    // Values of erf and erfc to 20 digits (Abramowitz and Stegun's definition, computed with 50 digits).
    for (x, erf_x, erfc_x) in [
        (0.1, 0.112_462_916_018_284_9, 0.887_537_083_981_715),
        (0.5, 0.520_499_877_813_046_5, 0.479_500_122_186_953_5),
        (1.0, 0.842_700_792_949_714_9, 0.157_299_207_050_285_13),
        (2.0, 0.995_322_265_018_952_7, 0.004_677_734_981_047_266),
        (3.5, 0.999_999_256_901_627_7, 7.430_983_723_414_128e-7),
        (10.0, 1.0, 2.088_487_583_762_545e-45),
    ] {
        close(erf(x), erf_x);
        close(erfc(x), erfc_x);
        close(erf(-x), -erf_x);
        close(erfc(-x), 1.0 + erf_x);
    }
}
