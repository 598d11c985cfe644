//! Powers with a real exponent.
use super::double::{add_pairs, fast_two_sum, mul_pairs, two_product};
use super::log::split;
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// log2 a as a pair, for positive finite a.
///
/// With t = (m − 1)/(m + 1) as a pair: log2 m = (2/ln 2)·t·(1 + z·(1/3 + z·(1/5 + …))), z = t². The terms that matter
/// beyond single precision are pairs: 1/3 at f32, 1/3 and 1/5 at f64; the others are minimax fits on m in [√½, √2).
#[inline(always)]
fn log2_pair<S: Isa>(s: S, a: S::F) -> (S::F, S::F) {
    let (e, m) = split(s, a);
    let f = s.sub(m, s.lit(1.0));
    let g = s.add(m, s.lit(1.0));
    let g_error = s.sub(m, s.sub(g, s.lit(1.0)));
    let t_hi = s.div(f, g);
    let (product, error) = two_product(s, t_hi, g);
    let rest = s.fnma(t_hi, g_error, s.sub(s.sub(f, product), error));
    let t = (t_hi, s.div(rest, g));
    let z = mul_pairs(s, t, t);
    let z_hi = z.0;
    let third = if S::T::IS_F64 {
        let tail = horner!(
            s,
            z_hi,
            0.142_857_142_857_142_6,
            0.111_111_111_111_264_4,
            0.090_909_090_872_249_92,
            0.076_923_081_665_826_25,
            0.066_666_305_223_037_58,
            0.058_840_346_975_167_795,
            0.052_163_270_111_527_35,
            0.054_733_683_468_718_72
        );
        let fifth = fast_two_sum(
            s,
            s.lit(0.2),
            s.fma(z_hi, tail, s.lit(-1.110_223_024_625_156_7e-17)),
        );
        let product = mul_pairs(s, z, fifth);
        add_pairs(
            s,
            (
                s.lit(0.333_333_333_333_333_3),
                s.lit(1.850_371_707_708_594e-17),
            ),
            product,
        )
    } else {
        let tail = horner!(
            s,
            z_hi,
            0.199_999_988_079_071_04,
            0.142_859_861_254_692_08,
            0.110_898_651_182_651_52,
            0.097_781_717_777_252_2
        );
        fast_two_sum(
            s,
            s.lit(0.333_333_343_267_440_8),
            s.fma(z_hi, tail, s.lit(-9.934_107_758_624_577e-9)),
        )
    };
    let series = mul_pairs(s, mul_pairs(s, t, z), third);
    let sum = add_pairs(s, t, series);
    let factor = if S::T::IS_F64 {
        (
            s.lit(2.885_390_081_777_926_8),
            s.lit(4.071_054_748_186_206_6e-17),
        )
    } else {
        (
            s.lit(2.885_390_043_258_667),
            s.lit(3.851_926_067_000_022e-8),
        )
    };
    add_pairs(s, (e, s.lit(0.0)), mul_pairs(s, sum, factor))
}

/// 2^f for |f| ≤ 1/2: minimax fits (fpminimax of degree 6 at f32; at f64 that of [`exp2_sum`](super::exp2_sum)).
#[inline(always)]
pub(super) fn exp2_fraction<S: Isa>(s: S, f: S::F) -> S::F {
    if S::T::IS_F64 {
        super::exp::exp2_fraction(s, f, 1.0)
    } else {
        horner!(
            s,
            f,
            1.0,
            0.693_147_182_464_599_6,
            0.240_226_447_582_244_87,
            5.550_358_071_923_256e-2,
            9.618_826_210_498_81e-3,
            1.339_168_287_813_663_5e-3,
            1.524_498_657_090_594e-4
        )
    }
}

/// 2^(hi + lo) for |hi| within the range of `scale`.
#[inline(always)]
fn exp2_pair<S: Isa>(s: S, hi: S::F, lo: S::F) -> S::F {
    let n = s.rint(hi);
    let (f, rest) = fast_two_sum(s, s.sub(hi, n), lo);
    let p = exp2_fraction(s, f);
    s.scale(s.fma(p, s.mul(rest, s.lit(0.693_147_180_559_945_3)), p), n)
}

/// log2 a: exact at powers of two, −inf at ±0, NaN below 0, +inf at +inf.
#[inline(always)]
pub fn log2<S: Isa>(s: S, a: S::F) -> S::F {
    let log = log2_pair(s, a).0;
    super::log::with_specials(s, a, log)
}

/// aᵇ with the special values of C99's `pow`: 1 for b = 0 or a = 1 whatever the other is; NaN for finite a < 0 and b
/// not an integer; the sign of a where b is an odd integer.
#[inline(always)]
pub fn powf<S: Isa>(s: S, a: S::F, b: S::F) -> S::F {
    let (zero, one, infinity) = (s.lit(0.0), s.lit(1.0), s.lit(f64::INFINITY));
    let size = s.abs(a);
    let (log_hi, log_lo) = log2_pair(s, size);
    let log_hi = s.select(s.eq(size, zero), s.lit(f64::NEG_INFINITY), log_hi);
    let log_hi = s.select(s.lt(size, infinity), log_hi, size);

    // Beyond the limit the power is 0 or infinite, and the error terms (NaN there, perhaps) do not matter.
    let limit = if S::T::IS_F64 { 1200.0 } else { 200.0 };
    let (product, error) = two_product(s, b, log_hi);
    let error = s.fma(b, log_lo, error);
    let error = s.select(s.lt(s.abs(product), s.lit(limit)), error, zero);
    let product = s.pick_min(s.lit(limit), s.pick_max(s.lit(-limit), product));
    let power = exp2_pair(s, product, error);
    // (−1)^±inf and the NaN of 0 · inf
    let power = s.select(s.eq(size, one), one, power);

    let whole = s.rint(b);
    let integer = s.eq(whole, b);
    let half = s.mul(b, s.lit(0.5));
    let odd = s.and(integer, s.not(s.eq(s.rint(half), half)));
    let power = s.select(odd, s.xor_sign(power, a), power);
    let undefined = s.and(s.and(s.lt(a, zero), s.lt(size, infinity)), s.not(integer));
    let power = s.select(undefined, s.lit(f64::NAN), power);
    s.select(s.or(s.eq(b, zero), s.eq(a, one)), one, power)
}
