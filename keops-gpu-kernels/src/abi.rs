//! The launch ABI: what a device kernel and the host that launches it must agree on.
//!
//! The same text on both sides, so that a number cannot differ. For one entry (a [`Kernel`] at a value type `T`):
//!
//! * parameters, in order:
//!   1. `m: u32`, outer rows of this launch;
//!   2. `n: u32`, inner rows;
//!   3. `first: u32`, the index of outer row 0: what is added to a row's number where the formula asks for its index
//!      (`first + m` ≤ 2³² − 1). Pointers are to this launch's rows;
//!   4. `phase: u32`, one of [`WHOLE`], [`FOLD`], [`COMBINE`]; the first two plus [`LISTED`] where only the inner rows are to be
//!      folded that variables list, which only entries with such variables know;
//!   5. `parts: u32`, into how many parts the inner rows are split (1 where the phase is [`WHOLE`]);
//!   6. `flush: u32`, after how many inner rows sums are merged without error into the state row; 0 for the default,
//!      [`FLUSH_ROWS`] or a tile, whichever is more. 1 makes every term its own block;
//!   7. `scratch: *mut T`, [`scratch_len`] values, null if that is 0: what a thread does not keep in registers. It is a column
//!      for each thread and each of its outer rows, so that neighbouring threads use neighbouring values: word `w` of part
//!      `part` is in `scratch[(part · words + w) · lanes + lane]` with [`scratch_words`] words and [`lanes`] lanes, fewer than
//!      2³². The last words are the state row, through which [`FOLD`] passes what [`COMBINE`] reads;
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
//! The lane of such a row is its number, whether the row exists or not.
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
/// Added to a phase that folds: only inner rows that matter to a block's outer rows, by the variables that list rows of the other
/// side.
pub const LISTED: u32 = 4;
/// Inner rows that a block searches for listed ones at a time: a bit for each, in one word per thread.
pub const WINDOW: u32 = 32 * BLOCK;
/// Most parts: the second dimension of a grid has 16 bits.
pub const MAX_PARTS: u32 = 65_535;
/// Inner rows whose sums are kept in plain registers before they are merged without error into the state row.
pub const FLUSH_ROWS: usize = 256;
/// Most columns of a row that live in registers; the variables' own are read where the formula uses them beyond that.
pub const HELD_COLUMNS: usize = 16;
/// Fewest tiles and fewest inner rows worth a part of their own: a part costs its state rows, written once and read once.
pub const PART_TILES: u32 = 2;
/// Fewest inner rows of a part, see [`PART_TILES`].
pub const PART_ROWS: u32 = 128;
/// Bytes of shared memory that a block has without asking.
pub const SHARED_BYTES: usize = 48 * 1024;
/// Most bytes of shared memory for a tile, one register tile of rows excepted.
const TILE_BYTES: usize = 16 * 1024;
/// Most rows of a tile.
pub const MOST_TILE_ROWS: usize = 256;

/// 32-bit words of a value.
const fn words<T: Real>() -> usize {
    if T::IS_F64 { 2 } else { 1 }
}

/// Columns of an outer row.
const fn outer_columns<T: Real, K: Kernel<T>>() -> usize {
    K::OUTER + K::OUTER_DERIVED
}

/// Columns of an outer row that a thread keeps in registers: all, or none where they are many; then they are in its lanes of
/// the scratch memory.
pub const fn outer_held<T: Real, K: Kernel<T>>() -> usize {
    let columns = outer_columns::<T, K>();
    if !K::LOOPED && columns <= HELD_COLUMNS && columns * words::<T>() <= 32 {
        columns
    } else {
        0
    }
}

/// Parameters that a thread keeps in registers: all, or only the derived ones, or none; then these are in the scratch memory.
pub const fn params_held<T: Real, K: Kernel<T>>() -> usize {
    let columns = K::PARAMS + K::PARAMS_DERIVED;
    if K::LOOPED {
        0
    } else if columns <= HELD_COLUMNS {
        columns
    } else if K::PARAMS_DERIVED <= 8 {
        K::PARAMS_DERIVED
    } else {
        0
    }
}

/// Words of the state row in registers: all, or none. It is touched once per [`FLUSH_ROWS`].
///
/// Loops over what is in registers have at most 20 iterations: longer ones are not unrolled (see the child compiler's options).
pub const fn state_held<T: Real, K: Kernel<T>>() -> usize {
    let most = if is_wide::<T, K>() { 8 } else { 20 };
    if !K::LOOPED && K::ROW <= most && K::ROW * words::<T>() <= 32 {
        K::ROW
    } else {
        0
    }
}

