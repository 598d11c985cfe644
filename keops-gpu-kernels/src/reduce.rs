//! The reducers: what a reduction does with registers and state rows, one module each, shared by CPU and GPU.
//!
//! Registers are the words from `at` on of the kernel's accumulators, a state row holds `row[at..]`; the two offsets are
//! unrelated. Each module offers `init` (neutral row), `begin` (registers at the start of a block of inner rows), `step`
//! (fold a tile of pairs), `flush` (registers into the row), `combine` (two rows of different inner rows) and how the
//! finished value is read.
//!
//! Invariant: within one state row, inner rows arrive in *descending* index order. Comparing with "less or equal" then
//! makes ties go to the lowest index and lets infinite values have an index, at one comparison per pair.
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;

/// Σ v: partial sums per block in the value type, merged without error into an unevaluated pair (hi, lo).
///
/// Row: hi, lo. The merge is Knuth's TwoSum, so the merged sum carries twice the precision of the value type.
pub mod sum {
    use crate::isa::Isa;
    use crate::kernel::{Columns, ColumnsMut};
    #[allow(unused_imports, reason = "the device's mini-core has its names there")]
    use crate::prelude::*;
    use crate::tile::Pairs;

    /// (a, b) with a + b = x + y exactly and a = x ⊕ y.
    #[inline(always)]
    pub fn two_sum<S: Isa>(s: S, x: S::F, y: S::F) -> (S::F, S::F) {
        let a = s.add(x, y);
        let t = s.sub(a, x);
        (a, s.add(s.sub(x, s.sub(a, t)), s.sub(y, t)))
    }
    /// Writes 0.
    #[inline(always)]
    pub fn init<S: Isa, W: ColumnsMut<S::F>>(s: S, row: &mut W, at: usize) {
        row.put(at, s.lit(0.0));
        row.put(at + 1, s.lit(0.0));
    }
    /// Registers start at 0.
    #[inline(always)]
    pub fn begin<S: Isa>(s: S) -> S::F {
        s.lit(0.0)
    }
    /// acc + Σ v
    #[inline(always)]
    pub fn step<S: Pairs>(s: S, acc: S::A, v: S::F) -> S::A {
        s.sum(acc, v)
    }
    /// acc + Σ a·b
    #[inline(always)]
    pub fn step_mul<S: Pairs>(s: S, acc: S::A, a: S::F, b: S::F) -> S::A {
        s.sum_mul(acc, a, b)
    }
    /// Adds a block's sum to the row.
    ///
    /// The error is moved back into hi, so that lo stays below half a unit in hi's last place however many blocks there
    /// are; an infinite hi, whose error is NaN, is left alone.
    #[inline(always)]
    pub fn flush<S: Isa, W: ColumnsMut<S::F>>(s: S, acc: S::F, row: &mut W, at: usize) {
        let (hi, err) = two_sum(s, row.get(at), acc);
        let lo = s.add(row.get(at + 1), err);
        let total = s.add(hi, lo);
        let known = s.eq(total, total);
        row.put(at, s.select(known, total, hi));
        row.put(at + 1, s.select(known, s.sub(lo, s.sub(total, hi)), lo));
    }
    /// Adds another row's sum.
    #[inline(always)]
    pub fn combine<S: Isa, W: ColumnsMut<S::F>, V: Columns<S::F>>(
        s: S,
        row: &mut W,
        other: &V,
        at: usize,
    ) {
        flush(s, other.get(at), row, at);
        row.put(at + 1, s.add(row.get(at + 1), other.get(at + 1)));
    }
    /// hi + lo; hi alone once it is infinite (its error term is NaN then).
    #[inline(always)]
    pub fn value<S: Isa, V: Columns<S::F>>(s: S, row: &V, at: usize) -> S::F {
        let (hi, lo) = (row.get(at), row.get(at + 1));
        s.select(s.eq(lo, lo), s.add(hi, lo), hi)
    }
}

/// Π v, kept as the product of what is not 0 and the number of zeros, which derivatives need.
///
/// Registers and row: the product, the number of zeros (in the value type: exact up to 2²⁴ at f32, and only small numbers
/// are ever asked for).
pub mod prod {
    use crate::isa::Isa;
    use crate::kernel::{Columns, ColumnsMut, Words};
    #[allow(unused_imports, reason = "the device's mini-core has its names there")]
    use crate::prelude::*;
    use crate::tile::Pairs;

