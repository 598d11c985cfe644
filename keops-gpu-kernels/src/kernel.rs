//! [`Kernel`]: one pass over all pairs, as `keops!` emits it, and the row accessors it reads and writes through.
//!
//! A pass gives one result row per *outer* index by folding over the *inner* index (for `sum_j` the outer index is i,
//! for `sum_i` it is j). What depends on neither index, only on the outer or only on the inner one, is computed by the
//! `prepare_*` functions, once each; `step` is the pair part; `finish` turns reduction states into outputs.
//!
//! Rows are read through lazy accessors so that a load happens where the formula uses it: a row passed by value would
//! spill. Column numbers are the compiler's; an accessor answers a column out of range with zero, never with a stray read.
//!
//! Memory of a pass: *parameters* and *outer* rows hold their raw columns, then the derived ones; *inner* rows hold the
//! `INNER_USED` columns that the pair part reads, in the order `prepare_inner` puts them; a *state row* holds the
//! reductions' partial results between blocks of inner rows.
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;
use crate::tile::Pairs;

/// Columns of a row (or of a tile of rows), read.
pub trait Columns<F> {
    /// Column `c`.
    fn get(&self, c: usize) -> F;
    /// The row's index, as [`Real::from_index`] stores it.
    fn index(&self) -> F;
}

/// Columns of a row, read and written.
pub trait ColumnsMut<F>: Columns<F> {
    /// Writes column `c`.
    fn put(&mut self, c: usize, v: F);
}

/// Numbers kept under their places from 0 on: accumulators, or the elements of local arrays. An engine has them where it
/// likes, in registers or in memory.
pub trait Words<A> {
    /// The word `n`.
    fn word(&self, n: usize) -> A;
    /// Sets the word `n`.
    fn set(&mut self, n: usize, a: A);
}

/// Words that are an array, whose length only the emitted code knows.
pub trait Array<A>: Words<A> + Copy {
    /// All words equal to `a`.
    fn fill(a: A) -> Self;
}

impl<A: Copy, const N: usize> Words<A> for [A; N] {
    #[inline(always)]
    fn word(&self, n: usize) -> A {
        self[n]
    }
    #[inline(always)]
    fn set(&mut self, n: usize, a: A) {
        self[n] = a;
    }
}
impl<A: Copy, const N: usize> Array<A> for [A; N] {
    #[inline(always)]
    fn fill(a: A) -> Self {
        [a; N]
    }
}

/// Parameters, as plain numbers.
pub trait Numbers<T> {
    /// Column `c`; zero past the last one.
    fn number(&self, c: usize) -> T;
}

/// A whole number x as an integer, or −x, at most 2^40 in size. NaN is more than any of them where `or_nan`, else 0.
#[inline(always)]
pub fn bound<T: Real>(x: T, minus: bool, or_nan: bool) -> i64 {
    let (x, most) = (x.to_f64(), 1_099_511_627_776.0);
    #[allow(clippy::eq_op, reason = "the device's mini-core has no `is_nan`")]
    if or_nan && x != x {
        return 1 << 50u32;
    }
    let whole = if x > most {
        1 << 40u32
    } else if x < -most {
        -(1 << 40u32)
    } else {
        x as i64
    };
    if minus { -whole } else { whole }
}

/// The rows in `0..n` with `inner · row + rest ≥ 0`, or some more.
#[inline(always)]
pub fn not_negative(rest: i64, inner: i64, n: i64) -> (i64, i64) {
    if inner == 0 {
        (0, if rest >= 0 { n } else { 0 })
    } else if inner > 0 {
        (within(-rest / inner, n), n)
    } else {
        (0, within(rest / -inner + 1, n))
    }
}

#[inline(always)]
fn within(row: i64, n: i64) -> i64 {
    if row < 0 {
        0
    } else if row > n {
        n
    } else {
        row
    }
}

/// The rows in both ranges.
#[inline(always)]
pub fn both(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    (
        if a.0 > b.0 { a.0 } else { b.0 },
        if a.1 < b.1 { a.1 } else { b.1 },
    )
}

/// The rows in either range, and between them.
#[inline(always)]
pub fn either(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    if a.0 >= a.1 {
        b
    } else if b.0 >= b.1 {
        a
    } else {
        (
            if a.0 < b.0 { a.0 } else { b.0 },
            if a.1 > b.1 { a.1 } else { b.1 },
        )
    }
}

