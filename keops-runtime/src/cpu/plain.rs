//! The loops over a tile of [`tile`](super::tile), for long kernels: one vector of outer rows (or inner ones) by one row at a time.
//!
//! Invariants: as in [`tile`](super::tile) and [`access`](super::access). What these compute is, to the bit, what they would with a
//! register tile of one pair.
use keops_gpu_kernels::isa::Isa;
use keops_gpu_kernels::kernel::{Array, Columns, ColumnsMut, Kernel};

use super::access::NO_INDEX;
use super::isa::Memory;
use super::isa::called::{Functions, One};
use super::tile::{AcrossArgs, SizesOf, TileArgs, work};

/// One block of rows packed lane-wise: `columns` vectors, one a column.
struct Vectors<I: Isa> {
    s: I,
    at: *mut I::T,
    columns: usize,
    index: usize,
}
impl<I: Memory> Vectors<I> {
    /// # Safety
    /// As for [`Lanes::outer`](super::access::Lanes::outer), with one block.
    #[inline(always)]
    unsafe fn new(s: I, at: *mut I::T, columns: usize, index: usize) -> Self {
        Vectors {
            s,
            at,
            columns,
            index,
        }
    }
}
impl<I: Memory> Columns<I::F> for Vectors<I> {
    #[inline(always)]
    fn get(&self, c: usize) -> I::F {
        if c < self.columns {
            // SAFETY: c is in range, and the constructor's caller vouches for every column of the block.
            unsafe { self.s.load(self.at.add(c * I::LANES)) }
        } else {
            self.s.lit(0.0)
        }
    }
    #[inline(always)]
    fn index(&self) -> I::F {
        self.get(self.index)
    }
}
impl<I: Memory> ColumnsMut<I::F> for Vectors<I> {
    #[inline(always)]
    fn put(&mut self, c: usize, v: I::F) {
        if c < self.columns {
            // SAFETY: c is in range, and the constructor's caller vouches for every column of the block.
            unsafe { self.s.store(self.at.add(c * I::LANES), v) };
        }
    }
}

/// One row, each value repeated in every lane, its columns `next` values apart.
struct Row<I: Isa> {
    s: I,
    at: *const I::T,
    columns: usize,
    index: usize,
    next: usize,
}
impl<I: Memory> Row<I> {
    /// # Safety
    /// As for [`Splat::one`](super::access::Splat::one).
    #[inline(always)]
    unsafe fn new(s: I, at: *const I::T, columns: usize, index: usize, next: usize) -> Self {
        Row {
            s,
            at,
            columns,
            index,
            next,
        }
    }
}
impl<I: Memory> Columns<I::F> for Row<I> {
    #[inline(always)]
    fn get(&self, c: usize) -> I::F {
        if c < self.columns {
            // SAFETY: c is in range, and the constructor's caller vouches for every column of the row.
            self.s.splat(unsafe { *self.at.add(c * self.next) })
        } else {
            self.s.lit(0.0)
        }
    }
    #[inline(always)]
    fn index(&self) -> I::F {
        self.get(self.index)
    }
}

/// Folds the inner rows of a tile into the state rows of all its outer rows, lanes over outer rows.
///
/// # Safety
/// As for [`tile`](super::tile::tile).
#[inline(always)]
pub(crate) unsafe fn tile<I: Functions, K: Kernel<I::T>, const CALLS: bool>(
    s: I,
    a: &TileArgs<I::T>,
) {
    let size = const { SizesOf::<I::T, K>::SIZES };
    let one = One::<I, CALLS>(s);
    let mut work = work::<K, _>(one);
    let mut block = 0;
    while block < a.blocks {
        // SAFETY: the block exists, for outer rows and for states; parameters exist. Only `row` is written through.
        let (p, x, mut row) = unsafe {
            let x = a.outer.add(block * size.outer * I::LANES).cast_mut();
            let state = a.state.add(block * size.state * I::LANES);
            (
                Row::new(s, a.params, size.params, NO_INDEX, 1),
                Vectors::new(s, x, size.outer, size.outer_index),
                Vectors::new(s, state, size.state, NO_INDEX),
            )
        };
        let mut j = 0;
        while j < a.rows {
            let left = a.rows - j;
            let end = if left < a.rows_per_flush {
                a.rows
            } else {
                j + a.rows_per_flush
            };
            let mut state = K::State::<I::F>::fill(s.lit(0.0));
            K::begin(one, &row, &mut state);
            while j < end {
                // SAFETY: row `j` exists.
                let y = unsafe {
                    let y = a.inner.add(j * size.inner);
                    Row::new(s, y, size.inner, size.inner_index, 1)
                };
                K::step(one, &p, &x, &y, &mut state, &mut work);
                j += 1;
            }
            K::flush(one, &state, &mut row);
        }
        block += 1;
    }
}

/// Folds inner rows into one state row per outer row and lane, lanes over inner rows: for few outer rows.
///
/// # Safety
/// As for [`across`](super::tile::across).
#[inline(always)]
pub(crate) unsafe fn across<I: Functions, K: Kernel<I::T>, const CALLS: bool>(
    s: I,
    a: &AcrossArgs<I::T>,
) {
    let size = const { SizesOf::<I::T, K>::SIZES };
    let one = One::<I, CALLS>(s);
    let mut work = work::<K, _>(one);
    let mut i = 0;
    while i < a.outer_rows {
        // SAFETY: outer row `i` is lane i mod LANES of its block, its state row is the i-th; parameters exist.
        let (p, x, mut row) = unsafe {
            let x = a
                .outer
                .add(i / I::LANES * size.outer * I::LANES + i % I::LANES);
            let state = a.state.add(i * size.state * I::LANES);
            (
                Row::new(s, a.params, size.params, NO_INDEX, 1),
                Row::new(s, x, size.outer, size.outer_index, I::LANES),
                Vectors::new(s, state, size.state, NO_INDEX),
            )
        };
        let mut state = K::State::<I::F>::fill(s.lit(0.0));
        K::begin(one, &row, &mut state);
        let mut block = 0;
        while block < a.blocks {
            // SAFETY: the block exists; nothing is written through `y`.
            let y = unsafe {
                let y = a.inner.add(block * size.inner * I::LANES).cast_mut();
                Vectors::new(s, y, size.inner, size.inner_index)
            };
            K::step(one, &p, &x, &y, &mut state, &mut work);
            block += 1;
        }
        K::flush(one, &state, &mut row);
        i += 1;
    }
}
