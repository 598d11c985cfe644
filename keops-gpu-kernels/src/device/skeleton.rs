//! The reduction skeleton: what a kernel does around the pair part, generic over the pass.
//!
//! A thread owns R outer rows, BLOCK apart so that neighbouring threads read and write neighbouring rows. The block walks
//! the inner rows tile by tile, from the last tile to the first: threads prepare the rows of a tile into shared memory,
//! once per row, then every thread folds the tile into its registers, Q rows at a time, downwards. At the end of a block
//! of inner rows the registers are merged into the state row. What is too much for registers is in the thread's lanes of the
//! scratch memory: columns, accumulators, state rows, arrays.
//!
//! Invariants: inner rows reach a state row in descending order. Every thread of a block makes the same number of trips
//! through the tile loop, whatever rows it owns, because each trip holds two barriers; a thread without a row of its own
//! repeats the last row and does not store.
use super::gpu::{Device, Token};
use super::inner::{Inner, InnerRaw, InnerSlot};
use super::intrinsics::{
    block_idx_x, block_idx_y, grid_dim_x, loops_stay, shape_note, shared_tile, shared_words, sync_threads, thread_idx_x,
};
use super::listed::Walk;
use super::rows::{Kept, Lanes, Out, Outer, Params, Sink, Source, Work};
use crate::abi::{self, BLOCK, COMBINE, FLUSH_ROWS, FOLD, part_range};
use crate::kernel::{Kernel, Numbers};
use crate::mini_core::*;
use crate::tile::{Pairs, Tile};

