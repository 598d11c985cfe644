//! Hand-written passes, one for each shape that the device code distinguishes, as `keops!` would emit them.
//!
//! A module of the test on the host, and text of the device crate. Kept apart from emitted kernels on purpose: a fault here
//! is the device crate's.
#[allow(unused_imports, reason = "the device has these names in scope")]
use keops_gpu_kernels::{
    isa::Isa,
    kernel::{Columns, ColumnsMut, Kernel, Words},
    real::Real,
    reduce,
    tile::Pairs,
};

/// `Copy` for a pass.
macro_rules! copy {
    ([$($generics:tt)*] $ty:ty) => {
        impl<$($generics)*> Clone for $ty {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$($generics)*> Copy for $ty {}
    };
}

/// What most passes share: their columns, and empty preparations.
macro_rules! pass {
    ($name:ident, outer $outer:expr, inner $inner:expr, row $row:expr, out $out:expr, words $words:expr,
     { $($item:item)* }) => {
        pub(crate) struct $name;
        copy!([] $name);
        impl<T: Real> Kernel<T> for $name {
            const PARAMS: usize = 0;
            const PARAMS_DERIVED: usize = 0;
            const OUTER: usize = $outer;
            const OUTER_DERIVED: usize = 0;
            const INNER: usize = $inner;
            const INNER_USED: usize = $inner;
            const INNER_PLAIN: bool = true;
            const OUTER_INDEX: bool = true;
            const INNER_INDEX: bool = true;
            const ROW: usize = $row;
            const OUT: usize = $out;
            const ACCUMULATORS: usize = $words;
            type State<A: Copy> = [A; $words];
            type Work<A: Copy> = [A; 0];
            #[inline(always)]
            fn prepare_inner<S: Isa<T = T>, P: Columns<S::F>, Y: Columns<S::F>, W: ColumnsMut<S::F>, Z: Words<S::F>>(_s: S, _p: &P, y: &Y, used: &mut W, _work: &mut Z) {
                let mut c = 0;
                while c < $inner {
                    used.put(c, y.get(c));
                    c += 1;
                }
            }
            $($item)*
        }
    };
}

/// |x − y|² of the first `d` columns.
#[inline(always)]
fn sqdist<S: Isa, X: Columns<S::F>, Y: Columns<S::F>>(s: S, x: &X, y: &Y, d: usize) -> S::F {
    let t = s.sub(x.get(0), y.get(0));
    let mut q = s.mul(t, t);
    let mut c = 1;
    while c < d {
        let t = s.sub(x.get(c), y.get(c));
        q = s.fma(t, t, q);
        c += 1;
    }
    q
}

/// e^(−q)
#[inline(always)]
fn gaussian<S: Isa>(s: S, q: S::F) -> S::F {
    s.exp2_sum_nonpositive(q, s.lit(-1.442_695_040_888_963_4))
}

// Σ_j exp(−|x − y|²) b
pass!(Gauss, outer 3, inner 4, row 2, out 1, words 1, {
    #[inline(always)]
    fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>(s: S, row: &mut W) {
        reduce::sum::init(s, row, 0);
    }
    #[inline(always)]
    fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>(s: S, _row: &W, state: &mut A) {
        state.set(0, reduce::sum::begin(s));
    }
    #[inline(always)]
    fn step<S: Pairs<T = T>, P: Columns<S::F>, X: Columns<S::F>, Y: Columns<S::F>, A: Words<S::A>, Z: Words<S::F>>(s: S, _p: &P, x: &X, y: &Y, state: &mut A, _work: &mut Z) {
        state.set(0, reduce::sum::step_mul(s, state.word(0), gaussian(s, sqdist(s, x, y, 3)), y.get(3)));
    }
    #[inline(always)]
    fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>(s: S, state: &A, row: &mut W) {
        reduce::sum::flush(s, state.word(0), row, 0);
    }
    #[inline(always)]
    fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(s: S, row: &mut W, other: &V) {
        reduce::sum::combine(s, row, other, 0);
    }
    #[inline(always)]
    fn finish<S: Isa<T = T>, P: Columns<S::F>, X: Columns<S::F>, V: Columns<S::F>, W: ColumnsMut<S::F>, Z: Words<S::F>>(s: S, _p: &P, _x: &X, row: &V, out: &mut W, _work: &mut Z) {
        out.put(0, reduce::sum::value(s, row, 0));
    }
});

// Σ_{j ≠ i} x·y, of one column
pass!(OffDiagonal, outer 1, inner 1, row 2, out 1, words 1, {
    #[inline(always)]
    fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>(s: S, row: &mut W) {
        reduce::sum::init(s, row, 0);
    }
    #[inline(always)]
    fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>(s: S, _row: &W, state: &mut A) {
        state.set(0, reduce::sum::begin(s));
    }
    #[inline(always)]
    fn step<S: Pairs<T = T>, P: Columns<S::F>, X: Columns<S::F>, Y: Columns<S::F>, A: Words<S::A>, Z: Words<S::F>>(s: S, _p: &P, x: &X, y: &Y, state: &mut A, _work: &mut Z) {
        let same = s.index_eq(x.index(), y.index());
        let term = s.select(same, s.lit(0.0), s.mul(x.get(0), y.get(0)));
        state.set(0, reduce::sum::step(s, state.word(0), term));
    }
    #[inline(always)]
    fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>(s: S, state: &A, row: &mut W) {
        reduce::sum::flush(s, state.word(0), row, 0);
    }
    #[inline(always)]
    fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(s: S, row: &mut W, other: &V) {
        reduce::sum::combine(s, row, other, 0);
    }
    #[inline(always)]
    fn finish<S: Isa<T = T>, P: Columns<S::F>, X: Columns<S::F>, V: Columns<S::F>, W: ColumnsMut<S::F>, Z: Words<S::F>>(s: S, _p: &P, _x: &X, row: &V, out: &mut W, _work: &mut Z) {
        out.put(0, reduce::sum::value(s, row, 0));
    }
});

// The derivative of Gauss in x, times e_i: −2 e Σ_j exp(−|x − y|²) b (x − y)
pass!(GaussGradient, outer 4, inner 4, row 6, out 3, words 3, {
    #[inline(always)]
    fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>(s: S, row: &mut W) {
        reduce::sum::init(s, row, 0);
        reduce::sum::init(s, row, 2);
        reduce::sum::init(s, row, 4);
    }
    #[inline(always)]
    fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>(s: S, _row: &W, state: &mut A) {
        state.set(0, reduce::sum::begin(s));
        state.set(1, reduce::sum::begin(s));
        state.set(2, reduce::sum::begin(s));
    }
    #[inline(always)]
    fn step<S: Pairs<T = T>, P: Columns<S::F>, X: Columns<S::F>, Y: Columns<S::F>, A: Words<S::A>, Z: Words<S::F>>(s: S, _p: &P, x: &X, y: &Y, state: &mut A, _work: &mut Z) {
        let w = s.mul(gaussian(s, sqdist(s, x, y, 3)), y.get(3));
        let mut c = 0;
        while c < 3 {
            state.set(c, reduce::sum::step_mul(s, state.word(c), w, s.sub(x.get(c), y.get(c))));
            c += 1;
        }
    }
    #[inline(always)]
    fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>(s: S, state: &A, row: &mut W) {
        reduce::sum::flush(s, state.word(0), row, 0);
        reduce::sum::flush(s, state.word(1), row, 2);
        reduce::sum::flush(s, state.word(2), row, 4);
    }
    #[inline(always)]
    fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(s: S, row: &mut W, other: &V) {
        reduce::sum::combine(s, row, other, 0);
        reduce::sum::combine(s, row, other, 2);
        reduce::sum::combine(s, row, other, 4);
    }
    #[inline(always)]
    fn finish<S: Isa<T = T>, P: Columns<S::F>, X: Columns<S::F>, V: Columns<S::F>, W: ColumnsMut<S::F>, Z: Words<S::F>>(s: S, _p: &P, x: &X, row: &V, out: &mut W, _work: &mut Z) {
        let e = s.mul(s.lit(-2.0), x.get(3));
        let mut c = 0;
        while c < 3 {
            out.put(c, s.mul(e, reduce::sum::value(s, row, 2 * c)));
            c += 1;
        }
    }
});

// The K nearest y of each x, as (distances², indices); K = 1 is min and argmin.
macro_rules! nearest {
    ($name:ident, $k:literal) => {
        pass!($name, outer 3, inner 3, row 2 * $k, out 2 * $k, words 2 * $k, {
            #[inline(always)]
            fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>(s: S, row: &mut W) {
                reduce::kmin::init(s, row, 0, $k);
            }
            #[inline(always)]
            fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>(s: S, row: &W, state: &mut A) {
                reduce::kmin::begin(s, state, 0, row, 0, $k);
            }
            #[inline(always)]
            fn step<S: Pairs<T = T>, P: Columns<S::F>, X: Columns<S::F>, Y: Columns<S::F>, A: Words<S::A>, Z: Words<S::F>>(s: S, _p: &P, x: &X, y: &Y, state: &mut A, _work: &mut Z) {
                reduce::kmin::step(s, state, 0, $k, sqdist(s, x, y, 3), y.index());
            }
            #[inline(always)]
            fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>(s: S, state: &A, row: &mut W) {
                reduce::kmin::flush(s, state, 0, row, 0, $k);
            }
            #[inline(always)]
            fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(s: S, row: &mut W, other: &V) {
                reduce::kmin::combine(s, row, other, 0, $k);
            }
            #[inline(always)]
            fn finish<S: Isa<T = T>, P: Columns<S::F>, X: Columns<S::F>, V: Columns<S::F>, W: ColumnsMut<S::F>, Z: Words<S::F>>(_s: S, _p: &P, _x: &X, row: &V, out: &mut W, _work: &mut Z) {
                let mut c = 0;
                while c < 2 * $k {
                    out.put(c, row.get(c));
                    c += 1;
                }
            }
        });
    };
}
nearest!(Nearest, 1);
nearest!(FiveNearest, 5);

// log Σ_j exp(−|x − y|²)
pass!(LogSumExp, outer 3, inner 3, row 3, out 1, words 2, {
    #[inline(always)]
    fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>(s: S, row: &mut W) {
        reduce::logsumexp::init(s, row, 0);
    }
    #[inline(always)]
    fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>(s: S, row: &W, state: &mut A) {
        reduce::logsumexp::begin(s, state, 0, row, 0);
    }
    #[inline(always)]
    fn step<S: Pairs<T = T>, P: Columns<S::F>, X: Columns<S::F>, Y: Columns<S::F>, A: Words<S::A>, Z: Words<S::F>>(s: S, _p: &P, x: &X, y: &Y, state: &mut A, _work: &mut Z) {
        reduce::logsumexp::step(s, state, 0, s.neg(sqdist(s, x, y, 3)));
    }
    #[inline(always)]
    fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>(s: S, state: &A, row: &mut W) {
        reduce::logsumexp::flush(s, state, 0, row, 0);
    }
    #[inline(always)]
    fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(s: S, row: &mut W, other: &V) {
        reduce::logsumexp::combine(s, row, other, 0);
    }
    #[inline(always)]
    fn finish<S: Isa<T = T>, P: Columns<S::F>, X: Columns<S::F>, V: Columns<S::F>, W: ColumnsMut<S::F>, Z: Words<S::F>>(s: S, _p: &P, _x: &X, row: &V, out: &mut W, _work: &mut Z) {
        out.put(0, reduce::logsumexp::value(s, row, 0));
    }
});

/// Long rows: Σ_j exp(x·y + c) with D columns, where c = ln |γ| is a derived parameter.
pub(crate) struct Long<const D: usize>;
copy!([const D: usize] Long<D>);
impl<T: Real, const D: usize> Kernel<T> for Long<D> {
    const PARAMS: usize = 1;
    const PARAMS_DERIVED: usize = 1;
    const OUTER: usize = D;
    const OUTER_DERIVED: usize = 0;
    const INNER: usize = D;
    const INNER_USED: usize = D;
    const INNER_PLAIN: bool = true;
    const OUTER_INDEX: bool = false;
    const INNER_INDEX: bool = false;
    const ROW: usize = 2;
    const OUT: usize = 1;
    const ACCUMULATORS: usize = 1;
    type State<A: Copy> = [A; 1];
    type Work<A: Copy> = [A; 0];
    #[inline(always)]
    fn prepare_params<S: Isa<T = T>, P: ColumnsMut<S::F>, Z: Words<S::F>>(
        s: S,
        p: &mut P,
        _work: &mut Z,
    ) {
        p.put(1, s.log(s.abs(p.get(0))));
    }
    #[inline(always)]
    fn prepare_inner<
        S: Isa<T = T>,
        P: Columns<S::F>,
        Y: Columns<S::F>,
        W: ColumnsMut<S::F>,
        Z: Words<S::F>,
    >(
        _s: S,
        _p: &P,
        y: &Y,
        used: &mut W,
        _work: &mut Z,
    ) {
        let mut c = 0;
        while c < D {
            used.put(c, y.get(c));
            c += 1;
        }
    }
    #[inline(always)]
    fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>(s: S, row: &mut W) {
        reduce::sum::init(s, row, 0);
    }
    #[inline(always)]
    fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>(s: S, _row: &W, state: &mut A) {
        state.set(0, reduce::sum::begin(s));
    }
    #[inline(always)]
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
        _work: &mut Z,
    ) {
        let mut dot = p.get(1);
        let mut c = 0;
        while c < D {
            dot = s.fma(x.get(c), y.get(c), dot);
            c += 1;
        }
        state.set(0, reduce::sum::step(s, state.word(0), s.exp(dot)));
    }
    #[inline(always)]
    fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>(s: S, state: &A, row: &mut W) {
        reduce::sum::flush(s, state.word(0), row, 0);
    }
    #[inline(always)]
    fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(s: S, row: &mut W, other: &V) {
        reduce::sum::combine(s, row, other, 0);
    }
    #[inline(always)]
    fn finish<
        S: Isa<T = T>,
        P: Columns<S::F>,
        X: Columns<S::F>,
        V: Columns<S::F>,
        W: ColumnsMut<S::F>,
        Z: Words<S::F>,
    >(
        s: S,
        _p: &P,
        _x: &X,
        row: &V,
        out: &mut W,
        _work: &mut Z,
    ) {
        out.put(0, reduce::sum::value(s, row, 0));
    }
}

