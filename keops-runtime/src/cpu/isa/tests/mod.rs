//! Every instruction set of this machine, and models of the others, against references: a harness that evaluates one
//! function over a slice at one of them.
//!
//! Invariant: `machines()` never silently shrinks to nothing; the models and the scalar set run everywhere.
use keops_gpu_kernels::isa::Isa;

use super::portable::Portable;
use super::scalar::Scalar;
use super::{Level, Memory, choose};

mod accuracy;
mod primitives;
mod reference;
mod specials;

/// What evaluates a function: a level of this machine, or a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Machine {
    Real(Level),
    /// 16 lanes with scaling and fused operations, as AVX-512 has
    Wide,
    /// 5 lanes with fused operations but no scaling, as NEON has
    Fused,
}

pub(super) fn machines() -> Vec<Machine> {
    let mut all: Vec<_> = Level::supported().into_iter().map(Machine::Real).collect();
    all.extend([Machine::Wide, Machine::Fused]);
    all
}

/// A function of two vectors (the second may be ignored), as a type, since it must be inlined.
pub(super) trait Function {
    fn eval<S: Isa>(s: S, a: S::F, b: S::F) -> S::F;
}

/// Declares [`Function`]s.
macro_rules! functions {
    ($($name:ident($s:ident, $a:ident, $b:ident) = $body:expr;)*) => {$(
        pub(super) struct $name;
        impl $crate::cpu::isa::tests::Function for $name {
            #[inline(always)]
            fn eval<S: Isa>($s: S, $a: S::F, $b: S::F) -> S::F {
                let _ = ($a, $b);
                $body
            }
        }
    )*};
}
use functions;

/// Evaluates whole vectors; the slices have a multiple of [`Isa::LANES`] values.
#[inline(always)]
fn vectors<E: Function, S: Memory>(s: S, a: &[S::T], b: &[S::T], out: &mut [S::T]) {
    assert!(a.len() == out.len() && b.len() == out.len() && out.len().is_multiple_of(S::LANES));
    let mut at = 0;
    while at < out.len() {
        // SAFETY: `at` is a multiple of LANES below the length of all three, which is one too.
        unsafe {
            let value = E::eval(s, s.load(a.as_ptr().add(at)), s.load(b.as_ptr().add(at)));
            s.store(out.as_mut_ptr().add(at), value);
        }
        at += S::LANES;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")]
fn vectors_avx512<E: Function, S: Memory>(s: S, a: &[S::T], b: &[S::T], out: &mut [S::T]) {
    vectors::<E, S>(s, a, b, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn vectors_avx2<E: Function, S: Memory>(s: S, a: &[S::T], b: &[S::T], out: &mut [S::T]) {
    vectors::<E, S>(s, a, b, out);
}

/// A value type with its levels.
pub(super) trait Value: keops_gpu_kernels::real::Real + std::fmt::Debug + Default {
    fn run_padded<E: Function>(machine: Machine, a: &[Self], b: &[Self], out: &mut [Self]);
}

macro_rules! value {
    ($t:ty) => {
        impl Value for $t {
            fn run_padded<E: Function>(machine: Machine, a: &[$t], b: &[$t], out: &mut [$t]) {
                match machine {
                    #[cfg(target_arch = "x86_64")]
                    Machine::Real(Level::Avx512) => {
                        let s = super::avx512::Avx512::<$t>::detect().unwrap();
                        // SAFETY: the token was detected.
                        unsafe { vectors_avx512::<E, _>(s, a, b, out) }
                    }
                    #[cfg(target_arch = "x86_64")]
                    Machine::Real(Level::Avx2) => {
                        let s = super::avx2::Avx2::<$t>::detect().unwrap();
                        // SAFETY: the token was detected.
                        unsafe { vectors_avx2::<E, _>(s, a, b, out) }
                    }
                    #[cfg(target_arch = "x86_64")]
                    Machine::Real(Level::Sse2) => {
                        vectors::<E, _>(super::sse2::Sse2::<$t>::detect().unwrap(), a, b, out);
                    }
                    #[cfg(target_arch = "aarch64")]
                    Machine::Real(Level::Neon) => {
                        vectors::<E, _>(super::neon::Neon::<$t>::detect().unwrap(), a, b, out);
                    }
                    Machine::Real(_) => vectors::<E, _>(Scalar::<$t>::new(), a, b, out),
                    Machine::Wide => {
                        vectors::<E, _>(Portable::<$t, 16, true, true>::new(), a, b, out)
                    }
                    Machine::Fused => {
                        vectors::<E, _>(Portable::<$t, 5, false, true>::new(), a, b, out)
                    }
                }
            }
        }
    };
}
value!(f32);
value!(f64);

/// The function's values at pairs of arguments, on one machine.
pub(super) fn run<E: Function, T: Value>(machine: Machine, a: &[T], b: &[T]) -> Vec<T> {
    // 80 is a multiple of every number of lanes in use.
    let padded = a.len().next_multiple_of(80);
    let pad = |x: &[T]| {
        let mut x = x.to_vec();
        x.resize(padded, T::of(1.0));
        x
    };
    let mut out = vec![T::default(); padded];
    T::run_padded::<E>(machine, &pad(a), &pad(b), &mut out);
    out.truncate(a.len());
    out
}

/// The same, with one argument.
pub(super) fn run1<E: Function, T: Value>(machine: Machine, a: &[T]) -> Vec<T> {
    run::<E, T>(machine, a, a)
}
