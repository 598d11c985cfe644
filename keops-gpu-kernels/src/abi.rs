//! The launch ABI: what a device kernel and the host that launches it must agree on.
//!
//! The same text on both sides, so that a number cannot differ. For one entry (a [`Kernel`] at a value type `T`):
//!
//! * parameters, in order: `m: u32` (outer rows), `n: u32` (inner rows), `params: *const T` ([`Kernel::PARAMS`] values),
//!   one `*const T` per outer variable, one per inner variable, one pointer per output: `*mut T`, or `*mut u32` where
//!   the output holds indices ([`NONE`](crate::real::NONE) for none). A variable and an output is contiguous, row-major,
//!   rows × columns. Pointers that are never read (no rows, no columns) may be null;
//! * block: [`BLOCK`] × 1 × 1 threads, always;
//! * grid: [`grid`] × 1 × 1 blocks, which is 0 for no outer rows: then nothing is to be launched;
//! * dynamic shared memory: 0 bytes. A block's tile of inner rows is static, [`shared_bytes`] of it.
//!
//! Block `b`'s thread `t` owns the outer rows `(b · rows_per_thread + r) · BLOCK + t`, r < [`rows_per_thread`]. Inner rows
//! are read in tiles of [`tile_rows`], from the last tile to the first and downwards in each (see [`reduce`](crate::reduce)),
//! and sums are flushed into the state row every [`FLUSH_ROWS`] rows or every tile, whichever is more.
use crate::kernel::Kernel;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// Threads in a block.
pub const BLOCK: u32 = 128;
/// Inner rows whose sums are kept in plain registers before they are merged without error into the state row.
pub const FLUSH_ROWS: usize = 256;
/// Most columns of a row that live in registers; longer rows are read where the formula uses them.
pub const HELD_COLUMNS: usize = 16;
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
/// Each row costs registers for its columns (if held), its state row, the accumulators (as many as the state row, at
/// most) and a few temporaries. Four rows amortise the loads of inner rows; they pay as long as a thread stays near 64
/// registers, half that many rows up to about 128, one beyond. Rows too long for registers are read once per tile of
/// [`inner_unroll`] pairs, and that many accumulators are live already.
pub const fn rows_per_thread<T: Real, K: Kernel<T>>() -> usize {
    let columns = K::OUTER + K::OUTER_DERIVED;
    let held = if columns <= HELD_COLUMNS {
        columns
    } else {
        K::OUTER_DERIVED
    };
    let registers = (held + 2 * K::ROW) * words::<T>();
    if columns > HELD_COLUMNS {
        1
    } else if registers <= 12 {
        4
    } else if registers <= 32 {
        2
    } else {
        1
    }
}

/// Inner rows of one register tile: consecutive rows that the pair part handles together.
///
/// Unrolls the inner loop where rows and state are short, as far as registers allow (3-D Gaussian sum at `f32`: 9.5
/// instructions per pair with four rows, 9.75 with two). Where outer rows are read from memory, makes each such load serve
/// several pairs.
pub const fn inner_unroll<T: Real, K: Kernel<T>>() -> usize {
    let columns = K::OUTER + K::OUTER_DERIVED;
    let inner = K::INNER_USED * words::<T>();
    let state = K::ROW * words::<T>();
    if columns > HELD_COLUMNS || (state <= 4 && inner <= 4) {
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