/// Prepared rows: Σ_j sin(2x)·y² of one column, with a derived outer and a derived inner column.
pub(crate) struct Prepared;
copy!([] Prepared);
impl<T: Real> Kernel<T> for Prepared {
    const PARAMS: usize = 0;
    const PARAMS_DERIVED: usize = 0;
    const OUTER: usize = 1;
    const OUTER_DERIVED: usize = 1;
    const INNER: usize = 1;
    const INNER_USED: usize = 1;
    const INNER_PLAIN: bool = false;
    const OUTER_INDEX: bool = false;
    const INNER_INDEX: bool = false;
    const ROW: usize = 2;
    const OUT: usize = 1;
    const ACCUMULATORS: usize = 1;
    type State<A: Copy> = [A; 1];
    type Work<A: Copy> = [A; 0];
    #[inline(always)]
    fn prepare_outer<S: Isa<T = T>, P: Columns<S::F>, X: ColumnsMut<S::F>, Z: Words<S::F>>(
        s: S,
        _p: &P,
        x: &mut X,
        _work: &mut Z,
    ) {
        x.put(1, s.sin(s.add(x.get(0), x.get(0))));
    }
    #[inline(always)]
    fn prepare_inner<
        S: Isa<T = T>,
        P: Columns<S::F>,
        Y: Columns<S::F>,
        W: ColumnsMut<S::F>,
        Z: Words<S::F>,
    >(
        s: S,
        _p: &P,
        y: &Y,
        used: &mut W,
        _work: &mut Z,
    ) {
        used.put(0, s.mul(y.get(0), y.get(0)));
    }
    #[inline(always)]
    fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>(s: S, row: &mut W) {
        reduce::sum::init(s, row, 0);
    }
    #[inline(always)]
    fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>(s: S, _row: &W, state: &mut A) {
        state.set(0, reduce::sum::begin(s));
    }
    #[inline(always)]
    fn step<
        S: Pairs<T = T>,
        P: Columns<S::F>,
        X: Columns<S::F>,
        Y: Columns<S::F>,
        A: Words<S::A>,
        Z: Words<S::F>,
    >(
        s: S,
        _p: &P,
        x: &X,
        y: &Y,
        state: &mut A,
        _work: &mut Z,
    ) {
        state.set(
            0,
            reduce::sum::step_mul(s, state.word(0), x.get(1), y.get(0)),
        );
    }
    #[inline(always)]
    fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>(s: S, state: &A, row: &mut W) {
        reduce::sum::flush(s, state.word(0), row, 0);
    }
    #[inline(always)]
    fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(s: S, row: &mut W, other: &V) {
        reduce::sum::combine(s, row, other, 0);
    }
    #[inline(always)]
    fn finish<
        S: Isa<T = T>,
        P: Columns<S::F>,
        X: Columns<S::F>,
        V: Columns<S::F>,
        W: ColumnsMut<S::F>,
        Z: Words<S::F>,
    >(
        s: S,
        _p: &P,
        _x: &X,
        row: &V,
        out: &mut W,
        _work: &mut Z,
    ) {
        out.put(0, reduce::sum::value(s, row, 0));
    }
}

