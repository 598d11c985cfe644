//! The sizes that the engine chooses: register tiles, tiles of inner rows, chunks of outer rows, segments.
//!
//! Invariant: all are functions of the kernel's constants, the instruction set and the numbers of rows, never of the
//! number of threads. Speeds are f32 measurements on Zen 3 and Zen 4 cores.
use keops_gpu_kernels::kernel::Kernel;
use keops_gpu_kernels::real::Real;

/// R vectors of outer rows by Q inner rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegisterTile {
    pub(crate) r: usize,
    pub(crate) q: usize,
}

impl RegisterTile {
    /// Whether it is `r` vectors by `q` rows.
    pub(crate) const fn is(self, r: usize, q: usize) -> bool {
        self.r == r && self.q == q
    }
}

/// Accumulators that a kernel keeps in registers for one vector of outer rows.
const fn accumulators<T: Real, K: Kernel<T>>() -> usize {
    // A state is an array of whatever it is made of.
    size_of::<K::State<u8>>()
}

/// Whether all that the kernel folds are extrema: their registers are the words of the state row, all other reducers need
/// more words.
pub(crate) const fn is_extrema<T: Real, K: Kernel<T>>() -> bool {
    K::ROW > 0 && K::ROW == accumulators::<T, K>()
}

/// The register tile of kernel `K` on an instruction set with this many vector registers.
///
/// A tile gives R·Q independent chains. Many rows share the constants and let a latency of 4 cycles be filled; too many
/// spill, at up to half the speed. Measured for sums, minima and softmax, whose state rows tell them apart: a sum has two
/// words for each accumulator, an extremum one, a softmax the maximum besides.
pub(crate) const fn register_tile<T: Real, K: Kernel<T>>(registers: usize) -> RegisterTile {
    let words = accumulators::<T, K>();
    let extremum = K::ROW <= words;
    let softmax = !extremum && K::ROW < 2 * words;
    let wide = K::INNER_USED > 8;
    let (r, q) = match registers {
        // Long functions, and long pair parts, have chains enough of their own, and their code is long in every tile.
        _ if K::SPECIAL > 1 || K::LONG || K::CALLS => (1, 1),
        // A long distance or scalar product is bound by the multiply-add units with enough chains, and by loads with too
        // few: the tile shares each load R or Q times.
        32 if K::FUSED_LOOPS && words <= 2 => (4, 4),
        16 if K::FUSED_LOOPS && words <= 2 => (2, 4),
        // AVX-512 and NEON: inner values and constants are operands in memory or stay in registers, so R = 1.
        32 if softmax && words <= 3 => (1, 8),
        32 if words <= 2 => (1, 4),
        32 if words <= 8 => (1, 2),
        // AVX2, which loads them all: comparisons are so cheap that those loads count, and a long distance needs more
        // chains (D = 64: 0.26 Gpairs/s at (1, 4) and (1, 6), 0.38 at (2, 3), but 0.19 at (2, 4), which spills).
        16 if extremum && words <= 8 => (2, 2),
        16 if wide && words <= 2 => (2, 3),
        // Few sums: many rows, also where a gradient's differences do not stay in registers (all gradients of a Gaussian: 0.97
        // of (1, 4)'s time at f32 and f64).
        16 if words <= 4 && !softmax || softmax && words <= 3 => (1, 6),
        16 if words <= 4 => (1, 4),
        16 if words <= 8 => (1, 2),
        // Many sums live in memory: a tile loads and stores each once for all of its pairs.
        16 | 32 if !extremum && !softmax => (2, 4),
        // SSE2
        8 if words <= 2 => (1, 2),
        _ => (1, 1),
    };
    RegisterTile { r, q }
}

/// Inner rows packed at a time when lanes run over outer rows.
///
/// At most 256 rows, which bounds the rounding of a block's sum; fewer when rows are wide, so that a tile stays in a
/// 256 KiB second-level cache, from where it streams beside an outer block in the first level; at least 16, so that
/// packing and merging stay small beside the work. A multiple of `q`, the inner rows of a register tile: what is left over is
/// folded row by row, at a fraction of the speed.
pub(crate) fn tile_rows(row_bytes: usize, q: usize) -> usize {
    const BYTES: usize = 192 << 10;
    let rows = (BYTES / row_bytes.max(1)).clamp(16, 256);
    rows / q * q
}

