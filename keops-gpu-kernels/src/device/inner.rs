//! Row accessors of the device: inner rows, in global memory as given and in shared memory as the pair part reads them.
//!
//! Shared memory is addressed by 32-bit addresses; a slot of the tile is a row of `USED` columns, padded to 16 bytes.
//!
//! Invariant: a column out of range reads as zero and writes nothing; no accessor touches memory outside its rows.
use super::gpu::Device;
use super::intrinsics::load_shared_u32;
use super::rows::Source;
use crate::kernel::{Columns, ColumnsMut};
use crate::mini_core::*;

/// One inner row as the variables hold it, for `prepare_inner`.
pub struct InnerRaw<V> {
    variables: V,
    row: u32,
}
impl<V> InnerRaw<V> {
    /// Row `row` of the variables.
    ///
    /// # Safety
    /// The row must exist, and nobody may write the variables while the accessor is in use.
    #[inline(always)]
    pub unsafe fn new(variables: V, row: u32) -> Self {
        InnerRaw { variables, row }
    }
}
impl<T: Device, V: Source<T>> Columns<[[T; 1]; 1]> for InnerRaw<V> {
    #[inline(always)]
    fn get(&self, c: usize) -> [[T; 1]; 1] {
        // SAFETY: `new` was promised that the row exists.
        [[unsafe { self.variables.load(self.row, c) }]]
    }
    #[inline(always)]
    fn index(&self) -> [[T; 1]; 1] {
        [[T::from_index(self.row)]]
    }
}

/// One inner row in shared memory, while `prepare_inner` writes it.
pub struct InnerSlot<const USED: usize> {
    address: u32,
    row: u32,
}
impl<const USED: usize> InnerSlot<USED> {
    /// The slot at `address` for the inner row `row`.
    ///
    /// # Safety
    /// `address` must be the start of a slot of the block's tile, and this thread's for as long as the accessor is in use.
    #[inline(always)]
    pub unsafe fn new(address: u32, row: u32) -> Self {
        InnerSlot { address, row }
    }
}
impl<T: Device, const USED: usize> Columns<[[T; 1]; 1]> for InnerSlot<USED> {
    #[inline(always)]
    fn get(&self, c: usize) -> [[T; 1]; 1] {
        if c < USED {
            // SAFETY: inside the slot, which `new` was promised to be this thread's.
            [[unsafe { T::load(self.address + c as u32 * T::BYTES) }]]
        } else {
            [[T::ZERO]]
        }
    }
    #[inline(always)]
    fn index(&self) -> [[T; 1]; 1] {
        [[T::from_index(self.row)]]
    }
}
impl<T: Device, const USED: usize> ColumnsMut<[[T; 1]; 1]> for InnerSlot<USED> {
    #[inline(always)]
    fn put(&mut self, c: usize, v: [[T; 1]; 1]) {
        if c < USED {
            // SAFETY: inside the slot, which `new` was promised to be this thread's.
            unsafe { T::store(self.address + c as u32 * T::BYTES, v[0][0]) }
        }
    }
}

/// Q slots of the tile in shared memory, inner rows in descending order, for the pair part. `HELD` of their columns
/// are in registers: all, or none. Rows are consecutive, or where
/// `WORDS` is not 0 any: then their indices are in shared memory too.
pub struct Inner<
    T,
    const USED: usize,
    const STRIDE: u32,
    const HELD: usize,
    const Q: usize,
    const WORDS: usize,
> {
    /// Address of the lowest of the rows, which is the last to be folded.
    lowest: u32,
    /// Its index, or the address of its index.
    row: u32,
    held: [[T; HELD]; Q],
}
impl<
    T: Device,
    const USED: usize,
    const STRIDE: u32,
    const HELD: usize,
    const Q: usize,
    const WORDS: usize,
> Inner<T, USED, STRIDE, HELD, Q, WORDS>
{
    /// The rows of Q slots, the lowest of which is at `lowest` and has the index `row`; where indices are in shared memory, the Q of
    /// them are at the address `row`.
    ///
    /// # Safety
    /// The Q slots from `lowest` on must be rows of the block's tile, and no thread may write them, nor the indices, while the
    /// accessor is in use.
    #[inline(always)]
    pub unsafe fn new(lowest: u32, row: u32) -> Self {
        let mut held = [[T::ZERO; HELD]; Q];
        let mut q = 0;
        while q < Q {
            let mut c = 0;
            while c < HELD {
                // SAFETY: the slot is a multiple of 16 bytes long, so the vector is inside it.
                unsafe {
                    T::load_vector(
                        lowest + (Q - 1 - q) as u32 * STRIDE + c as u32 * T::BYTES,
                        &mut held[q],
                        c,
                    )
                };
                c += T::VECTOR;
            }
            q += 1;
        }
        Inner { lowest, row, held }
    }
}
impl<
    T: Device,
    const USED: usize,
    const STRIDE: u32,
    const HELD: usize,
    const R: usize,
    const Q: usize,
    const WORDS: usize,
> Columns<[[T; Q]; R]> for Inner<T, USED, STRIDE, HELD, Q, WORDS>
{
    #[inline(always)]
    fn get(&self, c: usize) -> [[T; Q]; R] {
        let mut out = [T::ZERO; Q];
        if c < USED {
            let mut q = 0;
            while q < Q {
                out[q] = if HELD == USED {
                    self.held[q][c]
                } else {
                    let address = self.lowest + (Q - 1 - q) as u32 * STRIDE + c as u32 * T::BYTES;
                    // SAFETY: inside the slot of row q.
                    unsafe { T::load(address) }
                };
                q += 1;
            }
        }
        [out; R]
    }
    #[inline(always)]
    fn index(&self) -> [[T; Q]; R] {
        let mut out = [T::ZERO; Q];
        let mut q = 0;
        while q < Q {
            let above = (Q - 1 - q) as u32;
            out[q] = T::from_index(if WORDS != 0 {
                // SAFETY: one of the indices.
                unsafe { load_shared_u32(self.row + 4 * above) }
            } else {
                self.row + above
            });
            q += 1;
        }
        [out; R]
    }
}
