//! Copies rows of any strides into the layouts that tiles read.
//!
//! Invariants: lane-wise memory is `[block][column][lane]`, lanes of rows that do not exist repeat the last row, so that
//! nothing depends on stale memory; inner rows are packed from the highest index down. Where the source pointer goes is
//! bounded by the array views that a [`Source`] borrows.
use std::marker::PhantomData;
use std::ops::Range;

use keops_gpu_kernels::real::{NONE, Real};
use ndarray::{ArrayView1, ArrayView2, ArrayView3, Axis};
use num_complex::Complex;

use super::transpose::rows_to_lanes;

/// Rows to be read: `blocks` blocks of `r` × `c` numbers each, anywhere in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a, T> {
    at: At<T>,
    rows: usize,
    /// 1, or 2 for complex matrices, whose second block is the imaginary parts: one element further.
    blocks: usize,
    r: usize,
    c: usize,
    /// Distances in elements from one row to the next, and within a row.
    strides: [isize; 3],
    borrowed: PhantomData<&'a T>,
}

/// The first number.
#[derive(Clone, Copy, Debug)]
enum At<T> {
    Values(*const T),
    Indices(*const usize),
}

// SAFETY: a source stands for a shared borrow of an array of plain numbers.
unsafe impl<T: Sync> Send for Source<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Source<'_, T> {}

/// Whether row numbers go up or down from the first.
#[derive(Clone, Copy)]
enum Order {
    Up,
    Down,
}

impl<'a, T: Real> Source<'a, T> {
    /// The rows of an array.
    pub(crate) fn values(view: ArrayView3<'a, T>) -> Self {
        let (rows, r, c) = view.dim();
        let &[a, b, d] = view.strides() else {
            unreachable!("three axes")
        };
        Source {
            at: At::Values(view.as_ptr()),
            rows,
            blocks: 1,
            r,
            c,
            strides: [a, b, d],
            borrowed: PhantomData,
        }
    }

    /// The rows of a complex array, each with its real parts, then its imaginary parts: 2 × `c` values.
    pub(crate) fn complex(view: ArrayView2<'a, Complex<T>>) -> Self {
        let (rows, c) = view.dim();
        let &[a, b] = view.strides() else {
            unreachable!("two axes")
        };
        // A complex number is its real part, then its imaginary part, without padding.
        Source {
            at: At::Values(view.as_ptr().cast()),
            rows,
            blocks: 1,
            r: 2,
            c,
            strides: [2 * a, 1, 2 * b],
            borrowed: PhantomData,
        }
    }

    /// The same for matrices: 2·`r` × `c` values, the real parts above.
    pub(crate) fn complex_matrices(view: ArrayView3<'a, Complex<T>>) -> Self {
        let (rows, r, c) = view.dim();
        let &[a, b, d] = view.strides() else {
            unreachable!("three axes")
        };
        Source {
            at: At::Values(view.as_ptr().cast()),
            rows,
            blocks: 2,
            r,
            c,
            strides: [2 * a, 2 * b, 2 * d],
            borrowed: PhantomData,
        }
    }

    /// The same for one number a row: 1 × 2 values.
    pub(crate) fn complex_scalars(view: ArrayView1<'a, Complex<T>>) -> Self {
        let source = Source::complex(view.insert_axis(Axis(1)));
        Source {
            r: 1,
            c: 2,
            strides: [source.strides[0], 0, 1],
            ..source
        }
    }

    /// Rows of `r` × `c` values, row-major.
    pub(crate) fn contiguous(values: &'a [T], rows: usize, r: usize, c: usize) -> Self {
        assert_eq!(
            Some(values.len()),
            rows.checked_mul(r).and_then(|n| n.checked_mul(c))
        );
        let strides = [(r * c) as isize, c as isize, 1];
        Source {
            at: At::Values(values.as_ptr()),
            rows,
            blocks: 1,
            r,
            c,
            strides,
            borrowed: PhantomData,
        }
    }

    /// Rows of `columns` indices, row-major.
    pub(crate) fn indices(indices: &'a [usize], rows: usize, columns: usize) -> Self {
        assert_eq!(indices.len(), rows * columns);
        let strides = [columns as isize, columns as isize, 1];
        Source {
            at: At::Indices(indices.as_ptr()),
            rows,
            blocks: 1,
            r: 1,
            c: columns,
            strides,
            borrowed: PhantomData,
        }
    }