/// Accumulators in registers: all, or none.
///
/// Many would leave room for a single pair at a time, and loads of inner rows would bound the loop. In the scratch memory
/// each is loaded and stored once per [`inner_unroll`] pairs.
pub const fn accumulators_held<T: Real, K: Kernel<T>>() -> usize {
    let most = if has_outer_in_scratch::<T, K>() {
        8
    } else {
        20
    };
    if !K::LOOPED && K::ACCUMULATORS * words::<T>() <= most {
        K::ACCUMULATORS
    } else {
        0
    }
}

const fn has_outer_in_scratch<T: Real, K: Kernel<T>>() -> bool {
    outer_held::<T, K>() != outer_columns::<T, K>()
}

const fn has_accumulators_in_scratch<T: Real, K: Kernel<T>>() -> bool {
    accumulators_held::<T, K>() != K::ACCUMULATORS
}

/// Whether the inner loop reads the scratch memory. Then a register tile is large, so that each such load serves several pairs.
const fn is_wide<T: Real, K: Kernel<T>>() -> bool {
    has_outer_in_scratch::<T, K>() || has_accumulators_in_scratch::<T, K>() || K::WORK > 0
}

/// Most outer rows of one thread, a multiple of any other number of them.
pub const MOST_ROWS_PER_THREAD: usize = 4;

/// Register blocking: outer rows of one thread, at most [`MOST_ROWS_PER_THREAD`].
///
/// Each row costs registers for its columns (if held), its state row, the accumulators (about half as many) and a few
/// temporaries. Four rows amortise the loads of inner rows; they pay as long as a thread stays below about 90 registers, half
/// that many rows up to about 128, one beyond. Long functions are in the code once per pair of a tile: two rows; a
/// long pair part is in it once.
pub const fn rows_per_thread<T: Real, K: Kernel<T>>() -> usize {
    if is_wide::<T, K>() {
        if K::SPECIAL > 0 || K::WORK > 0 || K::LARGEST_K > 8 || K::LONG {
            1
        } else if K::FUSED_LOOPS && !has_accumulators_in_scratch::<T, K>() && !T::IS_F64 {
            4
        } else {
            2
        }
    } else {
        let registers = (outer_columns::<T, K>() + K::ROW + K::ROW / 2) * words::<T>();
        if registers > 28 || K::LONG {
            1
        } else if registers * words::<T>() > 13 || K::SPECIAL > 0 {
            2
        } else {
            4
        }
    }
}

/// Most words of registers for what the pairs of a register tile have alive at once, where scratch memory is used.
const LIVE_WORDS: usize = 192;

/// Inner rows of one register tile: consecutive rows that the pair part handles together, a power of two.
///
/// Unrolls the inner loop where rows and state are short, as far as registers allow. Where scratch memory is used, makes each
/// access serve several pairs.
pub const fn inner_unroll<T: Real, K: Kernel<T>>() -> usize {
    let inner = K::INNER_USED * words::<T>();
    let state = K::ROW * words::<T>();
    if is_wide::<T, K>() {
        let mut rows = if K::LARGEST_K > 32 || K::LONG {
            1
        } else if K::SPECIAL > 0 || K::WORK > 0 || K::LARGEST_K > 1 {
            4
        } else if has_accumulators_in_scratch::<T, K>() {
            16 / words::<T>()
        } else {
            8 / words::<T>()
        };
        while rows > 1
            && (rows * inner_stride::<T, K>() > 2 * TILE_BYTES
                || rows * rows_per_thread::<T, K>() * K::LIVE * words::<T>() > LIVE_WORDS)
        {
            rows /= 2;
        }
        rows
    } else if K::SPECIAL > 0 || K::LONG {
        1
    } else if state <= 6 && inner <= 4 {
        4
    } else if state <= 8 && inner <= 8 {
        2
    } else {
        1
    }
}

/// Columns of an inner row that the pair part finds in registers: all, loaded as 16-byte vectors, or none.
pub const fn inner_held<T: Real, K: Kernel<T>>() -> usize {
    let registers = K::INNER_USED * words::<T>() * inner_unroll::<T, K>();
    if !K::LOOPED && K::INNER_USED <= HELD_COLUMNS && registers <= 64 {
        K::INNER_USED
    } else {
        0
    }
}

