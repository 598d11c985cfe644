//! [`One`]: an instruction set as its own register tile, of one vector by one row, whose elementary functions may be calls.
//!
//! Long kernels have such a tile, and for them it is made of plain vectors: in arrays of one vector each operation would be a copy or a
//! loop that the compiler has to see through, thousands of times.
//! A kernel with dozens of logarithms and exponentials is mostly these functions, written out again at each place, and compiling it takes
//! minutes. Called, they are compiled once, with this crate. A call passes vectors through memory, which is little beside what else
//! a pair of such a kernel takes; kernels with few functions have them inlined ([`Kernel::CALLS`]).
//!
//! Invariant: the functions are those of `math` on the same instruction set, so results are the same to the bit.
//!
//! [`Kernel::CALLS`]: keops_gpu_kernels::kernel::Kernel::CALLS
use keops_gpu_kernels::isa::Isa;
use keops_gpu_kernels::tile::Pairs;

use super::Memory;

/// Hands the elementary functions to a macro, after its own arguments.
macro_rules! with_functions {
    ($then:ident $arguments:tt) => {
        $then! {
            $arguments
            exp(a);
            exp2_sum(a);
            exp2_sum_nonpositive(a, c);
            log(a);
            sin(a);
            cos(a);
            tanh(a);
            exp2(a);
            expm1(a);
            log2(a);
            log1p(a);
            tan(a);
            asin(a);
            acos(a);
            sinh(a);
            cosh(a);
            erf(a);
            erfc(a);
            atan2(a, b);
            powf(a, b);
        }
    };
}

macro_rules! declare {
    (() $($name:ident($($a:ident),*);)*) => {
        /// The elementary functions, as those of [`Isa`] of the same names, as functions of their own.
        #[allow(missing_docs, reason = "they are those of `Isa`")]
        pub trait Functions: Memory {
            $(fn $name(self, $($a: Self::F),*) -> Self::F;)*
        }
    };
}
with_functions!(declare());

/// The functions of one token, compiled for its instruction set.
macro_rules! functions {
    (($token:ty, $vector:ty, $new:expr, $compiled:meta) $($name:ident($($a:ident),*);)*) => {
        #[allow(unused_unsafe, reason = "every machine has plain Rust")]
        impl $crate::cpu::isa::called::Functions for $token {
            $(
                #[inline(always)]
                fn $name(self, $($a: $vector),*) -> $vector {
                    #[$compiled]
                    #[inline(never)]
                    unsafe fn $name($($a: $vector),*) -> $vector {
                        // SAFETY: the caller has the token, and so this machine the instruction set.
                        keops_gpu_kernels::math::$name(unsafe { $new }, $($a),*)
                    }
                    // SAFETY: the token proves that the machine has the instruction set.
                    unsafe { $name($($a),*) }
                }
            )*
        }
    };
}
pub(super) use {functions, with_functions};

/// One vector of `I` by one row, with called functions or inlined ones.
#[derive(Clone, Copy, Debug)]
pub struct One<I, const CALLS: bool>(
    /// The instruction set.
    pub I,
);

macro_rules! forward {
    ($($name:ident($($a:ident: $ty:ident),*) -> $out:ident;)*) => {$(
        #[inline(always)]
        fn $name(self, $($a: Self::$ty),*) -> Self::$out {
            self.0.$name($($a),*)
        }
    )*};
}
macro_rules! forward_called {
    (() $($name:ident($($a:ident),*);)*) => {$(
        #[inline(always)]
        fn $name(self, $($a: Self::F),*) -> Self::F {
            if const { CALLS } {
                Functions::$name(self.0, $($a),*)
            } else {
                Isa::$name(self.0, $($a),*)
            }
        }
    )*};
}

impl<I: Functions, const CALLS: bool> Isa for One<I, CALLS> {
    type T = I::T;
    type F = I::F;
    type M = I::M;
    const LANES: usize = I::LANES;
    const FMA: bool = I::FMA;
    const SCALEF: bool = I::SCALEF;
    const NATIVE: bool = I::NATIVE;
    #[inline(always)]
    fn any(self, m: Self::M) -> bool {
        self.0.any(m)
    }
    forward! {
        splat(x: T) -> F; select(m: M, a: F, b: F) -> F; and(a: M, b: M) -> M; or(a: M, b: M) -> M; not(a: M) -> M;
        lt(a: F, b: F) -> M; le(a: F, b: F) -> M; eq(a: F, b: F) -> M; index_eq(a: F, b: F) -> M; index_lt(a: F, b: F) -> M;
        add(a: F, b: F) -> F; sub(a: F, b: F) -> F; mul(a: F, b: F) -> F; div(a: F, b: F) -> F; fma(a: F, b: F, c: F) -> F;
        fnma(a: F, b: F, c: F) -> F; square(a: F) -> F; sqdiff_add(a: F, b: F, c: F) -> F; neg(a: F) -> F; abs(a: F) -> F;
        xor_sign(a: F, b: F) -> F; sqrt(a: F) -> F; rsqrt(a: F) -> F; pick_min(a: F, b: F) -> F; pick_max(a: F, b: F) -> F;
        least(v: F, acc: F) -> F; greatest(v: F, acc: F) -> F; rint(a: F) -> F; index_low(a: F) -> F; index_high(a: F) -> F;
        add_exponent(p: F, m: F) -> F; scale(p: F, n: F) -> F; scale_normal(p: F, n: F) -> F; root(m: F) -> F;
        exponent(a: F) -> F; significand(a: F) -> F;
    }
    with_functions!(forward_called());
}

impl<I: Functions, const CALLS: bool> Pairs for One<I, CALLS> {
    type A = I::F;
    type Outer = Self;
    const ROWS: usize = 1;
    #[inline(always)]
    fn outer(self) -> Self {
        self
    }
    #[inline(always)]
    fn spread(self, a: I::F) -> I::F {
        a
    }
    #[inline(always)]
    fn row(self, v: I::F, _q: usize) -> I::F {
        v
    }
    #[inline(always)]
    fn sum(self, acc: I::F, v: I::F) -> I::F {
        self.0.add(acc, v)
    }
    #[inline(always)]
    fn sum_mul(self, acc: I::F, a: I::F, b: I::F) -> I::F {
        self.0.fma(a, b, acc)
    }
    #[inline(always)]
    fn fold_min(self, acc: I::F, v: I::F) -> I::F {
        self.0.least(v, acc)
    }
    #[inline(always)]
    fn fold_max(self, acc: I::F, v: I::F) -> I::F {
        self.0.greatest(v, acc)
    }
}
