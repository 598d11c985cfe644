//! Elementary functions over [`Isa`], the same text on every CPU instruction set and on the GPU.
//!
//! One file per family. All work at f32 and f64, use only what [`Isa`] offers, and have no branches but one, around the
//! reduction of large angles.
//!
//! | largest error, ulp | f32, fused | f32, not fused | f64, fused | f64, not fused |
//! |---|---|---|---|---|
//! | [`rsqrt`] | 1.49 | 1.49 | 1.48 | 1.48 |
//! | [`exp`] | 0.87 | 1.17 | 0.89 | 1.09 |
//! | [`exp2_sum`], [`exp2_sum_nonpositive`] | 1.99 | 2.18 | 0.96 | 1.23 |
//! | [`log`] | 0.83 | 0.83 | 0.79 | 0.79 |
//! | [`sin`] | 1.56 | 1.57 | 1.53 | 1.53 |
//! | [`cos`] | 1.56 | 1.56 | 1.50 | 1.50 |
//! | [`tanh`] | 1.37 | 1.34 | 1.35 | 1.33 |
//! | [`powf`] | 0.88 | 1.14 | 1.02 | 1.33 |
//! | [`exp2`] | 0.84 | 1.01 | 0.91 | 1.21 |
//! | [`expm1`] | 1.23 | 1.23 | 1.09 | 1.02 |
//! | [`log2`] | 0.50 | 0.50 | 0.50 | 0.50 |
//! | [`log1p`] | 1.44 | 1.44 | 1.00 | 1.00 |
//! | [`tan`] | 0.81 | 0.85 | 0.73 | 0.74 |
//! | [`asin`] | 1.64 | 1.69 | 1.61 | 1.61 |
//! | [`acos`] | 1.14 | 1.14 | 1.12 | 1.12 |
//! | [`atan2`] | 1.50 | 1.50 | 1.56 | 1.56 |
//! | [`sinh`] | 1.50 | 1.64 | 1.49 | 1.55 |
//! | [`cosh`] | 1.27 | 1.45 | 1.16 | 1.40 |
//! | [`erf`] | 0.90 | 1.28 | 0.90 | 0.95 |
//! | [`erfc`] | 1.16 | 1.17 | 1.40 | 1.59 |
//!
//! *Fused* are AVX-512, AVX2 and NEON (measured on AVX2 and on lane models of the other two), *not fused* SSE2 and
//! scalars. Measured over every 101st f32 and some 10⁶ points
//! in the interesting ranges at f32, 10⁵ to 10⁶ at f64 (against double-double arithmetic), subnormal arguments and
//! results included; the runtime's tests repeat it with fewer points. `exp2_sum` is measured against the exact power of
//! its argument, rounded sum or not. Those below `powf` are measured by the runtime's tests alone, with some 10⁵ points.
//!
//! Where the coefficients are from: Remez fits made for this crate, rounded coefficient by coefficient with the rest
//! refitted, except those of `exp` and of 2^f at f32, which are Sollya `fpminimax` results. Each file states the error
//! of its fits.
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;

/// c0 + x·(c1 + x·(c2 + …)), coefficients from the lowest power.
///
/// A macro and not a loop over an array: a loop may stay one at low optimisation levels, and would then convert and
/// broadcast each coefficient inside it.
macro_rules! horner {
    ($s:ident, $x:ident, $c:expr) => {
        $s.lit($c)
    };
    ($s:ident, $x:ident, $c:expr, $($rest:expr),+) => {
        $s.fma(horner!($s, $x, $($rest),+), $x, $s.lit($c))
    };
}

mod double;
mod erf;
mod exp;
mod expm1;
mod hyperbolic;
mod inverse;
mod log;
mod pow;
mod tanh;
mod trig;

pub use erf::{erf, erfc};
pub use exp::{exp, exp2, exp2_sum, exp2_sum_nonpositive, root};
pub use expm1::expm1;
pub use hyperbolic::{cosh, sinh};
pub use inverse::{acos, asin, atan2};
pub use log::{log, log1p};
pub use pow::{log2, powf};
pub use tanh::tanh;
pub use trig::{cos, sin, tan};

/// 1/√a: +inf at +0, −inf at −0, 0 at +inf, NaN below 0.
#[inline(always)]
pub fn rsqrt<S: Isa>(s: S, a: S::F) -> S::F {
    s.div(s.lit(1.0), s.sqrt(a))
}
