//! [`Tokens`]: the instruction-set tokens of a value type, for code that is generic over the type.
use keops_gpu_kernels::real::Real;

use super::isa::called::Functions;
use super::isa::{self};

/// The tokens of one value type. Implemented for `f32` and `f64`, and for nothing else: the path to it is private.
pub trait Tokens: Real {
    /// Exactly this number.
    fn widened(self) -> f64;
    /// One lane of plain Rust.
    type Scalar: Functions<T = Self, F = Self>;
    /// The token of plain Rust.
    fn scalar() -> Self::Scalar;

    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Functions<T = Self>;
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Functions<T = Self>;
    /// SSE2.
    #[cfg(target_arch = "x86_64")]
    type Sse2: Functions<T = Self>;
    /// Advanced SIMD.
    #[cfg(target_arch = "aarch64")]
    type Neon: Functions<T = Self>;

    /// The token.
    ///
    /// # Safety
    /// The machine that runs this has the instruction set.
    #[cfg(target_arch = "x86_64")]
    unsafe fn avx512() -> Self::Avx512;
    /// The token.
    ///
    /// # Safety
    /// The machine that runs this has the instruction set.
    #[cfg(target_arch = "x86_64")]
    unsafe fn avx2() -> Self::Avx2;
    /// The token.
    ///
    /// # Safety
    /// The machine that runs this has the instruction set.
    #[cfg(target_arch = "x86_64")]
    unsafe fn sse2() -> Self::Sse2;
    /// The token.
    ///
    /// # Safety
    /// The machine that runs this has the instruction set.
    #[cfg(target_arch = "aarch64")]
    unsafe fn neon() -> Self::Neon;
}

/// One token type and the function that makes it.
macro_rules! token {
    ($arch:literal, $name:ident, $Token:ident, $t:ty) => {
        #[cfg(target_arch = $arch)]
        type $Token = isa::$name::$Token<$t>;
        #[cfg(target_arch = $arch)]
        #[inline(always)]
        unsafe fn $name() -> Self::$Token {
            // SAFETY: the caller runs on a machine with this instruction set.
            unsafe { isa::$name::$Token::new_unchecked() }
        }
    };
}

macro_rules! tokens {
    ($t:ty) => {
        impl Tokens for $t {
            #[inline(always)]
            fn widened(self) -> f64 {
                self.into()
            }
            type Scalar = isa::scalar::Scalar<$t>;
            #[inline(always)]
            fn scalar() -> Self::Scalar {
                isa::scalar::Scalar::new()
            }
            token!("x86_64", avx512, Avx512, $t);
            token!("x86_64", avx2, Avx2, $t);
            token!("x86_64", sse2, Sse2, $t);
            token!("aarch64", neon, Neon, $t);
        }
    };
}

tokens!(f32);
tokens!(f64);
