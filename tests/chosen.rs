//! Derivatives of minima and maxima go to the chosen rows and nowhere else: against plain loops, exactly, of any order.
//!
//! Points are on a grid, so that every number here is exact, and distances have many ties. The larger sizes are those at which the
//! CPU engine runs listed pairs only, on every instruction set; at the smaller ones it runs all pairs.

use keops::__private::Level;
use keops::ndarray::{Array1, Array2, Array3, Axis};
use keops::{Error, keops};

keops! {
    fn nearest<T>(x_i: [T; 3], y_j: [T; 3]) = min_j sqdist(x_i, y_j);
    fn nearest_with_index(x_i: [f64; 3], y_j: [f64; 3]) = min_argmin_j sqdist(x_i, y_j);
    fn farthest(x_i: [f64; 3], y_j: [f64; 3]) = max_i sqdist(x_i, y_j);
    fn three(x_i: [f64; 3], y_j: [f64; 3]) = kmin_j::<3> sqdist(x_i, y_j);
    fn apart(x_i: [f64; 3], y_j: [f64; 3], s: f64) = max_j s * (x_i - y_j) * y_j;
    fn both(x_i: [f64; 3], y_j: [f64; 3]) = (min_j sqdist(x_i, y_j)) - (max_j sqdist(x_i, y_j));
    fn least_inverse(x_i: [f64; 3], y_j: [f64; 3]) = min_j x_i[0] / y_j[0];
    // Vectors: a row may be chosen for one number and be infinite in another.
    fn least_quotients(x_i: [f64; 2], y_j: [f64; 2]) = min_j x_i / y_j;
    fn one_of_quotients(x_i: [f64; 2], y_j: [f64; 2]) = kmin_j::<1> x_i / y_j;
    fn two_of_quotients(x_i: [f64; 2], y_j: [f64; 2]) = kmin_j::<2> x_i / y_j;
    fn mixed(x_i: f64, y_j: [f64; 2]) = min_j [x_i / y_j[0], x_i / y_j[1]];
    fn joined(x_i: f64, y_j: [f64; 2]) = max_j concat(x_i * y_j[0], -x_i / y_j[1]);
    // Derivatives of derivatives: along a direction, and of a gradient.
    fn along = jvp(nearest, y_j);
    fn slope = grad(nearest, x_i);
    fn slope_dy = grad(slope, y_j);
    fn slope_along = jvp(slope, x_i);
    fn inside(x_i: [f64; 3], y_j: [f64; 3]) = laplacian(min_j sqdist(x_i, y_j), x_i);
}

/// Rows of i and of j, of which minima are taken: few, where everything is run, none and many.
const SIZES: [(usize, usize); 3] = [(7, 5), (5, 0), (60, 3400)];
const NAN: f64 = f64::NAN;

fn grid(rows: usize, seed: u64) -> Array2<f64> {
    let mut state = seed;
    Array2::from_shape_simple_fn((rows, 3), || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from((state >> 60) as u32) / 4.0 - 2.0
    })
}
fn cotangent(rows: usize) -> Array1<f64> {
    Array1::from_shape_fn(rows, |i| (i % 7) as f64 / 2.0 - 1.0)
}
fn sqdist(x: &Array2<f64>, y: &Array2<f64>, i: usize, j: usize) -> f64 {
    let t = &x.row(i) - &y.row(j);
    t.dot(&t)
}
/// The rows below `n` of the k smallest values, the lower first of equal ones; NaN is left out.
fn smallest(n: usize, k: usize, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut rows: Vec<(f64, usize)> = (0..n)
        .map(|row| (value(row), row))
        .filter(|(value, _)| !value.is_nan())
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.into_iter().take(k).map(|(_, row)| row).collect()
}
fn same(found: &Array2<f64>, expected: &Array2<f64>, what: &str) {
    assert!(found == expected, "{what}\n{found}\n{expected}");
}

/// Adds the derivative of e·|x_i − y_j|².
fn add(to: &mut [Array2<f64>; 2], [x, y]: [&Array2<f64>; 2], (i, j): (usize, usize), e: f64) {
    for c in 0..3 {
        let slope = 2.0 * e * (x[[i, c]] - y[[j, c]]);
        to[0][[i, c]] += slope;
        to[1][[j, c]] -= slope;
    }
}

fn zeros(m: usize, n: usize) -> [Array2<f64>; 2] {
    [Array2::zeros((m, 3)), Array2::zeros((n, 3))]
}

/// Points, some of them not numbers.
fn points(m: usize, n: usize) -> [Array2<f64>; 2] {
    let (mut x, mut y) = (grid(m, 1), grid(n, 2));
    if m > 2 {
        x[[2, 1]] = NAN;
    }
    for row in (1..n).step_by(3) {
        y[[row, 0]] = NAN;
    }
    [x, y]
}

