//! Part 3 of the contract: ties, NaN, infinities, nothing, too few rows.

use crate::harness::engines;
use keops::ndarray::{Array1, Array2, array};
use keops::{Backend, Error, keops};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

keops! {
    fn total(x_i: f64, y_j: f64) = sum_j x_i * y_j;
    fn average(x_i: f64, y_j: f64) = mean_j x_i * y_j;
    fn smallest(x_i: f64, y_j: f64) = min_j x_i * y_j;
    fn largest(x_i: f64, y_j: f64) = max_j x_i * y_j;
    fn where_smallest(x_i: f64, y_j: f64) = argmin_j x_i * y_j;
    fn where_largest(x_i: f64, y_j: f64) = argmax_j x_i * y_j;
    fn three_smallest(x_i: f64, y_j: f64) = kmin_j::<3> x_i * y_j;
    fn where_three_smallest(x_i: f64, y_j: f64) = argkmin_j::<3> x_i * y_j;
    fn log_total(x_i: f64, y_j: f64) = logsumexp_j(x_i * y_j);
    fn softmax(x_i: f64, y_j: f64) = sumsoftmaxweight_j(x_i * y_j, y_j);
    fn bare(y_j: f64) = sum_j y_j;
    fn distance(x_i: [f64; 2], y_j: [f64; 2]) = sum_j norm2(x_i - y_j);
    fn root(x_i: f64, y_j: f64) = sum_j sqrt(x_i - y_j);
    fn band(x_i: f64, y_j: f64, w: f64) = sum_j if abs(i - j) <= 2 * w + 1 { x_i * y_j } else { 0.0 };
    fn outside(x_i: f64, y_j: f64, w: f64) = sum_j if abs(i - j) <= 2 * w + 1 { 0.0 } else { x_i * y_j };
}

/// Evaluates for one row x = 1 (which leaves every y as it is) and for enough rows to fill vectors.
macro_rules! check {
    ($f:ident, $y:expr, $expected:expr) => {
        for engine in engines() {
            for m in [1, 40] {
                let (x, y) = (vec![1.0; m], $y);
                let found = on!(engine, $f(&x, &y)).eval().unwrap();
                for row in found.rows() {
                    assert_eq!(
                        format!("{row}"),
                        format!("{}", $expected),
                        "{} of {y:?} on {engine:?}",
                        stringify!($f)
                    );
                }
            }
        }
    };
    (scalar $f:ident, $y:expr, $expected:expr) => {
        for engine in engines() {
            for m in [1, 40] {
                let (x, y) = (vec![1.0; m], $y);
                for found in on!(engine, $f(&x, &y)).eval().unwrap() {
                    let same = found == $expected || format!("{found}") == format!("{}", $expected);
                    assert!(
                        same,
                        "{}({y:?}) = {found} on {engine:?}, expected {}",
                        stringify!($f),
                        $expected
                    );
                }
            }
        }
    };
}

#[test]
fn ties_go_to_the_lowest_index() {
    check!(scalar where_smallest, vec![3.0, 1.0, 2.0, 1.0, 5.0], 1);
    check!(scalar where_largest, vec![3.0, 5.0, 2.0, 5.0, 1.0], 1);
    check!(
        where_three_smallest,
        vec![3.0, 1.0, 2.0, 1.0, 5.0],
        array![1, 3, 2]
    );
    check!(scalar where_smallest, vec![7.0; 1000], 0);
}

#[test]
fn nan_is_kept_by_sums_and_ignored_by_extrema() {
    let y = || vec![2.0, NAN, 1.0];
    check!(scalar total, y(), NAN);
    check!(scalar average, y(), NAN);
    check!(scalar log_total, y(), NAN);
    check!(scalar softmax, y(), NAN);
    check!(scalar smallest, y(), 1.0);
    check!(scalar largest, y(), 2.0);
    check!(scalar where_smallest, y(), 2);
    check!(scalar where_largest, y(), 0);
    check!(three_smallest, y(), array![1.0, 2.0, INF]);
    check!(where_three_smallest, y(), array![2, 0, usize::MAX]);
}

#[test]
fn only_nan_gives_no_index() {
    let y = || vec![NAN; 9];
    check!(scalar smallest, y(), INF);
    check!(scalar largest, y(), -INF);
    check!(scalar where_smallest, y(), usize::MAX);
    check!(scalar where_largest, y(), usize::MAX);
}

#[test]
fn infinite_values_have_indices() {
    check!(scalar where_smallest, vec![INF, INF], 0);
    check!(scalar where_largest, vec![-INF, -INF], 0);
    check!(
        where_three_smallest,
        vec![INF, 1.0],
        array![1, 0, usize::MAX]
    );
}

#[test]
fn logsumexp_is_exact_with_infinities() {
    check!(scalar log_total, vec![-INF, -INF], -INF);
    check!(scalar log_total, vec![-INF, 1.0], 1.0);
    check!(scalar log_total, vec![1.0, -INF], 1.0);
    check!(scalar log_total, vec![INF, 1.0], INF);
    check!(scalar log_total, vec![1.0, INF, -INF], INF);
    check!(scalar log_total, vec![f64::MAX], f64::MAX);
    check!(scalar log_total, vec![f64::MIN, f64::MIN], f64::MIN);
    check!(scalar log_total, vec![1e300, -1e300], 1e300);
}

