//! The launch ABI: what a device kernel and the host that launches it must agree on.
//!
//! The same text on both sides, so that a number cannot differ. For one entry (a [`Kernel`] at a value type `T`):
//!
//! * parameters, in order:
//!   1. `m: u32`, outer rows of this launch;
//!   2. `n: u32`, inner rows;
//!   3. `first: u32`, the index of outer row 0: what is added to a row's number where the formula asks for its index
//!      (`first + m` ≤ 2³² − 1). Pointers are to this launch's rows;
//!   4. `phase: u32`, one of [`WHOLE`], [`FOLD`], [`COMBINE`];
//!   5. `parts: u32`, into how many parts the inner rows are split (1 where the phase is [`WHOLE`]);
//!   6. `flush: u32`, after how many inner rows sums are merged without error into the state row; 0 for the default,
//!      [`FLUSH_ROWS`] or a tile, whichever is more. 1 makes every term its own block;
//!   7. `states: *mut T`, [`states_len`] values: word `c` of the state row of outer row `row` and part `part` is
//!      `states[(part · ROW + c) · m + row]`. [`FOLD`] writes all of it, [`COMBINE`] reads it, [`WHOLE`] does not touch it;
//!   8. `params: *const T`, [`Kernel::PARAMS`] values;
//!   9. one `*const T` per outer variable, one per inner variable, one pointer per output, `*mut T`; or to `u32` where a
//!      variable or an output holds indices ([`NONE`](crate::real::NONE) for none).
//!
//!   A variable and an output is contiguous, row-major, rows × columns. Pointers that are never read or written (no rows, no
//!   columns, not in this phase) may be null: [`FOLD`] writes no outputs, [`COMBINE`] reads no inner rows;
//! * block: [`BLOCK`] × 1 × 1 threads, always;
//! * grid: [`grid`] × parts × 1 blocks in the phase [`FOLD`], [`grid`] × 1 × 1 otherwise. It is 0 for no outer rows: then
//!   nothing is to be launched. At most [`MAX_PARTS`] parts;
//! * dynamic shared memory: 0 bytes. A block's tile of inner rows is static, [`shared_bytes`] of it.
//!
//! Block `b`'s thread `t` owns the outer rows `(b · rows_per_thread + r) · BLOCK + t`, r < [`rows_per_thread`]. Inner rows
//! are read in tiles of [`tile_rows`], from the last tile to the first and downwards in each (see [`reduce`](crate::reduce)).
//! Part `p` folds the rows [`part_range`] gives; parts are combined from 0 upwards, so that the result depends on the number
//! of parts, but on nothing else of how the work was spread. Minima, maxima and their indices do not depend on it either.
use crate::kernel::Kernel;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// Threads in a block.
pub const BLOCK: u32 = 128;
/// Phase: fold all inner rows and write the outputs.
pub const WHOLE: u32 = 0;
/// Phase: fold each part of the inner rows and store the state rows.
pub const FOLD: u32 = 1;
/// Phase: combine the state rows of all parts and write the outputs.
pub const COMBINE: u32 = 2;
/// Most parts: the second dimension of a grid has 16 bits.
pub const MAX_PARTS: u32 = 65_535;
/// Inner rows whose sums are kept in plain registers before they are merged without error into the state row.
pub const FLUSH_ROWS: usize = 256;
/// Most columns of a row that live in registers; longer rows are read where the formula uses them.
pub const HELD_COLUMNS: usize = 16;
/// Fewest tiles worth a part of their own: a part costs its state rows, written once and read once.
pub const PART_TILES: u32 = 2;
/// Most bytes of shared memory for a tile, one row excepted.
const TILE_BYTES: usize = 16 * 1024;
/// Most rows of a tile.
const TILE_ROWS: usize = 256;

/// 32-bit words of a value.
const fn words<T: Real>() -> usize {
    if T::IS_F64 { 2 } else { 1 }
}

/// Register blocking: outer rows of one thread.
///
/// Each row costs registers for its columns (if held), its state row, the accumulators (about half as many) and a few
/// temporaries. Four rows amortise the loads of inner rows; they pay as long as a thread stays below about 90 registers, half
/// that many rows up to about 128, one beyond. Rows too long for registers are read once per tile of [`inner_unroll`] pairs,
/// and that many accumulators are live already. Long functions are in the code once per pair of a tile: two rows; a long
/// pair part is in it once.
pub const fn rows_per_thread<T: Real, K: Kernel<T>>() -> usize {
    let columns = K::OUTER + K::OUTER_DERIVED;
    let registers = (columns + K::ROW + K::ROW / 2) * words::<T>();
    if columns > HELD_COLUMNS || registers > 28 || K::LONG {
        1
    } else if registers * words::<T>() > 13 || K::SPECIAL > 0 {
        2
    } else {
        4
    }
}

