//! Nadaraya–Watson regression: two reductions and their quotient in one pass over the data.
//!
//! ```sh
//! cargo run --release --example smooth
//! ```
//!
//! The estimate at x is the mean of the observed values, weighted by a Gaussian of their distance (E. A. Nadaraya, 1964,
//! Theory Probab. Appl. 9). The derivative with respect to the parameter `radius` comes with the formula; the example checks
//! it, and the estimate against the curve that the noisy observations came from.

mod picture;

use keops::keops;
use ndarray::Array1;
use plotters::prelude::*;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use rand_distr::StandardNormal;
use std::error::Error;

const OBSERVED: usize = 20_000;
const SHOWN: usize = 600;

keops! {
    /// Mean of the values b_j observed at y_j, weighted by exp(−(x_i − y_j)² / (2 radius²)).
    fn smooth<T>(x_i: T, y_j: T, b_j: T, radius: T) = {
        let k = exp(-square(x_i - y_j) / (2.0 * radius * radius));
        (sum_j k * b_j) / (sum_j k)
    };
}

/// The curve behind the observations.
fn curve(x: f64) -> f64 {
    (7.0 * x).sin() * (1.0 - 0.6 * x)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut random = SmallRng::seed_from_u64(3);
    let y = Array1::from_shape_simple_fn(OBSERVED, || random.random::<f64>());
    let b = y.mapv(|y| curve(y) + 0.35 * random.sample::<f64, _>(StandardNormal));
    let x = Array1::linspace(0.05, 0.95, SHOWN);

    let radius = 0.015;
    let estimate: Array1<f64> = smooth(&x, &y, &b, radius).eval()?;
    let worst = x
        .iter()
        .zip(&estimate)
        .map(|(&x, e)| (e - curve(x)).abs())
        .fold(0.0, f64::max);
    println!("formula: {}", Smooth::FORMULA);
    println!(
        "{OBSERVED} noisy observations: the estimate is within {worst:.3} of the curve everywhere"
    );
    assert!(worst < 0.07, "the estimate is off by {worst}");

    // How the sum of the estimates changes with the radius, against a central difference.
    let ones = Array1::ones(SHOWN);
    let slope: f64 = smooth(&x, &y, &b, radius).grad_radius(&ones)?;
    let total = |radius: f64| Ok::<f64, keops::Error>(smooth(&x, &y, &b, radius).eval()?.sum());
    let h = 1e-6;
    let difference = (total(radius + h)? - total(radius - h)?) / (2.0 * h);
    println!("derivative in radius {slope:.8}, by differences {difference:.8}");
    assert!(
        (slope - difference).abs() <= 1e-6 * slope.abs().max(1.0),
        "{slope} is not {difference}"
    );

    plot(&x, &estimate, &y, &b)
}

fn plot(
    x: &Array1<f64>,
    estimate: &Array1<f64>,
    y: &Array1<f64>,
    b: &Array1<f64>,
) -> Result<(), Box<dyn Error>> {
    picture::save("smooth.png", (1000, 520), |area| {
        let mut chart = ChartBuilder::on(area)
            .caption(
                format!("Nadaraya-Watson regression of {OBSERVED} observations"),
                picture::text(26),
            )
            .margin(14)
            .x_label_area_size(34)
            .y_label_area_size(48)
            .build_cartesian_2d(0.0..1.0, -1.8..2.2)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(picture::FAINT)
            .label_style(picture::text(17))
            .draw()?;
        chart
            .draw_series(
                y.iter()
                    .zip(b)
                    .step_by(4)
                    .map(|(&y, &b)| Circle::new((y, b), 1, picture::INK.mix(0.25).filled())),
            )?
            .label("observations (every fourth)")
            .legend(|(x, y)| Circle::new((x + 11, y), 2, picture::INK.mix(0.5).filled()));
        let points = x.iter().copied().zip(estimate.iter().copied());
        chart
            .draw_series(LineSeries::new(points, picture::BLUE.stroke_width(5)))?
            .label("estimate")
            .legend(|(x, y)| {
                PathElement::new([(x, y), (x + 22, y)], picture::BLUE.stroke_width(5))
            });
        chart
            .draw_series(LineSeries::new(
                x.iter().map(|&x| (x, curve(x))),
                picture::ORANGE.stroke_width(2),
            ))?
            .label("the curve behind them")
            .legend(|(x, y)| {
                PathElement::new([(x, y), (x + 22, y)], picture::ORANGE.stroke_width(2))
            });
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.9))
            .border_style(picture::FAINT)
            .label_font(picture::text(17))
            .draw()?;
        Ok(())
    })
}