/// No variables, but more parameters than are held: Σ_j (p₁₉ + p₀²).
pub(crate) struct Parameters;
copy!([] Parameters);
impl<T: Real> Kernel<T> for Parameters {
    const PARAMS: usize = 20;
    const PARAMS_DERIVED: usize = 1;
    const OUTER: usize = 0;
    const OUTER_DERIVED: usize = 0;
    const INNER: usize = 0;
    const INNER_USED: usize = 0;
    const INNER_PLAIN: bool = true;
    const OUTER_INDEX: bool = false;
    const INNER_INDEX: bool = false;
    const ROW: usize = 2;
    const OUT: usize = 1;
    const ACCUMULATORS: usize = 1;
    type State<A: Copy> = [A; 1];
    type Work<A: Copy> = [A; 0];
    #[inline(always)]
    fn prepare_params<S: Isa<T = T>, P: ColumnsMut<S::F>, Z: Words<S::F>>(
        s: S,
        p: &mut P,
        _work: &mut Z,
    ) {
        p.put(20, s.mul(p.get(0), p.get(0)));
    }
    #[inline(always)]
    fn prepare_inner<
        S: Isa<T = T>,
        P: Columns<S::F>,
        Y: Columns<S::F>,
        W: ColumnsMut<S::F>,
        Z: Words<S::F>,
    >(
        _s: S,
        _p: &P,
        _y: &Y,
        _used: &mut W,
        _work: &mut Z,
    ) {
    }
    #[inline(always)]
    fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>(s: S, row: &mut W) {
        reduce::sum::init(s, row, 0);
    }
    #[inline(always)]
    fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>(s: S, _row: &W, state: &mut A) {
        state.set(0, reduce::sum::begin(s));
    }
    #[inline(always)]
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
        _x: &X,
        _y: &Y,
        state: &mut A,
        _work: &mut Z,
    ) {
        state.set(
            0,
            reduce::sum::step(s, state.word(0), s.add(p.get(19), p.get(20))),
        );
    }
    #[inline(always)]
    fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>(s: S, state: &A, row: &mut W) {
        reduce::sum::flush(s, state.word(0), row, 0);
    }
    #[inline(always)]
    fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(s: S, row: &mut W, other: &V) {
        reduce::sum::combine(s, row, other, 0);
    }
    #[inline(always)]
    fn finish<
        S: Isa<T = T>,
        P: Columns<S::F>,
        X: Columns<S::F>,
        V: Columns<S::F>,
        W: ColumnsMut<S::F>,
        Z: Words<S::F>,
    >(
        s: S,
        _p: &P,
        _x: &X,
        row: &V,
        out: &mut W,
        _work: &mut Z,
    ) {
        out.put(0, reduce::sum::value(s, row, 0));
    }
}
