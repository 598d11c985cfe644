//! [`Memory`]: the global memory of a device, at addresses that no host pointer has.
//!
//! Invariants: allocations lie at least [`GAP`] apart and an address is never used twice, so that a stray index or a freed
//! allocation always misses; every access names an allocation that holds all of it.
pub(crate) mod region;
pub(crate) mod shadow;

use crate::error::{Error, ErrorKind};
use region::Region;
use std::collections::HashMap;
use std::fmt;

/// Least distance of two allocations, in bytes.
pub const GAP: u64 = 1 << 20;
/// What every allocation's address is a multiple of.
const ALIGN: u64 = 512;
/// Where the addresses of the first device start.
const BASE: u64 = 0x7000_0000_0000;

/// An allocation that does not fit any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Bytes that were asked for.
    pub wanted: u64,
    /// Bytes that are left.
    pub free: u64,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "out of memory: {} bytes wanted, {} free",
            self.wanted, self.free
        )
    }
}

impl std::error::Error for OutOfMemory {}

/// Global memory of one device.
pub struct Memory {
    /// In order of addresses.
    regions: Vec<(u64, Region)>,
    next: u64,
    capacity: u64,
    used: u64,
    /// Addresses of the variables of modules that ran here, by the module's number.
    pub(crate) modules: HashMap<u64, Vec<Option<u64>>>,
    /// The last epoch that was used, see `shadow`.
    pub(crate) epoch: u32,
}

impl Memory {
    /// Memory of `capacity` bytes.
    pub fn new(capacity: u64) -> Memory {
        Memory::of_device(0, capacity)
    }

    /// Memory of a device among others, whose addresses are all different.
    pub fn of_device(device: u32, capacity: u64) -> Memory {
        Memory {
            regions: Vec::new(),
            next: BASE + (u64::from(device) << 42),
            capacity,
            used: 0,
            modules: HashMap::new(),
            epoch: 0,
        }
    }

    /// Bytes in all.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes in live allocations.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Address and length of every live allocation, variables of modules apart.
    pub fn allocations(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        let is_variable = |address: &u64| {
            self.modules
                .values()
                .flatten()
                .any(|at| *at == Some(*address))
        };
        let allocations = self
            .regions
            .iter()
            .map(|(base, region)| (*base, region.len()));
        allocations.filter(move |(base, _)| !is_variable(base))
    }

    /// Allocates `bytes` that nobody wrote, at a multiple of 512.
    ///
    /// # Errors
    /// Less than that is free.
    pub fn allocate(&mut self, bytes: usize) -> Result<u64, OutOfMemory> {
        let (wanted, free) = (bytes as u64, self.capacity - self.used);
        if wanted > free {
            return Err(OutOfMemory { wanted, free });
        }
        let address = self.next;
        self.regions.push((address, Region::new(bytes)));
        self.used += wanted;
        self.next = (address + wanted + GAP).next_multiple_of(ALIGN);
        Ok(address)
    }

    /// Frees an allocation by its first address; false if there is none.
    pub fn free(&mut self, address: u64) -> bool {
        let Ok(index) = self
            .regions
            .binary_search_by_key(&address, |(base, _)| *base)
        else {
            return false;
        };
        let (_, region) = self.regions.remove(index);
        self.used -= region.len() as u64;
        true
    }

    /// Whether a range lies in one live allocation.
    pub fn contains(&self, address: u64, length: usize) -> bool {
        self.locate(address, length).is_some()
    }

    /// Number of the region and offset in it.
    pub(crate) fn locate(&self, address: u64, length: usize) -> Option<(usize, usize)> {
        let index = self
            .regions
            .partition_point(|(base, _)| *base <= address)
            .checked_sub(1)?;
        let (base, region) = &self.regions[index];
        let offset = usize::try_from(address - base).ok()?;
        (offset <= region.len() && length <= region.len() - offset).then_some((index, offset))
    }

    /// The same, for the region that `hint` names if it is that one.
    #[inline(always)]
    pub(crate) fn locate_near(
        &self,
        hint: &mut u32,
        address: u64,
        length: usize,
    ) -> Option<(usize, usize)> {
        if let Some((base, region)) = self.regions.get(*hint as usize) {
            let offset = address.wrapping_sub(*base);
            if offset < region.len() as u64 && length as u64 <= region.len() as u64 - offset {
                return Some((*hint as usize, offset as usize));
            }
        }
        let found = self.locate(address, length)?;
        *hint = found.0 as u32;
        Some(found)
    }

    pub(crate) fn region(&mut self, index: usize) -> &mut Region {
        &mut self.regions[index].1
    }

