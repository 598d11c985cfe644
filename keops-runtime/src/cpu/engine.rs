//! One pass over all pairs: cut in chunks of outer rows and segments of inner ones, packed, folded, merged, written.
//!
//! Invariants: within a state row, inner rows arrive in descending index order; segments are merged in a fixed order;
//! memory of any moment is one chunk's, besides inputs and outputs.
use std::ops::Range;

use rayon::prelude::*;

use super::listed::{Groups, List};
use super::pack::{self, Source};
use super::prune;
use super::scratch::Scratch;
use super::shape::{self, Cut};
use super::table::{Entry, Table};
use super::tile::{AcrossArgs, TileArgs};
use super::write::{Room, Sink};
use crate::float::Float;
use crate::output::Data;

/// A pass and its data.
pub(crate) struct Job<'a, T> {
    pub(crate) table: &'a Table<T>,
    /// Functions of `table` that this machine can run.
    pub(crate) entry: &'a Entry<T>,
    /// Outer rows, columns side by side.
    pub(crate) outer: &'a [Source<'a, T>],
    /// Inner rows.
    pub(crate) inner: &'a [Source<'a, T>],
    /// All parameter columns, derived ones included.
    pub(crate) params: &'a [T],
    /// The neutral state row.
    pub(crate) neutral: &'a [T],
    /// Outer rows.
    pub(crate) m: usize,
    /// Inner rows.
    pub(crate) n: usize,
    /// The numbers of the inner rows, ascending, where they are not all up to `n`.
    pub(crate) numbers: Option<&'a [u32]>,
    /// What lists the pairs that matter; empty: all may.
    pub(crate) listed: &'a [List<'a>],
    /// Whether every term is merged into the state row by itself.
    pub(crate) each_row: bool,
}

/// Memory that could not be allocated.
pub(crate) struct OutOfMemory {
    /// What it was for, for the message of the error.
    pub(crate) purpose: &'static str,
    pub(crate) bytes: usize,
}

/// Working memory for a fold, in values: raw inner columns lane-wise, inner columns lane-wise, inner rows, and states
/// of lanes over inner rows.
struct Work {
    raw: usize,
    used: usize,
    rows: usize,
    across: usize,
    tile_rows: usize,
    across_rows: usize,
}

