//! eᵃ − 1 without cancellation.
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// eᵃ − 1: −1 at −inf, +inf at +inf and beyond the range, ±0 at ±0.
///
/// a = n·ln 2 + r and 2ⁿ·((eʳ − 1) + (1 − 2⁻ⁿ)), whose second term is exact. |a| < 1/2 is taken as it is (n = 0), so that
/// n = 1 and −1 do not cancel. eʳ − 1 = r + r²·Q(r), Q minimax fits on |r| ≤ 1/2 (relative error of the whole 6e-9 with 6
/// terms, 4.4e-18 with 12).
#[inline(always)]
pub fn expm1<S: Isa>(s: S, a: S::F) -> S::F {
    // Below the lower limit the result is −1.
    let (low, high) = if S::T::IS_F64 {
        (-50.0, 710.0)
    } else {
        (-25.0, 89.0)
    };
    let clamped = s.pick_min(s.lit(high), s.pick_max(s.lit(low), a));
    let near = s.lt(s.abs(a), s.lit(0.5));
    let (n, r) = super::exp::reduce(s, clamped);
    let (n, r) = (s.select(near, s.lit(0.0), n), s.select(near, a, r));
    let q = if S::T::IS_F64 {
        horner!(
            s,
            r,
            0.5,
            0.166_666_666_666_666_69,
            0.041_666_666_666_667_6,
            0.008_333_333_333_332_532,
            0.001_388_888_888_858_197,
            0.000_198_412_698_426_245_46,
            2.480_158_772_922_339e-5,
            2.755_731_827_084_259_5e-6,
            2.755_703_114_895_440_6e-7,
            2.505_236_439_313_257e-8,
            2.096_959_818_716_731_2e-9,
            1.606_048_654_715_807_6e-10
        )
    } else {
        horner!(
            s,
            r,
            0.500_000_059_604_644_8,
            0.166_666_820_645_332_34,
            0.041_664_954_274_892_81,
            0.008_331_061_340_868_473,
            0.001_400_998_327_881_097_8,
            0.000_206_017_677_555_792_03
        )
    };
    let p = s.fma(s.mul(r, r), q, r);
    let rest = s.sub(s.lit(1.0), s.scale(s.lit(1.0), s.neg(n)));
    let result = s.scale(s.add(p, rest), n);
    // r + r² would lose the sign of −0.
    s.select(s.eq(a, s.lit(0.0)), a, result)
}
