//! Sums, sums with hoisted columns, gradients, logsumexp, softmax and means.
use keops_runtime::__private::{IntoParameter, table};

use crate::data::{Number, SIZES, Variable, assert_near, random, run_all, sqdist};
use crate::functions::{GAUSS, GAUSS_64, GRADIENT, HOISTED, LOG_SUM_EXP, MEAN, SOFTMAX};
use crate::kernels::{Gauss, Gradient, Hoisted, LogSumExp, Mean, Softmax};

/// Points for m outer and n inner rows of d columns, and a number for each.
fn points(m: usize, n: usize, d: usize) -> [Vec<f64>; 4] {
    [
        random(1, m * d),
        random(2, n * d),
        random(3, n),
        random(4, m),
    ]
}

/// Σ of terms, and Σ of their magnitudes.
fn sum(terms: impl Iterator<Item = f64>) -> (f64, f64) {
    terms.fold((0.0, 0.0), |(sum, size), term| {
        (sum + term, size + term.abs())
    })
}

fn gauss<T: Number>(m: usize, n: usize) {
    let [x, y, b, _] = points(m, n, 3);
    let expected: Vec<(f64, f64)> = x
        .chunks(3)
        .map(|x| sum(y.chunks(3).zip(&b).map(|(y, b)| (-sqdist(x, y)).exp() * b)))
        .collect();
    let (x, y, b) = (
        Variable::<T>::new(&x, 3),
        Variable::new(&y, 3),
        Variable::new(&b, 1),
    );
    let tables = [table::<T, Gauss<3>>()];
    for (level, found) in run_all(&GAUSS, &tables, &[&x.rows(), &y.rows(), &b.rows()]) {
        assert_near(found[0].values(), &expected, T::TOLERANCE, &(level, m, n));
    }
}

#[test]
fn gauss_sums() {
    for m in SIZES {
        for n in SIZES {
            gauss::<f32>(m, n);
            gauss::<f64>(m, n);
        }
    }
}

fn wide<T: Number>(m: usize, n: usize) {
    let [x, y, b, _] = points(m, n, 64);
    // Close enough that the terms do not vanish.
    let y: Vec<f64> = y.iter().map(|y| y / 16.0).collect();
    let x: Vec<f64> = x.iter().map(|x| x / 16.0).collect();
    let expected: Vec<(f64, f64)> = x
        .chunks(64)
        .map(|x| sum(y.chunks(64).zip(&b).map(|(y, b)| (-sqdist(x, y)).exp() * b)))
        .collect();
    let (x, y, b) = (
        Variable::<T>::new(&x, 64),
        Variable::new(&y, 64),
        Variable::new(&b, 1),
    );
    let tables = [table::<T, Gauss<64>>()];
    for (level, found) in run_all(&GAUSS_64, &tables, &[&x.rows(), &y.rows(), &b.rows()]) {
        assert_near(
            found[0].values(),
            &expected,
            2.0 * T::TOLERANCE,
            &(level, m, n),
        );
    }
}

#[test]
fn wide_rows() {
    for (m, n) in [
        (1, 1),
        (3, 100),
        (17, 257),
        (300, 200),
        (1, 1000),
        (1000, 1),
    ] {
        wide::<f32>(m, n);
        wide::<f64>(m, n);
    }
}

fn hoisted<T: Number>(m: usize, n: usize) {
    let ([x, y, b, a], r) = (points(m, n, 2), 0.75);
    let expected: Vec<(f64, f64)> = x
        .chunks(2)
        .zip(&a)
        .map(|(x, a)| {
            let term =
                |(y, b): (&[f64], &f64)| a * a * (-sqdist(x, y) / (2.0 * r * r)).exp() * b * b;
            sum(y.chunks(2).zip(&b).map(term))
        })
        .collect();
    let (x, y) = (Variable::<T>::new(&x, 2), Variable::new(&y, 2));
    let (b, a, r) = (
        Variable::new(&b, 1),
        Variable::new(&a, 1),
        T::of(r).into_parameter(),
    );
    let tables = [table::<T, Hoisted>()];
    for (level, found) in run_all(
        &HOISTED,
        &tables,
        &[&x.rows(), &a.rows(), &y.rows(), &b.rows(), &r],
    ) {
        assert_near(found[0].values(), &expected, T::TOLERANCE, &(level, m, n));
    }
}

