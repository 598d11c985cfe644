//! Minima, maxima and their indices: ties, NaN, infinities, too few rows.
use keops_runtime::__private::{Level, Rows, Table, run, table};
use keops_runtime::ndarray::Array1;
use keops_runtime::{Error, FromValue, Options};

use crate::data::{Number, SIZES, Variable, random, run_all, sqdist};
use crate::functions::{ARGMIN, CLOSEST_NUMBER, MIN_MAX, NEAREST_1, NEAREST_4, OTHER};
use crate::kernels::{ArgMin, ClosestNumber, MinMax, Nearest, Other};

/// The k smallest values with their indices, ties in index order, NaN left out, padded.
fn smallest(values: impl Iterator<Item = f64>, k: usize) -> (Vec<f64>, Vec<usize>) {
    let mut all: Vec<(f64, usize)> = values
        .enumerate()
        .map(|(j, v)| (v, j))
        .filter(|(v, _)| !v.is_nan())
        .collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    all.resize(k, (f64::INFINITY, usize::MAX));
    all.into_iter().unzip()
}

/// Coordinates that are multiples of 1/4: distances are exact, and tie often.
fn grid(seed: u64, count: usize) -> Vec<f64> {
    random(seed, count)
        .iter()
        .map(|x| (x * 4.0).round() / 4.0)
        .collect()
}

fn nearest<T: Number>(m: usize, n: usize, b: &[f64]) {
    let (x, y) = (grid(1, 3 * m), grid(2, 3 * n));
    let of = |k| {
        let rows = x
            .chunks(3)
            .map(|x| smallest(y.chunks(3).zip(b).map(|(y, b)| sqdist(x, y) + b), k));
        let (values, indices): (Vec<_>, Vec<_>) = rows.unzip();
        (values.concat(), indices.concat())
    };
    let (one, four) = (of(1), of(4));
    let (x, y, b) = (
        Variable::<T>::new(&x, 3),
        Variable::new(&y, 3),
        Variable::new(b, 1),
    );
    let (x, y, b) = (x.rows(), y.rows(), b.rows());
    if n > 0 {
        for (level, found) in run_all(&NEAREST_1, &[table::<T, Nearest<1>>()], &[&x, &y, &b]) {
            assert_eq!(found[0].values(), one.0, "{level:?} {m} {n}");
            assert_eq!(found[1].indices(), one.1, "{level:?} {m} {n}");
        }
    }
    for (level, found) in run_all(&NEAREST_4, &[table::<T, Nearest<4>>()], &[&x, &y, &b]) {
        assert_eq!(found[0].values(), four.0, "{level:?} {m} {n}");
        assert_eq!(found[1].indices(), four.1, "{level:?} {m} {n}");
    }
}

#[test]
fn ties_go_to_the_lowest_index() {
    for m in SIZES {
        for n in SIZES {
            nearest::<f32>(m, n, &vec![0.0; n]);
            nearest::<f64>(m, n, &vec![0.0; n]);
        }
    }
}

#[test]
fn nan_is_ignored_and_infinity_has_an_index() {
    for (m, n) in [(1, 1), (1, 5), (1, 200), (20, 7), (20, 300), (3, 1000)] {
        let infinite = vec![f64::INFINITY; n];
        let nan = vec![f64::NAN; n];
        let mixed: Vec<f64> = (0..n)
            .map(|j| match j % 5 {
                0 => f64::NAN,
                1 | 2 => f64::INFINITY,
                3 if j > 50 => f64::NEG_INFINITY,
                _ => 0.0,
            })
            .collect();
        for b in [infinite, nan, mixed] {
            nearest::<f32>(m, n, &b);
            nearest::<f64>(m, n, &b);
        }
    }
}

#[test]
fn infinite_rows_give_index_zero_and_nan_rows_none() {
    let x = Variable::<f32>::new(&[0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0], 3);
    let y = Variable::new(&[f64::INFINITY; 30], 3);
    for (level, found) in run_all(&ARGMIN, &[table::<f32, ArgMin>()], &[&x.rows(), &y.rows()]) {
        assert_eq!(found[0].indices(), [0, usize::MAX], "{level:?}");
    }
}

