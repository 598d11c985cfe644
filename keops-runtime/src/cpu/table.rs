//! [`Table`]: the compiled functions of one kernel, one set for each instruction set, as pointers.
//!
//! Invariant: the functions of an instruction set are called only on machines that have it; they are instances of
//! [`tile`], whose safety contracts they keep.
use keops_gpu_kernels::isa::Isa;
use keops_gpu_kernels::kernel::{Kernel, Numbers};

use super::access::Single;
use super::bounds::{self, Interval};
use super::isa::Level;
use super::plain;
use super::shape::{RegisterTile, is_extrema, register_tile};
use super::tile::{self, AcrossArgs, Sizes, SizesOf, TileArgs, work};
use crate::float::Float;

/// [`bounds::may_change`] of one kernel: parameters, outer box, inner box, states.
pub(crate) type MayChange = fn(&[Interval], &[Interval], &[Interval], &[Interval]) -> bool;

/// [`tile::merge`] of one kernel on one instruction set.
pub(crate) type Merge<T> = unsafe fn(*mut T, *const T, usize);

/// The functions of one kernel on one instruction set. Only [`Table::entry`] gives it out.
pub(crate) struct Entry<T> {
    /// Lanes of a vector.
    pub(crate) lanes: usize,
    /// Blocks of outer rows that `tile` takes at a time.
    pub(crate) r: usize,
    /// Inner rows that `tile` takes at a time; what is left over of a tile goes one by one.
    pub(crate) rows: usize,
    /// Blocks of inner rows that `across` takes at a time.
    pub(crate) q: usize,
    pub(crate) tile: unsafe fn(&TileArgs<T>),
    /// Lanes over inner rows, where that is compiled.
    pub(crate) across: Option<unsafe fn(&AcrossArgs<T>)>,
    /// Merges blocks of state rows, where all reducers are extrema.
    pub(crate) merge: Option<Merge<T>>,
    pub(crate) prepare_outer: unsafe fn(*const T, *mut T, usize),
    pub(crate) prepare_inner: unsafe fn(*const T, *const T, *mut T, usize),
    pub(crate) finish: unsafe fn(*const T, *const T, *const T, *mut T, usize),
}

/// From all parameters, the first and last outer row and the number of inner rows to the first inner row and the one behind
/// the last.
pub(crate) type Bounds<T> = fn(&[T], i64, i64, i64) -> (i64, i64);

/// The parameters, as plain numbers.
struct Parameters<'a, T>(&'a [T]);

impl<T: Float> Numbers<T> for Parameters<'_, T> {
    fn number(&self, c: usize) -> T {
        self.0.get(c).copied().unwrap_or(T::of(0.0))
    }
}

fn bounds<T: Float, K: Kernel<T>>(params: &[T], first: i64, last: i64, n: i64) -> (i64, i64) {
    K::bounds(&Parameters(params), first, last, n)
}

/// All functions of one kernel, made by [`table`].
pub struct Table<T> {
    pub(crate) sizes: Sizes,
    /// Computes derived parameters: `sizes.params` values.
    prepare_params: unsafe fn(*mut T),
    /// Writes the neutral state row: `sizes.state` values.
    init: unsafe fn(*mut T),
    /// The inner rows that can matter to some outer rows, given all parameters; `None`: all.
    pub(crate) bounds: Option<Bounds<T>>,
    /// Merges a state row (second) into another, each with the distance of its words.
    pub(crate) combine: unsafe fn(*mut T, usize, *const T, usize),
    /// Whether boxes of rows can change states, where all reducers are extrema, or sums whose terms may vanish.
    pub(crate) may_change: Option<MayChange>,
    #[cfg(target_arch = "x86_64")]
    avx512: Entry<T>,
    #[cfg(target_arch = "x86_64")]
    avx2: Entry<T>,
    #[cfg(target_arch = "x86_64")]
    sse2: Entry<T>,
    #[cfg(target_arch = "aarch64")]
    neon: Entry<T>,
    scalar: Entry<T>,
}

impl<T> Table<T> {
    /// The functions for one level. They run on this machine: that is checked here, and nowhere else can an [`Entry`] be
    /// had.
    ///
    /// # Panics
    /// When the machine does not have that level.
    pub(crate) fn entry(&self, level: Level) -> &Entry<T> {
        assert!(level.is_supported(), "this machine has no {level:?}");
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => &self.avx512,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => &self.avx2,
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => &self.sse2,
            #[cfg(target_arch = "aarch64")]
            Level::Neon => &self.neon,
            _ => &self.scalar,
        }
    }
}

