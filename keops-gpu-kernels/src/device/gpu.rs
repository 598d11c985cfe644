//! The tokens [`Gpu32`], [`Fast32`] and [`Gpu64`]: one GPU thread as an instruction set of one lane.
//!
//! Arithmetic is the correctly rounded instructions. At `f32` the exponentials and the reciprocal square root use the special
//! function unit, everything else the shared polynomials of `math`. [`Fast32`] is for items that say `fast_math`: it takes the
//! special function unit's word for division, square root, logarithm, sine and cosine as well.
//!
//! Error bounds at `f32`, from the instructions' bounds in the PTX ISA (`ex2.approx`: 2 ulp of the correctly rounded result,
//! and 1 at 0):
//!
//! | function | default | `fast_math` |
//! |---|---|---|
//! | `div`, `sqrt` | correctly rounded | 2 ulp for denominators from 2⁻¹²⁶ to 2¹²⁶; relative 2⁻²³ |
//! | `exp` | 3.7 ulp | 2.5 ulp and a relative 2⁻²³·\|a\| for the argument; 0 below 2⁻¹²⁶ |
//! | `exp2_sum` | 2.5 ulp down to 2⁻¹²⁶, 0 below | the same |
//! | `rsqrt` | 2.2 ulp | 2.2 ulp; subnormal arguments are 0 |
//! | `log` | 0.83 ulp | absolute 2⁻²² for a in (½, 2), relative 2⁻²¹·⁵ elsewhere; subnormal arguments are 0 |
//! | `sin`, `cos` | 1.6 ulp | absolute 2⁻²⁰·⁵ in [−2π, 2π], 2⁻¹⁴·⁷ in [−100π, 100π], none beyond |
//!
//! The bounds of the left column are those of the largest bias the ISA allows, over all arguments near powers of two.
use super::intrinsics as gpu;
use crate::isa::Isa;
use crate::mini_core::*;
use crate::real::Real;

/// The instruction set of one thread at value type `T`.
pub trait Token<T>: Isa<T = T, F = T, M = bool> {
    /// The token.
    const TOKEN: Self;
}

/// A value type of the device: its shared memory accesses.
pub trait Device: Real {
    /// Bytes of a value.
    const BYTES: u32;
    /// Values in a 16-byte vector.
    const VECTOR: usize;
    /// 0
    const ZERO: Self;
    /// Loads the 16-byte vector at `address` of shared memory into `row[at..]`, as far as `row` goes.
    ///
    /// # Safety
    /// As for [`gpu::load_shared_v4_f32`].
    unsafe fn load_vector<const N: usize>(address: u32, row: &mut [Self; N], at: usize);
    /// Loads a value from shared memory.
    ///
    /// # Safety
    /// As for [`gpu::load_shared_f32`].
    unsafe fn load(address: u32) -> Self;
    /// Stores a value to shared memory.
    ///
    /// # Safety
    /// As for [`gpu::store_shared_f32`].
    unsafe fn store(address: u32, value: Self);
}

macro_rules! device {
    ($float:ident $bytes:literal $vector:literal $load_vector:ident $load:ident $store:ident) => {
        impl Device for $float {
            const BYTES: u32 = $bytes;
            const VECTOR: usize = $vector;
            const ZERO: $float = 0.0;
            #[inline(always)]
            unsafe fn load_vector<const N: usize>(address: u32, row: &mut [$float; N], at: usize) {
                // SAFETY: the caller's promise.
                let vector = unsafe { gpu::$load_vector(address) };
                let mut c = 0;
                while c < $vector {
                    if at + c < N {
                        row[at + c] = vector[c];
                    }
                    c += 1;
                }
            }
            #[inline(always)]
            unsafe fn load(address: u32) -> $float {
                // SAFETY: the caller's promise.
                unsafe { gpu::$load(address) }
            }
            #[inline(always)]
            unsafe fn store(address: u32, value: $float) {
                // SAFETY: the caller's promise.
                unsafe { gpu::$store(address, value) }
            }
        }
    };
}
device! { f32 4 4 load_shared_v4_f32 load_shared_f32 store_shared_f32 }
device! { f64 8 2 load_shared_v2_f64 load_shared_f64 store_shared_f64 }

/// One thread at `f32`.
pub struct Gpu32;
impl_copy!([] Gpu32);
/// One thread at `f32` with approximate functions.
pub struct Fast32;
impl_copy!([] Fast32);
/// One thread at `f64`.
pub struct Gpu64;
impl_copy!([] Gpu64);

