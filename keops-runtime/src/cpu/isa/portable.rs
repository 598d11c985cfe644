//! A model of any instruction set, for tests: N lanes in an array, with or without fused multiply-add and scaling.
//!
//! With `SCALEF` and `FMA` it follows AVX-512's rules operation by operation, so that code for 16 lanes is tested on
//! machines without them. It is slow: kernels never run on it.
use std::marker::PhantomData;

use keops_gpu_kernels::isa::Isa;

use super::scalar::Scalar;
use super::{Memory, ROOTS_F32, ROOTS_F64, scale_in_two};

/// N lanes of `T`. Exists on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Portable<T, const N: usize, const SCALEF: bool, const FMA: bool>(PhantomData<T>);

impl<T, const N: usize, const SCALEF: bool, const FMA: bool> Portable<T, N, SCALEF, FMA> {
    /// The token.
    #[inline(always)]
    pub const fn new() -> Self {
        Portable(PhantomData)
    }
}

impl<T, const N: usize, const SCALEF: bool, const FMA: bool> Default
    for Portable<T, N, SCALEF, FMA>
{
    fn default() -> Self {
        Self::new()
    }
}

/// Lane by lane, from the scalar instruction set.
macro_rules! lanes {
    ($t:ty; $($op:ident($a:ident $(, $b:ident)?);)*) => {$(
        fn $op(self, $a: [$t; N] $(, $b: [$t; N])?) -> [$t; N] {
            std::array::from_fn(|lane| Scalar::<$t>::new().$op($a[lane] $(, $b[lane])?))
        }
    )*};
}

macro_rules! lane_tests {
    ($t:ty; $($op:ident;)*) => {$(
        fn $op(self, a: [$t; N], b: [$t; N]) -> [bool; N] {
            std::array::from_fn(|lane| Scalar::<$t>::new().$op(a[lane], b[lane]))
        }
    )*};
}

macro_rules! portable {
    ($t:ty, $bits:ty, $roots:ident) => {
        impl<const N: usize, const SCALEF: bool, const FMA: bool> Isa for Portable<$t, N, SCALEF, FMA> {
            type T = $t;
            type F = [$t; N];
            type M = [bool; N];
            const LANES: usize = N;
            const FMA: bool = FMA;
            const SCALEF: bool = SCALEF;
            const NATIVE: bool = false;

            fn splat(self, x: $t) -> [$t; N] {
                [x; N]
            }
            lanes! { $t;
                add(a, b); sub(a, b); mul(a, b); div(a, b); neg(a); abs(a); xor_sign(a, b); sqrt(a);
                pick_min(a, b); pick_max(a, b); rint(a); add_exponent(p, m); exponent(a); significand(a);
                index_low(a); index_high(a);
            }
            lane_tests! { $t; lt; le; eq; index_eq; index_lt; }
            fn fma(self, mut a: [$t; N], b: [$t; N], c: [$t; N]) -> [$t; N] {
                for (lane, value) in a.iter_mut().enumerate() {
                    *value = if FMA { value.mul_add(b[lane], c[lane]) } else { *value * b[lane] + c[lane] };
                }
                a
            }
            fn fnma(self, mut a: [$t; N], b: [$t; N], c: [$t; N]) -> [$t; N] {
                for (lane, value) in a.iter_mut().enumerate() {
                    *value = if FMA { (-*value).mul_add(b[lane], c[lane]) } else { c[lane] - *value * b[lane] };
                }
                a
            }
            fn and(self, a: [bool; N], b: [bool; N]) -> [bool; N] {
                std::array::from_fn(|lane| a[lane] & b[lane])
            }
            fn or(self, a: [bool; N], b: [bool; N]) -> [bool; N] {
                std::array::from_fn(|lane| a[lane] | b[lane])
            }
            fn not(self, a: [bool; N]) -> [bool; N] {
                a.map(|m| !m)
            }
            fn select(self, m: [bool; N], a: [$t; N], b: [$t; N]) -> [$t; N] {
                std::array::from_fn(|lane| if m[lane] { a[lane] } else { b[lane] })
            }
            fn any(self, m: [bool; N]) -> bool {
                m.contains(&true)
            }
            fn scale_normal(self, p: [$t; N], n: [$t; N]) -> [$t; N] {
                let mut scaled = self.scale(p, n);
                for (lane, value) in scaled.iter_mut().enumerate() {
                    if SCALEF && n[lane] < (<$t>::MIN_EXP - 1) as $t {
                        *value = 0.0;
                    }
                }
                scaled
            }
            fn root(self, m: [$t; N]) -> [$t; N] {
                if !SCALEF {
                    return keops_gpu_kernels::math::root(self, m);
                }
                m.map(|m| $roots[(m.to_bits() % $roots.len() as $bits) as usize])
            }
            fn scale(self, mut p: [$t; N], n: [$t; N]) -> [$t; N] {
                if !SCALEF {
                    return scale_in_two(self, p, n);
                }
                // The rules of AVX-512's vscalef: an infinite exponent decides even beside a quiet NaN.
                for (lane, value) in p.iter_mut().enumerate() {
                    let by = n[lane];
                    *value = if by.is_nan() {
                        if value.is_nan() { *value } else { by }
                    } else if value.is_nan() {
                        if by == <$t>::INFINITY {
                            <$t>::INFINITY
                        } else if by == <$t>::NEG_INFINITY {
                            0.0
                        } else {
                            *value
                        }
                    } else if *value == 0.0 && by == <$t>::INFINITY || value.is_infinite() && by == <$t>::NEG_INFINITY {
                        <$t>::NAN
                    } else {
                        // At most three steps lead from any number to any other. The odd-sized one comes first, so that
                        // only the last product can be subnormal and round.
                        let limit = (<$t>::MAX_EXP - 2) as $t;
                        let mut rest = by.floor().clamp(-3.0 * limit, 3.0 * limit);
                        let mut step = rest % limit;
                        let mut out = *value;
                        while rest != 0.0 {
                            out *= (step as f64).exp2() as $t;
                            rest -= step;
                            step = limit.copysign(rest);
                        }
                        out
                    };
                }
                p
            }
        }

        impl<const N: usize, const SCALEF: bool, const FMA: bool> Memory for Portable<$t, N, SCALEF, FMA> {
            unsafe fn load(self, p: *const $t) -> [$t; N] {
                // SAFETY: the caller vouches for N readable values.
                unsafe { p.cast::<[$t; N]>().read() }
            }
            unsafe fn store(self, p: *mut $t, v: [$t; N]) {
                // SAFETY: the caller vouches for N writable values.
                unsafe { p.cast::<[$t; N]>().write(v) }
            }
        }
    };
}

portable!(f32, u32, ROOTS_F32);
portable!(f64, u64, ROOTS_F64);