    /// Number of rows, and the two dimensions of a row.
    pub(crate) fn dim(&self) -> (usize, usize, usize) {
        (self.rows, self.blocks * self.r, self.c)
    }

    /// All values, row-major. The error is the number of bytes that could not be allocated.
    pub(crate) fn to_vec(self) -> Result<Vec<T>, usize> {
        let mut to: Vec<T> = Vec::new();
        let columns = self.columns();
        // A broadcast array may have more values than there is memory.
        let count = self.rows.checked_mul(columns).ok_or(usize::MAX)?;
        to.try_reserve_exact(count)
            .map_err(|_| count.saturating_mul(size_of::<T>()))?;
        if count > 0 {
            let layout = Layout::rows(columns);
            // SAFETY: there is room for `rows` rows of `columns` values, and all are written.
            unsafe {
                self.copy(0, self.rows, Order::Up, to.as_mut_ptr(), layout);
                to.set_len(count);
            }
        }
        Ok(to)
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of a row.
    pub(crate) fn columns(&self) -> usize {
        self.blocks * self.r * self.c
    }

    /// Whether the numbers of a row follow one another.
    fn is_dense(&self) -> bool {
        self.blocks == 1
            && (self.c == 1 || self.strides[2] == 1)
            && (self.r == 1 || self.strides[1] == self.c as isize)
    }

    /// Copies the first row, of a parameter.
    pub(crate) fn copy_row(&self, to: &mut [T]) {
        assert!(self.columns() <= to.len());
        let layout = Layout::rows(self.columns());
        // SAFETY: all columns are within `to`.
        unsafe { self.copy(0, 1, Order::Up, to.as_mut_ptr(), layout) };
    }

    /// Copies rows one after another, row-major.
    ///
    /// # Safety
    /// All of them have a place behind `to`, which nobody else accesses.
    pub(crate) unsafe fn copy_rows(&self, rows: Range<usize>, to: *mut T) {
        assert!(rows.end <= self.rows, "rows of the source");
        let columns = self.columns();
        if rows.is_empty() || columns == 0 {
            return;
        }
        match self.at {
            At::Values(at) if self.is_contiguous() => {
                // SAFETY: the rows are in the array, one after another, and have their places.
                unsafe {
                    to.copy_from_nonoverlapping(at.add(rows.start * columns), rows.len() * columns);
                }
            }
            _ => {
                let layout = Layout::rows(columns);
                // SAFETY: the caller's contract.
                unsafe { self.copy(rows.start, rows.len(), Order::Up, to, layout) };
            }
        }
    }

    /// Whether the numbers are in memory as they are counted, row-major.
    fn is_contiguous(&self) -> bool {
        let expected = [(self.r * self.c) as isize, self.c as isize, 1];
        let dim = [self.rows, self.r, self.c];
        self.blocks == 1
            && (0..3).all(|axis| dim[axis] <= 1 || self.strides[axis] == expected[axis])
    }

    /// Copies `count` rows from `first` on, upwards or downwards. The number in column c of the k-th of them goes to
    /// `place(k) + c * next_c`, where place(k) is `k / lanes * next_block + k % lanes * next_lane`.
    ///
    /// # Safety
    /// All places are inside `to`.
    unsafe fn copy(&self, first: usize, count: usize, order: Order, to: *mut T, layout: Layout) {
        let last = match order {
            Order::Up => first + count - 1,
            Order::Down => first + 1 - count,
        };
        assert!(first < self.rows && last < self.rows, "rows of the source");
        if let (At::Values(at), 2) = (self.at, self.blocks) {
            for part in 0..2 {
                let source = Source {
                    // Only rows that are there are read, whose numbers have both parts.
                    at: At::Values(at.wrapping_add(part)),
                    blocks: 1,
                    ..*self
                };
                // SAFETY: the caller vouches for the places of both blocks, one behind the other.
                unsafe {
                    let to = to.add(part * self.r * self.c * layout.next_c);
                    source.copy(first, count, order, to, layout);
                }
            }
            return;
        }
        let step = match order {
            Order::Up => self.strides[0],
            Order::Down => -self.strides[0],
        };
        let begin = first as isize * self.strides[0];
        if let (At::Values(at), true, usize::MAX) = (self.at, self.is_dense(), layout.lanes) {
            // SAFETY: as below, row by row: the numbers of a row are neighbours here and there.
            unsafe {
                let (from, next) = (at.offset(begin), layout.next_lane);
                match self.columns() {
                    1 => copy_rows::<1, T>(from, step, count, to, next),
                    2 => copy_rows::<2, T>(from, step, count, to, next),
                    3 => copy_rows::<3, T>(from, step, count, to, next),
                    4 => copy_rows::<4, T>(from, step, count, to, next),
                    columns => {
                        for k in 0..count {
                            let from = from.offset(k as isize * step);
                            from.copy_to_nonoverlapping(to.add(k * next), columns);
                        }
                    }
                }
            }
            return;
        }
        if let (At::Values(at), true, 1) = (self.at, self.is_dense(), layout.next_lane) {
            let columns = self.columns();
            // SAFETY: as below; `next_c` is the number of lanes wherever neighbouring lanes are neighbours in memory.
            unsafe {
                let from = at.offset(begin);
                // Short rows of a known length become straight code.
                let columns_are = |c| columns == c;
                match layout.lanes {
                    8 if columns_are(1) => {
                        transpose::<8, T>(from, step, count, 1, to, layout.next_block)
                    }
                    8 if columns_are(3) => {
                        transpose::<8, T>(from, step, count, 3, to, layout.next_block)
                    }
                    2 => transpose::<2, T>(from, step, count, columns, to, layout.next_block),
                    4 => transpose::<4, T>(from, step, count, columns, to, layout.next_block),
                    8 => transpose::<8, T>(from, step, count, columns, to, layout.next_block),
                    16 => transpose::<16, T>(from, step, count, columns, to, layout.next_block),
                    _ => transpose::<1, T>(from, step, count, columns, to, layout.next_block),
                }
            }
            return;
        }
        let mut column = 0;
        for r in 0..self.r {
            for c in 0..self.c {
                let offset = begin + r as isize * self.strides[1] + c as isize * self.strides[2];
                // SAFETY: element (first, r, c) is in the array, and so are those of the following `count - 1` rows in
                // this order, since the last of them is; the caller vouches for the places.
                unsafe {
                    let to = to.add(column * layout.next_c);
                    match self.at {
                        At::Values(at) => {
                            scatter(at.offset(offset), step, count, to, layout, |x| x)
                        }
                        At::Indices(at) => {
                            scatter(at.offset(offset), step, count, to, layout, |j| {
                                T::from_index(u32::try_from(j).unwrap_or(NONE))
                            })
                        }
                    }
                }
                column += 1;
            }
        }
    }
}

/// Where rows go: row k at `k / lanes * next_block + k % lanes * next_lane`, its columns `next_c` apart. Either blocks of
/// lanes, with `next_lane` = 1, or rows one after another, as one block without end.
#[derive(Clone, Copy)]
struct Layout {
    lanes: usize,
    next_block: usize,
    next_lane: usize,
    next_c: usize,
}

impl Layout {
    /// Rows one after another.
    fn rows(columns: usize) -> Self {
        Layout {
            lanes: usize::MAX,
            next_block: 0,
            next_lane: columns,
            next_c: 1,
        }
    }
}

/// Copies `count` rows of C neighbouring numbers.
///
/// # Safety
/// `from + k * step` is readable and `to + k * next` writable, C numbers each, for k below `count`.
#[inline(always)]
unsafe fn copy_rows<const C: usize, T: Copy>(
    from: *const T,
    step: isize,
    count: usize,
    to: *mut T,
    next: usize,
) {
    for k in 0..count {
        // SAFETY: the caller's contract.
        unsafe {
            let from = from.offset(k as isize * step).cast::<[T; C]>();
            to.add(k * next).cast::<[T; C]>().write(from.read());
        }
    }
}

/// Copies `count` rows of neighbouring numbers into blocks of L lanes, block by block, so that the rows of a block are read
/// along their length: column by column, wide rows would leave the cache between two of their columns.
///
/// # Safety
/// `from + k * step` is readable, `columns` numbers each, and the places of row k are writable, for k below `count`.
#[inline(always)]
unsafe fn transpose<const L: usize, T: Real>(
    from: *const T,
    step: isize,
    count: usize,
    columns: usize,
    to: *mut T,
    next_block: usize,
) {
    let mut done = 0;
    while done < count {
        // SAFETY: the caller's contract; the pointer moves past the last row only in wrapping arithmetic.
        unsafe {
            let from = from.wrapping_offset(done as isize * step);
            let to = to.add(done / L * next_block);
            if done + L <= count {
                rows_to_lanes::<L, T>(from, step, columns, to);
            } else {
                for lane in 0..count - done {
                    for c in 0..columns {
                        *to.add(c * L + lane) = *from.offset(lane as isize * step + c as isize);
                    }
                }
            }
        }
        done += L;
    }
}

/// Copies one column.
///
/// # Safety
/// `from + k * step` is readable and the place of row k is writable, for k below `count`.
#[inline(always)]
unsafe fn scatter<S: Copy, T>(
    from: *const S,
    step: isize,
    count: usize,
    to: *mut T,
    layout: Layout,
    value: impl Fn(S) -> T + Copy,
) {
    let (mut from, mut to, mut count) = (from, to, count);
    // Whole blocks of neighbouring lanes, of which there may be millions. A constant number of lanes becomes straight code.
    let blocks = if layout.next_lane == 1 {
        count / layout.lanes
    } else {
        0
    };
    // SAFETY: the caller's contract; pointers move past the last element only in wrapping arithmetic.
    unsafe {
        match layout.lanes {
            2 => scatter_blocks::<2, S, T>(from, step, blocks, to, layout.next_block, value),
            4 => scatter_blocks::<4, S, T>(from, step, blocks, to, layout.next_block, value),
            8 => scatter_blocks::<8, S, T>(from, step, blocks, to, layout.next_block, value),
            16 => scatter_blocks::<16, S, T>(from, step, blocks, to, layout.next_block, value),
            lanes => {
                let mut done = 0;
                while done < blocks * lanes {
                    *to.add(done / lanes * layout.next_block + done % lanes) =
                        value(*from.offset(done as isize * step));
                    done += 1;
                }
            }
        }
        count -= blocks * layout.lanes;
        from = from.wrapping_offset((blocks * layout.lanes) as isize * step);
        to = to.wrapping_add(blocks * layout.next_block);
        let mut k = 0;
        while k < count {
            *to.add(k * layout.next_lane) = value(*from.offset(k as isize * step));
            k += 1;
        }
    }
}

/// Copies one column of `blocks` whole blocks of L lanes.
///
/// # Safety
/// As [`scatter`] for `blocks * L` rows.
#[inline(always)]
unsafe fn scatter_blocks<const L: usize, S: Copy, T>(
    from: *const S,
    step: isize,
    blocks: usize,
    to: *mut T,
    next_block: usize,
    value: impl Fn(S) -> T,
) {
    for block in 0..blocks {
        for lane in 0..L {
            // SAFETY: the caller's contract.
            unsafe {
                *to.add(block * next_block + lane) =
                    value(*from.offset((block * L + lane) as isize * step));
            }
        }
    }
}

/// The number of columns of some sources side by side.
pub(crate) fn columns<T: Real>(sources: &[Source<'_, T>]) -> usize {
    sources.iter().map(Source::columns).sum()
}

/// Packs outer rows `rows` lane-wise into `to`, blocks of `columns` vectors; column `index`, if any, gets the row numbers.
pub(crate) fn outer_lanes<T: Real>(
    sources: &[Source<'_, T>],
    rows: Range<usize>,
    to: &mut [T],
    lanes: usize,
    columns: usize,
    index: usize,
) {
    by_lanes(
        sources,
        rows.start,
        rows.len(),
        Order::Up,
        to,
        lanes,
        columns,
        index,
    );
}

/// Packs inner rows `rows` lane-wise into `to`, the highest first.
pub(crate) fn inner_lanes<T: Real>(
    sources: &[Source<'_, T>],
    rows: Range<usize>,
    to: &mut [T],
    lanes: usize,
    columns: usize,
    index: usize,
) {
    by_lanes(
        sources,
        rows.end - 1,
        rows.len(),
        Order::Down,
        to,
        lanes,
        columns,
        index,
    );
}

#[allow(clippy::too_many_arguments, reason = "rows and where they go")]
fn by_lanes<T: Real>(
    sources: &[Source<'_, T>],
    first: usize,
    count: usize,
    order: Order,
    to: &mut [T],
    lanes: usize,
    columns: usize,
    index: usize,
) {
    let next_block = columns * lanes;
    if count == 0 || next_block == 0 {
        return;
    }
    let room = to.len() / next_block * lanes;
    assert!(count <= room && self::columns(sources) <= columns);
    let layout = Layout {
        lanes,
        next_block,
        next_lane: 1,
        next_c: lanes,
    };
    let mut column = 0;
    for source in sources {
        // SAFETY: block k / lanes < to.len() / next_block, column and lane are within the block.
        unsafe {
            source.copy(
                first,
                count,
                order,
                to.as_mut_ptr().add(column * lanes),
                layout,
            )
        };
        column += source.columns();
    }
    if index < columns {
        for (block, from) in (0..count).step_by(lanes).enumerate() {
            let vector = &mut to[block * next_block + index * lanes..][..lanes.min(count - from)];
            for (lane, place) in vector.iter_mut().enumerate() {
                *place = T::from_index(row(first, from + lane, order));
            }
        }
    }
    // Lanes without a row repeat the last one.
    let last = (count - 1) / lanes * next_block + (count - 1) % lanes;
    for k in count..room {
        let place = k / lanes * next_block + k % lanes;
        for c in 0..columns {
            to[place + c * lanes] = to[last + c * lanes];
        }
    }
}

/// Packs inner rows `rows` one after another into `to`, `columns` values each, the highest first.
pub(crate) fn inner_rows<T: Real>(
    sources: &[Source<'_, T>],
    rows: Range<usize>,
    to: &mut [T],
    columns: usize,
    index: usize,
) {
    let count = rows.len();
    if count == 0 || columns == 0 {
        return;
    }
    assert!(count * columns <= to.len() && self::columns(sources) <= columns);
    let layout = Layout::rows(columns);
    let mut column = 0;
    for source in sources {
        // SAFETY: row k < count and the source's columns are within `to`.
        unsafe {
            source.copy(
                rows.end - 1,
                count,
                Order::Down,
                to.as_mut_ptr().add(column),
                layout,
            )
        };
        column += source.columns();
    }
    if index < columns {
        for k in 0..count {
            to[k * columns + index] = T::from_index(row(rows.end - 1, k, Order::Down));
        }
    }
}

/// Gives packed inner rows, the highest first, other numbers: `numbers` are those of the same rows, the lowest first. The layout is
/// that of [`inner_lanes`], or with one lane that of [`inner_rows`]: lanes, columns, and the column of the number if any.
pub(crate) fn renumber<T: Real>(
    numbers: &[u32],
    to: &mut [T],
    (lanes, columns, index): (usize, usize, usize),
) {
    if index < columns {
        for (k, &number) in numbers.iter().rev().enumerate() {
            to[(k / lanes * columns + index) * lanes + k % lanes] = T::from_index(number);
        }
    }
}

/// The k-th row number from `first` on. Row numbers are below 2^32 − 1: inputs are checked.
fn row(first: usize, k: usize, order: Order) -> u32 {
    match order {
        Order::Up => (first + k) as u32,
        Order::Down => (first - k) as u32,
    }
}

/// Turns `count` lane-wise rows into rows one after another.
pub(crate) fn lanes_to_rows<T: Real>(
    from: &[T],
    count: usize,
    to: &mut [T],
    lanes: usize,
    columns: usize,
) {
    if columns == 0 {
        return;
    }
    for (block, rows) in from
        .chunks(lanes * columns)
        .zip(to[..count * columns].chunks_mut(lanes * columns))
    {
        for (c, vector) in block.chunks(lanes).enumerate() {
            for (row, &x) in rows.chunks_mut(columns).zip(vector) {
                row[c] = x;
            }
        }
    }
}