/// The constants of a pass that are lengths of arrays: a generic function cannot compute them from `K`, an entry can.
macro_rules! with_shape {
    ($(#[$meta:meta])* fn $name:ident<T, K $(, $var:ident: $bound:path)*>($($arg:ident: $ty:ty),* $(,)?) $(-> $out:ty)? $body:block) => {
        $(#[$meta])*
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe fn $name<
            T: Device,
            K: Kernel<T>,
            $($var: $bound,)*
            const R: usize,
            const Q: usize,
            const ROW: usize,
            const PARAMS: usize,
            const PARAMS_ALL: usize,
            const PARAMS_HELD: usize,
            const OUTER: usize,
            const OUTER_ALL: usize,
            const OUTER_HELD: usize,
            const ACC: usize,
            const ACC_HELD: usize,
            const ROW_HELD: usize,
            const AT_ACC: usize,
            const AT_WORK: usize,
            const AT_PARAMS: usize,
            const AT_ROW: usize,
            const USED: usize,
            const STRIDE: u32,
            const INNER_HELD: usize,
            const TILE: u32,
            const SHARED: usize,
            const WORDS: usize,
        >($($arg: $ty),*) $(-> $out)? $body
    };
}

with_shape! {
    /// One launch of a pass: folds inner rows into the thread's outer rows, or combines what such launches left, and
    /// writes outputs or state rows, as `phase` says.
    ///
    /// # Safety
    /// The launch ABI (`abi`): BLOCK threads, pointers to as many rows as the numbers say.
    fn reduce<T, K, S: Token<T>, X: Source<T>, Y: Source<T>, O: Sink<T>>(
        m: u32, n: u32, first: u32, phase: u32, parts: u32, flush: u32, scratch: *mut T, params: *const T,
        outer: X, inner: Y, outputs: O,
    ) {
        if m == 0 {
            return;
        }
        let tile = Tile::<S, R, 1>(S::TOKEN);
        shape_note::<R, Q, USED, ROW>();
        if OUTER_HELD != OUTER_ALL || ACC_HELD != ACC || AT_PARAMS != AT_WORK {
            // A register tile is large here, and loads of several turns of a loop would fill the registers.
            loops_stay();
        }
        let own = block_idx_x() * (BLOCK * R as u32) + thread_idx_x();
        let all = grid_dim_x().wrapping_mul(BLOCK * R as u32);
        let all_rows = WORDS == 0 || phase & abi::LISTED == 0;
        let phase = if WORDS == 0 { phase } else { phase & !abi::LISTED };
        let part = if phase == FOLD { block_idx_y() } else { 0 };
        // SAFETY: the scratch memory is an argument of the launch, and the lanes are those of this thread's rows.
        let lanes = unsafe { Lanes::new(scratch, part, AT_ROW + ROW, all, own) };
        // SAFETY: the parameters are an argument of the launch.
        let mut p = unsafe { Params::<T, PARAMS, PARAMS_ALL, PARAMS_HELD, AT_PARAMS>::new(params, lanes) };
        // SAFETY: the scratch memory has room for the arrays.
        let mut work = unsafe { Work::<T, 1, 1, AT_WORK>::new(lanes) };
        K::prepare_params(Tile::<S, 1, 1>(S::TOKEN), &mut p, &mut work);

        let mut rows = [0u32; R];
        let mut exists = [false; R];
        let mut r = 0;
        while r < R {
            let row = own.wrapping_add(r as u32 * BLOCK);
            // Where m is close to 2³² the sum wraps, to a row that is another thread's.
            exists[r] = row >= own && row < m;
            rows[r] = if exists[r] { row } else { m - 1 };
            r += 1;
        }
        // SAFETY: every row is less than m, and the scratch memory has room for the columns.
        let mut x = unsafe { Outer::<T, OUTER, OUTER_ALL, OUTER_HELD, R>::new(outer, rows, first, lanes) };
        // SAFETY: the scratch memory has room for the arrays.
        let mut work = unsafe { Work::<T, R, 1, AT_WORK>::new(lanes) };
        K::prepare_outer(tile, &p, &mut x, &mut work);

        // SAFETY: the scratch memory has room for state rows that are not in registers.
        let mut state = unsafe { Kept::<T, R, ROW, ROW_HELD, AT_ROW>::new(lanes) };
        // The phase is an argument of the launch: all threads take the same way.
        if phase == COMBINE {
            // In scratch memory the state row of part 0 is there already.
            let mut part = 0;
            if ROW_HELD == ROW {
                K::init(tile, &mut state);
            } else {
                part = 1;
            }
            while part < parts {
                // SAFETY: the state rows of all parts are in the scratch memory.
                let other = unsafe {
                    Kept::<T, R, ROW, 0, AT_ROW>::new(Lanes::new(scratch, part, AT_ROW + ROW, all, own))
                };
                K::combine(tile, &mut state, &other);
                part += 1;
            }
        } else {
            K::init(tile, &mut state);
            // All rows where there is one part.
            let (begin, end) = part_range(n, TILE, parts, block_idx_y());
            let (begin, end) = matters::<T, K, PARAMS, PARAMS_ALL, PARAMS_HELD, AT_PARAMS>(
                &p, block_idx_x() * (BLOCK * R as u32), BLOCK * R as u32, m, n, first, TILE, begin, end);
            // SAFETY: the rows 0 .. n exist; all threads of the block are here, for the first time, with the same range.
            unsafe {
                fold::<T, K, S, X, Y, R, Q, ROW, PARAMS, PARAMS_ALL, PARAMS_HELD, OUTER, OUTER_ALL, OUTER_HELD, ACC, ACC_HELD,
                    ROW_HELD, AT_ACC, AT_WORK, AT_PARAMS, AT_ROW, USED, STRIDE, INNER_HELD, TILE, SHARED, WORDS>(
                    begin, end, flush, all_rows, outer, &rows, first.wrapping_add(block_idx_x() * (BLOCK * R as u32)), inner, lanes,
                    &p, &mut x, &mut state);
            }
            if phase == FOLD {
                if ROW_HELD == ROW {
                    // SAFETY: the scratch memory has room for the state rows.
                    state.store(&mut unsafe { Kept::new(lanes) });
                }
                return;
            }
        }
        // SAFETY: the rows that exist are less than m, and no other thread has the same.
        let mut out = unsafe { Out::<O, R>::new(outputs, rows, exists) };
        K::finish(tile, &p, &x, &state, &mut out, &mut work);
    }
}

with_shape! {
    /// Folds the inner rows `begin .. end` into the state rows, `flush` at a time if it is not 0: all of them, or if `WORDS` is not 0
    /// perhaps only those that matter to the block's outer rows, whose indices begin with `first` and of which this thread has `rows`.
    ///
    /// # Safety
    /// The inner rows must exist. To be called once in a kernel, by all threads of the block with the same numbers.
    fn fold<T, K, S: Token<T>, X: Source<T>, Y: Source<T>>(
        begin: u32,
        end: u32,
        flush: u32,
        all_rows: bool,
        outer: X,
        own: &[u32; R],
        first: u32,
        inner: Y,
        lanes: Lanes<T>,
        p: &Params<T, PARAMS, PARAMS_ALL, PARAMS_HELD, AT_PARAMS>,
        x: &mut Outer<T, OUTER, OUTER_ALL, OUTER_HELD, R>,
        state: &mut Kept<T, R, ROW, ROW_HELD, AT_ROW>,
    ) {
        let rows = Tile::<S, R, 1>(S::TOKEN);
        // SAFETY: once in the kernel, by the caller's promise.
        let shared = unsafe { shared_tile::<SHARED>() };
        // SAFETY: the same.
        let words = if WORDS == 0 { 0 } else { unsafe { shared_words::<WORDS>() } };
        let mut walk = Walk::new(begin, end, words);
        // SAFETY: the scratch memory has room for accumulators that are not in registers, and for arrays.
        let (mut accumulators, mut work, mut work_one) = unsafe {
            (
                Kept::<T, R, ACC, ACC_HELD, AT_ACC>::new(lanes),
                Work::<T, R, Q, AT_WORK>::new(lanes),
                Work::<T, R, 1, AT_WORK>::new(lanes),
            )
        };
        K::begin(rows, state, &mut accumulators);
        // Rows of a block of a tile at most, and rows after which it is merged: numbers, and no condition on `flush` in the
        // loop, which would be there twice otherwise.
        let longest = flush.wrapping_sub(1);
        let enough = if flush == 0 { FLUSH_ROWS as u32 } else { flush };
        let mut folded = 0u32;
        let mut end = end;
        loop {
            let (start, mut left);
            if WORDS == 0 {
                if end <= begin {
                    break;
                }
                // Tiles start at multiples of TILE; only the last one, which comes first, is partial.
                let first = (end - 1) & !(TILE - 1);
                start = if first < begin { begin } else { first };
                left = end - start;
                end = start;
                // SAFETY: keeps the tile while others still read it. The range, and so the number of trips, is the same for all
                // threads of the block.
                unsafe { sync_threads() };
            } else {
                start = 0;
                // SAFETY: all threads are here, with the same numbers.
                left = unsafe { walk.next(all_rows, TILE, outer, own, first, BLOCK * R as u32, inner) };
                if left == 0 {
                    break;
                }
            }
            // SAFETY: nobody reads the tile before the barrier, which makes it visible.
            unsafe {
                load_tile::<T, K, S, Y, PARAMS, PARAMS_ALL, PARAMS_HELD, AT_PARAMS, AT_WORK, USED, STRIDE, INNER_HELD, WORDS>(
                    shared, start, left, &walk, inner, lanes, p);
                sync_threads();
            }
            while left != 0 {
                // One block of the tile: all of it by default.
                let below = if left - 1 > longest { left - 1 - longest } else { 0 };
                folded += left - below;
                // The rows beyond a multiple of Q, one by one; then the others.
                while Q > 1 && (left - below) & (Q as u32 - 1) != 0 {
                    left -= 1;
                    x.renew();
                    accumulators.renew();
                    // SAFETY: row `left` of the tile, which nobody writes until the next barrier.
                    let y = unsafe {
                        Inner::<T, USED, STRIDE, INNER_HELD, 1, WORDS>::new(
                            shared + left * STRIDE, if WORDS == 0 { start + left } else { walk.index_at(left) })
                    };
                    K::step(rows, p, x, &y, &mut accumulators, &mut work_one);
                }
                while left != below {
                    left -= Q as u32;
                    x.renew();
                    accumulators.renew();
                    // SAFETY: Q rows from `left` on of the tile, which nobody writes until the next barrier.
                    let y = unsafe {
                        Inner::<T, USED, STRIDE, INNER_HELD, Q, WORDS>::new(
                            shared + left * STRIDE, if WORDS == 0 { start + left } else { walk.index_at(left) })
                    };
                    K::step(Tile::<S, R, Q>(S::TOKEN), p, x, &y, &mut accumulators, &mut work);
                }
                // Whether more rows are listed is not known.
                let last = below == 0 && (WORDS != 0 || end == begin);
                if TILE as usize >= FLUSH_ROWS || folded >= enough || last {
                    accumulators.renew();
                    state.renew();
                    K::flush(rows, &accumulators, state);
                    K::begin(rows, state, &mut accumulators);
                    folded = 0;
                }
            }
        }
    }
}

/// The inner rows out of `begin..end` that can matter to the `count` outer rows from `own` on, those before in whole tiles:
/// the same for all threads of a block.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn matters<
    T: Device,
    K: Kernel<T>,
    const PARAMS: usize,
    const PARAMS_ALL: usize,
    const PARAMS_HELD: usize,
    const AT_PARAMS: usize,
>(
    p: &Params<T, PARAMS, PARAMS_ALL, PARAMS_HELD, AT_PARAMS>,
    own: u32,
    count: u32,
    m: u32,
    n: u32,
    first: u32,
    tile: u32,
    begin: u32,
    end: u32,
) -> (u32, u32) {
    if !K::BOUNDED {
        return (begin, end);
    }
    let own = own as i64;
    let last = if own + count as i64 > m as i64 {
        m as i64 - 1
    } else {
        own + count as i64 - 1
    };
    let (low, high) = K::bounds(p, own + first as i64, last + first as i64, n as i64);
    let low = low as u32 & !(tile - 1);
    let high = high as u32;
    (
        if low > begin { low } else { begin },
        if high < end { high } else { end },
    )
}

/// Prepares `count` inner rows into the tile: those from `start` on, or where `WORDS` is not 0 those that `walk` has handed out.
///
/// # Safety
/// The rows must exist and fit the tile, which this block's threads must not be reading.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn load_tile<
    T: Device,
    K: Kernel<T>,
    S: Token<T>,
    Y: Source<T>,
    const PARAMS: usize,
    const PARAMS_ALL: usize,
    const PARAMS_HELD: usize,
    const AT_PARAMS: usize,
    const AT_WORK: usize,
    const USED: usize,
    const STRIDE: u32,
    const INNER_HELD: usize,
    const WORDS: usize,
>(
    shared: u32,
    start: u32,
    count: u32,
    walk: &Walk,
    inner: Y,
    lanes: Lanes<T>,
    p: &Params<T, PARAMS, PARAMS_ALL, PARAMS_HELD, AT_PARAMS>,
) {
    if K::INNER_PLAIN && INNER_HELD != USED {
        // Long rows that are only copied: neighbouring threads take neighbouring columns.
        let words = count * USED as u32;
        let mut w = thread_idx_x();
        while w < words {
            let slot = w / USED as u32;
            let c = w % USED as u32;
            // SAFETY: slot < count and c < USED, a place of its own for each w.
            unsafe {
                let row = if WORDS == 0 { start + slot } else { walk.row(slot) };
                T::store(
                    shared + slot * STRIDE + c * T::BYTES,
                    inner.load(row, c as usize),
                )
            };
            w += BLOCK;
        }
    } else {
        // SAFETY: the scratch memory has room for the arrays.
        let mut work = unsafe { Work::<T, 1, 1, AT_WORK>::new(lanes) };
        let mut slot = thread_idx_x();
        while slot < count {
            // SAFETY: the row exists, and its slot is this thread's.
            let (y, mut used) = unsafe {
                let row = if WORDS == 0 { start + slot } else { walk.row(slot) };
                (
                    InnerRaw::new(inner, row),
                    InnerSlot::<USED>::new(shared + slot * STRIDE, row),
                )
            };
            K::prepare_inner(Tile::<S, 1, 1>(S::TOKEN), p, &y, &mut used, &mut work);
            slot += BLOCK;
        }
    }
}
