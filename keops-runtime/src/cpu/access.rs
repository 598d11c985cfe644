//! The row accessors that kernels read and write through on the CPU.
//!
//! Invariants: a column number is compared with the number of columns before memory is touched, so that no `Kernel`, which
//! is safe code, can reach outside; the comparison folds away where the number is a constant. A column out of range reads
//! as zero and writes nothing. Everything is `#[inline(always)]` and free of closures: it runs inside
//! `#[target_feature]` functions.
use keops_gpu_kernels::isa::Isa;
use keops_gpu_kernels::kernel::{Columns, ColumnsMut};

use super::isa::Memory;

/// "This row has no index column."
pub(crate) const NO_INDEX: usize = usize::MAX;

/// Rows packed lane-wise, read (and written) as vectors: R blocks of outer rows, or Q blocks of inner ones.
///
/// A block is `columns` vectors, one a column. Vector (r, q) is block r·`next_r` + q·`next_q`, in values.
pub(crate) struct Lanes<I: Isa, const R: usize, const Q: usize> {
    s: I,
    at: *mut I::T,
    columns: usize,
    index: usize,
    next_r: usize,
    next_q: usize,
}

impl<I: Memory, const R: usize, const Q: usize> Lanes<I, R, Q> {
    /// R blocks that follow one another from `at`, each beside Q inner rows.
    ///
    /// # Safety
    /// While this exists, `at` points to R blocks of `columns` initialised vectors that may be read and, if `put` is
    /// used, written; `index` is below `columns` or [`NO_INDEX`].
    #[inline(always)]
    pub(crate) unsafe fn outer(s: I, at: *mut I::T, columns: usize, index: usize) -> Self {
        Lanes {
            s,
            at,
            columns,
            index,
            next_r: columns * I::LANES,
            next_q: 0,
        }
    }

    /// Q blocks that follow one another from `at`, each beside one outer row (R = 1).
    ///
    /// # Safety
    /// As [`Lanes::outer`], with Q blocks.
    #[inline(always)]
    pub(crate) unsafe fn inner(s: I, at: *mut I::T, columns: usize, index: usize) -> Self {
        Lanes {
            s,
            at,
            columns,
            index,
            next_r: 0,
            next_q: columns * I::LANES,
        }
    }
}

impl<I: Memory, const R: usize, const Q: usize> Columns<[[I::F; Q]; R]> for Lanes<I, R, Q> {
    #[inline(always)]
    fn get(&self, c: usize) -> [[I::F; Q]; R] {
        let mut out = [[self.s.lit(0.0); Q]; R];
        if c < self.columns {
            let mut r = 0;
            while r < R {
                let mut q = 0;
                while q < Q {
                    // SAFETY: c is in range, and the constructor's caller vouches for every column of the blocks.
                    out[r][q] = unsafe {
                        self.s.load(
                            self.at
                                .add(r * self.next_r + q * self.next_q + c * I::LANES),
                        )
                    };
                    q += 1;
                }
                r += 1;
            }
        }
        out
    }
    #[inline(always)]
    fn index(&self) -> [[I::F; Q]; R] {
        self.get(self.index)
    }
}

impl<I: Memory, const R: usize> ColumnsMut<[[I::F; 1]; R]> for Lanes<I, R, 1> {
    #[inline(always)]
    fn put(&mut self, c: usize, v: [[I::F; 1]; R]) {
        if c < self.columns {
            let mut r = 0;
            while r < R {
                // SAFETY: c is in range, and the constructor's caller vouches for every column of the blocks.
                unsafe {
                    self.s
                        .store(self.at.add(r * self.next_r + c * I::LANES), v[r][0])
                };
                r += 1;
            }
        }
    }
}

/// Single rows, each value repeated in every lane: inner rows beside vectors of outer ones, parameters, or one outer row
/// beside vectors of inner ones.
///
/// Column c of row q is the value at q·`next_q` + c·`next_c`.
pub(crate) struct Splat<I: Isa, const R: usize, const Q: usize> {
    s: I,
    at: *const I::T,
    columns: usize,
    index: usize,
    next_q: usize,
    next_c: usize,
}

impl<I: Memory, const R: usize, const Q: usize> Splat<I, R, Q> {
    /// Q rows of `columns` values that follow one another from `at`.
    ///
    /// # Safety
    /// While this exists, `at` points to Q · `columns` initialised values; `index` is below `columns` or [`NO_INDEX`].
    #[inline(always)]
    pub(crate) unsafe fn rows(s: I, at: *const I::T, columns: usize, index: usize) -> Self {
        Splat {
            s,
            at,
            columns,
            index,
            next_q: columns,
            next_c: 1,
        }
    }

    /// One row, beside all of the Q rows of a tile, its columns `next_c` values apart.
    ///
    /// # Safety
    /// While this exists, the values at `at` + c · `next_c` for c below `columns` are initialised; `index` is below
    /// `columns` or [`NO_INDEX`].
    #[inline(always)]
    pub(crate) unsafe fn one(
        s: I,
        at: *const I::T,
        columns: usize,
        index: usize,
        next_c: usize,
    ) -> Self {
        Splat {
            s,
            at,
            columns,
            index,
            next_q: 0,
            next_c,
        }
    }
}

impl<I: Memory, const R: usize, const Q: usize> Columns<[[I::F; Q]; R]> for Splat<I, R, Q> {
    #[inline(always)]
    fn get(&self, c: usize) -> [[I::F; Q]; R] {
        let mut out = [[self.s.lit(0.0); Q]; R];
        if c < self.columns {
            let mut q = 0;
            while q < Q {
                // SAFETY: c is in range, and the constructor's caller vouches for every column of the rows.
                let v = self
                    .s
                    .splat(unsafe { *self.at.add(q * self.next_q + c * self.next_c) });
                let mut r = 0;
                while r < R {
                    out[r][q] = v;
                    r += 1;
                }
                q += 1;
            }
        }
        out
    }
    #[inline(always)]
    fn index(&self) -> [[I::F; Q]; R] {
        self.get(self.index)
    }
}

/// One state row or one row of parameters in memory, a value a column, `next_c` values apart: for the scalar parts.
pub(crate) struct Single<I: Isa> {
    s: I,
    at: *mut I::T,
    columns: usize,
    next_c: usize,
}

impl<I: Memory<F = <I as Isa>::T>> Single<I> {
    /// # Safety
    /// While this exists, the values at `at` + c · `next_c` for c below `columns` are initialised and may be read and,
    /// if `put` is used, written.
    #[inline(always)]
    pub(crate) unsafe fn new(s: I, at: *mut I::T, columns: usize, next_c: usize) -> Self {
        Single {
            s,
            at,
            columns,
            next_c,
        }
    }
}

impl<I: Memory<F = <I as Isa>::T>> Columns<I::F> for Single<I> {
    #[inline(always)]
    fn get(&self, c: usize) -> I::F {
        if c < self.columns {
            // SAFETY: c is in range, and the constructor's caller vouches for every column.
            unsafe { *self.at.add(c * self.next_c) }
        } else {
            self.s.lit(0.0)
        }
    }
    #[inline(always)]
    fn index(&self) -> I::F {
        self.s.lit(0.0)
    }
}

impl<I: Memory<F = <I as Isa>::T>> ColumnsMut<I::F> for Single<I> {
    #[inline(always)]
    fn put(&mut self, c: usize, v: I::F) {
        if c < self.columns {
            // SAFETY: c is in range, and the constructor's caller vouches for every column.
            unsafe { *self.at.add(c * self.next_c) = v };
        }
    }
}
