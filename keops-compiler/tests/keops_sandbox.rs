//! The scripts that KeOps keeps for its past bugs (`pykeops/sandbox/issue_*.py`), as far as they are formulas, and its convolution of
//! an image, against plain loops. The other scripts, and where what they show is prevented, are in `docs/complaints.md`.

mod support;

use support::Random;
use support::text::{Rows, assert_rows, run};

const M: usize = 7;
const N: usize = 9;

fn rows(count: usize, width: usize, seed: u64) -> Rows {
    let mut random = Random(seed);
    (0..count)
        .map(|_| (0..width).map(|_| random.within((-1.0, 1.0))).collect())
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sqdist(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// One row per i: the sum over j.
fn sums(m: usize, n: usize, term: impl Fn(usize, usize) -> Vec<f64>) -> Rows {
    let add = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(b).map(|(a, b)| a + b).collect();
    (0..m)
        .map(|i| (0..n).map(|j| term(i, j)).reduce(add).expect("rows"))
        .collect()
}

/// The K nearest by distance, with their distances.
#[test]
fn issue_240() {
    let (x, y) = (rows(M, 3, 1), rows(N, 3, 2));
    let sorted = |x: &Vec<f64>| {
        let mut all: Vec<(f64, f64)> = (0..N)
            .map(|j| (sqdist(x, &y[j]).sqrt(), j as f64))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.truncate(5);
        all
    };
    let distances: Rows = x
        .iter()
        .map(|x| sorted(x).iter().map(|a| a.0).collect())
        .collect();
    let nearest: Rows = x
        .iter()
        .map(|x| sorted(x).iter().map(|a| a.1).collect())
        .collect();
    let text = |name: &str| {
        format!("fn f(x_i: [f64; 3], y_j: [f64; 3]) = {name}_j::<5> norm2(x_i - y_j);")
    };
    assert_rows(&run(&text("kmin"), &[&x, &y]), &distances, 1e-14, "kmin");
    assert_eq!(run(&text("argkmin"), &[&x, &y]), nearest);
}

/// The largest scalar product of 99 dimensions.
#[test]
fn issue_243() {
    let (x, y) = (rows(M, 99, 1), rows(N, 99, 2));
    let largest = |x: &Vec<f64>| {
        let best = (0..N).max_by(|&a, &b| dot(x, &y[a]).total_cmp(&dot(x, &y[b])));
        vec![best.expect("rows") as f64]
    };
    let expected: Rows = x.iter().map(largest).collect();
    let text = "fn f(x_i: [f64; 99], y_j: [f64; 99]) = argmax_j x_i | y_j;";
    assert_eq!(run(text, &[&x, &y]), expected);
}

/// A Vandermonde matrix by complex exponentials, times a vector.
#[test]
fn issue_275() {
    let (v, x) = (rows(N, 2, 1), rows(N, 2, 2));
    let powers: Rows = (0..M).map(|i| vec![i as f64, 0.0]).collect();
    let expected = sums(M, N, |i, j| {
        let (re, im) = (i as f64 * x[j][0], i as f64 * x[j][1]);
        let (a, b) = (re.exp() * im.cos(), re.exp() * im.sin());
        vec![v[j][0] * a - v[j][1] * b, v[j][0] * b + v[j][1] * a]
    });
    let text = "fn f(v_j: Complex<f64>, x_j: Complex<f64>, l_i: Complex<f64>) = sum_j v_j * exp(x_j * l_i);";
    assert_rows(&run(text, &[&v, &x, &powers]), &expected, 1e-12, text);
}

/// The gradient of a Gaussian, with the factor on either side.
#[test]
fn issue_282() {
    let (x, y, gamma) = (rows(M, 3, 1), rows(N, 3, 2), vec![vec![1.0]]);
    let expected = sums(M, N, |i, j| {
        let k = (-sqdist(&x[i], &y[j]) / 2.0).exp();
        (0..3).map(|d| -k * (x[i][d] - y[j][d])).collect()
    });
    for exponent in [
        "-sqdist(x_i, y_j) * gamma / 2",
        "-sqdist(x_i, y_j) * (gamma / 2)",
    ] {
        let text = format!(
            "fn f(x_i: [f64; 3], y_j: [f64; 3], gamma: f64) = sum_j -gamma * exp({exponent}) * (x_i - y_j);"
        );
        assert_rows(&run(&text, &[&x, &y, &gamma]), &expected, 1e-13, &text);
    }
}

/// A Fourier transform at points that are no grid.
#[test]
fn issue_328() {
    let (nu, x, b) = (rows(M, 3, 1), rows(N, 3, 2), rows(N, 2, 3));
    let expected = sums(M, N, |i, j| {
        let (sin, cos) = (-dot(&nu[i], &x[j])).sin_cos();
        vec![cos * b[j][0] - sin * b[j][1], cos * b[j][1] + sin * b[j][0]]
    });
    let text = "fn f(nu_i: [f64; 3], x_j: [f64; 3], b_j: Complex<f64>) = sum_j exp1j(-(nu_i | x_j)) * b_j;";
    assert_rows(&run(text, &[&nu, &x, &b]), &expected, 1e-12, text);
}

/// A Matérn kernel times the identity is the kernel's matrix, on its diagonal too.
#[test]
fn issue_335() {
    let x = rows(M, 3, 1);
    let identity: Rows = (0..M)
        .map(|i| (0..M).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    let matern = |d: f64| {
        let r = 5.0f64.sqrt() * d;
        (r + (1.0 + 5.0 / 3.0 * d * d)) * (-r).exp()
    };
    let expected: Rows = (0..M)
        .map(|i| {
            (0..M)
                .map(|j| matern(sqdist(&x[i], &x[j]).sqrt()))
                .collect()
        })
        .collect();
    let text = "fn f(x_i: [f64; 3], y_j: [f64; 3], e_j: [f64; 7]) = {
        let d = dist(x_i, y_j);
        sum_j (sqrt(5.0) * d + (1.0 + 5.0 / 3.0 * square(d))) * exp(-sqrt(5.0) * d) * e_j
    };";
    assert_rows(&run(text, &[&x, &x, &identity]), &expected, 1e-13, text);
}

/// An image convolved with a mask of 3 × 3: pixels are rows with their coordinates.
#[test]
fn conv2d() {
    const WIDE: usize = 6;
    const HIGH: usize = 5;
    let pixels: Rows = (0..WIDE * HIGH)
        .map(|k| vec![(k / WIDE) as f64, (k % WIDE) as f64])
        .collect();
    let (image, mask) = (rows(WIDE * HIGH, 1, 1), rows(1, 9, 2));
    let at = |r: i64, c: i64| {
        let inside = (0..HIGH as i64).contains(&r) && (0..WIDE as i64).contains(&c);
        if inside {
            image[r as usize * WIDE + c as usize][0]
        } else {
            0.0
        }
    };
    let mut expected: Rows = vec![];
    for r in 0..HIGH as i64 {
        for c in 0..WIDE as i64 {
            let near = (0..9i64).map(|k| mask[0][k as usize] * at(r + k / 3 - 1, c + k % 3 - 1));
            expected.push(vec![near.sum()]);
        }
    }
    let text = "fn f(mask: [f64; 9], x_i: [f64; 2], y_j: [f64; 2], b_j: f64) = sum_j {
        let d = y_j - x_i;
        let near = abs(d[0]) < 1.5 && abs(d[1]) < 1.5;
        if near { (mask | one_hot(3.0 * d[0] + d[1] + 4.0, 9)) * b_j } else { 0.0 }
    };";
    assert_rows(
        &run(text, &[&mask, &pixels, &pixels, &image]),
        &expected,
        1e-14,
        text,
    );
}
