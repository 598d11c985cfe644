//! Inverse trigonometric functions.
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// (asin √z − √z)/√z for z ≤ 1/4: minimax fits (relative error of asin 5.8e-9 with 5 terms, 1.9e-17 with 12).
#[inline(always)]
fn arc_sine<S: Isa>(s: S, z: S::F) -> S::F {
    let p = if S::T::IS_F64 {
        horner!(
            s,
            z,
            0.166_666_666_666_664_85,
            0.075_000_000_001_371_2,
            0.044_642_856_964_951_81,
            0.030_381_954_308_437_8,
            0.022_371_859_686_945_574,
            0.017_358_335_272_178_43,
            0.013_897_487_266_927_255,
            0.012_095_561_931_030_35,
            0.006_822_183_926_680_421,
            0.018_779_130_772_481_036,
            -0.015_123_720_599_550_384,
            0.031_202_320_865_272_033
        )
    } else {
        horner!(
            s,
            z,
            0.166_667_237_877_845_76,
            0.074_961_721_897_125_24,
            0.045_380_551_367_998_12,
            0.024_559_684_097_766_876,
            0.041_595_920_920_372_01
        )
    };
    s.mul(z, p)
}

/// z = a² and |a| where |a| ≤ 1/2, else z = (1 − |a|)/2, exactly, and its root: asin |a| = π/2 − 2 asin √z.
#[inline(always)]
fn fold<S: Isa>(s: S, size: S::F) -> (S::M, S::F, S::F) {
    let central = s.le(size, s.lit(0.5));
    let half = s.fnma(size, s.lit(0.5), s.lit(0.5));
    let z = s.select(central, s.mul(size, size), half);
    (central, z, s.select(central, size, s.sqrt(z)))
}

/// π/2 as a pair.
#[inline(always)]
fn quarter_turn<S: Isa>(s: S) -> (S::F, S::F) {
    if S::T::IS_F64 {
        (
            s.lit(1.570_796_326_794_896_6),
            s.lit(6.123_233_995_736_766e-17),
        )
    } else {
        (
            s.lit(1.570_796_370_506_286_6),
            s.lit(-4.371_138_828_673_793e-8),
        )
    }
}

/// asin a: odd, NaN beyond ±1.
#[inline(always)]
pub fn asin<S: Isa>(s: S, a: S::F) -> S::F {
    let (central, z, root) = fold(s, s.abs(a));
    let tail = s.mul(root, arc_sine(s, z));
    let (hi, lo) = quarter_turn(s);
    let twice = s.add(root, root);
    let outer = s.sub(hi, s.sub(twice, s.fnma(tail, s.lit(2.0), lo)));
    s.xor_sign(s.select(central, s.add(root, tail), outer), a)
}

/// acos a: 0 at 1, π at −1, NaN beyond ±1.
#[inline(always)]
pub fn acos<S: Isa>(s: S, a: S::F) -> S::F {
    let (central, z, root) = fold(s, s.abs(a));
    let tail = s.mul(root, arc_sine(s, z));
    let (hi, lo) = quarter_turn(s);
    // With the sign of a: π/2 − asin a.
    let (signed, signed_tail) = (s.xor_sign(root, a), s.xor_sign(tail, a));
    let middle = s.sub(hi, s.sub(signed, s.sub(lo, signed_tail)));
    let near = s.add(root, tail);
    let far = s.sub(hi, s.sub(root, s.sub(lo, tail)));
    let outer = s.select(s.lt(a, s.lit(0.0)), far, near);
    s.select(central, middle, s.add(outer, outer))
}

/// The angle of the point (x, y), in [−π, π], with C99's special values: `atan2(±0, +0)` = ±0, `atan2(±0, −0)` = ±π,
/// ±π/4 and ±3π/4 at infinite points.
///
/// With q the smaller of |x| and |y| over the larger one: q + q·z·P(z), z = q², for q ≤ 1/2; above, π/4 + atan of
/// (small − large)/(small + large). P: minimax fits on q ≤ 1/2 (relative error 3.3e-10 with 6 terms, 9.4e-18 with 12). The
/// multiple of π/4 is added last, as a pair.
#[inline(always)]
pub fn atan2<S: Isa>(s: S, y: S::F, x: S::F) -> S::F {
    let (zero, one) = (s.lit(0.0), s.lit(1.0));
    let (size_x, size_y) = (s.abs(x), s.abs(y));
    let steep = s.lt(size_x, size_y);
    let large = s.select(steep, size_y, size_x);
    let small = s.select(steep, size_x, size_y);
    // Halved where the sum could overflow.
    let factor = s.select(s.lt(one, large), s.lit(0.5), one);
    let (large, small) = (s.mul(large, factor), s.mul(small, factor));
    let infinite = s.eq(small, s.lit(f64::INFINITY));
    let diagonal = s.or(s.lt(s.mul(large, s.lit(0.5)), small), infinite);
    let numerator = s.select(diagonal, s.sub(small, large), small);
    let denominator = s.select(diagonal, s.add(small, large), large);
    let q = s.div(numerator, denominator);
    // 0/0 and inf − inf: the tangent of what is left is 0.
    let undefined = s.or(s.eq(large, zero), infinite);
    let q = s.select(undefined, zero, q);
    let z = s.mul(q, q);
    let p = if S::T::IS_F64 {
        horner!(
            s,
            z,
            -0.333_333_333_333_332_8,
            0.199_999_999_999_607_27,
            -0.142_857_142_804_034_22,
            0.111_111_108_037_748_47,
            -0.090_908_993_139_267,
            0.076_921_156_357_723_1,
            -0.066_641_863_930_135_09,
            0.058_605_689_821_939_44,
            -0.051_311_051_108_005_504,
            0.042_097_230_864_904_42,
            -0.027_776_394_972_002_943,
            0.010_337_118_231_560_23
        )
    } else {
        horner!(
            s,
            z,
            -0.333_333_313_465_118_4,
            0.199_996_948_242_187_5,
            -0.142_753_854_393_959_05,
            0.109_651_409_089_565_28,
            -0.080_659_888_684_749_6,
            0.039_771_977_812_051_77
        )
    };
    let t = s.fma(s.mul(q, z), p, q);
    // The angle is eighths·π/4 + sign·t.
    let eighths = s.select(diagonal, one, zero);
    let sign = one;
    let eighths = s.select(steep, s.sub(s.lit(2.0), eighths), eighths);
    let sign = s.select(steep, s.neg(sign), sign);
    let left = s.lt(s.xor_sign(one, x), zero);
    let eighths = s.select(left, s.sub(s.lit(4.0), eighths), eighths);
    let sign = s.select(left, s.neg(sign), sign);
    let (hi, lo) = if S::T::IS_F64 {
        (0.785_398_163_397_448_3, 3.061_616_997_868_383e-17)
    } else {
        (0.785_398_185_253_143_3, -2.185_569_414_336_896_4e-8)
    };
    let rest = s.fma(eighths, s.lit(lo), s.mul(t, sign));
    let angle = s.fma(eighths, s.lit(hi), rest);
    let known = s.and(s.eq(x, x), s.eq(y, y));
    s.select(known, s.xor_sign(angle, y), s.lit(f64::NAN))
}