    fn checked(&self, address: u64, length: usize) -> Result<(usize, usize), Error> {
        self.locate(address, length).ok_or_else(|| {
            Error::new(
                ErrorKind::OutOfBounds,
                0,
                format!("{length} bytes at {address:#x} are in no allocation"),
            )
        })
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// They are not all in one live allocation.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let (index, offset) = self.checked(address, bytes.len())?;
        self.region(index).write(offset, bytes);
        Ok(())
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// They are not all in one live allocation, or nobody wrote some.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let (index, offset) = self.checked(address, bytes.len())?;
        let region = &self.regions[index].1;
        bytes.copy_from_slice(region.bytes(offset, bytes.len()));
        match region.first_unwritten(offset, bytes.len()) {
            None => Ok(()),
            Some(at) => Err(Error::new(
                ErrorKind::Uninitialized,
                0,
                format!(
                    "byte {} of {} at {address:#x} was never written",
                    at - offset,
                    bytes.len()
                ),
            )),
        }
    }

    /// Copies bytes inside this memory, unwritten ones as such.
    ///
    /// # Errors
    /// A range is not in one live allocation.
    pub fn copy(&mut self, to: u64, from: u64, length: usize) -> Result<(), Error> {
        let contents = self.take_copy(from, length)?;
        self.put_copy(to, &contents)
    }

    /// Copies bytes from another memory, unwritten ones as such.
    ///
    /// # Errors
    /// A range is not in one live allocation.
    pub fn copy_from(
        &mut self,
        to: u64,
        other: &Memory,
        from: u64,
        length: usize,
    ) -> Result<(), Error> {
        let contents = other.take_copy(from, length)?;
        self.put_copy(to, &contents)
    }

    fn take_copy(&self, from: u64, length: usize) -> Result<(Vec<u8>, Vec<bool>), Error> {
        let (index, offset) = self.checked(from, length)?;
        Ok(self.regions[index].1.snapshot(offset, length))
    }

    fn put_copy(&mut self, to: u64, contents: &(Vec<u8>, Vec<bool>)) -> Result<(), Error> {
        let (index, offset) = self.checked(to, contents.0.len())?;
        self.region(index).restore(offset, contents);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_lie_apart_and_are_never_reused() {
        let mut memory = Memory::new(1000);
        let a = memory.allocate(600).unwrap();
        let b = memory.allocate(400).unwrap();
        assert!(b >= a + 600 + GAP && a.is_multiple_of(ALIGN) && b.is_multiple_of(ALIGN));
        assert_eq!(memory.allocate(1), Err(OutOfMemory { wanted: 1, free: 0 }));
        assert!(memory.contains(a, 600) && memory.contains(a + 599, 1));
        assert!(
            !memory.contains(a, 601) && !memory.contains(a + 600, 1) && !memory.contains(a - 1, 1)
        );
        assert!(memory.free(a) && !memory.free(a) && !memory.free(b + 1));
        assert!(!memory.contains(a, 1));
        assert!(memory.allocate(600).unwrap() > b);
    }

    #[test]
    fn contents_and_what_was_never_written() {
        let mut memory = Memory::new(1 << 20);
        let (a, b) = (memory.allocate(100).unwrap(), memory.allocate(100).unwrap());
        memory.write(a + 10, &[1, 2, 3]).unwrap();
        let mut three = [0; 3];
        memory.read(a + 10, &mut three).unwrap();
        assert_eq!(three, [1, 2, 3]);
        assert_eq!(
            memory.read(a + 9, &mut three).unwrap_err().kind,
            ErrorKind::Uninitialized
        );
        memory.copy(b, a, 100).unwrap();
        memory.read(b + 10, &mut three).unwrap();
        assert_eq!(
            memory.read(b + 11, &mut three).unwrap_err().kind,
            ErrorKind::Uninitialized
        );
        assert_eq!(
            memory.write(a + 98, &[0; 3]).unwrap_err().kind,
            ErrorKind::OutOfBounds
        );
        assert_eq!(
            memory.read(b + 98, &mut three).unwrap_err().kind,
            ErrorKind::OutOfBounds
        );
    }

    #[test]
    fn devices_have_addresses_of_their_own() {
        let mut first = Memory::of_device(0, 100);
        let mut second = Memory::of_device(1, 100);
        let (a, b) = (first.allocate(8).unwrap(), second.allocate(8).unwrap());
        assert!(!first.contains(b, 1));
        first.write(a, &[7; 8]).unwrap();
        second.copy_from(b, &first, a, 8).unwrap();
        let mut bytes = [0; 8];
        second.read(b, &mut bytes).unwrap();
        assert_eq!(bytes, [7; 8]);
    }
}