    /// Writes 1 and no zeros.
    #[inline(always)]
    pub fn init<S: Isa, W: ColumnsMut<S::F>>(s: S, row: &mut W, at: usize) {
        row.put(at, s.lit(1.0));
        row.put(at + 1, s.lit(0.0));
    }
    /// Registers continue from the row.
    #[inline(always)]
    pub fn begin<S: Isa, V: Columns<S::F>, R: Words<S::F>>(
        _s: S,
        state: &mut R,
        at: usize,
        row: &V,
        row_at: usize,
    ) {
        state.set(at, row.get(row_at));
        state.set(at + 1, row.get(row_at + 1));
    }
    /// Folds a tile.
    #[inline(always)]
    pub fn step<S: Pairs, R: Words<S::A>>(s: S, state: &mut R, at: usize, v: S::F) {
        let is_zero = s.eq(v, s.lit(0.0));
        let factor = s.select(is_zero, s.lit(1.0), v);
        let zeros = s.select(is_zero, s.lit(1.0), s.lit(0.0));
        state.set(at + 1, s.sum(state.word(at + 1), zeros));
        let mut q = 0;
        while q < S::ROWS {
            state.set(at, s.outer().mul(state.word(at), s.row(factor, q)));
            q += 1;
        }
    }
    /// Stores the registers.
    #[inline(always)]
    pub fn flush<S: Isa, W: ColumnsMut<S::F>, R: Words<S::F>>(
        _s: S,
        state: &R,
        at: usize,
        row: &mut W,
        row_at: usize,
    ) {
        row.put(row_at, state.word(at));
        row.put(row_at + 1, state.word(at + 1));
    }
    /// Multiplies another row's product in.
    #[inline(always)]
    pub fn combine<S: Isa, W: ColumnsMut<S::F>, V: Columns<S::F>>(
        s: S,
        row: &mut W,
        other: &V,
        at: usize,
    ) {
        row.put(at, s.mul(row.get(at), other.get(at)));
        row.put(at + 1, s.add(row.get(at + 1), other.get(at + 1)));
    }
}

/// min v and max v, NaN ignored; +inf and −inf of nothing. Row and registers: the value.
macro_rules! extremum {
    ($name:ident, $fold:ident, $pick:ident, $neutral:expr, $doc:literal) => {
        #[doc = $doc]
        pub mod $name {
            use crate::isa::Isa;
            use crate::kernel::{Columns, ColumnsMut};
            #[allow(unused_imports, reason = "the device's mini-core has its names there")]
            use crate::prelude::*;
            use crate::tile::Pairs;

            /// Writes the neutral element.
            #[inline(always)]
            pub fn init<S: Isa, W: ColumnsMut<S::F>>(s: S, row: &mut W, at: usize) {
                row.put(at, s.lit($neutral));
            }
            /// Registers continue from the row.
            #[inline(always)]
            pub fn begin<S: Isa, V: Columns<S::F>>(_s: S, row: &V, at: usize) -> S::F {
                row.get(at)
            }
            /// Folds a tile.
            #[inline(always)]
            pub fn step<S: Pairs>(s: S, acc: S::A, v: S::F) -> S::A {
                s.$fold(acc, v)
            }
            /// Stores the registers.
            #[inline(always)]
            pub fn flush<S: Isa, W: ColumnsMut<S::F>>(_s: S, acc: S::F, row: &mut W, at: usize) {
                row.put(at, acc);
            }
            /// Folds another row in.
            #[inline(always)]
            pub fn combine<S: Isa, W: ColumnsMut<S::F>, V: Columns<S::F>>(
                s: S,
                row: &mut W,
                other: &V,
                at: usize,
            ) {
                row.put(at, s.$pick(other.get(at), row.get(at)));
            }
        }
    };
}
extremum!(
    min,
    fold_min,
    pick_min,
    f64::INFINITY,
    "min v, NaN ignored; +inf of nothing. Row and registers: the value."
);
extremum!(
    max,
    fold_max,
    pick_max,
    f64::NEG_INFINITY,
    "max v, NaN ignored; −inf of nothing. Row and registers: the value."
);

