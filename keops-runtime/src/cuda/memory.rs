//! Memory of a device, and pinned memory of the host: [`Block`], which gives itself back to a [`Pool`].
//!
//! Allocating from the driver is slow and waits for the device, so what is given back is kept for the next call, up to a
//! limit. Sizes are rounded up to an eighth of a power of two, so that similar calls find each other's blocks.
//!
//! Invariants: every address is in one block or in its pool, never in both; a block of device memory is only accessed by
//! work of the device's one stream, a pinned block is given back when no queued work accesses it.
use std::collections::BTreeMap;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::CUresult;

use super::driver::Failure;
use super::gpu::{Gpu, lock};

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// On the device.
    Device,
    /// On the host, where the device can access it.
    Pinned,
}

impl Kind {
    /// For messages.
    fn purpose(self) -> &'static str {
        match self {
            Kind::Device => "of device memory",
            Kind::Pinned => "of pinned host memory",
        }
    }

    /// Allocates. The context is bound.
    fn allocate(self, bytes: usize) -> Result<u64, DriverError> {
        // SAFETY: whoever gets the memory writes it before reading it; the size is not 0.
        unsafe {
            match self {
                Kind::Device => result::malloc_sync(bytes),
                Kind::Pinned => result::malloc_host(bytes, 0).map(|at| at as usize as u64),
            }
        }
    }

    /// Frees. An error is an earlier one's, and the memory is free all the same.
    fn free(self, address: u64) {
        // SAFETY: from `allocate`, and freed once: the pool has forgotten it.
        let _ = unsafe {
            match self {
                Kind::Device => result::free_sync(address),
                Kind::Pinned => result::free_host(address as usize as *mut _),
            }
        };
    }
}

/// Memory that is allocated and not in use.
pub(crate) struct Pool {
    kind: Kind,
    /// Addresses by size.
    free: BTreeMap<usize, Vec<u64>>,
    /// Bytes of all of them.
    unused: usize,
    /// Most bytes to keep.
    limit: usize,
}

impl Pool {
    pub(super) fn new(kind: Kind, limit: usize) -> Pool {
        Pool {
            kind,
            free: BTreeMap::new(),
            unused: 0,
            limit,
        }
    }

    /// A block of at least this size, and not much more.
    fn take(&mut self, bytes: usize) -> Option<(u64, usize)> {
        let (&size, addresses) = self.free.range_mut(bytes..=bytes + bytes / 4).next()?;
        let address = addresses.pop()?;
        if addresses.is_empty() {
            self.free.remove(&size);
        }
        self.unused -= size;
        Some((address, size))
    }

    /// Frees the largest blocks until at most `limit` bytes are left. No work that is queued accesses any.
    pub(super) fn shrink(&mut self, limit: usize) {
        while self.unused > limit {
            let Some((size, addresses)) = self.free.pop_last() else {
                return;
            };
            self.unused -= size * addresses.len();
            for address in addresses {
                self.kind.free(address);
            }
        }
    }
}

/// Memory in use.
#[derive(Debug)]
pub(crate) struct Block {
    gpu: &'static Gpu,
    kind: Kind,
    address: u64,
    /// Bytes allocated, at least those asked for.
    bytes: usize,
}

/// The size that is allocated for this many bytes.
fn rounded(bytes: usize) -> Option<usize> {
    let step = (bytes.checked_next_power_of_two()? / 8).max(512);
    bytes.max(1).checked_next_multiple_of(step)
}

impl Gpu {
    fn pool(&self, kind: Kind) -> &std::sync::Mutex<Pool> {
        match kind {
            Kind::Device => &self.device_memory,
            Kind::Pinned => &self.pinned_memory,
        }
    }

    /// Memory of at least `bytes` bytes. The context is bound.
    pub(crate) fn allocate(&'static self, kind: Kind, bytes: usize) -> Result<Block, Failure> {
        let none = || Failure::Memory {
            purpose: kind.purpose(),
            bytes,
        };
        let size = rounded(bytes).ok_or_else(none)?;
        let block = |address, bytes| Block {
            gpu: self,
            kind,
            address,
            bytes,
        };
        if let Some((address, size)) = lock(self.pool(kind)).take(size) {
            return Ok(block(address, size));
        }
        let call = match kind {
            Kind::Device => "cuMemAlloc",
            Kind::Pinned => "cuMemHostAlloc",
        };
        let out_of_memory = DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        match kind.allocate(size) {
            Ok(address) => return Ok(block(address, size)),
            Err(error) if error != out_of_memory => return Err(self.failed(call)(error)),
            Err(_) => self.release_unused()?,
        }
        match kind.allocate(size) {
            Ok(address) => Ok(block(address, size)),
            Err(error) if error == out_of_memory => Err(none()),
            Err(error) => Err(self.failed(call)(error)),
        }
    }
}

impl Block {
    /// Its first byte.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// The first `bytes` bytes of pinned memory, for the host, from `offset` on.
    pub(crate) fn host<T>(&self, offset: usize, count: usize) -> *mut T {
        assert!(
            self.kind == Kind::Pinned
                && offset.is_multiple_of(align_of::<T>())
                && count
                    .checked_mul(size_of::<T>())
                    .and_then(|bytes| bytes.checked_add(offset))
                    .is_some_and(|end| end <= self.bytes),
            "within the pinned block"
        );
        (self.address as usize as *mut u8)
            .wrapping_add(offset)
            .cast()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut pool = lock(self.gpu.pool(self.kind));
        pool.free.entry(self.bytes).or_default().push(self.address);
        pool.unused += self.bytes;
        if pool.unused > pool.limit {
            drop(pool);
            // Where the device does not answer, memory stays; the next block that comes back tries again.
            if let Ok(_bound) = self.gpu.bind()
                && self.gpu.synchronize().is_ok()
            {
                let mut pool = lock(self.gpu.pool(self.kind));
                let limit = pool.limit;
                pool.shrink(limit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_waste_at_most_an_eighth_beyond_the_smallest() {
        assert_eq!(rounded(0), Some(512));
        assert_eq!(rounded(513), Some(1024));
        assert_eq!(rounded(1 << 20), Some(1 << 20));
        assert_eq!(rounded(usize::MAX), None);
        for bytes in (4096..100_000).step_by(77) {
            let size = rounded(bytes).unwrap();
            assert!(
                size >= bytes && size - bytes <= bytes / 4,
                "{bytes}: {size}"
            );
        }
    }
}
