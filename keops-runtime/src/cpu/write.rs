//! Memory of the outputs: reserved before a pass, written by its threads, handed over without a copy.
use std::marker::PhantomData;
use std::ops::Range;

use keops_gpu_kernels::real::{NONE, Real};

use crate::output::Data;

/// Room for the rows of one output.
pub(crate) struct Room<T> {
    data: Data<T>,
    rows: usize,
    columns: usize,
}

impl<T: Real> Room<T> {
    /// Room for `rows` rows of `columns` values, or indices. The error is the number of bytes asked for.
    pub(crate) fn new(rows: usize, columns: usize, index: bool) -> Result<Self, usize> {
        let count = rows.checked_mul(columns).ok_or(usize::MAX)?;
        let data = if index {
            Data::Indices(reserve(count)?)
        } else {
            Data::Values(reserve(count)?)
        };
        Ok(Room {
            data,
            rows,
            columns,
        })
    }

    /// Access for the threads of a pass.
    pub(crate) fn sink(&mut self) -> Sink<'_, T> {
        let to = match &mut self.data {
            Data::Values(values) => To::Values(values.as_mut_ptr()),
            Data::Indices(indices) => To::Indices(indices.as_mut_ptr()),
            Data::Device(..) => unreachable!("made by `new`, on the host"),
        };
        Sink {
            to,
            rows: self.rows,
            columns: self.columns,
            borrowed: PhantomData,
        }
    }

    /// The output.
    ///
    /// # Safety
    /// All rows have been written.
    pub(crate) unsafe fn written(self) -> Data<T> {
        let mut data = self.data;
        // SAFETY: the capacity was reserved by `new`, and the caller vouches for the contents.
        unsafe {
            match &mut data {
                Data::Values(values) => values.set_len(self.rows * self.columns),
                Data::Indices(indices) => indices.set_len(self.rows * self.columns),
                Data::Device(..) => unreachable!("made by `new`, on the host"),
            }
        }
        data
    }
}

/// An empty vector with room for `count` elements, or the number of bytes that are not to be had.
fn reserve<E>(count: usize) -> Result<Vec<E>, usize> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(count)
        .map_err(|_| count.saturating_mul(size_of::<E>()))?;
    Ok(vec)
}

/// An output being written.
pub(crate) struct Sink<'a, T> {
    to: To<T>,
    rows: usize,
    columns: usize,
    borrowed: PhantomData<&'a mut T>,
}

/// The first element.
#[derive(Clone, Copy)]
enum To<T> {
    Values(*mut T),
    Indices(*mut usize),
}

// SAFETY: a sink is an exclusive borrow of one output's memory, which threads write in disjoint parts (contract of
// `write`).
unsafe impl<T: Send> Send for Sink<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Sink<'_, T> {}

impl<T: Real> Sink<'_, T> {
    /// Columns of a row.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Writes one row, whose numbers from `column` on are `lanes` apart in `from`.
    ///
    /// # Safety
    /// Nobody else writes this row at the same time.
    pub(crate) unsafe fn write_row(&self, row: usize, from: &[T], lanes: usize, column: usize) {
        assert!(row < self.rows);
        let numbers = from[column * lanes..].iter().step_by(lanes);
        for (c, &x) in (0..self.columns).zip(numbers) {
            // SAFETY: as for `write`.
            unsafe {
                match self.to {
                    To::Values(to) => to.add(row * self.columns + c).write(x),
                    To::Indices(to) => to.add(row * self.columns + c).write(index(x)),
                }
            }
        }
    }

    /// Writes rows `rows` from `from`, lane-wise blocks of `all` columns of which this output has those from `column` on.
    ///
    /// # Safety
    /// Nobody else writes these rows at the same time.
    pub(crate) unsafe fn write(
        &self,
        rows: Range<usize>,
        from: &[T],
        lanes: usize,
        all: usize,
        column: usize,
    ) {
        assert!(rows.end <= self.rows && column + self.columns <= all);
        let count = rows.len();
        assert!(count.div_ceil(lanes) * lanes * all <= from.len());
        let width = self.columns;
        for (block, first) in (0..count).step_by(lanes).enumerate() {
            let vectors = &from[(block * all + column) * lanes..][..width * lanes];
            let used = lanes.min(count - first);
            let at = (rows.start + first) * width;
            // SAFETY: `Room::new` reserved memory for rows below `self.rows`; the caller vouches for the rest.
            unsafe {
                match self.to {
                    To::Values(to) => scatter(vectors, lanes, used, width, to.add(at), |x| x),
                    To::Indices(to) => scatter(vectors, lanes, used, width, to.add(at), index),
                }
            }
        }
    }
}

/// An index as users see it.
#[inline(always)]
fn index<T: Real>(x: T) -> usize {
    match x.to_index() {
        NONE => usize::MAX,
        j => j as usize,
    }
}

/// Writes the first `used` lanes of `width` vectors as rows of `width` numbers.
///
/// # Safety
/// `to` is writable, `used` × `width` elements; `used` is at most `lanes`.
#[inline(always)]
unsafe fn scatter<T: Copy, E>(
    vectors: &[T],
    lanes: usize,
    used: usize,
    width: usize,
    to: *mut E,
    value: impl Fn(T) -> E,
) {
    for (c, vector) in vectors.chunks_exact(lanes).enumerate() {
        for (lane, &x) in vector[..used].iter().enumerate() {
            // SAFETY: lane is below `used`, c below `width`.
            unsafe { to.add(lane * width + c).write(value(x)) };
        }
    }
}