#[test]
fn derived_columns_on_every_side() {
    for m in SIZES {
        for n in SIZES {
            hoisted::<f32>(m, n);
            hoisted::<f64>(m, n);
        }
    }
}

fn gradient<T: Number>(m: usize, n: usize) {
    let [x, y, b, e] = points(m, n, 3);
    let mut expected = Vec::new();
    for (x, e) in x.chunks(3).zip(&e) {
        for c in 0..3 {
            let term =
                |(y, b): (&[f64], &f64)| -2.0 * e * b * (-sqdist(x, y)).exp() * (x[c] - y[c]);
            expected.push(sum(y.chunks(3).zip(&b).map(term)));
        }
    }
    let (x, y) = (Variable::<T>::new(&x, 3), Variable::new(&y, 3));
    let (b, e) = (Variable::new(&b, 1), Variable::new(&e, 1));
    let tables = [table::<T, Gradient>()];
    for (level, found) in run_all(
        &GRADIENT,
        &tables,
        &[&x.rows(), &y.rows(), &b.rows(), &e.rows()],
    ) {
        assert_near(
            found[0].values(),
            &expected,
            2.0 * T::TOLERANCE,
            &(level, m, n),
        );
    }
}

#[test]
fn gradients() {
    for m in SIZES {
        for n in SIZES {
            gradient::<f32>(m, n);
            gradient::<f64>(m, n);
        }
    }
}

/// log Σ e^v, and Σ e^v b / Σ e^v
fn softmax_of(v: impl Iterator<Item = f64> + Clone, b: &[f64]) -> (f64, f64) {
    let max = v.clone().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return (max, f64::NAN);
    }
    let (mut sum, mut weighted) = (0.0, 0.0);
    for (v, b) in v.zip(b) {
        sum += (v - max).exp();
        weighted += (v - max).exp() * b;
    }
    (max + sum.ln(), weighted / sum)
}

fn softmax<T: Number>(m: usize, n: usize) {
    let [_, y, b, x] = points(m, n, 1);
    // Up to e^±40, so that the running maximum matters.
    let x: Vec<f64> = x.iter().map(|x| 40.0 * x).collect();
    let expected: Vec<(f64, f64)> = x
        .iter()
        .map(|x| softmax_of(y.iter().map(|y| T::of(x * y).into()), &b))
        .collect();
    let (x, y, b) = (
        Variable::<T>::new(&x, 1),
        Variable::new(&y, 1),
        Variable::new(&b, 1),
    );
    let tables = [table::<T, Softmax>()];
    for (level, found) in run_all(&SOFTMAX, &tables, &[&x.rows(), &y.rows(), &b.rows()]) {
        let lse: Vec<_> = expected
            .iter()
            .map(|&(lse, _)| (lse, 4.0 * lse.abs().max(1.0)))
            .collect();
        assert_near(found[0].values(), &lse, T::TOLERANCE, &(level, m, n));
        let weighted: Vec<_> = expected
            .iter()
            .map(|&(_, weighted)| (weighted, 40.0))
            .collect();
        assert_near(found[1].values(), &weighted, T::TOLERANCE, &(level, m, n));
    }
}

fn log_sum_exp<T: Number>(m: usize, n: usize) {
    let [x, y, b, _] = points(m, n, 3);
    let expected: Vec<(f64, f64)> = x
        .chunks(3)
        .map(|x| (softmax_of(y.chunks(3).map(|y| -sqdist(x, y)), &b).0, 10.0))
        .collect();
    let (x, y) = (Variable::<T>::new(&x, 3), Variable::new(&y, 3));
    let tables = [table::<T, LogSumExp>()];
    for (level, found) in run_all(&LOG_SUM_EXP, &tables, &[&x.rows(), &y.rows()]) {
        assert_near(found[0].values(), &expected, T::TOLERANCE, &(level, m, n));
    }
}

