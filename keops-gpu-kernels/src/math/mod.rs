//! Elementary functions over [`Isa`], the same text on every CPU instruction set and on the GPU.
//!
//! One file per family. All are branch-free in the lanes, work at f32 and f64, and use only what [`Isa`] offers.
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
mod exp;
mod log;
mod pow;
mod tanh;
mod trig;

pub use exp::{exp, exp2_sum, exp2_sum_nonpositive};
pub use log::log;
pub use pow::powf;
pub use tanh::tanh;
pub use trig::{cos, sin};

/// 1/√a: +inf at +0, −inf at −0, 0 at +inf, NaN below 0.
#[inline(always)]
pub fn rsqrt<S: Isa>(s: S, a: S::F) -> S::F {
    s.div(s.lit(1.0), s.sqrt(a))
}