fn other<T: Number>(n: usize) {
    let x = grid(1, 3 * n);
    let expected: Vec<_> = x
        .chunks(3)
        .enumerate()
        .map(|(i, a)| {
            smallest(
                x.chunks(3)
                    .enumerate()
                    .map(|(j, b)| if i == j { f64::NAN } else { sqdist(a, b) }),
                1,
            )
        })
        .collect();
    let x = Variable::<T>::new(&x, 3);
    for (level, found) in run_all(&OTHER, &[table::<T, Other>()], &[&x.rows(), &x.rows()]) {
        let values: Vec<f64> = expected.iter().map(|row| row.0[0]).collect();
        let indices: Vec<usize> = expected.iter().map(|row| row.1[0]).collect();
        assert_eq!(found[0].values(), values, "{level:?} {n}");
        assert_eq!(found[1].indices(), indices, "{level:?} {n}");
    }
}

#[test]
fn indices_of_both_axes() {
    for n in SIZES {
        other::<f32>(n);
        other::<f64>(n);
    }
}

fn min_max<T: Number>(m: usize, n: usize, nan: bool) {
    let (x, mut y) = (grid(1, m), grid(2, n));
    if nan {
        y.iter_mut().step_by(3).for_each(|y| *y = f64::NAN);
    }
    let fold = |start: f64, f: fn(f64, f64) -> f64| -> Vec<f64> {
        x.iter()
            .map(|x| y.iter().map(|y| x * y).fold(start, f))
            .collect()
    };
    let (least, most) = (
        fold(f64::INFINITY, f64::min),
        fold(f64::NEG_INFINITY, f64::max),
    );
    let (x, y) = (Variable::<T>::new(&x, 1), Variable::new(&y, 1));
    for (level, found) in run_all(&MIN_MAX, &[table::<T, MinMax>()], &[&x.rows(), &y.rows()]) {
        assert_eq!(found[0].values(), least, "{level:?} {m} {n}");
        assert_eq!(found[1].values(), most, "{level:?} {m} {n}");
    }
}

#[test]
fn minima_and_maxima() {
    for m in SIZES {
        for n in SIZES {
            min_max::<f32>(m, n, false);
            min_max::<f64>(m, n, n % 2 == 1);
        }
    }
}

#[test]
fn large_indices_are_exact_at_f32() {
    // Beyond 2^24, where f32 has no odd integers.
    let n = (1 << 24) + 4;
    let mut y = vec![1.0f32; n];
    y[n - 3] = 0.0;
    let (x, y) = ([0.0f32; 1], &y[..]);
    let rows = |y| keops_runtime::IntoRows::<f32, keops_runtime::Scalar>::into_rows(y);
    let (x, y): (Rows<'_, f32>, _) = (rows(&x[..]), rows(y));
    let tables: [Table<f32>; 1] = [table::<f32, ClosestNumber>()];
    for level in Level::supported() {
        let mut found = run(
            &CLOSEST_NUMBER,
            &tables,
            &[&x, &y],
            &Options::new().level(level),
        )
        .unwrap();
        let index: Array1<usize> = FromValue::from_value(found.remove(0));
        assert_eq!(index[0], n - 3, "{level:?}");
    }
}

#[test]
fn nothing_has_no_argmin() {
    let (x, y) = (Variable::<f32>::new(&[0.0; 6], 3), Variable::new(&[], 3));
    let found = run(
        &ARGMIN,
        &[table::<f32, ArgMin>()],
        &[&x.rows(), &y.rows()],
        &Options::new(),
    );
    let expected = Error::EmptyReduction {
        function: "closest",
        reduction: "argmin_j",
        variable: "y_j",
        axis: 'j',
    };
    assert_eq!(found.unwrap_err(), expected);
    // No rows of either: an empty array.
    let found = run(
        &ARGMIN,
        &[table::<f32, ArgMin>()],
        &[&y.rows(), &y.rows()],
        &Options::new(),
    );
    assert_eq!(found.unwrap().len(), 1);
}
