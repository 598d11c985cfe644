//! The tokens [`Gpu32`] and [`Gpu64`]: one GPU thread as an instruction set of one lane.
//!
//! Arithmetic, division and square root are the correctly rounded instructions. At `f32` the exponentials and the
//! reciprocal square root use the special function unit, everything else the shared polynomials of `math`.
//!
//! Error bounds at `f32` (instructions' bounds from the PTX ISA, `ex2.approx` 2 ulp): `exp` 3.1 ulp, `rsqrt` 2.2 ulp,
//! `exp2_sum` 2 ulp down to 2⁻¹²⁶, below which it is 0. Right below a power of two, where an ulp is half that of the
//! value above, `ex2` may be counted twice: then `exp` has 4.3 ulp, if an implementation really uses up its bound there.
use super::intrinsics as gpu;
use crate::isa::Isa;
use crate::mini_core::*;
use crate::real::Real;

/// A value type of the device: its token and its shared memory accesses.
pub trait Device: Real {
    /// The instruction set of one thread.
    type Token: Isa<T = Self, F = Self, M = bool>;
    /// The token.
    const TOKEN: Self::Token;
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
    ($float:ident $token:ident $bytes:literal $vector:literal $load_vector:ident $load:ident $store:ident) => {
        impl Device for $float {
            type Token = $token;
            const TOKEN: $token = $token;
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
device! { f32 Gpu32 4 4 load_shared_v4_f32 load_shared_f32 store_shared_f32 }
device! { f64 Gpu64 8 2 load_shared_v2_f64 load_shared_f64 store_shared_f64 }

/// One thread at `f32`.
pub struct Gpu32;
impl_copy!([] Gpu32);
/// One thread at `f64`.
pub struct Gpu64;
impl_copy!([] Gpu64);

/// What both tokens do with the operations of their type.
macro_rules! token {
    ($token:ident $float:ident $bits:ident $exponent_bias:literal $exponent_limit:literal $fraction:literal
     $sign:literal $one:literal $fma:ident $abs:ident $sqrt:ident $rint:ident { $($own:item)* }) => {
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
            fn div(self, a: $float, b: $float) -> $float {
                a / b
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
            fn sqrt(self, a: $float) -> $float {
                gpu::$sqrt(a)
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

token! { Gpu32 f32 u32 127 252.0 0x7f_ffff 0x8000_0000 0x3f80_0000 fma_f32 abs_f32 sqrt_f32 rint_f32 {
    #[inline(always)]
    fn rsqrt(self, a: f32) -> f32 {
        gpu::rsqrt_approx(a)
    }
    /// 2^(t + e) with t + e = a · log2 e to twice the precision: `ex2` gives 2^t, and e · ln 2 of it are added.
    ///
    /// Error: 2 ulp of `ex2`, its own rounding and that of the sum.
    #[inline(always)]
    fn exp(self, a: f32) -> f32 {
        const LOG2_E: f32 = 1.442_695_04;
        const LOG2_E_REST: f32 = 1.925_963_033_5e-8;
        const LN_2: f32 = 0.693_147_18;
        let t = a * LOG2_E;
        let e = gpu::fma_f32(a, LOG2_E_REST, gpu::fma_f32(a, LOG2_E, -t));
        // Where t is −∞, e is +∞ or NaN, and 0 · e must be 0. Where 2^t is infinite or NaN, it is the result.
        let e = gpu::min_f32(e, 1.0);
        let power = gpu::ex2_approx(t);
        if t < 128.0 { gpu::fma_f32(power, e * LN_2, power) } else { power }
    }
    #[inline(always)]
    fn exp2_sum(self, a: f32) -> f32 {
        gpu::ex2_approx_ftz(a)
    }
    #[inline(always)]
    fn exp2_sum_nonpositive(self, a: f32) -> f32 {
        gpu::ex2_approx_ftz(a)
    }
} }

token! { Gpu64 f64 u64 1023 2044.0 0xf_ffff_ffff_ffff 0x8000_0000_0000_0000 0x3ff0_0000_0000_0000
fma_f64 abs_f64 sqrt_f64 rint_f64 {} }
