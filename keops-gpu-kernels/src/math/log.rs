//! Natural logarithm.
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// (e, m) with a = m·2^e and m in [√½, √2), for positive finite a, subnormal ones included.
#[inline(always)]
pub(super) fn split<S: Isa>(s: S, a: S::F) -> (S::F, S::F) {
    let (shift, power) = if S::T::IS_F64 {
        (54.0, 18_014_398_509_481_984.0)
    } else {
        (24.0, 16_777_216.0)
    };
    let small = s.lt(a, s.lit(S::T::MIN_POSITIVE));
    let a = s.select(small, s.mul(a, s.lit(power)), a);
    let e = s.sub(s.exponent(a), s.select(small, s.lit(shift), s.lit(0.0)));
    let m = s.significand(a);
    let large = s.lt(s.lit(1.414_213_562_373_095_1), m);
    let e = s.add(e, s.select(large, s.lit(1.0), s.lit(0.0)));
    (e, s.select(large, s.mul(m, s.lit(0.5)), m))
}

/// Natural logarithm: −inf at ±0, NaN below 0, +inf at +inf.
///
/// With f = m − 1 and t = f/(2 + f): log m = 2t + t·z·R(z), z = t², rearranged as f − (f²/2 − t·(f²/2 + z·R)), so that
/// its leading term is exact. R: minimax fits on m in [√½, √2) (relative error 2.5e-11 with 4 terms, 1.7e-18 with 7).
#[inline(always)]
pub fn log<S: Isa>(s: S, a: S::F) -> S::F {
    let (e, m) = split(s, a);
    let f = s.sub(m, s.lit(1.0));
    let t = s.div(f, s.add(f, s.lit(2.0)));
    let z = s.mul(t, t);
    let r = if S::T::IS_F64 {
        horner!(
            s,
            z,
            0.666_666_666_666_673_4,
            0.399_999_999_994_166_47,
            0.285_714_287_420_283_54,
            0.222_221_986_048_069_86,
            0.181_835_628_058_999_17,
            0.153_140_890_216_261_5,
            0.147_955_590_172_859_86
        )
    } else {
        horner!(
            s,
            z,
            0.666_666_626_930_236_8,
            0.400_009_721_517_562_87,
            0.284_987_896_680_831_9,
            0.242_789_417_505_264_28
        )
    };
    let half_square = s.mul(s.mul(f, s.lit(0.5)), f);
    // ln 2 in two parts; the upper one has trailing zeros, so that e times it is exact.
    let (upper, lower) = if S::T::IS_F64 {
        (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10)
    } else {
        (6.931_381_225_585_938e-1, 9.058_000_614_459_3e-6)
    };
    let tail = s.fma(t, s.fma(z, r, half_square), s.mul(e, s.lit(lower)));
    let log = s.fma(e, s.lit(upper), s.sub(f, s.sub(half_square, tail)));

    with_specials(s, a, log)
}

/// `log` where a is positive and finite, elsewhere a logarithm's special values.
#[inline(always)]
pub(super) fn with_specials<S: Isa>(s: S, a: S::F, log: S::F) -> S::F {
    let positive = s.lt(s.lit(0.0), a);
    let infinite = s.eq(a, s.lit(f64::INFINITY));
    let special = s.select(
        s.eq(a, s.lit(0.0)),
        s.lit(f64::NEG_INFINITY),
        s.lit(f64::NAN),
    );
    s.select(positive, s.select(infinite, a, log), special)
}

/// log(1 + a) without cancellation: −inf at −1, NaN below, ±0 at ±0, +inf at +inf.
///
/// With u = 1 + a rounded and c what it lost: log u + c/u.
#[inline(always)]
pub fn log1p<S: Isa>(s: S, a: S::F) -> S::F {
    let (u, c) = super::double::two_sum(s, s.lit(1.0), a);
    let inside = s.and(s.lt(s.lit(0.0), u), s.lt(u, s.lit(f64::INFINITY)));
    let correction = s.select(inside, s.div(c, u), s.lit(0.0));
    let result = s.add(log(s, u), correction);
    // log 1 + 0 would lose the sign of −0.
    s.select(s.eq(a, s.lit(0.0)), a, result)
}