/// Inner rows packed at a time when lanes run over them: a multiple of `step`, the rows of one register tile.
///
/// Each lane folds its share of a tile in a row, so a tile may be longer than [`tile_rows`] at the same rounding.
pub(crate) fn across_rows(row_bytes: usize, step: usize) -> usize {
    const BYTES: usize = 24 << 10;
    (BYTES / row_bytes.max(1)).clamp(step, 256 * step) / step * step
}

/// How a pass is cut: `chunks` chunks of `chunk_rows` outer rows, each over `segments` segments of inner rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) chunk_rows: usize,
    pub(crate) chunks: usize,
    pub(crate) segments: usize,
    /// Whether the work is worth waking other threads.
    pub(crate) parallel: bool,
}

/// Tasks that a large pass is cut into at least: enough for 64 threads to have one.
const TASKS: usize = 64;

/// Work, in columns of pairs, that takes tens of microseconds: what a task should have at least.
const TASK_WORK: usize = 1 << 19;

/// Cuts a pass of `m` outer by `n` inner rows. `lanes` are the outer rows of one vector, `step` those of one register tile,
/// `row_bytes` the memory for one outer row and its state, `columns` the columns of an inner row.
///
/// Inner rows are packed once per chunk, which costs about as much as 1 to 4 vectors of outer rows: chunks have at least 256
/// rows, and 32 vectors, where there are as many, up to 2 MiB. A chunk of wide rows is larger than the second-level cache: each of its blocks is
/// read once per tile of inner rows, whose work covers that, while packing more often would not be covered: at D = 1000 it is
/// a fifth of the work of 144 rows.
pub(crate) fn cut(
    m: usize,
    n: usize,
    lanes: usize,
    step: usize,
    row_bytes: usize,
    columns: usize,
) -> Cut {
    const BYTES: usize = 2 << 20;
    let fits = (BYTES / row_bytes.max(1)).max(step);
    let chunk_rows = (m / TASKS)
        .clamp((32 * lanes).max(256), 2048)
        .min(fits)
        .min(m)
        .next_multiple_of(step);
    let chunks = m.div_ceil(chunk_rows);
    let weight = columns + 2;
    // Merging states is scalar work, so that a segment has thousands of rows.
    let least = (TASK_WORK / (weight * chunk_rows.min(m))).max(4096);
    let segments = TASKS.div_ceil(chunks).min(n / least).max(1);
    let work = (m as u128) * (n as u128) * weight as u128;
    Cut {
        chunk_rows,
        chunks,
        segments,
        parallel: chunks * segments > 1 && work >= TASK_WORK as u128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_passes_stay_on_one_thread() {
        assert_eq!(
            cut(10, 10, 8, 8, 20, 4),
            Cut {
                chunk_rows: 16,
                chunks: 1,
                segments: 1,
                parallel: false
            }
        );
        assert!(!cut(1000, 10, 8, 8, 20, 4).parallel);
    }

    #[test]
    fn large_passes_have_tasks_for_many_threads() {
        for (m, n) in [
            (1, 10_000_000),
            (10, 1_000_000),
            (10_000, 10_000),
            (1_000_000, 10_000),
            (1_000_000, 10),
        ] {
            let cut = cut(m, n, 8, 8, 20, 4);
            assert!(
                cut.parallel && cut.chunks * cut.segments >= TASKS,
                "{m} by {n}: {cut:?}"
            );
            assert!(cut.chunks * cut.chunk_rows >= m && (cut.chunks - 1) * cut.chunk_rows < m);
        }
    }

    #[test]
    fn wide_rows_make_small_tiles_and_chunks() {
        assert_eq!(tile_rows(4 * 4, 4), 256);
        assert_eq!(tile_rows(4 * 4, 6), 252);
        assert_eq!(tile_rows(4 * 513, 4), 92);
        assert_eq!(tile_rows(1 << 20, 4), 16);
        assert_eq!(tile_rows(1 << 20, 6), 12);
        assert_eq!(across_rows(16, 16), 1536);
        assert_eq!(across_rows(1 << 20, 16), 16);
        assert_eq!(cut(1000, 1000, 8, 16, 1 << 20, 1000).chunk_rows, 16);
    }
}
