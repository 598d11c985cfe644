//! Passes that skip tiles: rows sorted along a space-filling curve, bounding boxes of blocks of inner rows in a tree, and for
//! each group of outer rows only those blocks that can change its states.
//!
//! Whether a block can is asked of the kernel itself, on intervals ([`bounds`](super::bounds)): nothing is known here of
//! distances. Two kinds of kernels are asked: those that fold extrema only, whose states far blocks cannot change, and those
//! that fold sums only whose terms may vanish.
//!
//! Invariants: a block that is skipped holds no pair that would change any state of the group. So extrema and indices are
//! those of the whole pass: within a block inner rows are in descending index order, and blocks are merged with `combine`,
//! which looks at indices, so ties go to the lowest index in whatever order blocks are visited. Sums have the same terms
//! but zeros, in another order. Results do not depend on the number of threads, nor does it whether tiles are skipped.
mod order;
mod sample;

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
use order::{Curve, Order, join, room};

/// Inner rows of a block, about.
const BLOCK: usize = 64;
/// Outer rows of a group at least, where a group is asked about as a whole and its states do not matter.
const GROUP: usize = 32;
/// Children of a node of the tree.
const CHILDREN: usize = 8;
/// Groups of outer rows that are tried first.
const TRIED: usize = 16;
/// Groups of one task.
const TASK: usize = 64;
/// Columns beyond which boxes cost too much.
const WIDEST: usize = 32;

/// How a pass can skip.
struct Plan<T> {
    may_change: MayChange,
    /// Where blocks are folded by themselves, how they are merged; sums are added to instead.
    merge: Option<Merge<T>>,
    outer: Curve,
    inner: Curve,
    /// Register tiles of a group.
    tiles: usize,
    /// Inner rows of a block: a multiple of what a register tile takes.
    block: usize,
}

