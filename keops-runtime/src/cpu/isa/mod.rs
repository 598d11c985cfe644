//! The instruction sets of the CPU engine: one zero-sized token per set and value type, each an [`Isa`] with [`Memory`].
//!
//! Invariants: a token exists only where its instructions do ([`Level::is_supported`], or the caller of
//! `new_unchecked` vouches for it); every operation is `#[inline(always)]` and carries no target feature itself, so it
//! becomes an instruction only inside a `#[target_feature]` function, and a slow but correct call anywhere else.
use std::sync::OnceLock;

use keops_gpu_kernels::isa::Isa;
use keops_gpu_kernels::real::Real;

/// Implements a token and its operations from a table of intrinsics, one row an operation.
///
/// The table's expressions are all register operations. Loads and stores are plain reads and writes of an unaligned
/// vector, one instruction each: the load intrinsics are copies through memory, checked for overlap, where debug
/// assertions are on, which would dominate a development build.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! token {
    (
        $token:ident: $t:ty, $vector:ty, $mask:ty, lanes $lanes:literal, fma $fma:literal, scalef $scalef:literal;
        splat($x:ident) = $splat:expr;
        any($m:ident) = $any:expr;
        select($sm:ident, $sa:ident, $sb:ident) = $select:expr;
        masks { $($mask_op:ident($($ma:ident),*) = $mask_expr:expr;)* }
        tests { $($test:ident($($ta:ident),*) = $test_expr:expr;)* }
        values { $($op:ident($s:ident $(, $a:ident)*) = $expr:expr;)* }
    ) => {
        #[allow(unused_unsafe, reason = "intrinsics of the target's baseline are safe to call, the others are not")]
        #[allow(unused_variables, reason = "few rows of the table need the token")]
        impl Isa for $token<$t> {
            type T = $t;
            type F = $vector;
            type M = $mask;
            const LANES: usize = $lanes;
            const FMA: bool = $fma;
            const SCALEF: bool = $scalef;
            const NATIVE: bool = false;
            #[inline(always)]
            fn splat(self, $x: $t) -> $vector {
                // SAFETY: the token proves that the machine has these instructions; they touch registers only.
                unsafe { $splat }
            }
            #[inline(always)]
            fn any(self, $m: $mask) -> bool {
                // SAFETY: as above.
                unsafe { $any }
            }
            #[inline(always)]
            fn select(self, $sm: $mask, $sa: $vector, $sb: $vector) -> $vector {
                // SAFETY: as above.
                unsafe { $select }
            }
            $(
                #[inline(always)]
                fn $mask_op(self, $($ma: $mask),*) -> $mask {
                    // SAFETY: as above.
                    unsafe { $mask_expr }
                }
            )*
            $(
                #[inline(always)]
                fn $test(self, $($ta: $vector),*) -> $mask {
                    // SAFETY: as above.
                    unsafe { $test_expr }
                }
            )*
            $(
                #[inline(always)]
                fn $op(self, $($a: $vector),*) -> $vector {
                    let $s = self;
                    // SAFETY: as above.
                    unsafe { $expr }
                }
            )*
        }
        impl $crate::cpu::isa::Memory for $token<$t> {
            #[inline(always)]
            unsafe fn load(self, p: *const $t) -> $vector {
                // SAFETY: the caller vouches for the lanes behind the pointer, which a vector consists of.
                unsafe { (*p.cast::<$crate::cpu::isa::Unaligned<$vector>>()).0 }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t, v: $vector) {
                // SAFETY: as above.
                unsafe { (*p.cast::<$crate::cpu::isa::Unaligned<$vector>>()).0 = v }
            }
        }
    };
}

