//! `keops-bench accuracy`: the largest errors of functions and reductions, against f64.
//!
//! Functions are measured in units in the last place of the result's type, against the standard library's f64 function; at
//! f64 that has an error of its own of about half a unit. Reductions are measured relative to Σ |terms| (for means,
//! divided by what the mean divides by), against sums of exact f64 products with compensation, on the same rounded inputs.

use crate::data::{Data, Number};
use crate::functions::{self, Range};
use keops::ndarray::Array1;
use keops::{Accumulate, Error, keops};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// Arguments drawn for each function and range.
const SAMPLES: usize = 200_000;
/// Rows of i for each reduction.
const ROWS: usize = 16;

keops! {
    fn sum<T>(x_i: [T; 3], y_j: [T; 3], b_j: T) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    fn mean<T>(x_i: [T; 3], y_j: [T; 3], b_j: T) = mean_j exp(-sqdist(x_i, y_j)) * b_j;
    fn logsumexp<T>(x_i: [T; 3], y_j: [T; 3]) = logsumexp_j(-sqdist(x_i, y_j));
    fn softmax<T>(x_i: [T; 3], y_j: [T; 3], b_j: T) = sumsoftmaxweight_j(-sqdist(x_i, y_j), b_j);
    fn min<T>(x_i: [T; 3], y_j: [T; 3]) = min_j sqdist(x_i, y_j);
    fn max<T>(x_i: [T; 3], y_j: [T; 3]) = max_j sqdist(x_i, y_j);
    fn kmin<T>(x_i: [T; 3], y_j: [T; 3]) = kmin_j::<10> sqdist(x_i, y_j);
    fn argmin<T>(x_i: [T; 3], y_j: [T; 3]) = argmin_j sqdist(x_i, y_j);
    fn argmax<T>(x_i: [T; 3], y_j: [T; 3]) = argmax_j sqdist(x_i, y_j);
    fn argkmin<T>(x_i: [T; 3], y_j: [T; 3]) = argkmin_j::<10> sqdist(x_i, y_j);
}

/// Prints the report.
pub(crate) fn report() -> Result<(), String> {
    functions::<f32>()
        .and_then(|()| functions::<f64>())
        .map_err(|e| e.to_string())?;
    for n in [10_000, 1_000_000] {
        reductions::<f32>(n)
            .and_then(|()| reductions::<f64>(n))
            .map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn functions<T: Number>() -> Result<(), Error> {
    println!(
        "functions, {}: largest error in ulp over {SAMPLES} arguments a range",
        T::NAME
    );
    let mut random = SmallRng::seed_from_u64(5);
    for function in functions::all::<T>() {
        let mut words = vec![];
        for &range in function.ranges {
            let x = Array1::from_shape_simple_fn(SAMPLES, || T::round(draw(&mut random, range)));
            let got = (function.keops)(&x, &[T::round(1.0)])?;
            let errors = x.iter().zip(&got).map(|(x, got)| {
                let exact = (function.exact)(x.wide());
                (got.wide() - exact).abs() / ulp::<T>(exact)
            });
            words.push(format!("{} {:.2}", name(range), errors.fold(0.0, f64::max)));
        }
        println!("  {:<10} {}", function.name, words.join("   "));
    }
    Ok(())
}

fn draw(random: &mut SmallRng, range: Range) -> f64 {
    match range {
        Range::Uniform(a, b) => a + (b - a) * random.random::<f64>(),
        Range::Powers(a, b) => 10f64.powf(a + (b - a) * random.random::<f64>()),
    }
}

fn name(range: Range) -> String {
    match range {
        Range::Uniform(a, b) => format!("[{a}, {b}]"),
        Range::Powers(a, b) => format!("[1e{a}, 1e{b}]"),
    }
}

/// A unit in the last place of `x` rounded to `T`.
fn ulp<T: Number>(x: f64) -> f64 {
    let (digits, least) = if T::NAME == "float32" {
        (23, -126)
    } else {
        (52, -1022)
    };
    let exponent = if x == 0.0 {
        least
    } else {
        (x.abs().log2().floor() as i32).max(least)
    };
    2f64.powi(exponent - digits)
}

/// Σ with an error near one rounding.
fn compensated(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut rest) = (0.0f64, 0.0f64);
    for term in terms {
        let next = sum + term;
        rest += if sum.abs() >= term.abs() {
            (sum - next) + term
        } else {
            (term - next) + sum
        };
        sum = next;
    }
    sum + rest
}

/// What each reduction should give for one row, and Σ |terms| of its sum.
struct Expected {
    distances: Vec<f64>,
    sum: f64,
    of_magnitudes: f64,
    exponentials: f64,
}

impl Expected {
    fn new(x: &[f64; 3], data: &Data<f64, 3>) -> Expected {
        let squares = |y: &[f64; 3]| (0..3).map(|d| (x[d] - y[d]) * (x[d] - y[d])).sum::<f64>();
        let distances: Vec<f64> = data.y.iter().map(squares).collect();
        let weighted = || distances.iter().zip(&data.b).map(|(s, b)| (-s).exp() * b);
        Expected {
            sum: compensated(weighted()),
            of_magnitudes: compensated(weighted().map(f64::abs)),
            exponentials: compensated(distances.iter().map(|s| (-s).exp())),
            distances,
        }
    }
    /// The `k` least distances.
    fn least(&self, k: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.distances.len()).collect();
        order.select_nth_unstable_by(k, |&a, &b| {
            self.distances[a]
                .total_cmp(&self.distances[b])
                .then(a.cmp(&b))
        });
        order.truncate(k);
        order.sort_by(|&a, &b| {
            self.distances[a]
                .total_cmp(&self.distances[b])
                .then(a.cmp(&b))
        });
        order
    }
}

