//! How long a device is busy: [`busy_seconds`].
use cudarc::driver::result;
use cudarc::driver::sys::{self, CUevent_flags};

use super::driver::Failure;
use super::gpu::{self, Gpu};
use crate::error::Error;

/// A point in the work of a device's stream.
struct Event {
    gpu: &'static Gpu,
    event: sys::CUevent,
}

impl Event {
    /// The context is bound.
    fn new(gpu: &'static Gpu) -> Result<Event, Failure> {
        let event = result::event::create(CUevent_flags::CU_EVENT_DEFAULT)
            .map_err(gpu.failed("cuEventCreate"))?;
        Ok(Event { gpu, event })
    }

    /// Marks the end of what is queued. The context is bound.
    fn record(&self) -> Result<(), Failure> {
        // SAFETY: event and stream are alive, and of one context.
        unsafe { result::event::record(self.event, self.gpu.stream()) }
            .map_err(self.gpu.failed("cuEventRecord"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // An error is an earlier one's.
        // SAFETY: created by `new`, destroyed once.
        let _ = unsafe { result::event::destroy(self.event) };
    }
}

/// What `work` returns, and the seconds from when the device starts what `work` has queued on it until all of it is done.
///
/// For benchmarks: for a call whose inputs and results are on the device it is the time of its kernels, measured by the
/// device. What other threads queue at the same time counts too.
///
/// # Errors
/// Those of `work`; [`Error::NoDriver`], [`Error::NoDevice`], [`Error::Cuda`].
pub fn busy_seconds<R>(
    device: usize,
    work: impl FnOnce() -> Result<R, Error>,
) -> Result<(R, f64), Error> {
    let failed = |failure: Failure| failure.of("busy_seconds");
    let gpu = gpu::open(device).map_err(failed)?;
    let _bound = gpu.bind().map_err(failed)?;
    let (start, end) = (
        Event::new(gpu).map_err(failed)?,
        Event::new(gpu).map_err(failed)?,
    );
    start.record().map_err(failed)?;
    let result = work()?;
    end.record().map_err(failed)?;
    gpu.synchronize().map_err(failed)?;
    // SAFETY: both events are recorded and done.
    let milliseconds = unsafe { result::event::elapsed(start.event, end.event) }
        .map_err(|error| failed(gpu.failed("cuEventElapsedTime")(error)))?;
    Ok((result, f64::from(milliseconds) / 1e3))
}
