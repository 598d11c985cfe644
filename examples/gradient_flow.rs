//! Moves a cloud of points onto another by the gradient of their energy distance.
//!
//! ```sh
//! cargo run --release --example gradient_flow
//! ```
//!
//! The energy distance of two clouds is a kernel discrepancy (MMD) with the kernel −|x − y|:
//!
//! E(x, y) = 1/(M N) Σ_ij |x_i − y_j| − 1/(2 M²) Σ_ij |x_i − x_j| − 1/(2 N²) Σ_ij |y_i − y_j| ≥ 0,
//!
//! and 0 only where the clouds have the same distribution (G. J. Székely and M. L. Rizzo, 2013, J. Stat. Plan. Inference 143).
//! Each term is one call of `distances`, and its derivative one call of `grad_x_i`: no M × N matrix, no derivative by hand.

mod picture;

use keops::{Error as KeopsError, keops};
use ndarray::{Array1, Array2};
use plotters::prelude::*;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use rand_distr::StandardNormal;
use std::error::Error;
use std::f32::consts::TAU;
use std::time::Instant;

const M: usize = 3000;
const N: usize = 4000;
const STEPS: usize = 400;
const STEP: f32 = 0.05;

keops! {
    /// Sum of the distances from x_i to all y_j.
    fn distances(x_i: [f32; 2], y_j: [f32; 2]) = sum_j dist(x_i, y_j);
}

/// Half the mean distance within a cloud.
fn spread(x: &Array2<f32>) -> Result<f64, KeopsError> {
    Ok(0.5 * mean(&distances(x, x).eval()?, x.nrows()))
}

/// The mean distance, from sums over `n` points.
fn mean(sums: &Array1<f32>, n: usize) -> f64 {
    sums.iter().map(|&s| f64::from(s)).sum::<f64>() / (sums.len() as f64 * n as f64)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut random = SmallRng::seed_from_u64(7);
    let start = disc(&mut random);
    let target = spiral(&mut random);
    let spread_of_target = spread(&target)?;
    let loss = |x: &Array2<f32>| -> Result<f64, KeopsError> {
        Ok(mean(&distances(x, &target).eval()?, N) - spread(x)? - spread_of_target)
    };

    let ones = Array1::from_elem(M, 1.0f32);
    let mut x = start.clone();
    let mut losses = vec![loss(&x)?];
    println!("step {:3}: energy distance {:.6}", 0, losses[0]);
    let clock = Instant::now();
    for step in 1..=STEPS {
        // M times the gradient, so that a point's step does not depend on how many points there are. The inner term
        // depends on x twice, and its factor ½ makes up for that.
        let towards: Array2<f32> = distances(&x, &target).grad_x_i(&ones)?;
        let apart: Array2<f32> = distances(&x, &x).grad_x_i(&ones)?;
        x = x - (towards / N as f32 - apart / M as f32) * STEP;
        if step % 50 == 0 {
            losses.push(loss(&x)?);
            println!(
                "step {step:3}: energy distance {:.6}",
                losses[losses.len() - 1]
            );
        }
    }
    println!(
        "{STEPS} steps of {M} points onto {N}: {:.2} s",
        clock.elapsed().as_secs_f64()
    );
    assert!(
        losses.is_sorted_by(|a, b| a > b),
        "the loss rose: {losses:?}"
    );
    let ratio = losses[losses.len() - 1] / losses[0];
    println!("the distance fell to {:.2} % of what it was", 100.0 * ratio);
    assert!(
        (0.0..0.01).contains(&ratio),
        "the flow did not reach the target"
    );

    plot(&start, &x, &target)
}

/// Points of a disc, uniformly.
fn disc(random: &mut SmallRng) -> Array2<f32> {
    let mut points = Array2::zeros((M, 2));
    for mut p in points.rows_mut() {
        let (r, a) = (
            0.45 * random.random::<f32>().sqrt(),
            TAU * random.random::<f32>(),
        );
        (p[0], p[1]) = (r * a.cos(), r * a.sin());
    }
    points
}

/// Points along two arms of a spiral.
fn spiral(random: &mut SmallRng) -> Array2<f32> {
    let mut points = Array2::zeros((N, 2));
    for (n, mut p) in points.rows_mut().into_iter().enumerate() {
        let along = random.random::<f32>().sqrt();
        let (r, a) = (
            along,
            1.15 * TAU * along + if n % 2 == 0 { 0.0 } else { TAU / 2.0 },
        );
        let mut noise = || 0.022 * random.sample::<f32, _>(StandardNormal);
        (p[0], p[1]) = (r * a.cos() + noise(), r * a.sin() + noise());
    }
    points
}

/// Start, end and target side by side; each point keeps the colour of where it started.
fn plot(
    start: &Array2<f32>,
    end: &Array2<f32>,
    target: &Array2<f32>,
) -> Result<(), Box<dyn Error>> {
    let hue = |n: usize| {
        HSLColor(
            f64::from(start[[n, 1]].atan2(start[[n, 0]]) / TAU + 0.5),
            0.75,
            0.45,
        )
    };
    picture::save("gradient_flow.png", (1260, 460), |area| {
        let panels = area.split_evenly((1, 3));
        let captions = [
            "before".to_owned(),
            format!("after {STEPS} steps"),
            "target".to_owned(),
        ];
        for (n, (panel, points)) in panels.iter().zip([start, end, target]).enumerate() {
            let mut chart = ChartBuilder::on(panel)
                .caption(&captions[n], picture::text(26))
                .margin(12)
                .build_cartesian_2d(-1.1f32..1.1, -1.1f32..1.1)?;
            chart
                .configure_mesh()
                .disable_mesh()
                .disable_axes()
                .draw()?;
            chart.draw_series(points.rows().into_iter().enumerate().map(|(i, p)| {
                let style = if n == 2 {
                    picture::INK.mix(0.7).filled()
                } else {
                    hue(i).mix(0.8).filled()
                };
                Circle::new((p[0], p[1]), 2, style)
            }))?;
        }
        Ok(())
    })
}
