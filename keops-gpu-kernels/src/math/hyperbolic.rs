//! Hyperbolic sine and cosine.
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// e^|a|/2, finite as far as sinh and cosh are.
#[inline(always)]
fn half_exp<S: Isa>(s: S, a: S::F) -> S::F {
    let high = if S::T::IS_F64 { 711.0 } else { 90.0 };
    let size = s.pick_min(s.lit(high), s.abs(a));
    let (n, r) = super::exp::reduce(s, size);
    s.scale(super::exp::polynomial(s, r), s.sub(n, s.lit(1.0)))
}

/// sinh a: odd, ±inf at ±inf and beyond the range.
///
/// |a| < 1: a + a·z·P(z), z = a², P minimax fits (relative error 3.2e-10 with 4 terms, 1.3e-17 with 7). Elsewhere h − 1/(4h)
/// with h = e^|a|/2.
#[inline(always)]
pub fn sinh<S: Isa>(s: S, a: S::F) -> S::F {
    let size = s.abs(a);
    let z = s.mul(a, a);
    let p = if S::T::IS_F64 {
        horner!(
            s,
            z,
            0.166_666_666_666_666_69,
            0.008_333_333_333_333_175,
            0.000_198_412_698_414_174_5,
            2.755_731_916_067_908e-6,
            2.505_212_266_435_603_2e-8,
            1.605_729_094_335_205_4e-10,
            7.757_929_946_351_859e-13
        )
    } else {
        horner!(
            s,
            z,
            0.166_666_671_633_720_4,
            0.008_333_311_416_208_744,
            0.000_198_426_350_834_779_44,
            2.783_926_447_591_511_5e-6
        )
    };
    let small = s.fma(s.mul(size, z), p, size);
    let h = half_exp(s, a);
    let large = s.sub(h, s.div(s.lit(0.25), h));
    s.xor_sign(s.select(s.lt(size, s.lit(1.0)), small, large), a)
}

/// cosh a: even, +inf at ±inf and beyond the range, exactly 1 at 0: h + 1/(4h) with h = e^|a|/2.
#[inline(always)]
pub fn cosh<S: Isa>(s: S, a: S::F) -> S::F {
    let h = half_exp(s, a);
    s.add(h, s.div(s.lit(0.25), h))
}
