//! Sine and cosine.
use super::double::two_product;
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// 1/π
const FRAC_1_PI: f64 = 0.318_309_886_183_790_7;

/// sin r for |r| ≤ 1.58, where r = hi + lo: minimax fits (relative error 6.7e-9 to r⁹, 7.8e-19 to r¹⁷).
#[inline(always)]
fn sine<S: Isa>(s: S, hi: S::F) -> S::F {
    let z = s.mul(hi, hi);
    let p = if S::T::IS_F64 {
        horner!(
            s,
            z,
            -0.166_666_666_666_666_66,
            0.008_333_333_333_333_203,
            -0.000_198_412_698_412_105_1,
            2.755_731_921_115_343_2e-6,
            -2.505_210_686_133_500_5e-8,
            1.605_893_865_309_021_8e-10,
            -7.642_954_412_633_552e-13,
            2.720_699_453_038_557_2e-15
        )
    } else {
        horner!(
            s,
            z,
            -0.166_666_597_127_914_43,
            0.008_333_066_478_371_62,
            -0.000_198_094_407_096_505_17,
            2.605_140_480_227_419e-6
        )
    };
    s.fma(s.mul(hi, z), p, hi)
}

/// a − n·π, rounded once, for n an integer or half an odd one with n·(upper part of π) near a.
#[inline(always)]
fn subtract_pi<S: Isa>(s: S, a: S::F, n: S::F) -> S::F {
    // π in three parts of full precision.
    let (one, two, three) = if S::T::IS_F64 {
        (
            3.141_592_653_589_793,
            1.224_646_799_147_353_2e-16,
            -2.994_769_809_718_339_7e-33,
        )
    } else {
        (
            3.141_592_741_012_573_2,
            -8.742_277_657_347_586e-8,
            -3.430_249_020_011_763_7e-15,
        )
    };
    // The first difference is exact: n·one is near a, and both are multiples of a small enough unit.
    let (product, error) = two_product(s, n, s.lit(one));
    let first = s.sub(s.sub(a, product), error);
    let (product, error) = two_product(s, n, s.lit(two));
    let second = s.sub(first, product);
    let rest = s.sub(s.sub(s.sub(first, second), product), error);
    s.add(second, s.fnma(n, s.lit(three), rest))
}

/// The sine of r with its sign flipped where the integer n is odd.
#[inline(always)]
fn signed_sine<S: Isa>(s: S, r: S::F, n: S::F) -> S::F {
    let odd = s.abs(s.fnma(s.rint(s.mul(n, s.lit(0.5))), s.lit(2.0), n));
    s.xor_sign(sine(s, r), s.sub(s.lit(0.5), odd))
}

/// sin a, a in radians.
#[inline(always)]
pub fn sin<S: Isa>(s: S, a: S::F) -> S::F {
    let n = s.rint(s.mul(a, s.lit(FRAC_1_PI)));
    signed_sine(s, subtract_pi(s, a, n), n)
}

/// cos a, a in radians.
#[inline(always)]
pub fn cos<S: Isa>(s: S, a: S::F) -> S::F {
    // cos a = sin(a + π/2) = ± sin(a − (k − 1/2)·π), + for even k.
    let k = s.rint(s.fma(a, s.lit(FRAC_1_PI), s.lit(0.5)));
    signed_sine(s, subtract_pi(s, a, s.sub(k, s.lit(0.5))), k)
}
