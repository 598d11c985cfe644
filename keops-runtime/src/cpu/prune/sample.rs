//! Whether skipping can pay, from a few groups of outer rows and a sample of the inner ones: before anything is sorted.
//!
//! The groups are made of true neighbours, and their states are those of the whole pass, so the boxes that cannot change them
//! are at least as many as the pass will find. The boxes of the sample have the extent of the pass's own.
use super::order::{Ranges, join};
use super::{CHILDREN, NO_INDEX, Plan, bounding_box, hulls, neutral, outer_blocks};
use crate::cpu::bounds::Interval;
use crate::cpu::engine::Job;
use crate::cpu::pack::{self, Source};
use crate::cpu::scratch::Scratch;
use crate::float::Float;

/// Groups of outer rows that are asked about, at most.
const GROUPS: usize = 8;
/// Inner rows of the sample, at most.
const SAMPLE: usize = 1 << 13;
/// Outer rows packed at a time.
const CHUNK: usize = 256;

/// Whether most blocks of inner rows cannot change most groups. The error is the number of bytes that could not be
/// allocated.
pub(super) fn promises<T: Float>(job: &Job<'_, T>, plan: &Plan<T>) -> Result<bool, usize> {
    let (sizes, lanes) = (&job.table.sizes, job.entry.lanes);
    let (width, columns) = (sizes.inner, sizes.inner_values);
    let count = (job.n / CHILDREN).clamp(plan.block, SAMPLE).min(job.n);
    let inner = sampled(job.inner, job.n, columns, count);
    let outer = sampled(job.outer, job.m, sizes.outer_raw, CHUNK.min(job.m));
    let mut of_inner = plan.inner.ranges(&inner, columns);
    let mut of_outer = plan.outer.ranges(&outer, sizes.outer_raw);
    if plan.outer.count() == plan.inner.count() {
        of_inner = join(&of_outer, &of_inner);
        of_outer = of_inner;
    }
    let groups = (job.m / 2048).clamp(2, GROUPS);
    let blocks = job.entry.r * plan.tiles;
    let rows = neighbours(job, plan, &of_outer, groups, blocks * lanes);

    let lengths = [
        groups * blocks * lanes * sizes.outer,
        groups * blocks * lanes * sizes.state,
    ];
    let mut scratch = Scratch::new::<T>(&lengths)?;
    let [x, state] = scratch.split::<T, 2>(lengths);
    let mut raw = vec![T::default(); rows.len() * sizes.outer_raw];
    for (row, to) in rows.iter().zip(raw.chunks_exact_mut(sizes.outer_raw)) {
        let row = *row as usize;
        pack::inner_rows(job.outer, row..row + 1, to, sizes.outer_raw, NO_INDEX);
    }
    outer_blocks(
        job,
        rows.iter().copied().zip(raw.chunks_exact(sizes.outer_raw)),
        x,
    );
    neutral(job, state);
    if plan.is_extrema() {
        job.fold_all(x, groups * blocks, state)?;
    }

    let order = plan
        .inner
        .within(&of_inner)
        .sort(&inner, columns, |k| k as u32)?;
    // As many rows in a box as there are in the extent of a block.
    let each = (plan.block * count / job.n).max(1);
    let mut sorted = vec![T::default(); count * width];
    for (&row, to) in order.rows.iter().zip(sorted.chunks_exact_mut(width)) {
        let from = &inner[row as usize * columns..][..columns];
        to[..columns].copy_from_slice(from);
    }
    let boxes: Vec<Interval> = sorted
        .chunks(each * width)
        .flat_map(|rows| bounding_box(rows, width, sizes.inner_index))
        .collect();
    let parameters: Vec<Interval> = job
        .params
        .iter()
        .map(|p| Interval::of(p.widened()))
        .collect();
    let mut of_group = vec![Interval::EVERYTHING; sizes.outer];
    let mut of_state = vec![Interval::EVERYTHING; sizes.state];
    let (mut changed, mut all) = (0, 0);
    for group in 0..groups {
        let part = |columns: usize| {
            let length = blocks * lanes * columns;
            group * length..(group + 1) * length
        };
        hulls(&x[part(sizes.outer)], lanes, &mut of_group);
        if let Some(index) = of_group.get_mut(sizes.outer_index) {
            *index = Interval::EVERYTHING;
        }
        hulls(&state[part(sizes.state)], lanes, &mut of_state);
        for inner in boxes.chunks_exact(width) {
            changed += usize::from((plan.may_change)(&parameters, &of_group, inner, &of_state));
            all += 1;
        }
    }
    // Boxes of sums are folded at full speed.
    Ok(if plan.is_extrema() { 5 } else { 2 } * changed <= all)
}

/// The raw columns of `count` rows, evenly spread.
fn sampled<T: Float>(
    sources: &[Source<'_, T>],
    rows: usize,
    columns: usize,
    count: usize,
) -> Vec<T> {
    let mut to = vec![T::default(); count * columns];
    for (k, to) in to.chunks_exact_mut(columns).enumerate() {
        // Rows are below 2^32, but `usize` may have 32 bits.
        let row = (k as u64 * rows as u64 / count as u64) as usize;
        pack::inner_rows(sources, row..row + 1, to, columns, NO_INDEX);
    }
    to
}

/// For each of `groups` outer rows, evenly spread, the `each` rows that are next to it on the curve.
fn neighbours<T: Float>(
    job: &Job<'_, T>,
    plan: &Plan<T>,
    ranges: &Ranges,
    groups: usize,
    each: usize,
) -> Vec<u32> {
    let curve = plan.outer.within(ranges);
    let width = job.table.sizes.outer_raw;
    let mut chunk = vec![T::default(); CHUNK * width];
    let mut keys: Vec<u32> = Vec::with_capacity(job.m);
    for start in (0..job.m).step_by(CHUNK) {
        let end = (start + CHUNK).min(job.m);
        pack::inner_rows(job.outer, start..end, &mut chunk, width, NO_INDEX);
        // Inner rows are packed from the last to the first.
        let rows = chunk[..(end - start) * width].chunks_exact(width);
        keys.extend(rows.rev().map(|row| curve.key(row)));
    }
    let mut found = Vec::with_capacity(groups * each);
    let mut near: Vec<(u32, u32)> = Vec::with_capacity(job.m);
    for group in 0..groups {
        let key = keys[(2 * group + 1) * job.m / (2 * groups)];
        near.clear();
        near.extend(
            keys.iter()
                .enumerate()
                .map(|(row, other)| (key.abs_diff(*other), row as u32)),
        );
        let wanted = each.min(near.len());
        near.select_nth_unstable(wanted - 1);
        // Where there are too few rows, the last is repeated.
        found.extend((0..each).map(|k| near[k.min(wanted - 1)].1));
    }
    found
}