impl<T: Float> Job<'_, T> {
    /// Runs the pass. `outputs` gives the columns of each output and whether they are indices; the result has their
    /// numbers, row-major.
    pub(crate) fn run(&self, outputs: &[(usize, bool)]) -> Result<Vec<Data<T>>, OutOfMemory> {
        let sizes = &self.table.sizes;
        assert_eq!(
            pack::columns(self.outer),
            sizes.outer_raw,
            "outer columns of the kernel"
        );
        assert_eq!(
            pack::columns(self.inner),
            sizes.inner_values,
            "inner columns of the kernel"
        );
        assert_eq!(
            self.params.len(),
            sizes.params,
            "parameter columns of the kernel"
        );
        assert_eq!(self.neutral.len(), sizes.state, "state words of the kernel");
        assert_eq!(
            outputs.iter().map(|&(columns, _)| columns).sum::<usize>(),
            sizes.out,
            "output columns of the kernel"
        );
        assert!(
            self.outer.iter().all(|source| source.rows() == self.m),
            "outer rows"
        );
        assert!(
            self.inner.iter().all(|source| source.rows() == self.n),
            "inner rows"
        );
        let mut rooms = outputs
            .iter()
            .map(|&(columns, index)| Room::new(self.m, columns, index))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|bytes| OutOfMemory {
                purpose: "of output",
                bytes,
            })?;
        if self.m > 0 {
            let sinks: Vec<Sink<'_, T>> = rooms.iter_mut().map(Room::sink).collect();
            let out_of_memory = |bytes| OutOfMemory {
                purpose: "of working memory",
                bytes,
            };
            let listed = Groups::of(self).map_err(out_of_memory)?;
            if listed.is_none() && prune::run(self, &sinks).map_err(out_of_memory)? {
                drop(sinks);
                // SAFETY: `prune::run` has written every row.
                return Ok(rooms
                    .into_iter()
                    .map(|room| unsafe { room.written() })
                    .collect());
            }
            let step = self.entry.lanes * self.entry.r;
            let row_bytes = (sizes.outer + sizes.state + sizes.out) * size_of::<T>();
            let n = listed.as_ref().map_or(self.n, Groups::inner_rows);
            let cut = shape::cut(self.m, n, self.entry.lanes, step, row_bytes, sizes.inner);
            let chunk = |chunk| self.chunk(chunk, &cut, listed.as_ref(), &sinks);
            if cut.parallel {
                (0..cut.chunks).into_par_iter().try_for_each(chunk)
            } else {
                (0..cut.chunks).try_for_each(chunk)
            }
            .map_err(out_of_memory)?;
        }
        // SAFETY: each row is in one of the chunks, and each chunk has written its rows.
        Ok(rooms
            .into_iter()
            .map(|room| unsafe { room.written() })
            .collect())
    }

    /// Computes the output rows of one chunk. The error is the number of bytes that could not be allocated.
    fn chunk(
        &self,
        chunk: usize,
        cut: &Cut,
        listed: Option<&Groups>,
        outputs: &[Sink<'_, T>],
    ) -> Result<(), usize> {
        let (sizes, entry) = (&self.table.sizes, self.entry);
        let segments = if listed.is_some() { 1 } else { cut.segments };
        let start = chunk * cut.chunk_rows;
        let rows = start..(start + cut.chunk_rows).min(self.m);
        let blocks = rows.len().div_ceil(entry.lanes).next_multiple_of(entry.r);
        let vectors = blocks * entry.lanes;
        let state_values = vectors * sizes.state;
        let work = if segments == 1 && listed.is_none() {
            self.work(rows.len())
        } else {
            Work::NONE
        };
        let lengths = [
            vectors * sizes.outer,
            state_values * segments,
            vectors * sizes.out,
            work.raw,
            work.used,
            work.rows,
            work.across,
        ];
        let mut scratch = Scratch::new::<T>(&lengths)?;
        let [x, states, out, memory @ ..] = scratch.split::<T, 7>(lengths);

        pack::outer_lanes(
            self.outer,
            rows.clone(),
            x,
            entry.lanes,
            sizes.outer,
            sizes.outer_index,
        );
        if sizes.outer_derived {
            // SAFETY: `x` is `blocks` blocks of `outer` vectors, `params` all parameters; the machine has the
            // instruction set, as `Table::entry` has seen.
            unsafe { (entry.prepare_outer)(self.params.as_ptr(), x.as_mut_ptr(), blocks) };
        }
        let x = &*x;
        for block in states.chunks_exact_mut(sizes.state.max(1) * entry.lanes) {
            for (vector, &word) in block.chunks_exact_mut(entry.lanes).zip(self.neutral) {
                vector.fill(word);
            }
        }
        let matters = self.matters(&rows);
        if let Some(groups) = listed {
            self.fold_listed(groups, rows.clone(), x, states)?;
        } else if segments == 1 {
            self.fold(x, rows.len(), blocks, states, matters, &work, memory);
        } else {
            let segment = |(index, state): (usize, &mut [T])| -> Result<(), usize> {
                let range = bound(self.n, index, segments).max(matters.start)
                    ..bound(self.n, index + 1, segments).min(matters.end);
                if range.is_empty() {
                    return Ok(());
                }
                let work = self.work(rows.len());
                let lengths = [work.raw, work.used, work.rows, work.across];
                let mut scratch = Scratch::new::<T>(&lengths)?;
                let memory = scratch.split::<T, 4>(lengths);
                self.fold(x, rows.len(), blocks, state, range, &work, memory);
                Ok(())
            };
            // Zero state words: nothing to fold into, and no chunks to iterate over.
            let parts = state_values.max(1);
            if cut.parallel {
                states
                    .par_chunks_mut(parts)
                    .enumerate()
                    .try_for_each(segment)?;
            } else {
                states.chunks_mut(parts).enumerate().try_for_each(segment)?;
            }
            let (first, others) = states.split_at_mut(state_values);
            for other in others.chunks_exact(parts) {
                self.merge(first, other);
            }
        }
        let state = &states[..state_values];
        // SAFETY: `x`, `state` and `out` are `blocks` blocks of their vectors, `params` all parameters; the machine has
        // the instruction set.
        unsafe {
            (entry.finish)(
                self.params.as_ptr(),
                x.as_ptr(),
                state.as_ptr(),
                out.as_mut_ptr(),
                blocks,
            );
        }
        let mut column = 0;
        for output in outputs {
            // SAFETY: each chunk has rows of its own.
            unsafe { output.write(rows.clone(), out, entry.lanes, sizes.out, column) };
            column += output.columns();
        }
        Ok(())
    }

    /// The inner rows that can matter to some outer rows.
    fn matters(&self, outer: &Range<usize>) -> Range<usize> {
        let Some(bounds) = self.table.bounds else {
            return 0..self.n;
        };
        // Rows are below 2^32.
        let (first, last) = (outer.start as i64, outer.end as i64 - 1);
        let (begin, end) = bounds(self.params, first, last, self.n as i64);
        let row = |at: i64| usize::try_from(at).unwrap_or(0).min(self.n);
        row(begin).min(row(end))..row(end)
    }

    /// Folds all inner rows into the state rows of `blocks` blocks of outer rows, a multiple of R, on this thread. The error
    /// is the number of bytes that could not be allocated.
    pub(super) fn fold_all(&self, x: &[T], blocks: usize, state: &mut [T]) -> Result<(), usize> {
        let rows = blocks * self.entry.lanes;
        let work = self.work(rows);
        let lengths = [work.raw, work.used, work.rows, work.across];
        let mut scratch = Scratch::new::<T>(&lengths)?;
        let memory = scratch.split::<T, 4>(lengths);
        self.fold(x, rows, blocks, state, 0..self.n, &work, memory);
        Ok(())
    }

    /// Merges the state rows `other` into `first`, row by row.
    fn merge(&self, first: &mut [T], other: &[T]) {
        let lanes = self.entry.lanes;
        let block = self.table.sizes.state * lanes;
        assert!(first.len() == other.len() && block > 0);
        for start in (0..first.len()).step_by(block) {
            for lane in 0..lanes {
                // SAFETY: block and lane are inside both, their words `lanes` apart.
                unsafe {
                    (self.table.combine)(
                        first[start..start + block].as_mut_ptr().add(lane),
                        lanes,
                        other[start..start + block].as_ptr().add(lane),
                        lanes,
                    );
                }
            }
        }
    }

    /// Whether few outer rows are better folded with lanes over inner rows: vectors of outer rows would be mostly empty.
    fn is_across(&self, rows: usize) -> bool {
        let lanes = self.entry.lanes;
        self.entry.across.is_some()
            && !self.each_row
            && rows < 2 * lanes
            && !rows.is_multiple_of(lanes)
    }

    /// The working memory of [`Job::fold`] for this many outer rows.
    fn work(&self, outer_rows: usize) -> Work {
        let (sizes, lanes) = (&self.table.sizes, self.entry.lanes);
        let row_bytes = sizes.inner.max(sizes.inner_raw) * size_of::<T>();
        let tile_rows = shape::tile_rows(row_bytes, self.entry.rows);
        let across = self.is_across(outer_rows);
        let across_rows = if across {
            shape::across_rows(row_bytes, lanes * self.entry.q)
        } else {
            0
        };
        let most = tile_rows
            .max(across_rows)
            .min(self.n)
            .next_multiple_of(lanes);
        let plain = sizes.inner_plain;
        Work {
            raw: if plain { 0 } else { most * sizes.inner_raw },
            used: if plain && !across {
                0
            } else {
                most * sizes.inner
            },
            rows: tile_rows.min(self.n) * sizes.inner,
            across: if across {
                outer_rows * sizes.state * lanes
            } else {
                0
            },
            tile_rows,
            across_rows,
        }
    }

    /// Folds inner rows `range` into the state rows of a chunk.
    #[allow(clippy::too_many_arguments, reason = "the parts of a chunk")]
    fn fold(
        &self,
        x: &[T],
        outer_rows: usize,
        blocks: usize,
        state: &mut [T],
        range: Range<usize>,
        work: &Work,
        [raw, used, packed, across]: [&mut [T]; 4],
    ) {
        let (sizes, entry) = (&self.table.sizes, self.entry);
        let mut end = range.end;
        // Rows from here down are folded with lanes over them.
        let mut low = range.start;
        if work.across_rows > 0 {
            let step = entry.lanes * entry.q;
            low = end - (end - range.start) % step;
        }
        while end > low {
            let start = end.saturating_sub(work.tile_rows).max(low);
            let count = end - start;
            if sizes.inner_plain {
                pack::inner_rows(
                    self.inner,
                    start..end,
                    packed,
                    sizes.inner,
                    sizes.inner_index,
                );
                if let Some(numbers) = self.numbers {
                    let layout = (1, sizes.inner, sizes.inner_index);
                    pack::renumber(&numbers[start..end], packed, layout);
                }
            } else {
                self.prepare(start..end, raw, used);
                pack::lanes_to_rows(used, count, packed, entry.lanes, sizes.inner);
            }
            let args = TileArgs {
                params: self.params.as_ptr(),
                outer: x.as_ptr(),
                blocks,
                inner: packed.as_ptr(),
                rows: count,
                rows_per_flush: if self.each_row { 1 } else { count },
                state: state.as_mut_ptr(),
            };
            debug_assert!(x.len() >= blocks * entry.lanes * sizes.outer);
            debug_assert!(state.len() >= blocks * entry.lanes * sizes.state);
            debug_assert!(packed.len() >= count * sizes.inner);
            // SAFETY: `x` and `state` are `blocks` blocks, a multiple of R, of their vectors; `packed` has `count` rows;
            // the machine has the instruction set.
            unsafe { (entry.tile)(&args) };
            end = start;
        }
        let (Some(function), true) = (entry.across, end > range.start) else {
            return;
        };
        for vector_row in across.chunks_exact_mut(sizes.state.max(1) * entry.lanes) {
            for (vector, &word) in vector_row.chunks_exact_mut(entry.lanes).zip(self.neutral) {
                vector.fill(word);
            }
        }
        while end > range.start {
            let start = end.saturating_sub(work.across_rows).max(range.start);
            let inner_blocks = (end - start) / entry.lanes;
            if sizes.inner_plain {
                pack::inner_lanes(
                    self.inner,
                    start..end,
                    used,
                    entry.lanes,
                    sizes.inner,
                    sizes.inner_index,
                );
                if let Some(numbers) = self.numbers {
                    let layout = (entry.lanes, sizes.inner, sizes.inner_index);
                    pack::renumber(&numbers[start..end], used, layout);
                }
            } else {
                self.prepare(start..end, raw, used);
            }
            let args = AcrossArgs {
                params: self.params.as_ptr(),
                outer: x.as_ptr(),
                outer_rows,
                inner: used.as_ptr(),
                blocks: inner_blocks,
                state: across.as_mut_ptr(),
            };
            debug_assert!(
                inner_blocks.is_multiple_of(entry.q) && inner_blocks * entry.lanes == end - start
            );
            debug_assert!(used.len() >= inner_blocks * entry.lanes * sizes.inner);
            debug_assert!(across.len() >= outer_rows * entry.lanes * sizes.state);
            // SAFETY: `x` has all outer rows, `used` that many blocks, a multiple of Q, `across` a row of vectors for each
            // outer row; the machine has the instruction set.
            unsafe { function(&args) };
            end = start;
        }
        self.merge_lanes(outer_rows, state, across);
    }

    /// Merges the lanes of `across` into the state rows they belong to.
    fn merge_lanes(&self, outer_rows: usize, state: &mut [T], across: &[T]) {
        let lanes = self.entry.lanes;
        let block = self.table.sizes.state * lanes;
        if block == 0 {
            return;
        }
        for row in 0..outer_rows {
            let to = &mut state[row / lanes * block..][..block];
            let from = &across[row * block..][..block];
            for lane in 0..lanes {
                // SAFETY: both lanes are inside, their words `lanes` apart.
                unsafe {
                    (self.table.combine)(
                        to.as_mut_ptr().add(row % lanes),
                        lanes,
                        from.as_ptr().add(lane),
                        lanes,
                    );
                }
            }
        }
    }

    /// Packs inner rows lane-wise into `raw` and computes their columns, lane-wise, into `used`.
    fn prepare(&self, rows: Range<usize>, raw: &mut [T], used: &mut [T]) {
        let (sizes, lanes) = (&self.table.sizes, self.entry.lanes);
        let blocks = rows.len().div_ceil(lanes);
        let raw = &mut raw[..blocks * lanes * sizes.inner_raw];
        let used = &mut used[..blocks * lanes * sizes.inner];
        let numbers = self.numbers.map(|numbers| &numbers[rows.clone()]);
        pack::inner_lanes(
            self.inner,
            rows,
            raw,
            lanes,
            sizes.inner_raw,
            sizes.inner_raw_index,
        );
        if let Some(numbers) = numbers {
            let layout = (lanes, sizes.inner_raw, sizes.inner_raw_index);
            pack::renumber(numbers, raw, layout);
        }
        // SAFETY: both are `blocks` blocks of their vectors; the machine has the instruction set.
        unsafe {
            (self.entry.prepare_inner)(
                self.params.as_ptr(),
                raw.as_ptr(),
                used.as_mut_ptr(),
                blocks,
            )
        };
        if sizes.inner_index < sizes.inner {
            for block in 0..blocks {
                let from = (block * sizes.inner_raw + sizes.inner_raw_index) * lanes;
                let to = (block * sizes.inner + sizes.inner_index) * lanes;
                used[to..to + lanes].copy_from_slice(&raw[from..from + lanes]);
            }
        }
    }
}

impl Work {
    /// For a chunk whose segments have their own.
    const NONE: Work = Work {
        raw: 0,
        used: 0,
        rows: 0,
        across: 0,
        tile_rows: 1,
        across_rows: 0,
    };
}

/// Where segment `index` of `count` begins.
fn bound(n: usize, index: usize, count: usize) -> usize {
    // Rows are below 2^32 and segments few, but `usize` may have 32 bits.
    (n as u64 * index as u64 / count as u64) as usize
}