#[test]
fn infinite_sums_are_infinite() {
    check!(scalar total, vec![INF, 1.0], INF);
    check!(scalar total, vec![f64::MAX; 600], INF);
    check!(scalar total, vec![INF, -INF], NAN);
}

/// The inner rows that an engine folds are those that the condition holds for, whatever the parameter is.
#[test]
fn conditions_on_row_numbers_may_have_any_parameter() {
    let (m, n) = (300, 700);
    let (x, y) = (vec![1.0; m], vec![1.0; n]);
    for engine in engines() {
        for w in [1.0, 10.25, 200.0, -3.0, NAN, INF, -INF] {
            let inside = on!(engine, band(&x, &y, w)).eval().unwrap();
            let others = on!(engine, outside(&x, &y, w)).eval().unwrap();
            for i in 0..m {
                let within = (0..n).filter(|&j| i.abs_diff(j) as f64 <= 2.0 * w + 1.0);
                let count = within.count();
                assert_eq!(inside[i], count as f64, "row {i}, w = {w}, {engine:?}");
                assert_eq!(
                    others[i],
                    (n - count) as f64,
                    "row {i}, w = {w}, {engine:?}"
                );
            }
        }
    }
}

#[test]
fn nothing_has_the_documented_values() {
    let none = Vec::<f64>::new;
    check!(scalar total, none(), 0.0);
    check!(scalar log_total, none(), -INF);
    check!(scalar smallest, none(), INF);
    check!(scalar largest, none(), -INF);
    check!(three_smallest, none(), array![INF, INF, INF]);
    for engine in engines() {
        assert_eq!(on!(engine, bare(&none())).eval().unwrap(), 0.0);
    }
    let x = vec![1.0];
    macro_rules! refuses {
        ($f:ident, $reduction:literal) => {
            for engine in engines() {
                let error = on!(engine, $f(&x, &none())).eval().unwrap_err();
                assert!(matches!(&error, Error::EmptyReduction { .. }), "{error:?}");
                let text = error.to_string();
                assert!(
                    text.contains($reduction) && text.contains(stringify!($f)),
                    "{text}"
                );
            }
        };
    }
    refuses!(average, "mean_j");
    refuses!(softmax, "sumsoftmaxweight_j");
    refuses!(where_smallest, "argmin_j");
    refuses!(where_largest, "argmax_j");
}

#[test]
fn no_outer_rows_give_an_empty_array() {
    let (x, y) = (Vec::<f64>::new(), vec![1.0, 2.0]);
    for engine in engines() {
        let found = on!(engine, total(&x, &y)).eval().unwrap();
        assert_eq!(found, Array1::<f64>::zeros(0));
        let found = on!(engine, three_smallest(&x, &y)).eval().unwrap();
        assert_eq!(found, Array2::<f64>::zeros((0, 3)));
    }
}

#[test]
fn too_few_rows_are_padded() {
    check!(three_smallest, vec![4.0], array![4.0, INF, INF]);
    check!(
        where_three_smallest,
        vec![4.0],
        array![0, usize::MAX, usize::MAX]
    );
}

#[test]
fn derivatives_at_kinks_are_the_documented_ones() {
    let x = array![[1.0, 2.0]];
    for engine in engines() {
        let g = on!(engine, distance(&x, &x)).vjp(&array![1.0]).unwrap();
        assert_eq!((g.x_i, g.y_j), (array![[0.0, 0.0]], array![[0.0, 0.0]]));
        let g = on!(engine, root(&[3.0], &[3.0])).vjp(&array![1.0]).unwrap();
        assert_eq!((g.x_i, g.y_j), (array![0.0], array![0.0]));
    }
}

#[test]
fn gradients_of_extrema_gather_at_the_argument() {
    let (x, y) = (array![2.0, -1.0], array![3.0, 1.0, 1.0]);
    for engine in engines() {
        let e = array![1.0, 10.0];
        let g = on!(engine, smallest(&x, &y)).vjp(&e).unwrap();
        assert_eq!((g.x_i, g.y_j), (array![1.0, 30.0], array![-10.0, 2.0, 0.0]));
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let x = Array1::from_shape_fn(3000, |k| (k as f64 * 0.37).sin());
    let y = Array1::from_shape_fn(5000, |k| (k as f64 * 0.73).cos());
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            (
                total(&x, &y).on(Backend::Cpu).eval().unwrap(),
                bare(&y).on(Backend::Cpu).eval().unwrap(),
                log_total(&x, &y).on(Backend::Cpu).eval().unwrap(),
            )
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

mod conditional {
    keops::keops! {
        /// Left out with everything that belongs to it.
        #[cfg(any())]
        pub fn absent(x_i: f32, y_j: f32) = sum_j x_i * y_j;
        #[cfg(all())]
        #[deprecated]
        pub(super) fn present(x_i: f32, y_j: f32) = sum_j x_i * y_j;
    }
}

#[test]
#[allow(deprecated, reason = "that is what is tested")]
fn attributes_hold_for_all_that_an_item_expands_to() {
    assert_eq!(
        conditional::present(&[2.0], &[3.0]).eval().unwrap(),
        array![6.0]
    );
    assert!(conditional::Present::FORMULA.contains("x_i * y_j"));
}