impl<T: Float> Table<T> {
    /// Computes the derived parameters in `params`, and the neutral state row.
    pub(crate) fn prepare(&self, params: &mut [T], neutral: &mut [T]) {
        assert!(params.len() == self.sizes.params && neutral.len() == self.sizes.state);
        // SAFETY: the slices have the lengths that the functions ask for.
        unsafe {
            (self.prepare_params)(params.as_mut_ptr());
            (self.init)(neutral.as_mut_ptr());
        }
    }
}

impl<T> std::fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("sizes", &self.sizes)
            .finish_non_exhaustive()
    }
}

/// Calls `$f::<.., $r, $q>` for the register tile that the kernel has, out of those that are chosen at all. What is not
/// chosen is not compiled: the condition is a constant.
macro_rules! with_register_tile {
    ($tile:expr, $([$r:literal, $q:literal])*, $f:ident($s:expr, $a:expr)) => {
        const { assert!($($tile.is($r, $q) ||)* false, "a register tile that is listed") };
        $(if const { $tile.is($r, $q) } {
            // SAFETY: the caller's contract.
            return unsafe { tile::$f::<_, K, $r, $q>($s, $a) };
        })*
    };
}

/// Calls the same for a long kernel, if `$kernel` is one.
macro_rules! with_long {
    ($kernel:ident, $f:ident($s:expr, $a:expr)) => {
        if const { $kernel::CALLS } {
            // SAFETY: the caller's contract.
            return unsafe { plain::$f::<_, $kernel, true>($s, $a) };
        }
        if const { $kernel::LONG } {
            // SAFETY: the caller's contract.
            return unsafe { plain::$f::<_, $kernel, false>($s, $a) };
        }
    };
}

/// The same for `across`, which has no R.
macro_rules! with_across {
    ($tile:expr, $([$q:literal])*, ($s:expr, $a:expr)) => {
        const { assert!($(across_q($tile.q) == $q ||)* false, "a register tile that is listed") };
        $(if const { across_q($tile.q) == $q } {
            // SAFETY: the caller's contract.
            return unsafe { tile::across::<_, K, $q>($s, $a) };
        })*
    };
}

/// Blocks of inner rows that `across` takes at a time, given the Q of a tile: rows that do not fill them are folded with
/// lanes over outer rows, so that Q stays small.
const fn across_q(q: usize) -> usize {
    if q >= 2 { 2 } else { q }
}

/// The functions of one instruction set.
macro_rules! instruction_set {
    ($arch:literal, $features:literal, $module:ident, $registers:literal, across: $across:ident) => {
        #[cfg(target_arch = $arch)]
        mod $module {
            use super::*;

            const fn chosen<T: Float, K: Kernel<T>>() -> RegisterTile {
                register_tile::<T, K>($registers)
            }

            // The functions below keep the contract of their namesakes in `tile`, and run on machines with the
            // instruction set.

            #[target_feature(enable = $features)]
            unsafe fn tile<T: Float, K: Kernel<T>>(a: &TileArgs<T>) {
                // SAFETY: the machine has the instruction set.
                let s = unsafe { T::$module() };
                with_long!(K, tile(s, a));
                with_register_tile!(chosen::<T, K>(), [1, 1] [1, 2] [1, 4] [1, 6] [1, 8] [2, 2] [2, 3] [2, 4] [4, 4], tile(s, a));
            }
            #[allow(dead_code, reason = "not every instruction set has it")]
            #[target_feature(enable = $features)]
            unsafe fn across<T: Float, K: Kernel<T>>(a: &AcrossArgs<T>) {
                // SAFETY: the machine has the instruction set.
                let s = unsafe { T::$module() };
                with_long!(K, across(s, a));
                with_across!(chosen::<T, K>(), [1] [2], (s, a));
            }
            #[target_feature(enable = $features)]
            unsafe fn merge<T: Float, K: Kernel<T>>(row: *mut T, other: *const T, blocks: usize) {
                // SAFETY: the machine has the instruction set; the caller's contract.
                unsafe { tile::merge::<_, K>(T::$module(), row, other, blocks) }
            }
            #[target_feature(enable = $features)]
            unsafe fn prepare_outer<T: Float, K: Kernel<T>>(params: *const T, x: *mut T, blocks: usize) {
                // SAFETY: the machine has the instruction set; the caller's contract.
                unsafe { tile::prepare_outer::<_, K>(T::$module(), params, x, blocks) }
            }
            #[target_feature(enable = $features)]
            unsafe fn prepare_inner<T: Float, K: Kernel<T>>(params: *const T, raw: *const T, used: *mut T, blocks: usize) {
                // SAFETY: the machine has the instruction set; the caller's contract.
                unsafe { tile::prepare_inner::<_, K>(T::$module(), params, raw, used, blocks) }
            }
            #[target_feature(enable = $features)]
            unsafe fn finish<T: Float, K: Kernel<T>>(
                params: *const T,
                x: *const T,
                state: *const T,
                out: *mut T,
                blocks: usize,
            ) {
                // SAFETY: the machine has the instruction set; the caller's contract.
                unsafe { tile::finish::<_, K>(T::$module(), params, x, state, out, blocks) }
            }

            pub(super) const fn entry<T: Float, K: Kernel<T>>() -> Entry<T> {
                let chosen = chosen::<T, K>();
                Entry {
                    lanes: instruction_set!(@lanes $module),
                    r: chosen.r,
                    rows: chosen.q,
                    q: across_q(chosen.q),
                    tile: tile::<T, K>,
                    across: instruction_set!(@across $across across),
                    merge: if is_extrema::<T, K>() {
                        Some(merge::<T, K>)
                    } else {
                        None
                    },
                    prepare_outer: prepare_outer::<T, K>,
                    prepare_inner: prepare_inner::<T, K>,
                    finish: finish::<T, K>,
                }
            }
        }
    };
    (@across yes $across:ident) => { Some($across::<T, K>) };
    (@across no $across:ident) => { None };
    (@lanes avx512) => { <T::Avx512 as Isa>::LANES };
    (@lanes avx2) => { <T::Avx2 as Isa>::LANES };
    (@lanes sse2) => { <T::Sse2 as Isa>::LANES };
    (@lanes neon) => { <T::Neon as Isa>::LANES };
}

