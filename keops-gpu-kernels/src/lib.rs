//! The code of keops that runs once per pair (i, j), shared by the CPU and the GPU.
//!
//! The *pair-level* modules ([`real`], [`isa`], [`tile`], [`kernel`], [`math`], [`reduce`], [`abi`]) are ordinary Rust on the
//! host and, as the same text, part of the device crate that `keops!` compiles to PTX. They therefore stay within what
//! the device's mini-core offers: no closures, iterators, `Option`, derives or panics, `while` loops over arrays only.
//! Closures and iterators are also silently not inlined inside `#[target_feature]` code, at a cost of 60×.
//!
//! The *device-only* part (mini-core, intrinsics, reduction skeletons) lives under `device/` as text in [`device`].
#![no_std]
#![warn(missing_docs)]
#![allow(
    clippy::approx_constant,
    reason = "the device crate has no core::f64::consts"
)]

extern crate alloc;

/// What every pair-level module imports first: the mini-core's names on the device, and on the host those that are not in
/// scope anyway.
mod prelude {
    #[allow(unused_imports, reason = "most modules need none of them")]
    pub(crate) use core::ops::{Index, IndexMut};
}

#[macro_use]
mod macros;

pub mod abi;
pub mod device;
pub mod isa;
pub mod kernel;
pub mod math;
pub mod real;
pub mod reduce;
pub mod tile;
pub mod words;
