//! Kernels written by hand as `keops!` emits them.
//!
//! Invariant: no `unsafe`, closures or iterators, as in an expansion.
use keops_runtime::__private::keops_gpu_kernels::isa::Isa;
use keops_runtime::__private::keops_gpu_kernels::reduce::{kmin, logsumexp, max, min, sum};
use keops_runtime::__private::{Columns, ColumnsMut, Kernel, Pairs, Real, Words};

/// log2 e
const LOG2_E: f64 = std::f64::consts::LOG2_E;

/// A kernel: its constants, then the functions that do something; those left out do nothing.
macro_rules! kernel {
    (
        $(#[$doc:meta])*
        $name:ident $([const $D:ident])?: params $params:expr, $params_derived:expr;
        outer $outer:expr, $outer_derived:expr; inner $inner:expr, $used:expr; plain $plain:literal;
        index $outer_index:literal, $inner_index:literal; row $row:expr; out $out:expr; state $state:expr;
        $($function:ident($($argument:ident),*) $body:block)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name$(<const $D: usize>)?;
        impl<T: Real $(, const $D: usize)?> Kernel<T> for $name$(<$D>)? {
            const PARAMS: usize = $params;
            const PARAMS_DERIVED: usize = $params_derived;
            const OUTER: usize = $outer;
            const OUTER_DERIVED: usize = $outer_derived;
            const INNER: usize = $inner;
            const INNER_USED: usize = $used;
            const INNER_PLAIN: bool = $plain;
            const OUTER_INDEX: bool = $outer_index;
            const INNER_INDEX: bool = $inner_index;
            const ROW: usize = $row;
            const OUT: usize = $out;
            const ACCUMULATORS: usize = $state;
            type State<A: Copy> = [A; $state];
            type Work<A: Copy> = [A; 0];
            kernel!(@prepare_params $($function($($argument),*) $body)*);
            kernel!(@prepare_outer $($function($($argument),*) $body)*);
            kernel!(@prepare_inner $($function($($argument),*) $body)*);
            $(kernel!(@$function ($($argument),*) $body);)*
        }
    };
    (@prepare_params prepare_params($s:ident, $p:ident) $body:block $($rest:tt)*) => {
        #[inline(always)]
        fn prepare_params<S: Isa<T = T>, P: ColumnsMut<S::F>, Z: Words<S::F>>($s: S, $p: &mut P, _work: &mut Z) $body
    };
    (@prepare_params $other:ident($($argument:ident),*) $body:block $($rest:tt)*) => {
        kernel!(@prepare_params $($rest)*);
    };
    (@prepare_params) => {};
    (@prepare_params ($($argument:ident),*) $body:block) => {};
    (@prepare_outer prepare_outer($s:ident, $p:ident, $x:ident) $body:block $($rest:tt)*) => {
        #[inline(always)]
        fn prepare_outer<S: Isa<T = T>, P: Columns<S::F>, X: ColumnsMut<S::F>, Z: Words<S::F>>(
            $s: S,
            $p: &P,
            $x: &mut X,
            _work: &mut Z,
        ) $body
    };
    (@prepare_outer $other:ident($($argument:ident),*) $body:block $($rest:tt)*) => {
        kernel!(@prepare_outer $($rest)*);
    };
    (@prepare_outer) => {};
    (@prepare_outer ($($argument:ident),*) $body:block) => {};
    (@prepare_inner prepare_inner($s:ident, $p:ident, $y:ident, $used:ident) $body:block $($rest:tt)*) => {
        #[inline(always)]
        fn prepare_inner<S: Isa<T = T>, P: Columns<S::F>, Y: Columns<S::F>, W: ColumnsMut<S::F>, Z: Words<S::F>>(
            $s: S,
            $p: &P,
            $y: &Y,
            $used: &mut W,
            _work: &mut Z,
        ) $body
    };
    (@prepare_inner $other:ident($($argument:ident),*) $body:block $($rest:tt)*) => {
        kernel!(@prepare_inner $($rest)*);
    };
    (@prepare_inner) => {
        #[inline(always)]
        fn prepare_inner<S: Isa<T = T>, P: Columns<S::F>, Y: Columns<S::F>, W: ColumnsMut<S::F>, Z: Words<S::F>>(
            _s: S,
            _p: &P,
            y: &Y,
            used: &mut W,
            _work: &mut Z,
        ) {
            let mut c = 0;
            while c < <Self as Kernel<T>>::INNER {
                used.put(c, y.get(c));
                c += 1;
            }
        }
    };
    (@prepare_inner ($($argument:ident),*) $body:block) => {};
    (@init ($s:ident, $row:ident) $body:block) => {
        #[inline(always)]
        fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>($s: S, $row: &mut W) $body
    };
    (@begin ($s:ident, $row:ident, $state:ident) $body:block) => {
        #[inline(always)]
        fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>($s: S, $row: &W, $state: &mut A) $body
    };
    (@step ($s:ident, $p:ident, $x:ident, $y:ident, $state:ident) $body:block) => {
        #[inline(always)]
        fn step<
            S: Pairs<T = T>,
            P: Columns<S::F>,
            X: Columns<S::F>,
            Y: Columns<S::F>,
            A: Words<S::A>,
            Z: Words<S::F>,
        >(
            $s: S,
            $p: &P,
            $x: &X,
            $y: &Y,
            $state: &mut A,
            _work: &mut Z,
        ) $body
    };
    (@flush ($s:ident, $state:ident, $row:ident) $body:block) => {
        #[inline(always)]
        fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>($s: S, $state: &A, $row: &mut W) $body
    };
    (@combine ($s:ident, $row:ident, $other:ident) $body:block) => {
        #[inline(always)]
        fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>($s: S, $row: &mut W, $other: &V) $body
    };
    (@finish ($s:ident, $p:ident, $x:ident, $row:ident, $out:ident) $body:block) => {
        #[inline(always)]
        fn finish<
            S: Isa<T = T>,
            P: Columns<S::F>,
            X: Columns<S::F>,
            V: Columns<S::F>,
            W: ColumnsMut<S::F>,
            Z: Words<S::F>,
        >(
            $s: S,
            $p: &P,
            $x: &X,
            $row: &V,
            $out: &mut W,
            _work: &mut Z,
        ) $body
    };
}

/// |x − y|² over the first `d` columns.
#[inline(always)]
fn sqdist<S: Isa, X: Columns<S::F>, Y: Columns<S::F>>(s: S, x: &X, y: &Y, d: usize) -> S::F {
    let mut sum = s.square(s.sub(x.get(0), y.get(0)));
    let mut c = 1;
    while c < d {
        sum = s.sqdiff_add(x.get(c), y.get(c), sum);
        c += 1;
    }
    sum
}

/// e^−v for v ≥ 0
#[inline(always)]
fn exp_neg<S: Isa>(s: S, v: S::F) -> S::F {
    s.exp2_sum_nonpositive(v, s.lit(-LOG2_E))
}

kernel! {
    /// sum_j exp(-sqdist(x_i, y_j)) * b_j
    Gauss[const D]: params 0, 0; outer D, 0; inner D + 1, D + 1; plain true; index false, false; row 2; out 1; state 1;
    init(s, row) { sum::init(s, row, 0); }
    begin(s, _row, state) { state.set(0, sum::begin(s)); }
    step(s, _p, x, y, state) { state.set(0, sum::step_mul(s, state.word(0), exp_neg(s, sqdist(s, x, y, D)), y.get(D))); }
    flush(s, state, row) { sum::flush(s, state.word(0), row, 0); }
    combine(s, row, other) { sum::combine(s, row, other, 0); }
    finish(s, _p, _x, row, out) { out.put(0, sum::value(s, row, 0)); }
}

kernel! {
    /// sum_j a_i² exp(-c sqdist(x_i, y_j)) * b_j² with c = 1 / (2 r²): something derived on every side
    Hoisted: params 1, 1; outer 3, 1; inner 3, 3; plain false; index false, false; row 2; out 1; state 1;
    prepare_params(s, p) {
        let r = p.get(0);
        p.put(1, s.div(s.lit(-0.5 * LOG2_E), s.mul(r, r)));
    }
    prepare_outer(s, _p, x) { x.put(3, s.mul(x.get(2), x.get(2))); }
    prepare_inner(s, _p, y, used) {
        used.put(0, s.mul(y.get(2), y.get(2)));
        used.put(1, y.get(0));
        used.put(2, y.get(1));
    }
    init(s, row) { sum::init(s, row, 0); }
    begin(s, _row, state) { state.set(0, sum::begin(s)); }
    step(s, p, x, y, state) {
        let (u, v) = (s.sub(x.get(0), y.get(1)), s.sub(x.get(1), y.get(2)));
        let d = s.fma(u, u, s.mul(v, v));
        state.set(0, sum::step_mul(s, state.word(0), s.exp2_sum_nonpositive(d, p.get(1)), y.get(0)));
    }
    flush(s, state, row) { sum::flush(s, state.word(0), row, 0); }
    combine(s, row, other) { sum::combine(s, row, other, 0); }
    finish(s, _p, x, row, out) { out.put(0, s.mul(x.get(3), sum::value(s, row, 0))); }
}

kernel! {
    /// The derivative of `Gauss<3>` by x_i, against e_i: sum_j -2 e_i b_j exp(-d²) (x_i - y_j)
    Gradient: params 0, 0; outer 4, 0; inner 4, 4; plain true; index false, false; row 6; out 3; state 3;
    init(s, row) {
        sum::init(s, row, 0);
        sum::init(s, row, 2);
        sum::init(s, row, 4);
    }
    begin(s, _row, state) {
        let mut c = 0;
        while c < 3 {
            state.set(c, sum::begin(s));
            c += 1;
        }
    }
    step(s, _p, x, y, state) {
        let (t0, t1, t2) = (s.sub(x.get(0), y.get(0)), s.sub(x.get(1), y.get(1)), s.sub(x.get(2), y.get(2)));
        let d = s.fma(t2, t2, s.fma(t1, t1, s.mul(t0, t0)));
        let w = s.mul(exp_neg(s, d), y.get(3));
        state.set(0, sum::step_mul(s, state.word(0), w, t0));
        state.set(1, sum::step_mul(s, state.word(1), w, t1));
        state.set(2, sum::step_mul(s, state.word(2), w, t2));
    }
    flush(s, state, row) {
        sum::flush(s, state.word(0), row, 0);
        sum::flush(s, state.word(1), row, 2);
        sum::flush(s, state.word(2), row, 4);
    }
    combine(s, row, other) {
        sum::combine(s, row, other, 0);
        sum::combine(s, row, other, 2);
        sum::combine(s, row, other, 4);
    }
    finish(s, _p, x, row, out) {
        let e = s.mul(s.lit(-2.0), x.get(3));
        let mut c = 0;
        while c < 3 {
            out.put(c, s.mul(e, sum::value(s, row, 2 * c)));
            c += 1;
        }
    }
}

kernel! {
    /// The K smallest of v_ij = sqdist(x_i, y_j) + b_j, and their indices
    Nearest[const K]: params 0, 0; outer 3, 0; inner 4, 4; plain true; index false, true;
    row 16; out 2 * K; state 16;
    init(s, row) { kmin::init(s, row, 0, K); }
    begin(s, row, state) { kmin::begin(s, state, 0, row, 0, K); }
    step(s, _p, x, y, state) {
        kmin::step(s, state, 0, K, s.add(sqdist(s, x, y, 3), y.get(3)), y.index());
    }
    flush(s, state, row) { kmin::flush(s, state, 0, row, 0, K); }
    combine(s, row, other) { kmin::combine(s, row, other, 0, K); }
    finish(_s, _p, _x, row, out) {
        let mut c = 0;
        while c < 2 * K {
            out.put(c, row.get(c));
            c += 1;
        }
    }
}

kernel! {
    /// argmin_j sqdist(x_i, y_j), nothing but the index
    ArgMin: params 0, 0; outer 3, 0; inner 3, 3; plain true; index false, true; row 2; out 1; state 2;
    init(s, row) { kmin::init(s, row, 0, 1); }
    begin(s, row, state) { kmin::begin(s, state, 0, row, 0, 1); }
    step(s, _p, x, y, state) { kmin::step(s, state, 0, 1, sqdist(s, x, y, 3), y.index()); }
    flush(s, state, row) { kmin::flush(s, state, 0, row, 0, 1); }
    combine(s, row, other) { kmin::combine(s, row, other, 0, 1); }
    finish(_s, _p, _x, row, out) { out.put(0, row.get(1)); }
}

kernel! {
    /// argmin_j (x_i - y_j)² of numbers
    ClosestNumber: params 0, 0; outer 1, 0; inner 1, 1; plain true; index false, true; row 2; out 1; state 2;
    init(s, row) { kmin::init(s, row, 0, 1); }
    begin(s, row, state) { kmin::begin(s, state, 0, row, 0, 1); }
    step(s, _p, x, y, state) { kmin::step(s, state, 0, 1, sqdist(s, x, y, 1), y.index()); }
    flush(s, state, row) { kmin::flush(s, state, 0, row, 0, 1); }
    combine(s, row, other) { kmin::combine(s, row, other, 0, 1); }
    finish(_s, _p, _x, row, out) { out.put(0, row.get(1)); }
}

kernel! {
    /// The nearest y_j with j ≠ i, and its value: both indices are read
    Other: params 0, 0; outer 3, 0; inner 3, 3; plain true; index true, true; row 2; out 2; state 2;
    init(s, row) { kmin::init(s, row, 0, 1); }
    begin(s, row, state) { kmin::begin(s, state, 0, row, 0, 1); }
    step(s, _p, x, y, state) {
        let same = s.index_eq(x.index(), y.index());
        let v = s.select(same, s.lit(f64::NAN), sqdist(s, x, y, 3));
        kmin::step(s, state, 0, 1, v, y.index());
    }
    flush(s, state, row) { kmin::flush(s, state, 0, row, 0, 1); }
    combine(s, row, other) { kmin::combine(s, row, other, 0, 1); }
    finish(_s, _p, _x, row, out) {
        out.put(0, row.get(0));
        out.put(1, row.get(1));
    }
}

kernel! {
    /// min_j and max_j of x_i y_j
    MinMax: params 0, 0; outer 1, 0; inner 1, 1; plain true; index false, false; row 2; out 2; state 2;
    init(s, row) {
        min::init(s, row, 0);
        max::init(s, row, 1);
    }
    begin(s, row, state) {
        state.set(0, min::begin(s, row, 0));
        state.set(1, max::begin(s, row, 1));
    }
    step(s, _p, x, y, state) {
        let v = s.mul(x.get(0), y.get(0));
        state.set(0, min::step(s, state.word(0), v));
        state.set(1, max::step(s, state.word(1), v));
    }
    flush(s, state, row) {
        min::flush(s, state.word(0), row, 0);
        max::flush(s, state.word(1), row, 1);
    }
    combine(s, row, other) {
        min::combine(s, row, other, 0);
        max::combine(s, row, other, 1);
    }
    finish(_s, _p, _x, row, out) {
        out.put(0, row.get(0));
        out.put(1, row.get(1));
    }
}

kernel! {
    /// logsumexp_j x_i y_j, and the same weights applied to b_j: softmax_j(x_i y_j, b_j)
    Softmax: params 0, 0; outer 1, 0; inner 2, 2; plain true; index false, false; row 5; out 2; state 3;
    init(s, row) {
        logsumexp::init(s, row, 0);
        sum::init(s, row, 3);
    }
    begin(s, row, state) {
        logsumexp::begin(s, state, 0, row, 0);
        state.set(2, sum::begin(s));
    }
    step(s, _p, x, y, state) {
        let (shrink, weight) = logsumexp::step(s, state, 0, s.mul(x.get(0), y.get(0)));
        state.set(2, logsumexp::weigh(s, state.word(2), shrink, weight, y.get(1)));
    }
    flush(s, state, row) {
        let shrink = logsumexp::flush(s, state, 0, row, 0);
        logsumexp::flush_sum(s, state.word(2), shrink, row, 3);
    }
    combine(s, row, other) {
        let (mine, theirs) = logsumexp::combine(s, row, other, 0);
        logsumexp::combine_sum(s, row, mine, other, theirs, 3);
    }
    finish(s, _p, _x, row, out) {
        out.put(0, logsumexp::value(s, row, 0));
        out.put(1, s.div(sum::value(s, row, 3), sum::value(s, row, 1)));
    }
}

kernel! {
    /// logsumexp_j -sqdist(x_i, y_j)
    LogSumExp: params 0, 0; outer 3, 0; inner 3, 3; plain true; index false, false; row 3; out 1; state 2;
    init(s, row) { logsumexp::init(s, row, 0); }
    begin(s, row, state) { logsumexp::begin(s, state, 0, row, 0); }
    step(s, _p, x, y, state) { logsumexp::step(s, state, 0, s.neg(sqdist(s, x, y, 3))); }
    flush(s, state, row) { logsumexp::flush(s, state, 0, row, 0); }
    combine(s, row, other) { logsumexp::combine(s, row, other, 0); }
    finish(s, _p, _x, row, out) { out.put(0, logsumexp::value(s, row, 0)); }
}

kernel! {
    /// mean_j b_j, of which the number of rows is a parameter
    Mean: params 1, 0; outer 0, 0; inner 1, 1; plain true; index false, false; row 2; out 1; state 1;
    init(s, row) { sum::init(s, row, 0); }
    begin(s, _row, state) { state.set(0, sum::begin(s)); }
    step(s, _p, _x, y, state) { state.set(0, sum::step(s, state.word(0), y.get(0))); }
    flush(s, state, row) { sum::flush(s, state.word(0), row, 0); }
    combine(s, row, other) { sum::combine(s, row, other, 0); }
    finish(s, p, _x, row, out) { out.put(0, s.div(sum::value(s, row, 0), p.get(0))); }
}

kernel! {
    /// sum_j [k_i = j] y_j, where k_i is an index that an earlier pass found
    Gather: params 0, 0; outer 1, 0; inner 3, 3; plain true; index false, true; row 6; out 3; state 3;
    init(s, row) {
        sum::init(s, row, 0);
        sum::init(s, row, 2);
        sum::init(s, row, 4);
    }
    begin(s, _row, state) {
        let mut c = 0;
        while c < 3 {
            state.set(c, sum::begin(s));
            c += 1;
        }
    }
    step(s, _p, x, y, state) {
        let chosen = s.index_eq(x.get(0), y.index());
        let mut c = 0;
        while c < 3 {
            let value = s.select(chosen, y.get(c), s.lit(0.0));
            state.set(c, sum::step(s, state.word(c), value));
            c += 1;
        }
    }
    flush(s, state, row) {
        let mut c = 0;
        while c < 3 {
            sum::flush(s, state.word(c), row, 2 * c);
            c += 1;
        }
    }
    combine(s, row, other) {
        let mut c = 0;
        while c < 3 {
            sum::combine(s, row, other, 2 * c);
            c += 1;
        }
    }
    finish(s, _p, _x, row, out) {
        let mut c = 0;
        while c < 3 {
            out.put(c, sum::value(s, row, 2 * c));
            c += 1;
        }
    }
}

kernel! {
    /// The sum of the x_i whose index is j: outer rows are those of j.
    Scatter: params 0, 0; outer 0, 0; inner 4, 4; plain true; index true, false; row 6; out 3; state 3;
    init(s, row) {
        sum::init(s, row, 0);
        sum::init(s, row, 2);
        sum::init(s, row, 4);
    }
    begin(s, _row, state) {
        let mut c = 0;
        while c < 3 {
            state.set(c, sum::begin(s));
            c += 1;
        }
    }
    step(s, _p, x, y, state) {
        let chosen = s.index_eq(y.get(3), x.index());
        let mut c = 0;
        while c < 3 {
            let value = s.select(chosen, y.get(c), s.lit(0.0));
            state.set(c, sum::step(s, state.word(c), value));
            c += 1;
        }
    }
    flush(s, state, row) {
        let mut c = 0;
        while c < 3 {
            sum::flush(s, state.word(c), row, 2 * c);
            c += 1;
        }
    }
    combine(s, row, other) {
        let mut c = 0;
        while c < 3 {
            sum::combine(s, row, other, 2 * c);
            c += 1;
        }
    }
    finish(s, _p, _x, row, out) {
        let mut c = 0;
        while c < 3 {
            out.put(c, sum::value(s, row, 2 * c));
            c += 1;
        }
    }
}

kernel! {
    /// x_i + p, a pass without pairs; asks for columns that are not there, which read as zero and write nothing
    Map: params 2, 0; outer 2, 0; inner 0, 0; plain true; index false, false; row 0; out 2; state 0;
    init(_s, _row) {}
    begin(_s, _row, _state) {}
    step(_s, _p, _x, _y, _state) {}
    flush(_s, _state, _row) {}
    combine(_s, _row, _other) {}
    finish(s, p, x, row, out) {
        out.put(0, s.add(x.get(0), p.get(0)));
        out.put(1, s.add(s.add(x.get(1), p.get(1)), s.add(x.get(7), s.add(row.get(usize::MAX), x.index()))));
        out.put(2, s.lit(7.0));
    }
}
