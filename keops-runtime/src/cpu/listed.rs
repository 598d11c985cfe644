//! Passes that run listed pairs only: an earlier pass has left the indices of the rows that can matter, and whatever is
//! not listed adds nothing ([`Pass::listed`](crate::plan::Pass::listed)). So the derivative of a minimum is a pass over M pairs, not over M·N.
//!
//! Outer rows are folded in groups of one register tile, each over the inner rows that any of the group lists: pairs of a
//! row with another one's inner rows add nothing, and the tiles are those of the whole pass.
//!
//! Invariants: inner rows reach a state row in descending index order, each once; whether a pass runs so depends on the problem and
//! the instruction set only, and so do its groups.
use std::ops::Range;

use super::access::NO_INDEX;
use super::engine::Job;
use super::pack::{self, Source};
use super::scratch::Scratch;
use crate::float::Float;

/// What a listed inner row costs a group, in rows of the whole pass: they are looked up and copied one by one.
const COST: usize = 16;
/// Inner rows that are gathered at a time.
const GATHERED: usize = 1024;

/// Indices that list pairs.
#[derive(Clone, Copy)]
pub(crate) struct List<'a> {
    /// Row by row, each with as many; `usize::MAX` for none.
    pub(crate) indices: &'a [usize],
    /// Of a row.
    pub(crate) columns: usize,
    /// Whether outer rows list inner ones, or inner rows outer ones.
    pub(crate) is_outer: bool,
}

impl List<'_> {
    /// Calls `f` with the numbers of the outer and of the inner row of each pair.
    fn each_pair(&self, m: usize, n: usize, mut f: impl FnMut(usize, usize)) {
        let rows = self.indices.chunks(self.columns.max(1)).enumerate();
        for (row, others) in rows {
            for &other in others {
                let (outer, inner) = if self.is_outer {
                    (row, other)
                } else {
                    (other, row)
                };
                if outer < m && inner < n {
                    f(outer, inner);
                }
            }
        }
    }
}

/// Whether listed pairs are worth running alone, for so many groups of outer rows and so many inner rows.
pub(crate) fn pays(pairs: usize, groups: usize, n: usize) -> bool {
    pairs as u128 * COST as u128 <= groups as u128 * n as u128
}

/// The inner rows of each group of outer rows, ascending, each once or more often.
pub(super) struct Groups {
    /// Outer rows of a group.
    rows: usize,
    /// Where the inner rows of each group begin, and the end.
    starts: Vec<usize>,
    inner: Vec<u32>,
}

impl Groups {
    /// The groups of a pass, where running them is possible and pays. The error is the number of bytes that could not be
    /// allocated.
    pub(super) fn of<T: Float>(job: &Job<'_, T>) -> Result<Option<Groups>, usize> {
        let rows = job.entry.lanes * job.entry.r;
        let count = job.m.div_ceil(rows);
        let pairs: usize = job.listed.iter().map(|list| list.indices.len()).sum();
        if job.listed.is_empty() || !pays(pairs, count, job.n) {
            return Ok(None);
        }
        let mut starts = room::<usize>(count + 1)?;
        starts.resize(count + 1, 0);
        for list in job.listed {
            list.each_pair(job.m, job.n, |outer, _| starts[outer / rows] += 1);
        }
        // Each group's end, which moves to its beginning as its rows are put there.
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut inner = room::<u32>(end)?;
        inner.resize(end, 0);
        for list in job.listed {
            list.each_pair(job.m, job.n, |outer, row| {
                let place = &mut starts[outer / rows];
                *place -= 1;
                // Rows are below 2^32: inputs are checked.
                inner[*place] = row as u32;
            });
        }
        for group in starts.windows(2) {
            inner[group[0]..group[1]].sort_unstable();
        }
        Ok(Some(Groups {
            rows,
            starts,
            inner,
        }))
    }

    /// Inner rows for each outer row, about, as they cost.
    pub(super) fn inner_rows(&self) -> usize {
        let groups = self.starts.len().saturating_sub(1).max(1);
        self.inner.len() * COST / groups + 1
    }

    fn of_group(&self, group: usize) -> &[u32] {
        &self.inner[self.starts[group]..self.starts[group + 1]]
    }
}

impl<T: Float> Job<'_, T> {
    /// Folds the listed inner rows into the state rows of outer rows `rows`, which begin with a group. The error is the number
    /// of bytes that could not be allocated.
    pub(super) fn fold_listed(
        &self,
        groups: &Groups,
        rows: Range<usize>,
        x: &[T],
        states: &mut [T],
    ) -> Result<(), usize> {
        let (sizes, entry) = (&self.table.sizes, self.entry);
        let first = rows.start / groups.rows;
        let (x_of, state_of) = (groups.rows * sizes.outer, groups.rows * sizes.state);
        let columns = sizes.inner_values;
        let mut numbers = room::<u32>(GATHERED)?;
        for group in first..rows.end.div_ceil(groups.rows) {
            let at = group - first;
            let x = &x[at * x_of..][..x_of];
            let state = &mut states[at * state_of..][..state_of];
            let mut left = groups.of_group(group).iter().rev().peekable();
            while left.peek().is_some() {
                numbers.clear();
                while numbers.len() < GATHERED
                    && let Some(&row) = left.next()
                {
                    if numbers.last() != Some(&row) {
                        numbers.push(row);
                    }
                }
                // Rows as they are counted, the highest last.
                numbers.reverse();
                let lengths = [numbers.len() * columns];
                let mut scratch = Scratch::new::<T>(&lengths)?;
                let [gathered] = scratch.split::<T, 1>(lengths);
                for (k, &row) in numbers.iter().enumerate() {
                    let (row, to) = (row as usize, &mut gathered[k * columns..][..columns]);
                    pack::inner_rows(self.inner, row..row + 1, to, columns, NO_INDEX);
                }
                let inner = [Source::contiguous(gathered, numbers.len(), 1, columns)];
                let job = Job {
                    inner: &inner,
                    n: numbers.len(),
                    numbers: Some(&numbers),
                    ..*self
                };
                job.fold_all(x, entry.r, state)?;
                // A row that is listed again may begin the next piece.
                let last = numbers[0];
                while left.next_if(|&&row| row == last).is_some() {}
            }
        }
        Ok(())
    }
}

/// A vector with room, or the number of bytes that could not be allocated.
fn room<E>(count: usize) -> Result<Vec<E>, usize> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(count)
        .map_err(|_| count.saturating_mul(size_of::<E>()))?;
    Ok(vec)
}