/// Declares a token generic over the value type.
macro_rules! token_type {
    ($(#[$doc:meta])* $token:ident, $level:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $token<T>(std::marker::PhantomData<T>);

        impl<T> $token<T> {
            /// The token, where this machine has the instruction set.
            #[inline]
            pub fn detect() -> Option<Self> {
                $crate::cpu::isa::Level::$level.is_supported().then_some(Self(std::marker::PhantomData))
            }

            /// The token, without looking.
            ///
            /// # Safety
            /// The machine that runs this has the instruction set.
            #[inline(always)]
            pub unsafe fn new_unchecked() -> Self {
                Self(std::marker::PhantomData)
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod called;
#[cfg(target_arch = "aarch64")]
pub mod neon;
#[doc(hidden)]
pub mod portable;
pub mod scalar;
#[cfg(target_arch = "x86_64")]
pub mod sse2;

/// 2^(k/32), correctly rounded.
const ROOTS: [f64; 32] = [
    1.0,
    1.021_897_148_654_116_6,
    1.044_273_782_427_413_8,
    1.067_140_400_676_823_7,
    1.090_507_732_665_257_7,
    1.114_386_742_595_892_4,
    1.138_788_634_756_691_6,
    1.163_724_858_777_577_5,
    1.189_207_115_002_721,
    1.215_247_359_980_469,
    1.241_857_812_073_484,
    1.269_050_957_191_733_2,
    1.296_839_554_651_009_6,
    1.325_236_643_159_741_3,
    1.354_255_546_936_892_7,
    1.383_909_881_963_832,
    std::f64::consts::SQRT_2,
    1.445_180_806_977_046_7,
    1.476_826_145_939_499_3,
    1.509_164_427_593_422_8,
    1.542_210_825_407_940_7,
    1.575_980_845_107_886_5,
    1.610_490_331_949_254_3,
    1.645_755_478_153_965,
    1.681_792_830_507_429,
    1.718_619_298_122_478,
    1.756_252_160_373_299_5,
    1.794_709_075_003_107_2,
    1.834_008_086_409_342_4,
    1.874_167_634_110_3,
    1.915_206_561_397_147_4,
    1.957_144_124_175_400_2,
];

/// The table of [`Isa::root`] at f32.
pub(crate) static ROOTS_F32: [f32; 32] = {
    let mut roots = [0.0; 32];
    let mut k = 0;
    while k < roots.len() {
        roots[k] = ROOTS[k] as f32;
        k += 1;
    }
    roots
};

/// The table of [`Isa::root`] at f64: 2^(k/16).
pub(crate) static ROOTS_F64: [f64; 16] = {
    let mut roots = [0.0; 16];
    let mut k = 0;
    while k < roots.len() {
        roots[k] = ROOTS[2 * k];
        k += 1;
    }
    roots
};

/// A vector at any address.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Unaligned<V: Copy>(V);

/// Unaligned loads and stores of one vector.
pub trait Memory: Isa {
    /// Reads [`Isa::LANES`] values.
    ///
    /// # Safety
    /// `p` points to as many readable, initialised values; no alignment is asked beyond that of a value.
    unsafe fn load(self, p: *const Self::T) -> Self::F;

    /// Writes [`Isa::LANES`] values.
    ///
    /// # Safety
    /// `p` points to as many writable values; no alignment is asked beyond that of a value.
    unsafe fn store(self, p: *mut Self::T, v: Self::F);
}

/// p · 2^n in two multiplications, for instruction sets without a scaling instruction.
///
/// 2^n is split into two factors that are normal numbers: the first product is exact, the second rounds once, so
/// overflow and gradual underflow are right for 1/4 ≤ |p| ≤ 4 and |n| ≤ 252 (2044 at f64). NaN stays NaN whatever
/// garbage its bits make of the factors.
#[inline(always)]
pub(crate) fn scale_in_two<S: Isa>(s: S, p: S::F, n: S::F) -> S::F {
    let magic = s.lit(S::T::MAGIC);
    let one = s.lit(1.0);
    let first = s.fma(n, s.lit(0.5), magic);
    let second = s.add(s.sub(n, s.sub(first, magic)), magic);
    s.mul(
        s.mul(p, s.add_exponent(one, first)),
        s.add_exponent(one, second),
    )
}

/// An instruction set, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// AVX-512 F, BW, CD, DQ, VL
    Avx512,
    /// AVX2 and FMA
    Avx2,
    /// SSE2, which every x86-64 has
    Sse2,
    /// Advanced SIMD, which every AArch64 has
    Neon,
    /// Plain Rust, one lane
    Scalar,
}

impl Level {
    const ALL: [Level; 5] = [
        Level::Avx512,
        Level::Avx2,
        Level::Sse2,
        Level::Neon,
        Level::Scalar,
    ];

    /// The name that the environment variable `KEOPS_CPU` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Avx512 => "avx512",
            Level::Avx2 => "avx2",
            Level::Sse2 => "sse2",
            Level::Neon => "neon",
            Level::Scalar => "scalar",
        }
    }

    /// Whether this machine has it.
    pub fn is_supported(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512cd")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512vl")
                    && Level::Avx2.is_supported()
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => true,
            #[cfg(target_arch = "aarch64")]
            Level::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            Level::Scalar => true,
            _ => false,
        }
    }

    /// Every level of this machine, best first.
    pub fn supported() -> Vec<Level> {
        Level::ALL
            .into_iter()
            .filter(|level| level.is_supported())
            .collect()
    }
}

/// The level that kernels run at: the best one, or what `KEOPS_CPU` names if the machine has it. Decided once.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| choose(std::env::var("KEOPS_CPU").ok().as_deref()))
}

/// The level for one value of `KEOPS_CPU`.
fn choose(wish: Option<&str>) -> Level {
    let supported = Level::supported();
    let named = supported
        .iter()
        .find(|level| wish.is_some_and(|w| w.trim().eq_ignore_ascii_case(level.name())));
    // Scalar is always supported, so the list is never empty.
    *named.or(supported.first()).unwrap_or(&Level::Scalar)
}

#[cfg(test)]
mod tests;