/// The largest of `error(row, value of the row)`.
fn largest<V>(
    rows: &[Expected],
    values: impl IntoIterator<Item = V>,
    error: impl Fn(&Expected, V) -> f64,
) -> f64 {
    rows.iter()
        .zip(values)
        .map(|(row, value)| error(row, value))
        .fold(0.0, f64::max)
}

fn reductions<T: Number>(n: usize) -> Result<(), Error> {
    let data = Data::<T, 3>::uniform(ROWS, n);
    let signed: Vec<T> = data.b.iter().map(|&b| b - T::round(0.5)).collect();
    let exact = data.wide();
    let rows: Vec<Expected> = exact.x.iter().map(|x| Expected::new(x, &exact)).collect();
    let signed_exact = Data {
        b: signed.iter().map(|b| b.wide()).collect(),
        ..exact.clone()
    };
    let signed_rows: Vec<Expected> = exact
        .x
        .iter()
        .map(|x| Expected::new(x, &signed_exact))
        .collect();
    let (x, y, b) = (&data.x, &data.y, &data.b);

    println!(
        "reductions, {}, N = {n}, {ROWS} rows: largest error relative to the sum of magnitudes",
        T::NAME
    );
    let of_sum = |row: &Expected, v: T| (v.wide() - row.sum).abs() / row.of_magnitudes;
    for (name, accumulate) in [
        ("block", Accumulate::Block),
        ("f64", Accumulate::F64),
        ("Kahan", Accumulate::Kahan),
    ] {
        let positive = largest(&rows, sum(x, y, b).accumulate(accumulate).eval()?, of_sum);
        let mixed = largest(
            &signed_rows,
            sum(x, y, &signed).accumulate(accumulate).eval()?,
            of_sum,
        );
        println!("  sum, {name:<6} {positive:.1e}, weights of both signs {mixed:.1e}");
    }
    let of_mean = |row: &Expected, v: T| (v.wide() * n as f64 - row.sum).abs() / row.of_magnitudes;
    println!(
        "  mean        {:.1e}",
        largest(&rows, mean(x, y, b).eval()?, of_mean)
    );
    let of_log = |row: &Expected, v: T| (v.wide() - row.exponentials.ln()).abs();
    println!(
        "  logsumexp   {:.1e} (absolute: relative in the sum)",
        largest(&rows, logsumexp(x, y).eval()?, of_log)
    );
    let of_softmax =
        |row: &Expected, v: T| (v.wide() * row.exponentials - row.sum).abs() / row.of_magnitudes;
    println!(
        "  softmax     {:.1e}",
        largest(&rows, softmax(x, y, b).eval()?, of_softmax)
    );

    let relative = |got: T, exact: f64| (got.wide() - exact).abs() / exact;
    let at = |row: &Expected, k: usize| row.distances[row.least(k)[k - 1]];
    let of_max =
        |row: &Expected, v: T| relative(v, row.distances.iter().copied().fold(0.0, f64::max));
    println!(
        "  min         {:.1e}",
        largest(&rows, min(x, y).eval()?, |row, v| relative(v, at(row, 1)))
    );
    println!(
        "  max         {:.1e}",
        largest(&rows, max(x, y).eval()?, of_max)
    );
    let values = kmin(x, y).eval()?;
    let of_kmin = |row: &Expected, v: keops::ndarray::ArrayView1<'_, T>| {
        let least = row.least(10);
        v.iter()
            .zip(least)
            .map(|(&v, j)| relative(v, row.distances[j]))
            .fold(0.0, f64::max)
    };
    println!(
        "  kmin        {:.1e}",
        largest(&rows, values.rows(), of_kmin)
    );

    // An index counts as right where its distance is the exact one up to rounding: nearer points than that are a tie.
    let off =
        |row: &Expected, index: usize, exact: f64| (row.distances[index] - exact).abs() / exact;
    let of_argmin = |row: &Expected, j: usize| off(row, j, at(row, 1));
    let of_argmax =
        |row: &Expected, j: usize| off(row, j, row.distances.iter().copied().fold(0.0, f64::max));
    println!(
        "  argmin      {:.1e} (distance at the index)",
        largest(&rows, argmin(x, y).eval()?, of_argmin)
    );
    println!(
        "  argmax      {:.1e} (distance at the index)",
        largest(&rows, argmax(x, y).eval()?, of_argmax)
    );
    let indices = argkmin(x, y).eval()?;
    let of_argkmin = |row: &Expected, v: keops::ndarray::ArrayView1<'_, usize>| {
        let least = row.least(10);
        v.iter()
            .zip(least)
            .map(|(&got, j)| off(row, got, row.distances[j]))
            .fold(0.0, f64::max)
    };
    println!(
        "  argkmin     {:.1e} (distances at the indices)",
        largest(&rows, indices.rows(), of_argkmin)
    );
    Ok(())
}
