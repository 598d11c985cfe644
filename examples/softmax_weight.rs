//! The KeOps tutorial "SumSoftMaxWeight reduction": c_i = Σ_j exp(|x_i − y_j|²) b_j / Σ_j exp(|x_i − y_j|²).
//!
//! ```sh
//! cargo run --release --example softmax_weight
//! ```
//!
//! The exponentials overflow unless the largest of each row is subtracted first. `sumsoftmaxweight_j` does that in one
//! pass over j, in memory for M + N rows; the dense computation beside it needs the whole 5000 × 4000 matrix.

mod picture;

use keops::keops;
use ndarray::{Array1, Array2, Axis, Zip};
use picture::{BLUE, FAINT, ORANGE};
use plotters::prelude::*;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use rand_distr::StandardNormal;
use std::error::Error;
use std::time::{Duration, Instant};

const M: usize = 5000;
const N: usize = 4000;

keops! {
    /// Mean of the b_j with weights exp(|x_i − y_j|²).
    fn softmax_weight(x_i: [f64; 3], y_j: [f64; 3], b_j: [f64; 2]) = sumsoftmaxweight_j(sqdist(x_i, y_j), b_j);
}

/// The same by way of the M × N matrix, as one writes it with ndarray.
fn dense(x: &Array2<f64>, y: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    let mut weights = Array2::<f64>::zeros((x.nrows(), y.nrows()));
    for (x, y) in x.columns().into_iter().zip(y.columns()) {
        let (x, y) = (x.insert_axis(Axis(1)), y.insert_axis(Axis(0)));
        Zip::from(&mut weights)
            .and_broadcast(x)
            .and_broadcast(y)
            .for_each(|w, x, y| *w += (x - y) * (x - y));
    }
    for mut row in weights.rows_mut() {
        let largest = row.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        row.mapv_inplace(|s| (s - largest).exp());
    }
    let total: Array1<f64> = weights.sum_axis(Axis(1));
    weights.dot(b) / total.insert_axis(Axis(1))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut random = SmallRng::seed_from_u64(0);
    let x = Array2::from_shape_simple_fn((M, 3), || 2.0 * random.sample::<f64, _>(StandardNormal));
    let y = Array2::from_shape_simple_fn((N, 3), || 2.0 * random.sample::<f64, _>(StandardNormal));
    let b = Array2::from_shape_simple_fn((N, 2), || random.random::<f64>());

    let (c, keops_time) = fastest(5, || softmax_weight(&x, &y, &b).eval());
    let c: Array2<f64> = c?;
    let (expected, dense_time) = fastest(3, || dense(&x, &y, &b));

    let difference = &c - &expected;
    let error = difference.pow2().sum().sqrt() / expected.pow2().sum().sqrt();
    let largest = (difference / &expected).fold(0.0, |a: f64, e| a.max(e.abs()));
    println!("formula: {}", SoftmaxWeight::FORMULA);
    println!(
        "M = {M}, N = {N}, D = 3, Dv = 2, f64, {} threads",
        std::thread::available_parallelism()?
    );
    println!("keops:         {:7.1} ms", keops_time.as_secs_f64() * 1e3);
    println!("ndarray dense: {:7.1} ms", dense_time.as_secs_f64() * 1e3);
    println!("relative error {error:.1e} (of all values; the worst single value {largest:.1e})");
    assert!(error <= 1e-14, "the two computations differ by {error:e}");

    plot(&c, &expected)
}

/// The result and the shortest of some runs.
fn fastest<R>(runs: usize, mut f: impl FnMut() -> R) -> (R, Duration) {
    let mut timed = || {
        let start = Instant::now();
        let result = f();
        (result, start.elapsed())
    };
    let first = timed();
    (1..runs).map(|_| timed()).fold(
        first,
        |best, next| if next.1 < best.1 { next } else { best },
    )
}

/// The first 40 values of both components: keops as a line, the dense computation as circles.
fn plot(c: &Array2<f64>, expected: &Array2<f64>) -> Result<(), Box<dyn Error>> {
    const SHOWN: usize = 40;
    picture::save("softmax_weight.png", (1100, 700), |area| {
        let area = area.titled(
            "Softmax-weighted means: the first 40 rows",
            picture::text(26),
        )?;
        for (component, (panel, colour)) in area
            .split_evenly((2, 1))
            .iter()
            .zip([BLUE, ORANGE])
            .enumerate()
        {
            let mut chart = ChartBuilder::on(panel)
                .margin(12)
                .x_label_area_size(44)
                .y_label_area_size(64)
                .build_cartesian_2d(-0.5..SHOWN as f64 - 0.5, 0.0..1.25)?;
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(FAINT)
                .label_style(picture::text(17))
                .x_desc("i")
                .y_labels(6)
                .y_desc(format!("component {component}"))
                .x_label_formatter(&|x| format!("{x:.0}"))
                .draw()?;
            let values = |a: &Array2<f64>| {
                (0..SHOWN)
                    .map(|i| (i as f64, a[[i, component]]))
                    .collect::<Vec<_>>()
            };
            chart
                .draw_series(LineSeries::new(values(c), colour.stroke_width(2)))?
                .label("keops")
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 22, y)], colour.stroke_width(2))
                });
            chart
                .draw_series(
                    values(expected)
                        .into_iter()
                        .map(|at| Circle::new(at, 5, picture::INK)),
                )?
                .label("ndarray, dense")
                .legend(|(x, y)| Circle::new((x + 11, y), 5, picture::INK));
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperRight)
                .background_style(WHITE.mix(0.9))
                .border_style(FAINT)
                .label_font(picture::text(17))
                .draw()?;
        }
        Ok(())
    })
}