/// The K smallest values, ascending, with their indices; ties in index order; NaN ignored; padded with +inf and
/// [`NONE`](crate::real::NONE). K = 1 is argmin. Row and registers: K values, then K indices. Negate the values for maxima.
pub mod kmin {
    use crate::isa::Isa;
    use crate::kernel::{Columns, ColumnsMut, Words};
    #[allow(unused_imports, reason = "the device's mini-core has its names there")]
    use crate::prelude::*;
    use crate::real::{NONE, Real};
    use crate::tile::Pairs;

    /// Writes K times (+inf, none).
    #[inline(always)]
    pub fn init<S: Isa, W: ColumnsMut<S::F>>(s: S, row: &mut W, at: usize, k: usize) {
        let mut c = 0;
        while c < k {
            row.put(at + c, s.lit(f64::INFINITY));
            row.put(at + k + c, s.splat(S::T::from_index(NONE)));
            c += 1;
        }
    }
    /// Registers continue from the row.
    #[inline(always)]
    pub fn begin<S: Isa, V: Columns<S::F>, R: Words<S::F>>(
        _s: S,
        state: &mut R,
        at: usize,
        row: &V,
        row_at: usize,
        k: usize,
    ) {
        let mut c = 0;
        while c < 2 * k {
            state.set(at + c, row.get(row_at + c));
            c += 1;
        }
    }
    /// Inserts the tile's rows, one after another.
    #[inline(always)]
    pub fn step<S: Pairs, R: Words<S::A>>(
        s: S,
        state: &mut R,
        at: usize,
        k: usize,
        v: S::F,
        j: S::F,
    ) {
        let o = s.outer();
        let mut q = 0;
        while q < S::ROWS {
            let mut value = s.row(v, q);
            let mut index = s.row(j, q);
            if k == 1 {
                let closer = o.le(value, state.word(at));
                state.set(at + 1, o.select(closer, index, state.word(at + 1)));
                state.set(at, o.select(closer, value, state.word(at)));
            } else if o.any(o.le(value, state.word(at + k - 1))) {
                let mut c = 0;
                while c < k {
                    let closer = o.le(value, state.word(at + c));
                    let (kept_value, kept_index) = (state.word(at + c), state.word(at + k + c));
                    state.set(at + c, o.select(closer, value, kept_value));
                    state.set(at + k + c, o.select(closer, index, kept_index));
                    value = o.select(closer, kept_value, value);
                    index = o.select(closer, kept_index, index);
                    c += 1;
                }
            }
            q += 1;
        }
    }
    /// Stores the registers.
    #[inline(always)]
    pub fn flush<S: Isa, W: ColumnsMut<S::F>, R: Words<S::F>>(
        _s: S,
        state: &R,
        at: usize,
        row: &mut W,
        row_at: usize,
        k: usize,
    ) {
        let mut c = 0;
        while c < 2 * k {
            row.put(row_at + c, state.word(at + c));
            c += 1;
        }
    }
    /// Inserts another row's K entries; equal values in index order, whichever row holds the lower one.
    #[inline(always)]
    pub fn combine<S: Isa, W: ColumnsMut<S::F>, V: Columns<S::F>>(
        s: S,
        row: &mut W,
        other: &V,
        at: usize,
        k: usize,
    ) {
        let mut e = 0;
        while e < k {
            let mut value = other.get(at + e);
            let mut index = other.get(at + k + e);
            let mut c = 0;
            while c < k {
                let (kept_value, kept_index) = (row.get(at + c), row.get(at + k + c));
                let tie = s.and(s.eq(value, kept_value), s.index_lt(index, kept_index));
                let closer = s.or(s.lt(value, kept_value), tie);
                row.put(at + c, s.select(closer, value, kept_value));
                row.put(at + k + c, s.select(closer, index, kept_index));
                value = s.select(closer, kept_value, value);
                index = s.select(closer, kept_index, index);
                c += 1;
            }
            e += 1;
        }
    }
}

/// log Σ eᵛ with a running maximum, and the weights eᵛ⁻ᵐ for softmax sums.
///
/// Registers: m, Σ eᵛ⁻ᵐ. Row: m, hi, lo. m is kept within the finite numbers, so that no difference of infinities
/// arises: −inf anywhere contributes 0, +inf makes the sum +inf.
pub mod logsumexp {
    use super::sum;
    use crate::isa::Isa;
    use crate::kernel::{Columns, ColumnsMut, Words};
    #[allow(unused_imports, reason = "the device's mini-core has its names there")]
    use crate::prelude::*;
    use crate::real::Real;
    use crate::tile::Pairs;