#[test]
fn a_minimum() -> Result<(), Error> {
    for (m, n) in SIZES {
        let [x, y] = points(m, n);
        let e = cotangent(m);
        let mut expected = zeros(m, n);
        for i in 0..m {
            for j in smallest(n, 1, |j| sqdist(&x, &y, i, j)) {
                add(&mut expected, [&x, &y], (i, j), e[i]);
            }
        }
        for level in Level::supported() {
            let what = format!("{m} by {n} on {level:?}");
            let found = nearest(&x, &y).level(level).vjp(&e)?;
            same(&found.x_i, &expected[0], &what);
            same(&found.y_j, &expected[1], &what);
            let one = nearest(&x, &y).level(level).grad_y_j(&e)?;
            same(&one, &expected[1], &what);
            let (_, found) = nearest(&x, &y).level(level).value_and_vjp(&e)?;
            same(&found.y_j, &expected[1], &what);
            if n > 0 {
                let found = nearest_with_index(&x, &y).level(level).vjp((&e, ()))?;
                same(&found.x_i, &expected[0], &what);
            }
            let (x, y, e) = (
                x.mapv(|v| v as f32),
                y.mapv(|v| v as f32),
                e.mapv(|v| v as f32),
            );
            let found = nearest(&x, &y).level(level).vjp(&e)?;
            same(&found.x_i.mapv(f64::from), &expected[0], &what);
            same(&found.y_j.mapv(f64::from), &expected[1], &what);
        }
    }
    Ok(())
}

#[test]
fn a_maximum_over_i() -> Result<(), Error> {
    for (n, m) in SIZES {
        let [x, y] = points(m, n);
        let e = cotangent(n);
        let mut expected = zeros(m, n);
        for j in 0..n {
            for i in smallest(m, 1, |i| -sqdist(&x, &y, i, j)) {
                add(&mut expected, [&x, &y], (i, j), e[j]);
            }
        }
        for level in Level::supported() {
            let found = farthest(&x, &y).level(level).vjp(&e)?;
            let what = format!("{m} by {n} on {level:?}");
            same(&found.x_i, &expected[0], &what);
            same(&found.y_j, &expected[1], &what);
        }
    }
    Ok(())
}

#[test]
fn the_three_smallest() -> Result<(), Error> {
    for (m, n) in SIZES {
        let [x, y] = points(m, n);
        let e = Array2::from_shape_fn((m, 3), |(i, k)| (i % 5) as f64 - k as f64);
        let mut expected = zeros(m, n);
        for i in 0..m {
            let rows = smallest(n, 3, |j| sqdist(&x, &y, i, j));
            for (k, j) in rows.into_iter().enumerate() {
                add(&mut expected, [&x, &y], (i, j), e[[i, k]]);
            }
        }
        for level in Level::supported() {
            let found = three(&x, &y).level(level).vjp(&e)?;
            let what = format!("{m} by {n} on {level:?}");
            same(&found.x_i, &expected[0], &what);
            same(&found.y_j, &expected[1], &what);
        }
    }
    Ok(())
}

#[test]
fn vectors_have_a_row_for_each_number() -> Result<(), Error> {
    for (m, n) in SIZES {
        let (x, y, s) = (grid(m, 1), grid(n, 2), 0.5);
        let e = Array2::from_shape_fn((m, 3), |(i, c)| (i % 5) as f64 - c as f64);
        let mut expected = zeros(m, n);
        let mut of_s = 0.0;
        for i in 0..m {
            for c in 0..3 {
                let value = |j: usize| (x[[i, c]] - y[[j, c]]) * y[[j, c]];
                for j in smallest(n, 1, |j| -value(j)) {
                    expected[0][[i, c]] += e[[i, c]] * s * y[[j, c]];
                    expected[1][[j, c]] += e[[i, c]] * s * (x[[i, c]] - 2.0 * y[[j, c]]);
                    of_s += e[[i, c]] * value(j);
                }
            }
        }
        for level in Level::supported() {
            let found = apart(&x, &y, s).level(level).vjp(&e)?;
            let what = format!("{m} by {n} on {level:?}");
            same(&found.x_i, &expected[0], &what);
            same(&found.y_j, &expected[1], &what);
            assert_eq!(found.s, of_s, "{what}");
        }
    }
    Ok(())
}

#[test]
fn two_choices_in_one_formula() -> Result<(), Error> {
    for (m, n) in SIZES {
        let [x, y] = points(m, n);
        let e = cotangent(m);
        let mut expected = zeros(m, n);
        for i in 0..m {
            for j in smallest(n, 1, |j| sqdist(&x, &y, i, j)) {
                add(&mut expected, [&x, &y], (i, j), e[i]);
            }
            for j in smallest(n, 1, |j| -sqdist(&x, &y, i, j)) {
                add(&mut expected, [&x, &y], (i, j), -e[i]);
            }
        }
        for level in Level::supported() {
            let found = both(&x, &y).level(level).vjp(&e)?;
            let what = format!("{m} by {n} on {level:?}");
            same(&found.x_i, &expected[0], &what);
            same(&found.y_j, &expected[1], &what);
        }
    }
    Ok(())
}

