//! Passes of extrema that skip tiles: rows sorted along a space-filling curve, bounding boxes of blocks of inner rows in a
//! tree, and for each group of outer rows only those blocks that can change its states.
//!
//! Whether a block can is asked of the kernel itself, on intervals ([`bounds`](super::bounds)): nothing is known here of
//! distances. Invariants: a block that is skipped holds no pair that would change any state of the group, so values and
//! indices are those of the whole pass; within a block inner rows are in descending index order, and blocks are merged with
//! `combine`, which looks at indices, so ties go to the lowest index in whatever order blocks are visited. Results do not
//! depend on the number of threads.
use std::ops::Range;

use rayon::prelude::*;

use super::access::NO_INDEX;
use super::bounds::Interval;
use super::engine::Job;
use super::pack::{self, Source};
use super::scratch::Scratch;
use super::table::{MayChange, Merge};
use super::tile::TileArgs;
use super::write::Sink;
use crate::float::Float;

/// Inner rows of a block.
const BLOCK: usize = 64;
/// Children of a node of the tree.
const CHILDREN: usize = 8;
/// Groups of outer rows that are tried first.
const TRIED: usize = 16;
/// Groups of one task.
const TASK: usize = 64;
/// Columns beyond which boxes exclude too little.
const MOST_COLUMNS: usize = 4;

/// Sorted rows: original numbers in their new order, and their places on the curve.
struct Order {
    rows: Vec<u32>,
    keys: Vec<u32>,
}

/// A pass, sorted.
struct Sorted<'a, 'j, T> {
    job: &'a Job<'j, T>,
    may_change: MayChange,
    merge: Merge<T>,
    /// Raw outer columns of the original rows.
    outer: Vec<T>,
    order: Order,
    /// Inner rows as tiles read them, block by block.
    inner: Vec<T>,
    /// Places of the inner rows on the curve.
    inner_keys: Vec<u32>,
    /// Boxes of the inner columns, for each level of the tree; the first is that of blocks.
    levels: Vec<Vec<Interval>>,
    parameters: Vec<Interval>,
}

/// Work of a group.
#[derive(Default)]
struct Count {
    blocks: usize,
    tests: usize,
}

/// Runs the pass and returns true, or does nothing and returns false where skipping is not possible or does not pay. The
/// error is the number of bytes that could not be allocated.
pub(crate) fn run<T: Float>(job: &Job<'_, T>, outputs: &[Sink<'_, T>]) -> Result<bool, usize> {
    let sizes = &job.table.sizes;
    let (Some(may_change), Some(merge)) = (job.table.may_change, job.entry.merge) else {
        return Ok(false);
    };
    let few = |columns| (1..=MOST_COLUMNS).contains(&columns);
    // Rows that a condition on indices excludes are skipped by the whole pass already.
    if job.table.bounds.is_some()
        || !sizes.inner_plain
        || !few(sizes.inner_values)
        || !few(sizes.outer_raw)
    {
        return Ok(false);
    }
    // Sorting takes about as long as 500 pairs a row; below, it would be noticed where it turns out not to pay.
    if (job.m as u128 * job.n as u128) < ((job.m as u128 + job.n as u128) << 14) {
        return Ok(false);
    }
    let sorted = Sorted::new(job, may_change, merge)?;
    let groups = job.m.div_ceil(sorted.group_rows());
    let mut count = Count::default();
    let tried: Vec<usize> = (0..TRIED).map(|k| k * groups / TRIED).collect();
    let mut work = sorted.work()?;
    for &group in &tried {
        sorted.group(group, &mut work, &mut count);
    }
    let all = TRIED * sorted.inner.len().div_ceil(BLOCK * sizes.inner);
    // A test costs about a quarter of a block; blocks are folded at about half of the usual speed.
    if 4 * (count.blocks + count.tests / 4) > all {
        return Ok(false);
    }
    drop(work);
    (0..groups.div_ceil(TASK))
        .into_par_iter()
        .try_for_each(|task| {
            let mut work = sorted.work()?;
            for group in task * TASK..((task + 1) * TASK).min(groups) {
                sorted.group(group, &mut work, &mut Count::default());
                sorted.write(group, &mut work, outputs);
            }
            Ok::<(), usize>(())
        })?;
    Ok(true)
}

