//! Sums whose terms vanish beyond a radius, where tiles are skipped, against plain loops.
use std::sync::atomic::{AtomicUsize, Ordering};

use keops_runtime::__private::keops_gpu_kernels::isa::Isa;
use keops_runtime::__private::keops_gpu_kernels::reduce::sum;
use keops_runtime::__private::{Columns, ColumnsMut, Kernel, Level, Pairs, Real, Words, table};
use keops_runtime::{Accumulate, Options};

use crate::data::{Number, Variable, random, run_at, sqdist};
use crate::functions::GAUSS;

/// Large enough on both sides that skipping is tried.
const ROWS: usize = 8_300;

/// Pairs that [`Hat`]'s step has folded; all tests here are one test.
static STEPS: AtomicUsize = AtomicUsize::new(0);

/// sum_j max(1 - 64 sqdist(x_i, y_j), 0) * b_j, or with exp(-4096 sqdist(x_i, y_j)) instead
#[derive(Clone, Copy)]
struct Hat<const EXP: bool>;

impl<T: Real, const EXP: bool> Kernel<T> for Hat<EXP> {
    const PARAMS: usize = 0;
    const PARAMS_DERIVED: usize = 0;
    const OUTER: usize = 3;
    const OUTER_DERIVED: usize = 0;
    const INNER: usize = 4;
    const INNER_USED: usize = 4;
    const INNER_PLAIN: bool = true;
    const OUTER_INDEX: bool = false;
    const INNER_INDEX: bool = false;
    const ROW: usize = 2;
    const OUT: usize = 1;
    const NEAR_OUTER: u64 = 0b111;
    const NEAR_INNER: u64 = 0b111;
    const VANISHES: bool = true;
    const ACCUMULATORS: usize = 1;
    type State<A: Copy> = [A; 1];
    type Work<A: Copy> = [A; 0];

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
        sum::init(s, row, 0);
    }
    #[inline(always)]
    fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>(s: S, _row: &W, state: &mut A) {
        state.set(0, sum::begin(s));
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
        STEPS.fetch_add(S::ROWS * S::LANES, Ordering::Relaxed);
        let mut d = s.square(s.sub(x.get(0), y.get(0)));
        d = s.sqdiff_add(x.get(1), y.get(1), d);
        d = s.sqdiff_add(x.get(2), y.get(2), d);
        let hat = if EXP {
            s.exp2_sum_nonpositive(d, s.lit(-4096.0 * std::f64::consts::LOG2_E))
        } else {
            s.pick_max(s.fnma(d, s.lit(64.0), s.lit(1.0)), s.lit(0.0))
        };
        state.set(0, sum::step_mul(s, state.word(0), hat, y.get(3)));
    }
    #[inline(always)]
    fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>(s: S, state: &A, row: &mut W) {
        sum::flush(s, state.word(0), row, 0);
    }
    #[inline(always)]
    fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(s: S, row: &mut W, other: &V) {
        sum::combine(s, row, other, 0);
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
        out.put(0, sum::value(s, row, 0));
    }
}

/// Multiples of 1/16 in [-1, 1]: sums of hats are exact, in any order.
fn grid(seed: u64, count: usize) -> Vec<f64> {
    let numbers = random(seed, count);
    numbers.iter().map(|x| (x * 16.0).round() / 16.0).collect()
}

fn sums<T: Number, const EXP: bool>(
    expected: &[f64],
    x: &[f64],
    y: &[f64],
    b: &[f64],
    fewer: bool,
) {
    let (x, y, b) = (
        Variable::<T>::new(x, 3),
        Variable::new(y, 3),
        Variable::new(b, 1),
    );
    for level in Level::supported() {
        for accumulate in [Accumulate::Block, Accumulate::Kahan] {
            let before = STEPS.load(Ordering::Relaxed);
            let options = Options::new().level(level).accumulate(accumulate);
            let inputs = [&x.rows(), &y.rows(), &b.rows()];
            let found = run_at(&GAUSS, &[table::<T, Hat<EXP>>()], &inputs, options);
            let steps = STEPS.load(Ordering::Relaxed) - before;
            for (k, (found, expected)) in found[0].values().iter().zip(expected).enumerate() {
                let error = (found - expected).abs();
                let near = EXP && error <= 1e-5 * expected.abs() + 1e-35;
                let same = found == expected || near || found.is_nan() && expected.is_nan();
                assert!(same, "{level:?}, row {k}: {found}, expected {expected}");
            }
            // The exponential at f64, which vanishes last, needs a third of the pairs; asking about boxes counts as well.
            assert_eq!(
                fewer,
                steps < ROWS * ROWS / 2,
                "{level:?}: {steps} pairs of {}",
                ROWS * ROWS
            );
        }
    }
}

#[test]
fn what_vanishes_is_skipped() {
    let (x, y) = (grid(1, 3 * ROWS), grid(2, 3 * ROWS));
    let b: Vec<f64> = random(3, ROWS).iter().map(|x| (x * 8.0).round()).collect();
    let of = |b: &[f64]| -> Vec<f64> {
        x.chunks(3)
            .map(|x| {
                let terms = y
                    .chunks(3)
                    .zip(b)
                    .map(|(y, b)| (1.0 - 64.0 * sqdist(x, y)).max(0.0) * b);
                terms.sum()
            })
            .collect()
    };
    let expected = of(&b);
    assert!(expected.iter().any(|&a| a != 0.0));
    sums::<f32, false>(&expected, &x, &y, &b, true);
    sums::<f64, false>(&expected, &x, &y, &b, true);
    // A term that is not a number is in every sum, also in those of distant rows: 0 times NaN, and 0 times infinity.
    for odd in [f64::NAN, f64::INFINITY] {
        let mut b = b.clone();
        b[ROWS / 3] = odd;
        let expected = of(&b);
        assert!(expected.iter().all(|a| !a.is_finite()));
        sums::<f32, false>(&expected, &x, &y, &b, true);
    }
    // Nothing vanishes: the pass runs whole.
    let same = vec![0.25; 3 * ROWS];
    let total = b.iter().sum();
    sums::<f32, false>(&vec![total; ROWS], &same, &same, &b, false);

    // Exponentials vanish as well, at a distance.
    let b: Vec<f64> = b.iter().map(|b| b.abs()).collect();
    let expected: Vec<f64> = x
        .chunks(3)
        .map(|x| {
            let terms = y.chunks(3).zip(&b);
            terms.map(|(y, b)| (-4096.0 * sqdist(x, y)).exp() * b).sum()
        })
        .collect();
    sums::<f32, true>(&expected, &x, &y, &b, true);
    sums::<f64, true>(&expected, &x, &y, &b, true);
}
