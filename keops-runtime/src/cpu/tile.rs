//! What is compiled once per kernel and instruction set: the loop over a tile of pairs, and the loops that prepare and
//! finish rows. Everything else of the engine is compiled once per value type.
//!
//! Invariants: all functions here are `#[inline(always)]`, without closures and iterators, because they become the body
//! of `#[target_feature]` functions (see [`table`](super::table)); rows of a tile arrive in descending index order.
use std::marker::PhantomData;

use keops_gpu_kernels::isa::Isa;
use keops_gpu_kernels::kernel::{Array, Kernel};
use keops_gpu_kernels::real::Real;
use keops_gpu_kernels::tile::Tile;

use super::access::{Lanes, NO_INDEX, Splat};
use super::isa::Memory;

/// Column counts of a kernel's rows in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Raw parameter columns.
    pub(crate) params_raw: usize,
    /// All parameter columns.
    pub(crate) params: usize,
    /// Raw outer columns.
    pub(crate) outer_raw: usize,
    /// All outer columns, derived ones and the index included.
    pub(crate) outer: usize,
    /// Which outer column is the index, or [`NO_INDEX`].
    pub(crate) outer_index: usize,
    /// Whether there are derived outer columns.
    pub(crate) outer_derived: bool,
    /// Raw inner columns, without the index.
    pub(crate) inner_values: usize,
    /// Raw inner columns and the index.
    pub(crate) inner_raw: usize,
    /// Which raw inner column is the index, or [`NO_INDEX`].
    pub(crate) inner_raw_index: usize,
    /// Columns of an inner row as the pair part reads it, and the index.
    pub(crate) inner: usize,
    /// Which inner column is the index, or [`NO_INDEX`].
    pub(crate) inner_index: usize,
    /// Whether raw inner rows are inner rows.
    pub(crate) inner_plain: bool,
    /// Raw outer and inner columns that tell which rows are near one another, as bits; 0 where that is not known.
    pub(crate) near_outer: u64,
    pub(crate) near_inner: u64,
    /// Words of a state row.
    pub(crate) state: usize,
    /// Columns of an output row.
    pub(crate) out: usize,
}

/// The constants of `K` as [`Sizes`].
pub(crate) struct SizesOf<T, K>(PhantomData<(T, K)>);

impl<T: Real, K: Kernel<T>> SizesOf<T, K> {
    pub(crate) const SIZES: Sizes = {
        // Far beyond any formula, and small enough that no size computed from these overflows.
        const MOST: usize = 1 << 20;
        assert!(
            K::PARAMS < MOST
                && K::PARAMS_DERIVED < MOST
                && K::OUTER < MOST
                && K::OUTER_DERIVED < MOST
        );
        assert!(K::INNER < MOST && K::INNER_USED < MOST && K::ROW < MOST && K::OUT < MOST);
        assert!(
            !K::INNER_PLAIN || K::INNER == K::INNER_USED,
            "a plain inner row has its raw columns"
        );
        assert!(
            (K::OUTER >= 64 || K::NEAR_OUTER >> K::OUTER == 0)
                && (K::INNER >= 64 || K::NEAR_INNER >> K::INNER == 0),
            "raw columns"
        );
        Sizes {
            params_raw: K::PARAMS,
            params: K::PARAMS + K::PARAMS_DERIVED,
            outer_raw: K::OUTER,
            outer: K::OUTER + K::OUTER_DERIVED + K::OUTER_INDEX as usize,
            outer_index: if K::OUTER_INDEX {
                K::OUTER + K::OUTER_DERIVED
            } else {
                NO_INDEX
            },
            outer_derived: K::OUTER_DERIVED > 0,
            inner_values: K::INNER,
            inner_raw: K::INNER + K::INNER_INDEX as usize,
            inner_raw_index: if K::INNER_INDEX { K::INNER } else { NO_INDEX },
            inner: K::INNER_USED + K::INNER_INDEX as usize,
            inner_index: if K::INNER_INDEX {
                K::INNER_USED
            } else {
                NO_INDEX
            },
            inner_plain: K::INNER_PLAIN,
            near_outer: K::NEAR_OUTER,
            near_inner: K::NEAR_INNER,
            state: K::ROW,
            out: K::OUT,
        }
    };
}