/// One pass over all pairs at value type `T`.
pub trait Kernel<T: Real>: Copy + 'static {
    /// Raw parameter columns; derived ones follow.
    const PARAMS: usize;
    /// Derived parameter columns.
    const PARAMS_DERIVED: usize;
    /// Raw outer columns; derived ones follow.
    const OUTER: usize;
    /// Derived outer columns.
    const OUTER_DERIVED: usize;
    /// Raw inner columns.
    const INNER: usize;
    /// Columns of an inner row as the pair part reads it.
    const INNER_USED: usize;
    /// Whether `prepare_inner` only copies: `INNER_USED` = `INNER` and every column stays in its place.
    const INNER_PLAIN: bool;
    /// Whether the pass reads the outer row's index.
    const OUTER_INDEX: bool;
    /// Whether the pass reads the inner row's index.
    const INNER_INDEX: bool;
    /// Words of a state row in memory.
    const ROW: usize;
    /// Columns of an output row.
    const OUT: usize;
    /// Special functions beyond an exponential that one pair takes: kernels with many get small register tiles, whose
    /// code is shorter.
    const SPECIAL: usize = 0;
    /// The largest K of the reductions that keep the K smallest values; 0 for none, and 1 is an argument of a minimum.
    const LARGEST_K: usize = 0;
    /// Values of the pair part that are alive at once: a register tile has each of them for every pair.
    const LIVE: usize = 1;
    /// Whether every long loop of the pair part is a chain of single fused operations (a squared distance, a scalar product),
    /// so that a pair needs one register while it runs: such kernels get large register tiles.
    const FUSED_LOOPS: bool = false;
    /// Whether the pair part is so long that it fills the latencies by itself, and that a register tile would multiply
    /// what compiling it costs: such kernels get none.
    const LONG: bool = false;
    /// Whether the pair part has elementary functions in so many places that a CPU should call them: inlined, they would be most of
    /// what there is to compile.
    const CALLS: bool = false;
    /// Whether some loop counts through columns or accumulators and is too long to be written out, so that a device must not have
    /// them in registers.
    const LOOPED: bool = false;
    /// Whether [`Kernel::bounds`] may leave rows out.
    const BOUNDED: bool = false;
    /// Raw outer columns that are subtracted from inner ones, as bits: rows that are near one another in these are treated
    /// alike. 0 where that is not known.
    const NEAR_OUTER: u64 = 0;
    /// The same of raw inner columns.
    const NEAR_INNER: u64 = 0;
    /// Whether all reducers are sums, and their terms may be exactly 0 for many pairs: beyond a radius, say.
    const VANISHES: bool = false;
    /// Accumulators while a block of inner rows is folded.
    const ACCUMULATORS: usize;
    /// Words of the local arrays of the function that has most of them, those short enough for registers excepted.
    const WORK: usize = 0;
    /// [`Kernel::ACCUMULATORS`] words.
    type State<A: Copy>: Array<A>;
    /// [`Kernel::WORK`] words.
    type Work<A: Copy>: Array<A>;

    /// The inner rows that can matter to the outer rows `first..=last`, out of `n`: the first and the one behind the last.
    /// The terms of all others are neutral. `p` has the derived parameters too.
    #[inline(always)]
    #[allow(unused_variables, reason = "names for those who override it")]
    fn bounds<P: Numbers<T>>(p: &P, first: i64, last: i64, n: i64) -> (i64, i64) {
        (0, n)
    }
    /// Computes the derived parameter columns from the raw ones: reads `p` and writes columns from `PARAMS` on. By default there are
    /// none.
    #[inline(always)]
    #[allow(unused_variables, reason = "names for those who override it")]
    fn prepare_params<S: Isa<T = T>, P: ColumnsMut<S::F>, Z: Words<S::F>>(
        s: S,
        p: &mut P,
        work: &mut Z,
    ) {
    }
    /// Computes the derived outer columns: reads and writes `x`, from column `OUTER` on. By default there are none.
    #[inline(always)]
    #[allow(unused_variables, reason = "names for those who override it")]
    fn prepare_outer<S: Isa<T = T>, P: Columns<S::F>, X: ColumnsMut<S::F>, Z: Words<S::F>>(
        s: S,
        p: &P,
        x: &mut X,
        work: &mut Z,
    ) {
    }
    /// Computes the inner columns that the pair part reads: reads raw columns of `y`, writes all columns of `used`.
    fn prepare_inner<
        S: Isa<T = T>,
        P: Columns<S::F>,
        Y: Columns<S::F>,
        W: ColumnsMut<S::F>,
        Z: Words<S::F>,
    >(
        s: S,
        p: &P,
        y: &Y,
        used: &mut W,
        work: &mut Z,
    );
    /// Writes the neutral state.
    fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>(s: S, row: &mut W);
    /// Writes the accumulators at the start of a block: what persists (minima) is read from the state row, sums start at zero.
    fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>(s: S, row: &W, state: &mut A);
    /// Folds one tile of pairs into the accumulators.
    fn step<
        S: Pairs<T = T>,
        P: Columns<S::F>,
        X: Columns<S::F>,
        Y: Columns<S::F>,
        A: Words<S::A>,
        Z: Words<S::F>,
    >(
        s: S,
        p: &P,
        x: &X,
        y: &Y,
        state: &mut A,
        work: &mut Z,
    );
    /// Merges the accumulators into the state row at the end of a block.
    fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>(s: S, state: &A, row: &mut W);
    /// Merges the state row `other`, of other inner rows, into `row`. The order of the two does not change minima or
    /// arguments (ties go to the lower index), sums only in the last bit.
    fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(s: S, row: &mut W, other: &V);
    /// Computes the output columns from the state row, the outer columns and the parameters.
    fn finish<
        S: Isa<T = T>,
        P: Columns<S::F>,
        X: Columns<S::F>,
        V: Columns<S::F>,
        W: ColumnsMut<S::F>,
        Z: Words<S::F>,
    >(
        s: S,
        p: &P,
        x: &X,
        row: &V,
        out: &mut W,
        work: &mut Z,
    );
}