/// What all tokens do with the operations of their type.
macro_rules! token {
    ($token:ident $float:ident $bits:ident $exponent_bias:literal $exponent_limit:literal $fraction:literal
     $sign:literal $one:literal $fma:ident $abs:ident $rint:ident { $($own:item)* }) => {
        impl Token<$float> for $token {
            const TOKEN: $token = $token;
        }
        impl Isa for $token {
            type T = $float;
            type F = $float;
            type M = bool;
            const LANES: usize = 1;
            const FMA: bool = true;
            const SCALEF: bool = false;
            const NATIVE: bool = true;
            #[inline(always)]
            fn splat(self, x: $float) -> $float {
                x
            }
            #[inline(always)]
            fn count(self, n: usize) -> usize {
                gpu::anew(n as u32) as usize
            }
            #[inline(always)]
            fn add(self, a: $float, b: $float) -> $float {
                a + b
            }
            #[inline(always)]
            fn sub(self, a: $float, b: $float) -> $float {
                a - b
            }
            #[inline(always)]
            fn mul(self, a: $float, b: $float) -> $float {
                a * b
            }
            #[inline(always)]
            fn fma(self, a: $float, b: $float, c: $float) -> $float {
                gpu::$fma(a, b, c)
            }
            #[inline(always)]
            fn fnma(self, a: $float, b: $float, c: $float) -> $float {
                gpu::$fma(-a, b, c)
            }
            #[inline(always)]
            fn neg(self, a: $float) -> $float {
                -a
            }
            #[inline(always)]
            fn abs(self, a: $float) -> $float {
                gpu::$abs(a)
            }
            #[inline(always)]
            fn xor_sign(self, a: $float, b: $float) -> $float {
                $float::from_bits(a.to_bits() ^ (b.to_bits() & $sign))
            }
            #[inline(always)]
            fn pick_min(self, a: $float, b: $float) -> $float {
                if a < b { a } else { b }
            }
            #[inline(always)]
            fn pick_max(self, a: $float, b: $float) -> $float {
                if a > b { a } else { b }
            }
            #[inline(always)]
            fn rint(self, a: $float) -> $float {
                gpu::$rint(a)
            }
            #[inline(always)]
            fn lt(self, a: $float, b: $float) -> bool {
                a < b
            }
            #[inline(always)]
            fn le(self, a: $float, b: $float) -> bool {
                a <= b
            }
            #[inline(always)]
            fn eq(self, a: $float, b: $float) -> bool {
                a == b
            }
            #[inline(always)]
            fn index_eq(self, a: $float, b: $float) -> bool {
                a.to_index() == b.to_index()
            }
            #[inline(always)]
            fn index_lt(self, a: $float, b: $float) -> bool {
                a.to_index() < b.to_index()
            }
            #[inline(always)]
            fn index_low(self, a: $float) -> $float {
                (a.to_index() & 0xffff) as $float
            }
            #[inline(always)]
            fn index_high(self, a: $float) -> $float {
                (a.to_index() >> 16u32) as $float
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
            fn select(self, m: bool, a: $float, b: $float) -> $float {
                if m { a } else { b }
            }
            #[inline(always)]
            fn any(self, m: bool) -> bool {
                m
            }
            #[inline(always)]
            fn add_exponent(self, p: $float, m: $float) -> $float {
                $float::from_bits(p.to_bits().wrapping_add(m.to_bits() << <$float>::FRACTION_BITS))
            }
            #[inline(always)]
            fn scale(self, p: $float, n: $float) -> $float {
                // Two powers of two, each normal: |n| beyond twice the exponent range overflows or vanishes all the same.
                let n = self.pick_max(self.pick_min(n, $exponent_limit), -$exponent_limit);
                let half = gpu::$rint(n * 0.5);
                let magic = <$float>::of(<$float>::MAGIC);
                let first = self.add_exponent(1.0, half + magic);
                let second = self.add_exponent(1.0, (n - half) + magic);
                p * first * second
            }
            #[inline(always)]
            fn exponent(self, a: $float) -> $float {
                ((a.to_bits() >> <$float>::FRACTION_BITS) as i32 - $exponent_bias) as $float
            }
            #[inline(always)]
            fn significand(self, a: $float) -> $float {
                $float::from_bits((a.to_bits() & $fraction) | $one)
            }
            $($own)*
        }
    };
}

token! { Gpu32 f32 u32 127 252.0 0x7f_ffff 0x8000_0000 0x3f80_0000 fma_f32 abs_f32 rint_f32 {
    #[inline(always)]
    fn div(self, a: f32, b: f32) -> f32 {
        a / b
    }
    #[inline(always)]
    fn sqrt(self, a: f32) -> f32 {
        gpu::sqrt_f32(a)
    }
    #[inline(always)]
    fn least(self, v: f32, acc: f32) -> f32 {
        gpu::min_f32(v, acc)
    }
    #[inline(always)]
    fn greatest(self, v: f32, acc: f32) -> f32 {
        gpu::max_f32(v, acc)
    }
    #[inline(always)]
    fn rsqrt(self, a: f32) -> f32 {
        gpu::rsqrt_approx(a)
    }
    /// 2^n · 2^g with n the integer nearest to a · log2 e and g the rest.
    ///
    /// n is kept within the exponents of normal numbers; below, g takes what is left, and the product underflows gradually.
    /// The rest is made as 1 + g, then 1 is subtracted: it becomes a multiple of 2⁻²⁴ that way, so that next to a power of
    /// two, where an ulp is only half that of the numbers above, `ex2` is asked for 2^0, which is exact, or for a number
    /// below 1, whose ulp is as small. NaN and infinities pass through g.
    #[inline(always)]
    fn exp(self, a: f32) -> f32 {
        const LOG2_E: f32 = 1.442_695_04;
        const LOG2_E_REST: f32 = 1.925_963_033_5e-8;
        const STEPS: f32 = 253.0;
        // (n + 126) / 253, in [0, 1]; then n + 127 in the low bits.
        let x = gpu::fma_saturating(a, LOG2_E / STEPS, 126.0 / STEPS);
        let j = gpu::fma_f32(x, STEPS, 12_582_913.0);
        let rest = gpu::fma_f32(a, LOG2_E, 12_583_040.0 - j);
        let g = gpu::fma_f32(a, LOG2_E_REST, rest) - 1.0;
        gpu::ex2_approx_ftz(g) * f32::from_bits(j.to_bits() << 23)
    }
    #[inline(always)]
    fn exp2_sum(self, a: f32) -> f32 {
        gpu::ex2_approx_ftz(a)
    }
    #[inline(always)]
    fn exp2_sum_nonpositive(self, a: f32, c: f32) -> f32 {
        gpu::ex2_approx_ftz(a * c)
    }
} }

token! { Fast32 f32 u32 127 252.0 0x7f_ffff 0x8000_0000 0x3f80_0000 fma_f32 abs_f32 rint_f32 {
    #[inline(always)]
    fn div(self, a: f32, b: f32) -> f32 {
        gpu::div_approx(a, b)
    }
    #[inline(always)]
    fn sqrt(self, a: f32) -> f32 {
        gpu::sqrt_approx(a)
    }
    #[inline(always)]
    fn least(self, v: f32, acc: f32) -> f32 {
        gpu::min_f32(v, acc)
    }
    #[inline(always)]
    fn greatest(self, v: f32, acc: f32) -> f32 {
        gpu::max_f32(v, acc)
    }
    #[inline(always)]
    fn rsqrt(self, a: f32) -> f32 {
        gpu::rsqrt_approx_ftz(a)
    }
    #[inline(always)]
    fn exp(self, a: f32) -> f32 {
        gpu::ex2_approx_ftz(a * 1.442_695_04)
    }
    #[inline(always)]
    fn exp2_sum(self, a: f32) -> f32 {
        gpu::ex2_approx_ftz(a)
    }
    #[inline(always)]
    fn exp2_sum_nonpositive(self, a: f32, c: f32) -> f32 {
        gpu::ex2_approx_ftz(a * c)
    }
    #[inline(always)]
    fn log(self, a: f32) -> f32 {
        gpu::lg2_approx_ftz(a) * 0.693_147_18
    }
    #[inline(always)]
    fn sin(self, a: f32) -> f32 {
        gpu::sin_approx_ftz(a)
    }
    #[inline(always)]
    fn cos(self, a: f32) -> f32 {
        gpu::cos_approx_ftz(a)
    }
} }

token! { Gpu64 f64 u64 1023 2044.0 0xf_ffff_ffff_ffff 0x8000_0000_0000_0000 0x3ff0_0000_0000_0000
fma_f64 abs_f64 rint_f64 {
    #[inline(always)]
    fn div(self, a: f64, b: f64) -> f64 {
        a / b
    }
    #[inline(always)]
    fn sqrt(self, a: f64) -> f64 {
        gpu::sqrt_f64(a)
    }
} }