#[test]
fn softmax_and_logsumexp() {
    for m in SIZES {
        for n in SIZES {
            if n > 0 {
                softmax::<f32>(m, n);
                softmax::<f64>(m, n);
            }
            log_sum_exp::<f32>(m, n);
            log_sum_exp::<f64>(m, n);
        }
    }
}

/// logsumexp and softmax of one outer row x over pairs (y, b).
fn special<T: Number>(x: f64, y: &[f64], expected: f64) {
    let b = vec![1.0; y.len()];
    let (x, y, b) = (
        Variable::<T>::new(&[x], 1),
        Variable::new(y, 1),
        Variable::new(&b, 1),
    );
    let tables = [table::<T, Softmax>()];
    for (level, found) in run_all(&SOFTMAX, &tables, &[&x.rows(), &y.rows(), &b.rows()]) {
        let found = found[0].values()[0];
        let near = (found - expected).abs() <= 4.0 * T::TOLERANCE * expected.abs().max(1.0);
        let same = near || found == expected || found.is_nan() && expected.is_nan();
        assert!(same, "{level:?}: {found}, expected {expected}");
    }
}

fn specials<T: Number>() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    special::<T>(1.0, &[-inf, -inf], -inf);
    special::<T>(1.0, &[-inf, 2.0, -inf], 2.0);
    special::<T>(1.0, &[inf, 2.0], inf);
    special::<T>(1.0, &[-inf, inf], inf);
    special::<T>(1.0, &[inf, inf, inf], inf);
    special::<T>(1.0, &[1.0, nan], nan);
    special::<T>(1.0, &[nan; 20], nan);
    special::<T>(1.0, &[1000.0; 4], 1000.0 + 4f64.ln());
    special::<T>(1.0, &[-1000.0; 4], -1000.0 + 4f64.ln());
    let mut many = vec![-inf; 700];
    many[300] = 3.0;
    special::<T>(1.0, &many, 3.0);
}

#[test]
fn logsumexp_of_infinities_and_nan() {
    specials::<f32>();
    specials::<f64>();
}

fn mean<T: Number>(n: usize) {
    let b = random(3, n);
    let expected = [(b.iter().sum::<f64>() / n as f64, 1.0)];
    let b = Variable::<T>::new(&b, 1);
    let tables = [table::<T, Mean>()];
    for (level, found) in run_all(&MEAN, &tables, &[&b.rows()]) {
        assert_near(found[0].values(), &expected, T::TOLERANCE, &(level, n));
    }
}

#[test]
fn means_of_no_outer_axis() {
    for n in SIZES.into_iter().filter(|&n| n > 0) {
        mean::<f32>(n);
        mean::<f64>(n);
    }
}

fn not_a_number<T: Number>() {
    let [x, y, mut b, _] = points(9, 300, 3);
    b[123] = f64::NAN;
    let (x, y, b) = (
        Variable::<T>::new(&x, 3),
        Variable::new(&y, 3),
        Variable::new(&b, 1),
    );
    let tables = [table::<T, Gauss<3>>()];
    for (level, found) in run_all(&GAUSS, &tables, &[&x.rows(), &y.rows(), &b.rows()]) {
        assert!(found[0].values().iter().all(|x| x.is_nan()), "{level:?}");
    }
}

#[test]
fn nan_reaches_the_sum() {
    not_a_number::<f32>();
    not_a_number::<f64>();
}

fn infinite<T: Number>() {
    let [x, y, mut b, _] = points(9, 300, 3);
    b[123] = f64::INFINITY;
    let (x, y, b) = (
        Variable::<T>::new(&x, 3),
        Variable::new(&y, 3),
        Variable::new(&b, 1),
    );
    let tables = [table::<T, Gauss<3>>()];
    for (level, found) in run_all(&GAUSS, &tables, &[&x.rows(), &y.rows(), &b.rows()]) {
        assert!(
            found[0].values().iter().all(|&x| x == f64::INFINITY),
            "{level:?}"
        );
    }
}

#[test]
fn infinity_reaches_the_sum() {
    infinite::<f32>();
    infinite::<f64>();
}
