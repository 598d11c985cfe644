//! [`Gpu`]: one device of the process, with its context, its one stream, its memory and its modules.
//!
//! All work of a device goes through one stream, in the order in which it is queued. So memory that is given back may be
//! used again at once: whoever gets it queues later work.
//!
//! Invariants: a `Gpu` lives as long as the process, there is one for each device, and one that could not be opened whole
//! leaves nothing behind; the driver's functions that need a current context are called while a [`Bound`] is held.
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute};

use super::driver::{self, Failure};
use super::memory::{Block, Kind, Pool};
use super::module::Modules;

/// The lowest compute capability that device code is made for: sm_75.
const LOWEST: (i32, i32) = (7, 5);

/// An opened device.
pub(crate) struct Gpu {
    /// Its number.
    pub(crate) ordinal: usize,
    context: sys::CUcontext,
    stream: sys::CUstream,
    /// Streaming multiprocessors.
    pub(crate) multiprocessors: u32,
    pub(super) device_memory: Mutex<Pool>,
    pub(super) pinned_memory: Mutex<Pool>,
    /// Pinned memory that the stream may still access, because waiting for it failed.
    unsettled: Mutex<Vec<Block>>,
    pub(super) modules: Mutex<Modules>,
}

// SAFETY: contexts, streams and functions of the driver may be used from any thread.
unsafe impl Send for Gpu {}
// SAFETY: as above; what changes is behind mutexes.
unsafe impl Sync for Gpu {}

impl PartialEq for Gpu {
    fn eq(&self, other: &Gpu) -> bool {
        self.ordinal == other.ordinal
    }
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gpu({})", self.ordinal)
    }
}

/// Locks, also after a panic of another thread: the state behind these locks is whole between any two statements.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device of this number, opened at its first use.
pub(crate) fn open(ordinal: usize) -> Result<&'static Gpu, Failure> {
    static OPEN: Mutex<BTreeMap<usize, &'static Gpu>> = Mutex::new(BTreeMap::new());
    let mut open = lock(&OPEN);
    if let Some(gpu) = open.get(&ordinal) {
        return Ok(gpu);
    }
    let count = driver::devices()?;
    if ordinal >= count {
        return Err(Failure::NoDevice {
            device: ordinal,
            count,
        });
    }
    let gpu: &'static Gpu = Box::leak(Box::new(Gpu::new(ordinal)?));
    open.insert(ordinal, gpu);
    Ok(gpu)
}

/// All devices.
pub(crate) fn open_all() -> Result<Vec<&'static Gpu>, Failure> {
    let count = driver::devices()?;
    if count == 0 {
        return Err(Failure::NoDevice { device: 0, count });
    }
    (0..count).map(open).collect()
}

/// A retained primary context, released unless it is kept.
struct Retained {
    device: sys::CUdevice,
    context: sys::CUcontext,
    kept: bool,
}

impl Drop for Retained {
    fn drop(&mut self) {
        if !self.kept {
            // The failure that brought us here is reported, not this one.
            // SAFETY: the device is valid, and its context was retained once for this value.
            let _ = unsafe { result::primary_ctx::release(self.device) };
        }
    }
}

impl Gpu {
    fn new(ordinal: usize) -> Result<Gpu, Failure> {
        let failed = |call| move |error: DriverError| Failure::call(ordinal, call, error);
        let device = result::device::get(ordinal as i32).map_err(failed("cuDeviceGet"))?;
        let attribute = |attribute| {
            // SAFETY: the device is valid.
            unsafe { result::device::get_attribute(device, attribute) }
                .map_err(failed("cuDeviceGetAttribute"))
        };
        let multiprocessors =
            attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let capability = (
            attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        if capability < LOWEST {
            return Err(Failure::Refused {
                device: ordinal,
                log: format!(
                    "its compute capability is {}.{}, device code is made for {}.{} and above",
                    capability.0, capability.1, LOWEST.0, LOWEST.1
                ),
            });
        }
        // SAFETY: the device is valid.
        let total =
            unsafe { result::device::total_mem(device) }.map_err(failed("cuDeviceTotalMem"))?;
        // SAFETY: the device is valid.
        let context = unsafe { result::primary_ctx::retain(device) }
            .map_err(failed("cuDevicePrimaryCtxRetain"))?;
        let mut retained = Retained {
            device,
            context,
            kept: false,
        };
        let bound = Bound::new(ordinal, retained.context)?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)
            .map_err(failed("cuStreamCreate"))?;
        drop(bound);
        retained.kept = true;
        Ok(Gpu {
            ordinal,
            context,
            stream,
            multiprocessors: u32::try_from(multiprocessors).unwrap_or(1).max(1),
            device_memory: Mutex::new(Pool::new(Kind::Device, total / 4)),
            pinned_memory: Mutex::new(Pool::new(Kind::Pinned, 256 << 20)),
            unsettled: Mutex::new(Vec::new()),
            modules: Mutex::new(Modules::default()),
        })
    }

    /// Makes the context current until the guard goes.
    pub(crate) fn bind(&self) -> Result<Bound, Failure> {
        Bound::new(self.ordinal, self.context)
    }

    /// The stream of all work.
    pub(super) fn stream(&self) -> sys::CUstream {
        self.stream
    }

    /// The failure of one of the driver's functions.
    pub(super) fn failed(&self, call: &'static str) -> impl FnOnce(DriverError) -> Failure {
        let device = self.ordinal;
        move |error| Failure::call(device, call, error)
    }

    /// Waits for all work that was queued before. The context is bound.
    pub(crate) fn synchronize(&self) -> Result<(), Failure> {
        // What comes in later may have been queued later, and is not this wait's.
        let settled = std::mem::take(&mut *lock(&self.unsettled));
        // SAFETY: the stream lives as long as the process.
        let result = unsafe { result::stream::synchronize(self.stream) };
        if result.is_err() {
            lock(&self.unsettled).extend(settled);
        }
        result.map_err(self.failed("cuStreamSynchronize"))
    }

    /// Takes pinned memory that the stream may still access: it is not used again before somebody's wait succeeds.
    pub(super) fn leave(&self, blocks: Vec<Block>) {
        lock(&self.unsettled).extend(blocks);
    }

    /// Gives all memory that is not in use back to the driver.
    pub(crate) fn release_unused(&'static self) -> Result<(), Failure> {
        let _bound = self.bind()?;
        self.synchronize()?;
        lock(&self.device_memory).shrink(0);
        lock(&self.pinned_memory).shrink(0);
        Ok(())
    }
}

/// A context that is current on this thread. When it goes, the one that was current before comes back.
pub(crate) struct Bound {
    /// To be restored.
    previous: Option<sys::CUcontext>,
}

impl Bound {
    fn new(device: usize, context: sys::CUcontext) -> Result<Bound, Failure> {
        let current = result::ctx::get_current()
            .map_err(|error| Failure::call(device, "cuCtxGetCurrent", error))?;
        if current == Some(context) {
            return Ok(Bound { previous: None });
        }
        // SAFETY: the context is retained for as long as the process lives, or by the caller.
        unsafe { result::ctx::set_current(context) }
            .map_err(|error| Failure::call(device, "cuCtxSetCurrent", error))?;
        Ok(Bound { previous: current })
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        // With none before, ours stays: the next call finds it.
        if let Some(previous) = self.previous {
            // Whoever made it current finds it gone if this fails, and learns it from the next call.
            // SAFETY: it was current when this guard was made; who destroys it since then does so on another thread while
            // it is in use here, which the driver forbids.
            let _ = unsafe { result::ctx::set_current(previous) };
        }
    }
}