instruction_set!("x86_64", "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma", avx512, 32, across: yes);
instruction_set!("x86_64", "avx2,fma", avx2, 16, across: yes);
instruction_set!("x86_64", "sse2", sse2, 8, across: no);
instruction_set!("aarch64", "neon", neon, 32, across: yes);

/// Plain Rust: one lane, one row at a time.
mod scalar {
    use super::*;

    // The functions below keep the contract of their namesakes in `tile`.

    unsafe fn tile<T: Float, K: Kernel<T>>(a: &TileArgs<T>) {
        with_long!(K, tile(T::scalar(), a));
        // SAFETY: the caller's contract.
        unsafe { tile::tile::<_, K, 1, 1>(T::scalar(), a) }
    }
    unsafe fn merge<T: Float, K: Kernel<T>>(row: *mut T, other: *const T, blocks: usize) {
        // SAFETY: the caller's contract.
        unsafe { tile::merge::<_, K>(T::scalar(), row, other, blocks) }
    }
    unsafe fn prepare_outer<T: Float, K: Kernel<T>>(params: *const T, x: *mut T, blocks: usize) {
        // SAFETY: the caller's contract.
        unsafe { tile::prepare_outer::<_, K>(T::scalar(), params, x, blocks) }
    }
    unsafe fn prepare_inner<T: Float, K: Kernel<T>>(
        params: *const T,
        raw: *const T,
        used: *mut T,
        blocks: usize,
    ) {
        // SAFETY: the caller's contract.
        unsafe { tile::prepare_inner::<_, K>(T::scalar(), params, raw, used, blocks) }
    }
    unsafe fn finish<T: Float, K: Kernel<T>>(
        params: *const T,
        x: *const T,
        state: *const T,
        out: *mut T,
        blocks: usize,
    ) {
        // SAFETY: the caller's contract.
        unsafe { tile::finish::<_, K>(T::scalar(), params, x, state, out, blocks) }
    }

    pub(super) const fn entry<T: Float, K: Kernel<T>>() -> Entry<T> {
        Entry {
            lanes: 1,
            r: 1,
            rows: 1,
            q: 1,
            tile: tile::<T, K>,
            across: None,
            merge: if is_extrema::<T, K>() {
                Some(merge::<T, K>)
            } else {
                None
            },
            prepare_outer: prepare_outer::<T, K>,
            prepare_inner: prepare_inner::<T, K>,
            finish: finish::<T, K>,
        }
    }