/// Where the accumulators are in the scratch memory, if they are there: behind the outer row's columns.
pub const fn scratch_accumulators<T: Real, K: Kernel<T>>() -> usize {
    outer_columns::<T, K>() - outer_held::<T, K>()
}

/// Where local arrays are in the scratch memory, one word for each inner row of a register tile.
pub const fn scratch_work<T: Real, K: Kernel<T>>() -> usize {
    scratch_accumulators::<T, K>() + K::ACCUMULATORS - accumulators_held::<T, K>()
}

/// Where derived parameters are in the scratch memory, if they are there.
pub const fn scratch_params<T: Real, K: Kernel<T>>() -> usize {
    scratch_work::<T, K>() + K::WORK * inner_unroll::<T, K>()
}

/// Where the state row is in the scratch memory.
pub const fn scratch_state<T: Real, K: Kernel<T>>() -> usize {
    let is_held = params_held::<T, K>() >= K::PARAMS_DERIVED;
    scratch_params::<T, K>() + if is_held { 0 } else { K::PARAMS_DERIVED }
}

/// Words of one part of the scratch memory.
pub const fn scratch_words<T: Real, K: Kernel<T>>() -> usize {
    scratch_state::<T, K>() + K::ROW
}

/// Words of the scratch memory where there is one part: the state row is not there if it is in registers.
pub const fn scratch_words_whole<T: Real, K: Kernel<T>>() -> usize {
    scratch_state::<T, K>() + K::ROW - state_held::<T, K>()
}

/// Bytes from one inner row to the next in shared memory: a multiple of 16, so that vector loads are aligned, and not 0
/// where the pair part reads no column, because a tile of no bytes cannot be declared.
pub const fn inner_stride<T: Real, K: Kernel<T>>() -> usize {
    let used = if K::INNER_USED == 0 { 1 } else { K::INNER_USED };
    (used * words::<T>() * 4 + 15) & !15
}

/// Inner rows of a tile in shared memory, a power of two, and at least one register tile.
pub const fn tile_rows<T: Real, K: Kernel<T>>() -> usize {
    let least = inner_unroll::<T, K>();
    let mut rows = MOST_TILE_ROWS;
    while rows > least && rows * inner_stride::<T, K>() > TILE_BYTES {
        rows /= 2;
    }
    rows
}

/// Words of shared memory besides the tile in an entry with variables that list rows: a window's bits, and the indices of a tile.
pub const fn listed_words(tile_rows: usize) -> usize {
    BLOCK as usize + tile_rows
}

/// Bytes of static shared memory of a block for its tile. More than [`SHARED_BYTES`] (an inner row of 12 288 `f32`), with
/// [`listed_words`] if there are, cannot be launched, and the compiler makes no such entry.
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
#[inline(always)]
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
/// fewer than [`PART_TILES`] tiles or [`PART_ROWS`] rows.
pub const fn parts<T: Real, K: Kernel<T>>(m: u32, n: u32, blocks: u32) -> u32 {
    split(
        grid::<T, K>(m),
        tiles::<T, K>(n),
        tile_rows::<T, K>() as u32,
        blocks,
    )
}

/// [`parts`], for `grid` blocks of outer rows and `tiles` tiles of inner ones, of `tile` rows each.
pub const fn split(grid: u32, tiles: u32, tile: u32, blocks: u32) -> u32 {
    if grid == 0 || grid >= blocks {
        return 1;
    }
    let mut parts = blocks / grid;
    let least = if PART_TILES * tile < PART_ROWS {
        PART_ROWS / tile
    } else {
        PART_TILES
    };
    if parts > tiles / least {
        parts = tiles / least;
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

/// Lanes of the scratch memory for `m` outer rows: those of all threads of all blocks.
pub const fn lanes<T: Real, K: Kernel<T>>(m: u32) -> u64 {
    grid::<T, K>(m) as u64 * BLOCK as u64 * rows_per_thread::<T, K>() as u64
}

/// Values in the scratch memory for `m` outer rows and `parts` parts.
pub const fn scratch_len<T: Real, K: Kernel<T>>(m: u32, parts: u32) -> u64 {
    let words = if parts == 1 {
        scratch_words_whole::<T, K>() as u64
    } else {
        parts as u64 * scratch_words::<T, K>() as u64
    };
    words * lanes::<T, K>(m)
}