#[test]
fn rows_that_are_not_chosen_may_have_infinite_derivatives() -> Result<(), Error> {
    let (x, mut y) = (Array2::ones((40, 3)), Array2::ones((3400, 3)));
    // 1/0 is not the smallest, and its derivative is infinite.
    y[[5, 0]] = 0.0;
    y[[7, 0]] = 2.0;
    for level in Level::supported() {
        let found = least_inverse(&x, &y).level(level).vjp(&Array1::ones(40))?;
        let mut expected = Array2::zeros((3400, 3));
        expected[[7, 0]] = -40.0 / 4.0;
        same(&found.y_j, &expected, &format!("{level:?}"));
    }
    Ok(())
}

#[test]
fn derivatives_of_derivatives() -> Result<(), Error> {
    for (m, n) in [(7, 5), (60, 3400)] {
        let [x, y] = points(m, n);
        let (e, t, u) = (cotangent(m), grid(n, 3), grid(m, 4));
        let chosen: Vec<Vec<usize>> = (0..m)
            .map(|i| smallest(n, 1, |j| sqdist(&x, &y, i, j)))
            .collect();
        let rows = |row: &dyn Fn(usize, usize) -> Array1<f64>| {
            let mut to = Array2::zeros((m, 3));
            for (i, chosen) in chosen.iter().enumerate() {
                for &j in chosen {
                    to.row_mut(i).assign(&row(i, j));
                }
            }
            to
        };
        for level in Level::supported() {
            let what = format!("{m} by {n} on {level:?}");
            // d min / dy · t
            let found = along(&x, &y, &t).level(level).eval()?;
            let expected =
                rows(&|i, j| -2.0 * (&x.row(i) - &y.row(j)) * t.row(j)).sum_axis(Axis(1));
            assert!(found == expected, "{what}");
            // d (2·e·(x − y)) / dx · u, and its transpose with respect to y
            let found = slope_along(&x, &y, &e, &u).level(level).eval()?;
            let expected = rows(&|i, _| 2.0 * e[i] * &u.row(i));
            same(&found, &expected, &what);
            let found = slope_dy(&x, &y, &e, &u).level(level).eval()?;
            let mut expected = Array2::zeros((n, 3));
            for (i, chosen) in chosen.iter().enumerate() {
                for &j in chosen {
                    let mut row = expected.row_mut(j);
                    row -= &(2.0 * e[i] * &u.row(i));
                }
            }
            same(&found, &expected, &what);
            let found = inside(&x, &y).level(level).eval()?;
            let expected = rows(&|_, _| Array1::from_elem(3, 6.0)).column(0).to_owned();
            assert!(found == expected, "{what}");
        }
    }
    Ok(())
}

#[test]
fn numbers_that_were_not_chosen_add_nothing() {
    for n in [3, 3400] {
        let m = 60;
        // The first two rows have the least quotients of a number each, and a division by zero in the other.
        let mut y = Array2::from_elem((n, 2), 0.5);
        y.row_mut(0).assign(&Array1::from(vec![2.0, 0.0]));
        y.row_mut(1).assign(&Array1::from(vec![0.0, 2.0]));
        let x = Array2::ones((m, 2));
        let mut expected = Array2::zeros((n, 2));
        (expected[[0, 0]], expected[[1, 1]]) = (-15.0, -15.0);
        let half = Array2::from_elem((m, 2), 0.5);
        let g = least_quotients(&x, &y).vjp(&Array2::ones((m, 2))).unwrap();
        same(&g.y_j, &expected, "min");
        same(&g.x_i, &half, "min, x");
        let g = one_of_quotients(&x, &y)
            .vjp(&Array3::ones((m, 1, 2)))
            .unwrap();
        same(&g.y_j, &expected, "kmin::<1>");
        same(&g.x_i, &half, "kmin::<1>, x");
        let scalars = Array1::ones(m);
        let g = mixed(&scalars, &y).vjp(&Array2::ones((m, 2))).unwrap();
        same(&g.y_j, &expected, "numbers in brackets");
        assert_eq!(g.x_i, scalars, "numbers in brackets, x");
        // The largest product is the first row's, and so is the quotient −1/y of the largest |y|; the second row divides by 2.
        let g = joined(&scalars, &y).vjp(&Array2::ones((m, 2))).unwrap();
        let mut expected = Array2::zeros((n, 2));
        (expected[[0, 0]], expected[[1, 1]]) = (60.0, 15.0);
        same(&g.y_j, &expected, "concat");
        assert_eq!(g.x_i, Array1::from_elem(m, 1.5), "concat, x");
        // The second least are those of the third row, at 1/2.
        let mut e = Array3::zeros((m, 2, 2));
        e.index_axis_mut(Axis(1), 1).fill(1.0);
        let g = two_of_quotients(&x, &y).vjp(&e).unwrap();
        let mut expected = Array2::zeros((n, 2));
        expected.row_mut(2).fill(-240.0);
        same(&g.y_j, &expected, "kmin::<2>");
        same(&g.x_i, &Array2::from_elem((m, 2), 2.0), "kmin::<2>, x");
    }
}