    /// log2 e
    const LOG2_E: f64 = 1.442_695_040_888_963_4;

    /// e^(a − b) for a difference whose own rounding dominates.
    #[inline(always)]
    pub fn exp_difference<S: Isa>(s: S, a: S::F, b: S::F) -> S::F {
        s.exp2_sum(s.mul(s.sub(a, b), s.lit(LOG2_E)))
    }
    /// Writes log 0.
    #[inline(always)]
    pub fn init<S: Isa, W: ColumnsMut<S::F>>(s: S, row: &mut W, at: usize) {
        row.put(at, s.lit(-S::T::MAX));
        sum::init(s, row, at + 1);
    }
    /// The running maximum continues from the row, the sum starts at 0.
    #[inline(always)]
    pub fn begin<S: Isa, V: Columns<S::F>, R: Words<S::F>>(
        s: S,
        state: &mut R,
        at: usize,
        row: &V,
        row_at: usize,
    ) {
        state.set(at, row.get(row_at));
        state.set(at + 1, s.lit(0.0));
    }
    /// Folds a tile. Returns the factor by which earlier sums shrink, and the weight of each pair of the tile.
    #[inline(always)]
    pub fn step<S: Pairs, R: Words<S::A>>(s: S, state: &mut R, at: usize, v: S::F) -> (S::A, S::F) {
        let o = s.outer();
        let before = state.word(at);
        let max = o.pick_min(s.fold_max(before, v), o.lit(S::T::MAX));
        let shrink = exp_difference(o, before, max);
        let weight = exp_difference(s, v, s.spread(max));
        state.set(at, max);
        state.set(at + 1, s.sum(o.mul(state.word(at + 1), shrink), weight));
        (shrink, weight)
    }
    /// Folds the weighted value of a tile into a numerator, with what [`step`] returned.
    #[inline(always)]
    pub fn weigh<S: Pairs>(s: S, acc: S::A, shrink: S::A, weight: S::F, v: S::F) -> S::A {
        s.sum_mul(s.outer().mul(acc, shrink), weight, v)
    }
    /// Merges the registers into the row; returns the factor by which the row's other sums shrink.
    #[inline(always)]
    pub fn flush<S: Isa, W: ColumnsMut<S::F>, R: Words<S::F>>(
        s: S,
        state: &R,
        at: usize,
        row: &mut W,
        row_at: usize,
    ) -> S::F {
        let shrink = exp_difference(s, row.get(row_at), state.word(at));
        row.put(row_at, state.word(at));
        flush_sum(s, state.word(at + 1), shrink, row, row_at + 1);
        shrink
    }
    /// Shrinks a sum of the row, then adds a block's.
    #[inline(always)]
    pub fn flush_sum<S: Isa, W: ColumnsMut<S::F>>(
        s: S,
        acc: S::F,
        shrink: S::F,
        row: &mut W,
        at: usize,
    ) {
        row.put(at, s.mul(row.get(at), shrink));
        row.put(at + 1, s.mul(row.get(at + 1), shrink));
        sum::flush(s, acc, row, at);
    }
    /// Merges another row; returns the factors for the other sums of the two rows.
    #[inline(always)]
    pub fn combine<S: Isa, W: ColumnsMut<S::F>, V: Columns<S::F>>(
        s: S,
        row: &mut W,
        other: &V,
        at: usize,
    ) -> (S::F, S::F) {
        let max = s.pick_max(other.get(at), row.get(at));
        let mine = exp_difference(s, row.get(at), max);
        let theirs = exp_difference(s, other.get(at), max);
        row.put(at, max);
        combine_sum(s, row, mine, other, theirs, at + 1);
        (mine, theirs)
    }
    /// row · mine + other · theirs, for one sum.
    #[inline(always)]
    pub fn combine_sum<S: Isa, W: ColumnsMut<S::F>, V: Columns<S::F>>(
        s: S,
        row: &mut W,
        mine: S::F,
        other: &V,
        theirs: S::F,
        at: usize,
    ) {
        flush_sum(s, s.mul(other.get(at), theirs), mine, row, at);
        row.put(at + 1, s.fma(other.get(at + 1), theirs, row.get(at + 1)));
    }
    /// m + log Σ
    #[inline(always)]
    pub fn value<S: Isa, V: Columns<S::F>>(s: S, row: &V, at: usize) -> S::F {
        s.add(row.get(at), s.log(sum::value(s, row, at + 1)))
    }
}
