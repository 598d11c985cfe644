//! Plain Rust, one lane, no fused multiply-add and nothing from a maths library: the level for every other machine,
//! and the arithmetic of what is computed once per run.
use std::marker::PhantomData;

use keops_gpu_kernels::isa::Isa;

use super::called::{functions, with_functions};
use super::{Memory, scale_in_two};

/// One lane of `T`. Exists on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<T>(PhantomData<T>);

impl<T> Scalar<T> {
    /// The token.
    #[inline(always)]
    pub const fn new() -> Self {
        Scalar(PhantomData)
    }

    /// The token; always there. For symmetry with the other sets.
    #[inline(always)]
    pub const fn detect() -> Option<Self> {
        Some(Self::new())
    }
}

impl<T> Default for Scalar<T> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! scalar {
    ($t:ty, $bits:ty, fraction $fraction:literal, bias $bias:literal, integers from $integers:literal) => {
        impl Isa for Scalar<$t> {
            type T = $t;
            type F = $t;
            type M = bool;
            const LANES: usize = 1;
            const FMA: bool = false;
            const SCALEF: bool = false;
            const NATIVE: bool = false;

            #[inline(always)]
            fn splat(self, x: $t) -> $t {
                x
            }
            #[inline(always)]
            fn add(self, a: $t, b: $t) -> $t {
                a + b
            }
            #[inline(always)]
            fn sub(self, a: $t, b: $t) -> $t {
                a - b
            }
            #[inline(always)]
            fn mul(self, a: $t, b: $t) -> $t {
                a * b
            }
            #[inline(always)]
            fn div(self, a: $t, b: $t) -> $t {
                a / b
            }
            #[inline(always)]
            fn fma(self, a: $t, b: $t, c: $t) -> $t {
                a * b + c
            }
            #[inline(always)]
            fn fnma(self, a: $t, b: $t, c: $t) -> $t {
                c - a * b
            }
            #[inline(always)]
            fn neg(self, a: $t) -> $t {
                -a
            }
            #[inline(always)]
            fn abs(self, a: $t) -> $t {
                a.abs()
            }
            #[inline(always)]
            fn xor_sign(self, a: $t, b: $t) -> $t {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                <$t>::from_bits(a.to_bits() ^ (b.to_bits() & SIGN))
            }
            #[inline(always)]
            fn sqrt(self, a: $t) -> $t {
                a.sqrt()
            }
            #[inline(always)]
            fn pick_min(self, a: $t, b: $t) -> $t {
                if a < b { a } else { b }
            }
            #[inline(always)]
            fn pick_max(self, a: $t, b: $t) -> $t {
                if a > b { a } else { b }
            }
            /// Adding and subtracting 2^(fraction bits) rounds magnitudes below it; the rest is integral, infinite or
            /// NaN already. (`round_ties_even` may call a maths library.)
            #[inline(always)]
            fn rint(self, a: $t) -> $t {
                let size = a.abs();
                if size < $integers {
                    ((size + $integers) - $integers).copysign(a)
                } else {
                    a
                }
            }
            #[inline(always)]
            fn lt(self, a: $t, b: $t) -> bool {
                a < b
            }
            #[inline(always)]
            fn le(self, a: $t, b: $t) -> bool {
                a <= b
            }
            #[inline(always)]
            fn eq(self, a: $t, b: $t) -> bool {
                a == b
            }
            #[inline(always)]
            fn index_eq(self, a: $t, b: $t) -> bool {
                a.to_bits() == b.to_bits()
            }
            #[inline(always)]
            fn index_lt(self, a: $t, b: $t) -> bool {
                a.to_bits() < b.to_bits()
            }
            #[inline(always)]
            fn index_low(self, a: $t) -> $t {
                (a.to_bits() & 0xffff) as $t
            }
            #[inline(always)]
            fn index_high(self, a: $t) -> $t {
                (a.to_bits() >> 16) as $t
            }
            #[inline(always)]
            fn and(self, a: bool, b: bool) -> bool {
                a & b
            }
            #[inline(always)]
            fn or(self, a: bool, b: bool) -> bool {
                a | b
            }
            #[inline(always)]
            fn not(self, a: bool) -> bool {
                !a
            }
            #[inline(always)]
            fn select(self, m: bool, a: $t, b: $t) -> $t {
                if m { a } else { b }
            }
            #[inline(always)]
            fn any(self, m: bool) -> bool {
                m
            }
            #[inline(always)]
            fn add_exponent(self, p: $t, m: $t) -> $t {
                <$t>::from_bits(p.to_bits().wrapping_add(m.to_bits() << $fraction))
            }
            #[inline(always)]
            fn scale(self, p: $t, n: $t) -> $t {
                scale_in_two(self, p, n)
            }
            #[inline(always)]
            fn exponent(self, a: $t) -> $t {
                (a.to_bits() >> $fraction) as i32 as $t - $bias
            }
            #[inline(always)]
            fn significand(self, a: $t) -> $t {
                const FRACTION: $bits = (1 << $fraction) - 1;
                <$t>::from_bits((a.to_bits() & FRACTION) | (1.0 as $t).to_bits())
            }
        }

        impl Memory for Scalar<$t> {
            #[inline(always)]
            unsafe fn load(self, p: *const $t) -> $t {
                // SAFETY: the caller vouches for one readable value.
                unsafe { *p }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t, v: $t) {
                // SAFETY: the caller vouches for one writable value.
                unsafe { *p = v }
            }
        }
    };
}

scalar!(f32, u32, fraction 23, bias 127.0, integers from 8_388_608.0);
scalar!(f64, u64, fraction 52, bias 1023.0, integers from 4_503_599_627_370_496.0);

with_functions!(functions(Scalar<f32>, f32, Scalar::<f32>::new(), must_use));
with_functions!(functions(Scalar<f64>, f64, Scalar::<f64>::new(), must_use));