/// A pass, sorted.
struct Sorted<'a, 'j, T> {
    job: &'a Job<'j, T>,
    plan: &'a Plan<T>,
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
    let Some(plan) = Plan::of(job) else {
        return Ok(false);
    };
    // Sorting takes about as long as some hundred pairs a row, and finding out whether it pays a fiftieth of the whole at
    // this size.
    let rows = job.m as u128 + job.n as u128;
    if (job.m as u128 * job.n as u128) < rows << 12 || !sample::promises(job, &plan)? {
        return Ok(false);
    }
    let sorted = Sorted::new(job, &plan)?;
    let groups = job.m.div_ceil(sorted.group_rows());
    let mut count = Count::default();
    let mut work = sorted.work()?;
    for k in 0..TRIED {
        sorted.group(k * groups / TRIED, &mut work, &mut count);
    }
    let all = TRIED * job.n.div_ceil(plan.block);
    // A test costs about a quarter of a block of extrema, and a sixth of a larger one of sums. The former are folded at about half
    // of the usual speed. Sorting is paid for already.
    let tests = if plan.is_extrema() { 4 } else { 6 };
    if 2 * (count.blocks + count.tests / tests) > all {
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

impl<T: Float> Plan<T> {
    /// The plan for a pass, where skipping is possible.
    fn of(job: &Job<'_, T>) -> Option<Plan<T>> {
        let (sizes, entry) = (&job.table.sizes, job.entry);
        let may_change = job.table.may_change?;
        // Rows that a condition on indices excludes are skipped by the whole pass already.
        if job.table.bounds.is_some() || !sizes.inner_plain {
            return None;
        }
        if sizes.outer > WIDEST || sizes.inner > WIDEST || job.m == 0 || job.n == 0 {
            return None;
        }
        let tile = entry.lanes * entry.r;
        Some(Plan {
            may_change,
            merge: entry.merge,
            outer: Curve::through(sizes.near_outer, sizes.outer_raw)?,
            inner: Curve::through(sizes.near_inner, sizes.inner_values)?,
            tiles: if entry.merge.is_some() {
                1
            } else {
                GROUP.div_ceil(tile)
            },
            block: (BLOCK / entry.rows * entry.rows).max(1),
        })
    }

    /// Whether it skips parts of extrema, not of sums.
    fn is_extrema(&self) -> bool {
        self.merge.is_some()
    }
}

/// Raw columns of all rows; the last row first.
fn flat<T: Float>(sources: &[Source<'_, T>], rows: usize, columns: usize) -> Result<Vec<T>, usize> {
    let mut to = room(rows * columns)?;
    to.resize(rows * columns, T::default());
    pack::inner_rows(sources, 0..rows, &mut to, columns, NO_INDEX);
    Ok(to)
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
    fn new(job: &'a Job<'j, T>, plan: &'a Plan<T>) -> Result<Self, usize> {
        let sizes = &job.table.sizes;
        let (columns, width) = (sizes.inner_values, sizes.inner);
        let outer = flat(job.outer, job.m, sizes.outer_raw)?;
        let raw = flat(job.inner, job.n, columns)?;
        let mut of_outer = plan.outer.ranges(&outer, sizes.outer_raw);
        let mut of_inner = plan.inner.ranges(&raw, columns);
        if plan.outer.count() == plan.inner.count() {
            // Rows of one space: the same place on the curve means neighbours.
            of_outer = join(&of_outer, &of_inner);
            of_inner = of_outer;
        }
        let number = |rows: usize| move |k: usize| (rows - 1 - k) as u32;
        let order = plan
            .outer
            .within(&of_outer)
            .sort(&outer, sizes.outer_raw, number(job.m))?;
        let mut inner_order = plan
            .inner
            .within(&of_inner)
            .sort(&raw, columns, number(job.n))?;
        for block in inner_order.rows.chunks_mut(plan.block) {
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
        for block in inner.chunks(plan.block * width) {
            level.extend(bounding_box(block, width, sizes.inner_index));
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
            plan,
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

    /// Blocks of outer rows in a group.
    fn blocks(&self) -> usize {
        self.job.entry.r * self.plan.tiles
    }

    /// Outer rows of a group.
    fn group_rows(&self) -> usize {
        self.job.entry.lanes * self.blocks()
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

    /// Folds all inner rows that matter into the group's states, in the scratch memory.
    fn group(&self, group: usize, work: &mut Work, count: &mut Count) {
        let (sizes, entry) = (&self.job.table.sizes, self.job.entry);
        let lanes = entry.lanes;
        let [x, state, fresh, _] = work.scratch.split::<T, 4>(work.lengths);
        let places = self.places(group);
        let columns = sizes.outer_raw;
        let rows = (0..self.group_rows()).map(|lane| {
            // Lanes without a row repeat the last one.
            let row = self.order.rows[(places.start + lane).min(places.end - 1)];
            let from = (self.job.m - 1 - row as usize) * columns;
            (row, &self.outer[from..from + columns])
        });
        outer_blocks(self.job, rows, x);
        hulls(x, lanes, &mut work.outer);
        if let Some(index) = work.outer.get_mut(sizes.outer_index) {
            *index = Interval::EVERYTHING;
        }
        neutral(self.job, state);
        hulls(state, lanes, &mut work.state);

        let width = sizes.inner;
        let mut visit = |block: usize, known: &mut [Interval]| {
            let rows = (self.job.n - block * self.plan.block).min(self.plan.block);
            let inner = &self.inner[block * self.plan.block * width..][..rows * width];
            let to = if self.plan.is_extrema() {
                neutral(self.job, fresh);
                fresh.as_mut_ptr()
            } else {
                state.as_mut_ptr()
            };
            let args = TileArgs {
                params: self.job.params.as_ptr(),
                outer: x.as_ptr(),
                blocks: self.blocks(),
                inner: inner.as_ptr(),
                rows,
                rows_per_flush: if self.job.each_row { 1 } else { rows },
                state: to,
            };
            // SAFETY: `x`, `fresh` and `state` are as many blocks of their vectors, a multiple of R, `inner` has `rows` rows,
            // `params` all parameters; the machine has the instruction set.
            unsafe {
                (entry.tile)(&args);
                if let Some(merge) = self.plan.merge {
                    merge(state.as_mut_ptr(), fresh.as_ptr(), self.blocks());
                    hulls(state, lanes, known);
                }
            }
        };
        // Near on the curve first: what they leave excludes most of the rest.
        let blocks = self.job.n.div_ceil(self.plan.block);
        let near = if self.plan.is_extrema() {
            let key = self.order.keys[(places.start + places.end) / 2];
            let near = self.inner_keys.partition_point(|&k| k < key) / self.plan.block;
            near.saturating_sub(1)..(near + 2).min(blocks)
        } else {
            0..0
        };
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
            if !(self.plan.may_change)(&self.parameters, &work.outer, inner, &work.state) {
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
        // SAFETY: all are as many blocks of their vectors, `params` all parameters; the machine has the instruction set.
        unsafe {
            (entry.finish)(
                self.job.params.as_ptr(),
                x.as_ptr(),
                state.as_ptr(),
                out.as_mut_ptr(),
                self.blocks(),
            );
        }
        for (lane, place) in self.places(group).enumerate() {
            let row = self.order.rows[place] as usize;
            let from = &out[lane / lanes * sizes.out * lanes + lane % lanes..];
            let mut column = 0;
            for output in outputs {
                // SAFETY: each row is in one group, and each group in one task.
                unsafe { output.write_row(row, from, lanes, column) };
                column += output.columns();
            }
        }
    }
}

/// Fills every block of state rows at `to` with neutral ones.
fn neutral<T: Float>(job: &Job<'_, T>, to: &mut [T]) {
    let lanes = job.entry.lanes;
    for block in to.chunks_exact_mut((job.neutral.len() * lanes).max(1)) {
        for (vector, &word) in block.chunks_exact_mut(lanes).zip(job.neutral) {
            vector.fill(word);
        }
    }
}

/// Puts outer rows with their numbers, as many as there are lanes in the blocks at `to`, into these blocks.
fn outer_blocks<'r, T: Float>(
    job: &Job<'_, T>,
    rows: impl Iterator<Item = (u32, &'r [T])>,
    to: &mut [T],
) {
    let (sizes, entry) = (&job.table.sizes, job.entry);
    let lanes = entry.lanes;
    for (lane, (number, row)) in rows.enumerate() {
        let block = &mut to[lane / lanes * sizes.outer * lanes..][..sizes.outer * lanes];
        for (c, &x) in row.iter().enumerate() {
            block[c * lanes + lane % lanes] = x;
        }
        if sizes.outer_index < sizes.outer {
            block[sizes.outer_index * lanes + lane % lanes] = T::from_index(number);
        }
    }
    if sizes.outer_derived {
        let blocks = to.len() / (sizes.outer * lanes);
        // SAFETY: `to` is that many blocks of `outer` vectors, `params` all parameters; the machine has the instruction set.
        unsafe { (entry.prepare_outer)(job.params.as_ptr(), to.as_mut_ptr(), blocks) };
    }
}

/// The hull of each column of lane-wise blocks.
fn hulls<T: Float>(blocks: &[T], lanes: usize, to: &mut [Interval]) {
    let columns = to.len();
    for (c, hull) in to.iter_mut().enumerate() {
        let vectors = blocks
            .chunks_exact(columns * lanes)
            .map(|block| &block[c * lanes..(c + 1) * lanes]);
        *hull = vectors
            .map(hull_of)
            .reduce(Interval::hull)
            .unwrap_or(Interval::EVERYTHING);
    }
}

/// The hull of some numbers.
fn hull_of<T: Float>(numbers: &[T]) -> Interval {
    let Some(&first) = numbers.first() else {
        return Interval::EVERYTHING;
    };
    let (mut lo, mut hi, mut known) = (first, first, true);
    for &x in numbers {
        lo = if x < lo { x } else { lo };
        hi = if x > hi { x } else { hi };
        known &= x.partial_cmp(&x).is_some();
    }
    if known {
        Interval {
            lo: lo.widened(),
            hi: hi.widened(),
            nan: false,
        }
    } else {
        Interval::EVERYTHING
    }
}

/// The box of rows of `width` values, of which one may be an index.
fn bounding_box<T: Float>(
    rows: &[T],
    width: usize,
    index: usize,
) -> impl Iterator<Item = Interval> {
    (0..width).map(move |c| {
        if c == index {
            return Interval::EVERYTHING;
        }
        let (mut lo, mut hi, mut known) = (rows[c], rows[c], true);
        for &x in rows[c..].iter().step_by(width) {
            lo = if x < lo { x } else { lo };
            hi = if x > hi { x } else { hi };
            known &= x.partial_cmp(&x).is_some();
        }
        if known {
            Interval {
                lo: lo.widened(),
                hi: hi.widened(),
                nan: false,
            }
        } else {
            Interval::EVERYTHING
        }
    })
}