/// A vector with room, or the number of bytes that could not be allocated.
fn room<E>(count: usize) -> Result<Vec<E>, usize> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(count)
        .map_err(|_| count.saturating_mul(size_of::<E>()))?;
    Ok(vec)
}

/// Raw columns of all rows; the last row first.
fn flat<T: Float>(sources: &[Source<'_, T>], rows: usize, columns: usize) -> Result<Vec<T>, usize> {
    let mut to = room(rows * columns)?;
    to.resize(rows * columns, T::default());
    pack::inner_rows(sources, 0..rows, &mut to, columns, NO_INDEX);
    Ok(to)
}

/// The finite range of each column.
fn ranges<T: Float>(rows: &[T], columns: usize) -> [(f64, f64); MOST_COLUMNS] {
    let mut ranges = [(f64::INFINITY, f64::NEG_INFINITY); MOST_COLUMNS];
    for row in rows.chunks_exact(columns) {
        for (range, x) in ranges.iter_mut().zip(row) {
            let x = x.widened();
            if x.is_finite() {
                *range = (range.0.min(x), range.1.max(x));
            }
        }
    }
    ranges
}

/// Sorts rows, which are stored last first, along a Morton curve through the ranges.
fn sort<T: Float>(
    rows: &[T],
    columns: usize,
    ranges: &[(f64, f64); MOST_COLUMNS],
) -> Result<Order, usize> {
    let bits = 32 / columns as u32;
    let bits = bits.min(16);
    let cells = f64::from(1u32 << bits);
    let scales = ranges.map(|(lo, hi)| if hi > lo { cells / (hi - lo) } else { 0.0 });
    let count = rows.len() / columns;
    let mut places: Vec<u64> = room(count)?;
    places.extend(rows.chunks_exact(columns).enumerate().map(|(k, row)| {
        let mut key = 0u64;
        for (c, x) in row.iter().enumerate() {
            if !x.widened().is_finite() {
                // Such rows keep to themselves, so that few boxes are without bounds.
                key = u64::from(u32::MAX);
                break;
            }
            let cell = ((x.widened() - ranges[c].0) * scales[c]).clamp(0.0, cells - 1.0) as u64;
            for bit in 0..bits {
                key |= (cell >> bit & 1) << (bit * columns as u32 + c as u32);
            }
        }
        key << 32 | (count - 1 - k) as u64
    }));
    places.sort_unstable();
    let (mut numbers, mut keys) = (room(count)?, room(count)?);
    numbers.extend(places.iter().map(|&place| place as u32));
    keys.extend(places.iter().map(|&place| (place >> 32) as u32));
    Ok(Order {
        rows: numbers,
        keys,
    })
}

/// Memory of a group.
struct Work {
    scratch: Scratch,
    lengths: [usize; 4],
    outer: Vec<Interval>,
    state: Vec<Interval>,
    stack: Vec<(usize, usize)>,
}

impl<'a, 'j, T: Float> Sorted<'a, 'j, T> {
    fn new(job: &'a Job<'j, T>, may_change: MayChange, merge: Merge<T>) -> Result<Self, usize> {
        let sizes = &job.table.sizes;
        let (columns, width) = (sizes.inner_values, sizes.inner);
        let outer = flat(job.outer, job.m, sizes.outer_raw)?;
        let raw = flat(job.inner, job.n, columns)?;
        let (mut of_outer, mut of_inner) = (ranges(&outer, sizes.outer_raw), ranges(&raw, columns));
        if columns == sizes.outer_raw {
            // Rows of one space: the same place on the curve means neighbours.
            for (a, b) in of_outer.iter_mut().zip(&mut of_inner) {
                *a = (a.0.min(b.0), a.1.max(b.1));
                *b = *a;
            }
        }
        let order = sort(&outer, sizes.outer_raw, &of_outer)?;
        let mut inner_order = sort(&raw, columns, &of_inner)?;
        for block in inner_order.rows.chunks_mut(BLOCK) {
            block.sort_unstable_by(|a, b| b.cmp(a));
        }
        let mut inner = room(job.n * width)?;
        for &row in &inner_order.rows {
            let at = (job.n - 1 - row as usize) * columns;
            inner.extend_from_slice(&raw[at..at + columns]);
            if sizes.inner_index < width {
                inner.push(T::from_index(row));
            }
        }
        let mut level: Vec<Interval> = Vec::new();
        for block in inner.chunks(BLOCK * width) {
            level.extend((0..width).map(|c| {
                if c == sizes.inner_index {
                    return Interval::EVERYTHING;
                }
                let mut column = block[c..]
                    .iter()
                    .step_by(width)
                    .map(|x| Interval::of(x.widened()));
                let first = column.next().unwrap_or(Interval::EVERYTHING);
                column.fold(first, Interval::hull)
            }));
        }
        let mut levels = vec![level];
        while levels[levels.len() - 1].len() > CHILDREN * width {
            let below = &levels[levels.len() - 1];
            let above = below.chunks(CHILDREN * width).flat_map(|nodes| {
                (0..width).map(move |c| {
                    let column = nodes[c..].iter().step_by(width).copied();
                    column
                        .reduce(Interval::hull)
                        .unwrap_or(Interval::EVERYTHING)
                })
            });
            let above = above.collect();
            levels.push(above);
        }
        Ok(Sorted {
            job,
            may_change,
            merge,
            outer,
            order,
            inner,
            inner_keys: inner_order.keys,
            levels,
            parameters: job
                .params
                .iter()
                .map(|p| Interval::of(p.widened()))
                .collect(),
        })
    }

    /// Outer rows of a group: one register tile.
    fn group_rows(&self) -> usize {
        self.job.entry.lanes * self.job.entry.r
    }

    fn work(&self) -> Result<Work, usize> {
        let (sizes, vectors) = (&self.job.table.sizes, self.group_rows());
        let lengths = [
            vectors * sizes.outer,
            vectors * sizes.state,
            vectors * sizes.state,
            vectors * sizes.out,
        ];
        Ok(Work {
            scratch: Scratch::new::<T>(&lengths)?,
            lengths,
            outer: vec![Interval::EVERYTHING; sizes.outer],
            state: vec![Interval::EVERYTHING; sizes.state],
            stack: Vec::new(),
        })
    }

    /// The sorted places of a group's rows.
    fn places(&self, group: usize) -> Range<usize> {
        let rows = self.group_rows();
        group * rows..((group + 1) * rows).min(self.job.m)
    }

    /// Fills every block of state rows at `to` with neutral ones.
    fn neutral(&self, to: &mut [T]) {
        let lanes = self.job.entry.lanes;
        for block in to.chunks_exact_mut((self.job.neutral.len() * lanes).max(1)) {
            for (vector, &word) in block.chunks_exact_mut(lanes).zip(self.job.neutral) {
                vector.fill(word);
            }
        }
    }

    /// The hull of each column of lane-wise blocks.
    fn hulls(&self, blocks: &[T], columns: usize, to: &mut [Interval]) {
        let lanes = self.job.entry.lanes;
        for (c, hull) in to.iter_mut().enumerate() {
            let vectors = blocks
                .chunks_exact(columns * lanes)
                .flat_map(|block| &block[c * lanes..(c + 1) * lanes]);
            let hulls = vectors.map(|x| Interval::of(x.widened()));
            *hull = hulls.reduce(Interval::hull).unwrap_or(Interval::EVERYTHING);
        }
    }

    /// Folds all inner rows that matter into the group's states, in the scratch memory.
    fn group(&self, group: usize, work: &mut Work, count: &mut Count) {
        let (sizes, entry) = (&self.job.table.sizes, self.job.entry);
        let lanes = entry.lanes;
        let [x, state, fresh, _] = work.scratch.split::<T, 4>(work.lengths);
        let places = self.places(group);
        for lane in 0..self.group_rows() {
            // Lanes without a row repeat the last one.
            let row = self.order.rows[(places.start + lane).min(places.end - 1)];
            let to = lane / lanes * sizes.outer * lanes + lane % lanes;
            let from = (self.job.m - 1 - row as usize) * sizes.outer_raw;
            for c in 0..sizes.outer_raw {
                x[to + c * lanes] = self.outer[from + c];
            }
            if sizes.outer_index < sizes.outer {
                x[to + sizes.outer_index * lanes] = T::from_index(row);
            }
        }
        if sizes.outer_derived {
            // SAFETY: `x` is `r` blocks of `outer` vectors, `params` all parameters; the machine has the instruction set.
            unsafe { (entry.prepare_outer)(self.job.params.as_ptr(), x.as_mut_ptr(), entry.r) };
        }
        self.hulls(x, sizes.outer, &mut work.outer);
        if let Some(index) = work.outer.get_mut(sizes.outer_index) {
            *index = Interval::EVERYTHING;
        }
        self.neutral(state);
        self.hulls(state, sizes.state, &mut work.state);

        let width = sizes.inner;
        let mut visit = |block: usize, known: &mut [Interval]| {
            let rows = (self.job.n - block * BLOCK).min(BLOCK);
            let inner = &self.inner[block * BLOCK * width..][..rows * width];
            self.neutral(fresh);
            let args = TileArgs {
                params: self.job.params.as_ptr(),
                outer: x.as_ptr(),
                blocks: entry.r,
                inner: inner.as_ptr(),
                rows,
                rows_per_flush: rows,
                state: fresh.as_mut_ptr(),
            };
            // SAFETY: `x`, `fresh` and `state` are `r` blocks of their vectors, `inner` has `rows` rows, `params` all
            // parameters; the machine has the instruction set.
            unsafe {
                (entry.tile)(&args);
                (self.merge)(state.as_mut_ptr(), fresh.as_ptr(), entry.r);
            }
            self.hulls(state, sizes.state, known);
        };
        // Near on the curve first: what they leave excludes most of the rest.
        let key = self.order.keys[(places.start + places.end) / 2];
        let blocks = self.job.n.div_ceil(BLOCK);
        let near = self.inner_keys.partition_point(|&k| k < key) / BLOCK;
        let near = near.saturating_sub(1)..(near + 2).min(blocks);
        for block in near.clone() {
            visit(block, &mut work.state);
            count.blocks += 1;
        }
        let top = self.levels.len() - 1;
        work.stack.clear();
        work.stack
            .extend((0..self.levels[top].len() / width).map(|node| (top, node)));
        while let Some((level, node)) = work.stack.pop() {
            if level == 0 && near.contains(&node) {
                continue;
            }
            count.tests += 1;
            let inner = &self.levels[level][node * width..(node + 1) * width];
            if !(self.may_change)(&self.parameters, &work.outer, inner, &work.state) {
                continue;
            }
            if level == 0 {
                visit(node, &mut work.state);
                count.blocks += 1;
            } else {
                let last = self.levels[level - 1].len() / width;
                let children = node * CHILDREN..((node + 1) * CHILDREN).min(last);
                work.stack.extend(children.map(|child| (level - 1, child)));
            }
        }
    }

    /// Writes the outputs of the group whose states are in the scratch memory.
    fn write(&self, group: usize, work: &mut Work, outputs: &[Sink<'_, T>]) {
        let (sizes, entry) = (&self.job.table.sizes, self.job.entry);
        let lanes = entry.lanes;
        let [x, state, _, out] = work.scratch.split::<T, 4>(work.lengths);
        // SAFETY: all are `r` blocks of their vectors, `params` all parameters; the machine has the instruction set.
        unsafe {
            (entry.finish)(
                self.job.params.as_ptr(),
                x.as_ptr(),
                state.as_ptr(),
                out.as_mut_ptr(),
                entry.r,
            );
        }
        for (lane, place) in self.places(group).enumerate() {
            let row = self.order.rows[place] as usize;
            let from = &out[lane / lanes * sizes.out * lanes + lane % lanes..];
            let mut column = 0;
            for output in outputs {
                // SAFETY: each row is in one group, and each group in one task.
                unsafe { output.write(row..row + 1, from, lanes, sizes.out, column) };
                column += output.columns();
            }
        }
    }
}
