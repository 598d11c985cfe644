//! Sums and products of two values with their rounding errors: what range reduction and powers need beyond one value.
//!
//! Invariant: a pair (hi, lo) stands for hi + lo, with |lo| at most about one unit in the last place of hi. Infinite
//! or NaN arguments give a NaN error term; callers exclude or overwrite those lanes.
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// (a + b rounded, its error), for |a| ≥ |b| or a = 0.
#[inline(always)]
pub(super) fn fast_two_sum<S: Isa>(s: S, a: S::F, b: S::F) -> (S::F, S::F) {
    let sum = s.add(a, b);
    (sum, s.sub(b, s.sub(sum, a)))
}

/// (a + b rounded, its error), whichever is larger.
#[inline(always)]
pub(super) fn two_sum<S: Isa>(s: S, a: S::F, b: S::F) -> (S::F, S::F) {
    let sum = s.add(a, b);
    let t = s.sub(sum, a);
    (sum, s.add(s.sub(a, s.sub(sum, t)), s.sub(b, t)))
}

/// The upper half of a's fraction, by Veltkamp's splitting. Overflows near the largest numbers.
#[inline(always)]
fn upper_half<S: Isa>(s: S, a: S::F) -> S::F {
    // 2^⌈p/2⌉ + 1 for a significand of p bits.
    let t = s.mul(a, s.lit(if S::T::IS_F64 { 134_217_729.0 } else { 4097.0 }));
    s.sub(t, s.sub(t, a))
}

/// (a · b rounded, its error): one fused multiply-add where there is one, Dekker's product elsewhere.
#[inline(always)]
pub(super) fn two_product<S: Isa>(s: S, a: S::F, b: S::F) -> (S::F, S::F) {
    let product = s.mul(a, b);
    if S::FMA {
        return (product, s.fma(a, b, s.neg(product)));
    }
    let (a_hi, b_hi) = (upper_half(s, a), upper_half(s, b));
    let (a_lo, b_lo) = (s.sub(a, a_hi), s.sub(b, b_hi));
    let t = s.sub(s.mul(a_hi, b_hi), product);
    let t = s.add(s.add(t, s.mul(a_hi, b_lo)), s.mul(a_lo, b_hi));
    (product, s.add(t, s.mul(a_lo, b_lo)))
}

/// The product of two pairs.
#[inline(always)]
pub(super) fn mul_pairs<S: Isa>(s: S, a: (S::F, S::F), b: (S::F, S::F)) -> (S::F, S::F) {
    let (hi, error) = two_product(s, a.0, b.0);
    let lo = s.add(error, s.fma(a.0, b.1, s.mul(a.1, b.0)));
    fast_two_sum(s, hi, lo)
}

/// The sum of two pairs, for |a| ≥ |b| or a = 0.
#[inline(always)]
pub(super) fn add_pairs<S: Isa>(s: S, a: (S::F, S::F), b: (S::F, S::F)) -> (S::F, S::F) {
    let (hi, error) = fast_two_sum(s, a.0, b.0);
    fast_two_sum(s, hi, s.add(error, s.add(a.1, b.1)))
}
