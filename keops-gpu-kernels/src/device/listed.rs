//! The inner rows that variables list for the outer rows of a block: found, put in order, and handed out tile by tile.
//!
//! A block looks for them in windows, from the last to the first. In each, threads read lists side by side and set a bit for every row
//! that is listed, so that a row counts once and the order is that of the rows, whatever the order of the lists. No other memory is
//! needed, and nothing is sorted.
//!
//! Invariant: what is found depends on the block's outer rows and on the lists only. All threads of the block know the same window and
//! the same number of rows, which the barriers in here rely on.
use super::intrinsics::{
    count_bits, load_shared_u32, set_shared_bits, store_shared_u32, sync_threads, thread_idx_x,
};
use super::rows::Source;
use crate::abi::{BLOCK, WINDOW};
use crate::mini_core::*;

/// Where a block is in its inner rows, and the indices of the rows in the tile.
pub struct Walk {
    /// Rows not looked at yet: from here …
    begin: u32,
    /// … to here.
    end: u32,
    /// First row of the window.
    start: u32,
    /// Rows of the window that are to be handed out yet.
    left: u32,
    /// Rows of the window before those of this thread's word.
    below: u32,
    /// Address of the window's bits, one word for each thread; then come the indices.
    bits: u32,
}

impl Walk {
    /// Through the inner rows `begin .. end`, with words of shared memory at `words`, as many as [`listed_words`] says.
    ///
    /// [`listed_words`]: crate::abi::listed_words
    #[inline(always)]
    pub fn new(begin: u32, end: u32, words: u32) -> Walk {
        Walk {
            begin,
            end,
            start: end,
            left: 0,
            below: 0,
            bits: words,
        }
    }

    /// Address of the index of the row in slot `slot` of the tile.
    #[inline(always)]
    pub fn index_at(&self, slot: u32) -> u32 {
        self.bits + 4 * (BLOCK + slot)
    }

    /// The index of the row in slot `slot` of the tile.
    ///
    /// # Safety
    /// The slot must be one of those handed out, and a barrier must have been passed since.
    #[inline(always)]
    pub unsafe fn row(&self, slot: u32) -> u32 {
        // SAFETY: one of the indices, which are written between two barriers only.
        unsafe { load_shared_u32(self.index_at(slot)) }
    }

    /// Hands out the next rows, `tile` at most, in ascending order, and says how many: 0 at the end. With `all` these are all rows, else
    /// those that matter to the outer rows `rows` of this thread and of the others, whose indices are `first .. first + count`.
    ///
    /// # Safety
    /// All threads of the block must be here with the same numbers; none may still be reading the tile's rows after the barrier that
    /// this holds. The rows must exist.
    #[inline(always)]
    pub unsafe fn next<T, X: Source<T>, Y: Source<T>, const R: usize>(
        &mut self,
        all: bool,
        tile: u32,
        outer: X,
        rows: &[u32; R],
        first: u32,
        count: u32,
        inner: Y,
    ) -> u32 {
        if all {
            if self.end <= self.begin {
                return 0;
            }
            // Tiles start at multiples of their length; only the last one, which comes first, is partial.
            let start = (self.end - 1) & !(tile - 1);
            let start = if start < self.begin { self.begin } else { start };
            let count = self.end - start;
            self.end = start;
            // SAFETY: all threads are here; each writes the indices of its own slots.
            unsafe {
                sync_threads();
                let mut slot = thread_idx_x();
                while slot < count {
                    store_shared_u32(self.index_at(slot), start + slot);
                    slot += BLOCK;
                }
                sync_threads();
            }
            return count;
        }
        while self.left == 0 {
            if self.end <= self.begin {
                return 0;
            }
            let start = (self.end - 1) & !(WINDOW - 1);
            self.start = if start < self.begin { self.begin } else { start };
            // SAFETY: the caller's promise.
            unsafe { self.search(outer, rows, first, count, inner) };
            self.end = self.start;
        }
        let low = if self.left > tile { self.left - tile } else { 0 };
        let count = self.left - low;
        self.left = low;
        // SAFETY: all threads are here; each writes the slots of the rows of its own word, which no one else changes.
        unsafe {
            sync_threads();
            let mut bits = load_shared_u32(self.bits + 4 * thread_idx_x());
            let mut at = self.below;
            let row = self.start + 32 * thread_idx_x();
            while bits != 0 {
                let lowest = count_bits((bits & 0u32.wrapping_sub(bits)) - 1);
                // Below `low` this is a large number.
                let slot = at.wrapping_sub(low);
                if slot < count {
                    store_shared_u32(self.index_at(slot), row + lowest);
                }
                bits &= bits - 1;
                at += 1;
            }
            sync_threads();
        }
        count
    }

    /// Sets the bits of the rows `start .. end` that matter, and counts them.
    ///
    /// # Safety
    /// As for [`Walk::next`].
    #[inline(always)]
    unsafe fn search<T, X: Source<T>, Y: Source<T>, const R: usize>(
        &mut self,
        outer: X,
        rows: &[u32; R],
        first: u32,
        count: u32,
        inner: Y,
    ) {
        let length = self.end - self.start;
        self.below = 0;
        // SAFETY: all threads are here. Each clears its own word; then bits are only set; then words are only read.
        unsafe {
            sync_threads();
            store_shared_u32(self.bits + 4 * thread_idx_x(), 0);
            sync_threads();
            if Y::LISTED != 0 {
                let mut place = thread_idx_x();
                while place < length {
                    let mut c = 0;
                    while c < Y::LISTED {
                        // SAFETY: the row exists.
                        let row = inner.listed(self.start + place, c);
                        if row.wrapping_sub(first) < count {
                            self.set(place);
                        }
                        c += 1;
                    }
                    place += BLOCK;
                }
            }
            let mut r = 0;
            while r < R {
                let mut c = 0;
                while c < X::LISTED {
                    // SAFETY: the row exists.
                    let place = outer.listed(rows[r], c).wrapping_sub(self.start);
                    if place < length {
                        self.set(place);
                    }
                    c += 1;
                }
                r += 1;
            }
            sync_threads();
            let mut word = 0;
            while word < BLOCK {
                let rows = count_bits(load_shared_u32(self.bits + 4 * word));
                if word < thread_idx_x() {
                    self.below += rows;
                }
                self.left += rows;
                word += 1;
            }
        }
    }

    /// Sets the bit of row `start + place`.
    ///
    /// # Safety
    /// The row must be in the window, and nobody may be reading its word.
    #[inline(always)]
    unsafe fn set(&self, place: u32) {
        // SAFETY: the word is one of the window's.
        unsafe { set_shared_bits(self.bits + 4 * (place / 32), 1u32 << (place & 31)) }
    }
}
