//! Copies between the host and a device, through pinned memory: [`Traffic`].
//!
//! What goes up is packed into pinned memory and copied by the stream; what comes down is copied by the stream and taken
//! out once somebody has waited. Large arrays go in chunks, so that packing and copying overlap and little is pinned.
//!
//! Invariant: pinned memory that the stream may still access is in [`Traffic::held`] or with the device
//! ([`Gpu::leave`]), also when a call fails half way.
use std::ops::Range;

use cudarc::driver::sys;
use keops_gpu_kernels::real::Real;

use super::driver::Failure;
use super::gpu::Gpu;
use super::memory::{Block, Kind};
use crate::cpu::pack::Source;

/// Bytes of one copy.
pub(super) const CHUNK: usize = 8 << 20;
/// Bytes of copies under way, after which the host waits.
const UNDER_WAY: usize = 8 * CHUNK;

/// What one call has under way on one device.
pub(super) struct Traffic {
    pub(super) gpu: &'static Gpu,
    /// Pinned memory that the stream accesses.
    held: Vec<Block>,
    bytes: usize,
}

/// Numbers on their way down: where they will be.
pub(super) struct Arriving {
    held: usize,
    pub(super) bytes: usize,
}

impl Traffic {
    pub(super) fn new(gpu: &'static Gpu) -> Traffic {
        Traffic {
            gpu,
            held: Vec::new(),
            bytes: 0,
        }
    }

    /// Whether so much is under way that the host should wait before it adds more.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= UNDER_WAY
    }

    /// Copies `bytes` bytes to the device, which `fill` writes; it gets memory that is aligned for any number. The context
    /// is bound.
    ///
    /// # Safety
    /// `to` has room on this device, and `fill` writes all that the device will read.
    pub(super) unsafe fn upload(
        &mut self,
        to: u64,
        bytes: usize,
        fill: impl FnOnce(*mut u8),
    ) -> Result<(), Failure> {
        if bytes == 0 {
            return Ok(());
        }
        if self.is_full() {
            self.wait()?;
        }
        let block = self.gpu.allocate(Kind::Pinned, bytes)?;
        let at: *mut u8 = block.host(0, bytes);
        fill(at);
        self.hold(block, bytes);
        // SAFETY: the pinned block has so many bytes and is held until the copy has ended; the caller vouches for `to`.
        unsafe { sys::cuMemcpyHtoDAsync_v2(to, at.cast(), bytes, self.gpu.stream()) }
            .result()
            .map_err(self.gpu.failed("cuMemcpyHtoDAsync"))?;
        Ok(())
    }

    /// Copies all rows to the device, row-major, in chunks. The context is bound.
    ///
    /// # Safety
    /// `to` has room on this device.
    pub(super) unsafe fn upload_rows<T: Real>(
        &mut self,
        to: u64,
        source: &Source<'_, T>,
    ) -> Result<(), Failure> {
        let row = source.columns() * size_of::<T>();
        if row == 0 {
            return Ok(());
        }
        let each = (CHUNK / row).max(1);
        let mut first = 0;
        while first < source.rows() {
            let count = each.min(source.rows() - first);
            // SAFETY: the rows `first .. first + count` have their place behind `to`; the block has room for as many.
            unsafe {
                self.upload(to + (first * row) as u64, count * row, |at| {
                    source.copy_rows(first..first + count, at.cast());
                })?;
            }
            first += count;
        }
        Ok(())
    }

    /// Copies numbers of pageable memory to the device. The context is bound.
    ///
    /// # Safety
    /// `to` has room on this device.
    pub(super) unsafe fn upload_values<T>(&self, to: u64, values: &[T]) -> Result<(), Failure> {
        let bytes = size_of_val(values);
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the driver has taken pageable bytes when the call returns; the caller vouches for `to`.
        unsafe { sys::cuMemcpyHtoDAsync_v2(to, values.as_ptr().cast(), bytes, self.gpu.stream()) }
            .result()
            .map_err(self.gpu.failed("cuMemcpyHtoDAsync"))
    }

    /// Queues a copy of `bytes` bytes to the host, more than 0. The context is bound.
    ///
    /// # Safety
    /// `from` has as many bytes on this device, written by work that is queued before.
    pub(super) unsafe fn fetch(&mut self, from: u64, bytes: usize) -> Result<Arriving, Failure> {
        let block = self.gpu.allocate(Kind::Pinned, bytes)?;
        let at: *mut u8 = block.host(0, bytes);
        self.hold(block, bytes);
        // SAFETY: the pinned block has so many bytes and is held until the copy has ended; the caller vouches for `from`.
        unsafe { sys::cuMemcpyDtoHAsync_v2(at.cast(), from, bytes, self.gpu.stream()) }
            .result()
            .map_err(self.gpu.failed("cuMemcpyDtoHAsync"))?;
        Ok(Arriving {
            held: self.held.len() - 1,
            bytes,
        })
    }

    fn hold(&mut self, block: Block, bytes: usize) {
        self.held.push(block);
        self.bytes += bytes;
    }

    /// Waits until nothing is under way, and lets `take` see what has arrived. The context is bound.
    pub(super) fn wait_for(
        &mut self,
        arriving: &[Arriving],
        mut take: impl FnMut(usize, *const u8),
    ) -> Result<(), Failure> {
        self.gpu.synchronize()?;
        for (n, arriving) in arriving.iter().enumerate() {
            take(n, self.held[arriving.held].host(0, arriving.bytes));
        }
        self.held.clear();
        self.bytes = 0;
        Ok(())
    }

    /// Waits until nothing is under way. The context is bound. Nothing may be arriving that is still wanted.
    pub(super) fn wait(&mut self) -> Result<(), Failure> {
        self.wait_for(&[], |_, _| {})
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let waited = self.gpu.bind().and_then(|_bound| self.gpu.synchronize());
        if waited.is_err() {
            self.gpu.leave(std::mem::take(&mut self.held));
        }
    }
}

/// The pieces of `bytes` bytes, of at most [`CHUNK`] each.
pub(super) fn chunks(bytes: usize) -> impl Iterator<Item = Range<usize>> {
    (0..bytes.div_ceil(CHUNK)).map(move |n| n * CHUNK..bytes.min((n + 1) * CHUNK))
}