/// Inner rows of one register tile: consecutive rows that the pair part handles together.
///
/// Unrolls the inner loop where rows and state are short, as far as registers allow. Where outer rows are read from memory,
/// makes each such load serve several pairs.
pub const fn inner_unroll<T: Real, K: Kernel<T>>() -> usize {
    let columns = K::OUTER + K::OUTER_DERIVED;
    let inner = K::INNER_USED * words::<T>();
    let state = K::ROW * words::<T>();
    if K::LONG {
        1
    } else if columns > HELD_COLUMNS {
        if state > 16 { 1 } else { 4 }
    } else if K::SPECIAL > 0 {
        1
    } else if state <= 6 && inner <= 4 {
        4
    } else if state <= 8 && inner <= 8 {
        2
    } else {
        1
    }
}

/// Columns of an outer row that a thread keeps in registers: all, or only the derived ones.
pub const fn outer_held<T: Real, K: Kernel<T>>() -> usize {
    let columns = K::OUTER + K::OUTER_DERIVED;
    if columns <= HELD_COLUMNS {
        columns
    } else {
        K::OUTER_DERIVED
    }
}

/// Parameters that a thread keeps in registers: all, or only the derived ones.
pub const fn params_held<T: Real, K: Kernel<T>>() -> usize {
    let columns = K::PARAMS + K::PARAMS_DERIVED;
    if columns <= HELD_COLUMNS {
        columns
    } else {
        K::PARAMS_DERIVED
    }
}

/// Columns of an inner row that the pair part finds in registers: all, loaded as 16-byte vectors, or none.
pub const fn inner_held<T: Real, K: Kernel<T>>() -> usize {
    if K::INNER_USED <= HELD_COLUMNS {
        K::INNER_USED
    } else {
        0
    }
}

/// Bytes from one inner row to the next in shared memory: a multiple of 16, so that vector loads are aligned, and not 0
/// where the pair part reads no column, because a tile of no bytes cannot be declared.
pub const fn inner_stride<T: Real, K: Kernel<T>>() -> usize {
    let used = if K::INNER_USED == 0 { 1 } else { K::INNER_USED };
    (used * words::<T>() * 4 + 15) & !15
}

/// Inner rows of a tile in shared memory, a power of two.
pub const fn tile_rows<T: Real, K: Kernel<T>>() -> usize {
    let mut rows = TILE_ROWS;
    while rows > 1 && rows * inner_stride::<T, K>() > TILE_BYTES {
        rows /= 2;
    }
    rows
}

/// Bytes of static shared memory of a block. More than 48 KiB (an inner row of 12 288 `f32`) cannot be launched.
pub const fn shared_bytes<T: Real, K: Kernel<T>>() -> usize {
    tile_rows::<T, K>() * inner_stride::<T, K>()
}

/// Blocks to launch for `m` outer rows.
pub const fn grid<T: Real, K: Kernel<T>>(m: u32) -> u32 {
    let rows = BLOCK * rows_per_thread::<T, K>() as u32;
    if m == 0 { 0 } else { (m - 1) / rows + 1 }
}

/// Tiles that `n` inner rows fill: with more parts than this some are empty.
pub const fn tiles<T: Real, K: Kernel<T>>(n: u32) -> u32 {
    let tile = tile_rows::<T, K>() as u32;
    if n == 0 { 0 } else { (n - 1) / tile + 1 }
}

/// The inner rows `begin .. end` of part `part` of `parts`: whole tiles of `tile` rows, as evenly as tiles go.
pub const fn part_range(n: u32, tile: u32, parts: u32, part: u32) -> (u32, u32) {
    let tiles = if n == 0 { 0 } else { (n - 1) / tile + 1 };
    let each = if tiles == 0 {
        0
    } else {
        (tiles - 1) / parts + 1
    };
    // In 64 bits: the products may be larger than n.
    let begin = part as u64 * each as u64 * tile as u64;
    let end = begin + each as u64 * tile as u64;
    (
        if begin < n as u64 { begin as u32 } else { n },
        if end < n as u64 { end as u32 } else { n },
    )
}

/// How many parts keep `blocks` blocks busy: 1 if `m` outer rows fill them, and never so many that a part is empty or has
/// fewer than [`PART_TILES`] tiles.
pub const fn parts<T: Real, K: Kernel<T>>(m: u32, n: u32, blocks: u32) -> u32 {
    split(grid::<T, K>(m), tiles::<T, K>(n), blocks)
}

/// [`parts`], for `grid` blocks of outer rows and `tiles` tiles of inner ones.
pub const fn split(grid: u32, tiles: u32, blocks: u32) -> u32 {
    if grid == 0 || grid >= blocks {
        return 1;
    }
    let mut parts = blocks / grid;
    if parts > tiles / PART_TILES {
        parts = tiles / PART_TILES;
    }
    if parts > MAX_PARTS {
        parts = MAX_PARTS;
    }
    if parts < 2 {
        return 1;
    }
    // Rounding up the tiles of a part may leave the last ones empty.
    let each = (tiles - 1) / parts + 1;
    (tiles - 1) / each + 1
}

/// Values in `states` for `m` outer rows and `parts` parts.
pub const fn states_len<T: Real, K: Kernel<T>>(m: u32, parts: u32) -> u64 {
    parts as u64 * K::ROW as u64 * m as u64
}