/// Accumulators, all zero.
#[inline(always)]
fn accumulators<K: Kernel<S::T>, S: Isa>(s: S) -> K::State<S::F> {
    K::State::<S::F>::fill(s.lit(0.0))
}

/// Room for local arrays.
#[inline(always)]
pub(super) fn work<K: Kernel<S::T>, S: Isa>(s: S) -> K::Work<S::F> {
    K::Work::<S::F>::fill(s.lit(0.0))
}

/// A tile of pairs: blocks of outer rows beside inner rows. Counts are in rows or blocks, sizes follow from [`Sizes`].
pub(crate) struct TileArgs<T> {
    /// `params` values.
    pub(crate) params: *const T,
    /// `blocks` blocks of `outer` vectors.
    pub(crate) outer: *const T,
    /// Blocks of outer rows, a multiple of R.
    pub(crate) blocks: usize,
    /// `rows` rows of `inner` values.
    pub(crate) inner: *const T,
    /// Inner rows.
    pub(crate) rows: usize,
    /// Inner rows folded in registers before they are merged into the state row; at least 1.
    pub(crate) rows_per_flush: usize,
    /// `blocks` blocks of `state` vectors.
    pub(crate) state: *mut T,
}

/// Folds the inner rows of a tile into the state rows of all its outer rows, lanes over outer rows.
///
/// # Safety
/// `a` describes initialised memory as its fields say, that of `state` not shared with anyone.
#[inline(always)]
pub(crate) unsafe fn tile<I: Memory, K: Kernel<I::T>, const R: usize, const Q: usize>(
    s: I,
    a: &TileArgs<I::T>,
) {
    let size = const { SizesOf::<I::T, K>::SIZES };
    let mut wq = work::<K, _>(Tile::<I, R, Q>(s));
    let mut w1 = work::<K, _>(Tile::<I, R, 1>(s));
    let mut block = 0;
    while block + R <= a.blocks {
        // SAFETY: blocks `block..block + R` exist, for outer rows and for states; parameters exist. Only `row` is
        // written through.
        let (px, p1, xq, x1, mut row) = unsafe {
            let x = a.outer.add(block * size.outer * I::LANES).cast_mut();
            (
                Splat::<I, R, Q>::one(s, a.params, size.params, NO_INDEX, 1),
                Splat::<I, R, 1>::one(s, a.params, size.params, NO_INDEX, 1),
                Lanes::<I, R, Q>::outer(s, x, size.outer, size.outer_index),
                Lanes::<I, R, 1>::outer(s, x, size.outer, size.outer_index),
                Lanes::<I, R, 1>::outer(
                    s,
                    a.state.add(block * size.state * I::LANES),
                    size.state,
                    NO_INDEX,
                ),
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
            let mut state = accumulators::<K, Tile<I, R, 1>>(Tile(s));
            K::begin(Tile::<I, R, 1>(s), &row, &mut state);
            while j + Q <= end {
                // SAFETY: rows `j..j + Q` exist.
                let y = unsafe {
                    Splat::<I, R, Q>::rows(
                        s,
                        a.inner.add(j * size.inner),
                        size.inner,
                        size.inner_index,
                    )
                };
                K::step(Tile::<I, R, Q>(s), &px, &xq, &y, &mut state, &mut wq);
                j += Q;
            }
            // With Q = 1 nothing is left, and the loop is not compiled.
            while Q > 1 && j < end {
                // SAFETY: row `j` exists.
                let y = unsafe {
                    Splat::<I, R, 1>::rows(
                        s,
                        a.inner.add(j * size.inner),
                        size.inner,
                        size.inner_index,
                    )
                };
                K::step(Tile::<I, R, 1>(s), &p1, &x1, &y, &mut state, &mut w1);
                j += 1;
            }
            K::flush(Tile::<I, R, 1>(s), &state, &mut row);
        }
        block += R;
    }
}

/// A tile of pairs with lanes over inner rows.
pub(crate) struct AcrossArgs<T> {
    /// `params` values.
    pub(crate) params: *const T,
    /// Blocks of `outer` vectors, for all `outer_rows`.
    pub(crate) outer: *const T,
    /// Outer rows.
    pub(crate) outer_rows: usize,
    /// `blocks` blocks of `inner` vectors.
    pub(crate) inner: *const T,
    /// Blocks of inner rows, a multiple of Q.
    pub(crate) blocks: usize,
    /// One state row of `state` vectors for each outer row.
    pub(crate) state: *mut T,
}

/// Folds inner rows into one state row per outer row and lane, lanes over inner rows: for few outer rows.
///
/// # Safety
/// `a` describes initialised memory as its fields say, that of `state` not shared with anyone.
#[inline(always)]
pub(crate) unsafe fn across<I: Memory, K: Kernel<I::T>, const Q: usize>(
    s: I,
    a: &AcrossArgs<I::T>,
) {
    let size = const { SizesOf::<I::T, K>::SIZES };
    let mut work = work::<K, _>(Tile::<I, 1, Q>(s));
    let mut i = 0;
    while i < a.outer_rows {
        // SAFETY: outer row `i` is lane i mod LANES of its block, its state row is the i-th; parameters exist.
        let (p, x, mut row) = unsafe {
            let x = a
                .outer
                .add(i / I::LANES * size.outer * I::LANES + i % I::LANES);
            (
                Splat::<I, 1, Q>::one(s, a.params, size.params, NO_INDEX, 1),
                Splat::<I, 1, Q>::one(s, x, size.outer, size.outer_index, I::LANES),
                Lanes::<I, 1, 1>::outer(
                    s,
                    a.state.add(i * size.state * I::LANES),
                    size.state,
                    NO_INDEX,
                ),
            )
        };
        let mut state = accumulators::<K, Tile<I, 1, 1>>(Tile(s));
        K::begin(Tile::<I, 1, 1>(s), &row, &mut state);
        let mut block = 0;
        while block + Q <= a.blocks {
            // SAFETY: blocks `block..block + Q` exist; nothing is written through `y`.
            let y = unsafe {
                let y = a.inner.add(block * size.inner * I::LANES).cast_mut();
                Lanes::<I, 1, Q>::inner(s, y, size.inner, size.inner_index)
            };
            K::step(Tile::<I, 1, Q>(s), &p, &x, &y, &mut state, &mut work);
            block += Q;
        }
        K::flush(Tile::<I, 1, 1>(s), &state, &mut row);
        i += 1;
    }
}

/// Merges `blocks` blocks of state rows at `other` into those at `row`.
///
/// # Safety
/// Both point to that many blocks of `state` vectors, initialised, `row` not shared with anyone.
#[inline(always)]
pub(crate) unsafe fn merge<I: Memory, K: Kernel<I::T>>(
    s: I,
    row: *mut I::T,
    other: *const I::T,
    blocks: usize,
) {
    let size = const { SizesOf::<I::T, K>::SIZES };
    let mut block = 0;
    while block < blocks {
        // SAFETY: the blocks exist; only `row` is written through.
        let (mut row, other) = unsafe {
            let at = block * size.state * I::LANES;
            (
                Lanes::<I, 1, 1>::outer(s, row.add(at), size.state, NO_INDEX),
                Lanes::<I, 1, 1>::outer(s, other.add(at).cast_mut(), size.state, NO_INDEX),
            )
        };
        K::combine(Tile::<I, 1, 1>(s), &mut row, &other);
        block += 1;
    }
}

/// Computes the derived columns of `blocks` blocks of outer rows at `x`.
///
/// # Safety
/// `params` points to the parameters, `x` to that many blocks, initialised and not shared with anyone.
#[inline(always)]
pub(crate) unsafe fn prepare_outer<I: Memory, K: Kernel<I::T>>(
    s: I,
    params: *const I::T,
    x: *mut I::T,
    blocks: usize,
) {
    let size = const { SizesOf::<I::T, K>::SIZES };
    let mut work = work::<K, _>(Tile::<I, 1, 1>(s));
    let mut block = 0;
    while block < blocks {
        // SAFETY: the block exists, and so do the parameters.
        let (p, mut x) = unsafe {
            (
                Splat::<I, 1, 1>::one(s, params, size.params, NO_INDEX, 1),
                Lanes::<I, 1, 1>::outer(
                    s,
                    x.add(block * size.outer * I::LANES),
                    size.outer,
                    size.outer_index,
                ),
            )
        };
        K::prepare_outer(Tile::<I, 1, 1>(s), &p, &mut x, &mut work);
        block += 1;
    }
}

/// Computes the inner columns of `blocks` blocks at `used` from the raw columns at `raw`.
///
/// # Safety
/// `params` points to the parameters, `raw` and `used` to that many blocks of raw and of inner columns, initialised, `used`
/// not shared with anyone.
#[inline(always)]
pub(crate) unsafe fn prepare_inner<I: Memory, K: Kernel<I::T>>(
    s: I,
    params: *const I::T,
    raw: *const I::T,
    used: *mut I::T,
    blocks: usize,
) {
    let size = const { SizesOf::<I::T, K>::SIZES };
    let mut work = work::<K, _>(Tile::<I, 1, 1>(s));
    let mut block = 0;
    while block < blocks {
        // SAFETY: the blocks exist, and so do the parameters; only `w` is written through.
        let (p, y, mut w) = unsafe {
            let y = raw.add(block * size.inner_raw * I::LANES).cast_mut();
            (
                Splat::<I, 1, 1>::one(s, params, size.params, NO_INDEX, 1),
                Lanes::<I, 1, 1>::outer(s, y, size.inner_raw, size.inner_raw_index),
                Lanes::<I, 1, 1>::outer(
                    s,
                    used.add(block * size.inner * I::LANES),
                    size.inner,
                    NO_INDEX,
                ),
            )
        };
        K::prepare_inner(Tile::<I, 1, 1>(s), &p, &y, &mut w, &mut work);
        block += 1;
    }
}

/// Computes `blocks` blocks of output columns at `out` from the outer rows at `x` and the state rows at `state`.
///
/// # Safety
/// `params` points to the parameters, the others to that many blocks, initialised, `out` not shared with anyone.
#[inline(always)]
pub(crate) unsafe fn finish<I: Memory, K: Kernel<I::T>>(
    s: I,
    params: *const I::T,
    x: *const I::T,
    state: *const I::T,
    out: *mut I::T,
    blocks: usize,
) {
    let size = const { SizesOf::<I::T, K>::SIZES };
    let mut work = work::<K, _>(Tile::<I, 1, 1>(s));
    let mut block = 0;
    while block < blocks {
        // SAFETY: the blocks exist, and so do the parameters; only `out` is written through.
        let (p, x, row, mut out) = unsafe {
            let x = x.add(block * size.outer * I::LANES).cast_mut();
            let state = state.add(block * size.state * I::LANES).cast_mut();
            (
                Splat::<I, 1, 1>::one(s, params, size.params, NO_INDEX, 1),
                Lanes::<I, 1, 1>::outer(s, x, size.outer, size.outer_index),
                Lanes::<I, 1, 1>::outer(s, state, size.state, NO_INDEX),
                Lanes::<I, 1, 1>::outer(
                    s,
                    out.add(block * size.out * I::LANES),
                    size.out,
                    NO_INDEX,
                ),
            )
        };
        K::finish(Tile::<I, 1, 1>(s), &p, &x, &row, &mut out, &mut work);
        block += 1;
    }
}
