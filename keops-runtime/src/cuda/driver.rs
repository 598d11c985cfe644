//! The driver's library and what its calls answer, as values: [`Failure`].
//!
//! Invariants: the library is looked for before its first function is called, because `cudarc` panics where it is absent;
//! a failure that may pass (anything but an absent library) is not remembered, so that the next call tries again.
use std::ffi::CStr;
use std::sync::OnceLock;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUresult};

use crate::error::Error;

/// The oldest driver interface that has all functions used here.
const OLDEST: i32 = 11_000;

/// Why something on a device did not work; [`Failure::of`] makes it an [`Error`] of a formula.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// There is no usable driver.
    NoDriver(String),
    /// There is no such device.
    NoDevice {
        /// The number asked for.
        device: usize,
        /// How many there are.
        count: usize,
    },
    /// The driver refused the device code.
    Refused {
        /// The device.
        device: usize,
        /// What the driver's compiler said.
        log: String,
    },
    /// Memory cannot be allocated.
    Memory {
        /// What the memory is for, as in [`Error::OutOfMemory`].
        purpose: &'static str,
        /// Bytes asked for.
        bytes: usize,
    },
    /// A call failed.
    Call {
        /// The device.
        device: usize,
        /// The driver's function.
        call: &'static str,
        /// Its answer.
        reason: String,
    },
}

impl Failure {
    /// The failure of a driver's function on a device.
    pub(crate) fn call(device: usize, call: &'static str, error: DriverError) -> Self {
        Failure::Call {
            device,
            call,
            reason: words(error),
        }
    }

    /// As the error of a formula (or of a function of this crate).
    pub(crate) fn of(self, function: &'static str) -> Error {
        match self {
            Failure::NoDriver(reason) => Error::NoDriver { function, reason },
            Failure::NoDevice { device, count } => Error::NoDevice {
                function,
                device,
                count,
            },
            Failure::Refused { device, log } => Error::Refused {
                function,
                device,
                log,
            },
            Failure::Memory { purpose, bytes } => Error::OutOfMemory {
                function,
                purpose,
                bytes,
            },
            Failure::Call {
                device,
                call,
                reason,
            } => Error::Cuda {
                function,
                device,
                call,
                reason,
            },
        }
    }
}

/// `CUDA_ERROR_INVALID_VALUE: invalid argument`
pub(crate) fn words(error: DriverError) -> String {
    let text = |text: Result<&CStr, DriverError>| {
        text.ok().map(|text| text.to_string_lossy().into_owned())
    };
    match (text(error.error_name()), text(error.error_string())) {
        (Some(name), Some(words)) => format!("{name}: {words}"),
        _ => format!("{:?}", error.0),
    }
}

/// Makes the driver ready and returns the number of devices, which may be 0.
pub(crate) fn devices() -> Result<usize, Failure> {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    static COUNT: OnceLock<usize> = OnceLock::new();
    if let Some(count) = COUNT.get() {
        return Ok(*count);
    }
    // SAFETY: looks for the library and loads it, whose initialisation is the driver's.
    if !PRESENT.get_or_init(|| unsafe { sys::is_culib_present() }) {
        return Err(Failure::NoDriver(
            "its library (libcuda) cannot be loaded".to_owned(),
        ));
    }
    let failed = |call: &str, error| Failure::NoDriver(format!("{call}: {}", words(error)));
    match result::init() {
        Ok(()) => {}
        Err(DriverError(CUresult::CUDA_ERROR_NO_DEVICE)) => return Ok(0),
        Err(error) => return Err(failed("cuInit", error)),
    }
    let mut version = 0;
    // SAFETY: the pointer is to a local variable.
    unsafe { sys::cuDriverGetVersion(&mut version) }
        .result()
        .map_err(|error| failed("cuDriverGetVersion", error))?;
    if version < OLDEST {
        return Err(Failure::NoDriver(format!(
            "it is for CUDA {}.{}, and CUDA {}.{} is the oldest that will do",
            version / 1000,
            version % 1000 / 10,
            OLDEST / 1000,
            OLDEST % 1000 / 10
        )));
    }
    let count = result::device::get_count().map_err(|error| failed("cuDeviceGetCount", error))?;
    let count = usize::try_from(count).unwrap_or(0);
    Ok(*COUNT.get_or_init(|| count))
}