    /// Computes the derived parameters.
    ///
    /// # Safety
    /// `params` points to all parameter columns, initialised and not shared with anyone.
    pub(super) unsafe fn prepare_params<T: Float, K: Kernel<T>>(params: *mut T) {
        // SAFETY: the caller's contract.
        let mut p = unsafe {
            Single::new(
                T::scalar(),
                params,
                const { SizesOf::<T, K>::SIZES.params },
                1,
            )
        };
        K::prepare_params(T::scalar(), &mut p, &mut work::<K, _>(T::scalar()));
    }
    /// Writes the neutral state row.
    ///
    /// # Safety
    /// `row` points to the words of a state row, initialised and not shared with anyone.
    pub(super) unsafe fn init<T: Float, K: Kernel<T>>(row: *mut T) {
        // SAFETY: the caller's contract.
        let mut row = unsafe { Single::new(T::scalar(), row, K::ROW, 1) };
        K::init(T::scalar(), &mut row);
    }
    /// Merges `other` into `row`.
    ///
    /// # Safety
    /// Both point to the words of a state row, `next_row` and `next_other` values apart, initialised, `row` not shared
    /// with anyone.
    pub(super) unsafe fn combine<T: Float, K: Kernel<T>>(
        row: *mut T,
        next_row: usize,
        other: *const T,
        next_other: usize,
    ) {
        // SAFETY: the caller's contract; nothing is written through `other`.
        let (mut row, other) = unsafe {
            (
                Single::new(T::scalar(), row, K::ROW, next_row),
                Single::new(T::scalar(), other.cast_mut(), K::ROW, next_other),
            )
        };
        K::combine(T::scalar(), &mut row, &other);
    }
}

/// The functions of kernel `K`, for an expansion's `const { &[table::<T, K0>(), ..] }`.
pub const fn table<T: Float, K: Kernel<T>>() -> Table<T> {
    Table {
        sizes: SizesOf::<T, K>::SIZES,
        prepare_params: scalar::prepare_params::<T, K>,
        init: scalar::init::<T, K>,
        bounds: if K::BOUNDED {
            Some(bounds::<T, K>)
        } else {
            None
        },
        combine: scalar::combine::<T, K>,
        may_change: if is_extrema::<T, K>() || K::VANISHES {
            Some(bounds::may_change::<T, K>)
        } else {
            None
        },
        #[cfg(target_arch = "x86_64")]
        avx512: avx512::entry::<T, K>(),
        #[cfg(target_arch = "x86_64")]
        avx2: avx2::entry::<T, K>(),
        #[cfg(target_arch = "x86_64")]
        sse2: sse2::entry::<T, K>(),
        #[cfg(target_arch = "aarch64")]
        neon: neon::entry::<T, K>(),
        scalar: scalar::entry::<T, K>(),
    }
}

/// A table with the functions of one instruction set at every level, for tests that compile thousands of kernels: they say
/// at which level they run. Large passes of extrema do not skip tiles.
macro_rules! narrow_table {
    ($name:ident, $module:ident, $doc:literal) => {
        #[doc = $doc]
        pub const fn $name<T: Float, K: Kernel<T>>() -> Table<T> {
            Table {
                sizes: SizesOf::<T, K>::SIZES,
                prepare_params: scalar::prepare_params::<T, K>,
                init: scalar::init::<T, K>,
                bounds: if K::BOUNDED {
                    Some(bounds::<T, K>)
                } else {
                    None
                },
                combine: scalar::combine::<T, K>,
                may_change: None,
                #[cfg(target_arch = "x86_64")]
                avx512: $module::entry::<T, K>(),
                #[cfg(target_arch = "x86_64")]
                avx2: $module::entry::<T, K>(),
                #[cfg(target_arch = "x86_64")]
                sse2: scalar::entry::<T, K>(),
                #[cfg(target_arch = "aarch64")]
                neon: $module::entry::<T, K>(),
                scalar: scalar::entry::<T, K>(),
            }
        }
    };
}

narrow_table!(
    scalar_table,
    scalar,
    "The functions of kernel `K` in plain Rust only."
);
#[cfg(target_arch = "x86_64")]
narrow_table!(
    vector_table,
    avx2,
    "The functions of kernel `K` for AVX2, where plain Rust or SSE2 is not asked for."
);
#[cfg(target_arch = "aarch64")]
narrow_table!(
    vector_table,
    neon,
    "The functions of kernel `K` for NEON, where plain Rust is not asked for."
);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
narrow_table!(
    vector_table,
    scalar,
    "The functions of kernel `K` in plain Rust only."
);
