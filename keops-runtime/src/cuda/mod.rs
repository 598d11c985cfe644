//! Formulas on NVIDIA GPUs: arrays in the memory of a device ([`DeviceArray`]), and what else there is to ask of devices.
//!
//! The engine behind it launches the device code that `keops!` made through the driver that is installed. No toolkit is
//! needed to build and no driver to run: where it is missing, that is a value. Only the driver's oldest functions are used,
//! and of a device one stream. `driver` reaches the driver's library, `gpu` holds a device, `memory` and `transfer` its memory
//! and the way to it, `module` and `launch` device code, `run` executes the passes of a function, `array` is what users hold,
//! `time` measures.
//!
//! Invariants: every failure is a value, and after it nothing is lost or in use: the next call works; memory is flat over
//! any number of calls.
pub(crate) mod array;
pub(crate) mod driver;
pub(crate) mod gpu;
pub(crate) mod launch;
mod memory;
mod module;
pub(crate) mod run;
mod time;
mod transfer;

pub use array::{DeviceArray, DeviceArray0, DeviceArray1, DeviceArray2, DeviceArray3, Element};
pub use time::busy_seconds;

use crate::error::Error;

/// The number of CUDA devices.
///
/// # Errors
/// [`Error::NoDriver`].
pub fn device_count() -> Result<usize, Error> {
    driver::devices().map_err(|failure| failure.of("device_count"))
}

/// Gives back to the driver all memory of a device that is kept for further calls: what is not in use, on the device (at
/// most a quarter of its memory is kept) and pinned on the host.
///
/// # Errors
/// [`Error::NoDriver`], [`Error::NoDevice`], or [`Error::Cuda`] where the device does not answer.
pub fn release_unused(device: usize) -> Result<(), Error> {
    gpu::open(device)
        .and_then(gpu::Gpu::release_unused)
        .map_err(|failure| failure.of("release_unused"))
}
