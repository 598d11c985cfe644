//! Precision of sums under each `Accumulate`.
use keops_runtime::__private::table;
use keops_runtime::{Accumulate, Options};

use crate::data::{Number, Variable, random, run_at};
use crate::functions::MEAN;
use crate::kernels::Mean;
use keops_runtime::__private::Level;

/// The largest error of a mean of n numbers, relative to the mean of magnitudes.
fn error<T: Number>(n: usize, accumulate: Accumulate) -> f64 {
    let b = random(5, n);
    let exact: f64 = b.iter().sum();
    let size: f64 = b.iter().map(|b| b.abs()).sum();
    let b = Variable::<T>::new(&b, 1);
    let mut worst = 0.0f64;
    for level in Level::supported() {
        let options = Options::new().level(level).accumulate(accumulate);
        let found = run_at(&MEAN, &[table::<T, Mean>()], &[&b.rows()], options);
        worst = worst.max((found[0].values()[0] * n as f64 - exact).abs() / size);
    }
    worst
}

#[test]
fn block_sums_do_not_lose_with_the_number_of_rows() {
    for n in [10_000, 1_000_000] {
        let worst = error::<f32>(n, Accumulate::Block);
        assert!(worst < 2e-7, "{n} rows: {worst:e}");
    }
}

#[test]
fn compensated_sums_are_exact_to_the_last_rounding() {
    // The numbers have 20 bits, so that their f64 sum is exact, and a compensated f32 sum rounds once at the end and once
    // more in the division.
    for accumulate in [Accumulate::Kahan, Accumulate::F64] {
        for n in [1000, 1_000_000] {
            let b = random(5, n);
            let exact = b.iter().sum::<f64>() / n as f64;
            let b = Variable::<f32>::new(&b, 1);
            for level in Level::supported() {
                let options = Options::new().level(level).accumulate(accumulate);
                let found = run_at(&MEAN, &[table::<f32, Mean>()], &[&b.rows()], options);
                let error = (found[0].values()[0] - exact).abs() / exact.abs();
                assert!(error < 1.3e-7, "{level:?} {accumulate:?} {n}: {error:e}");
            }
        }
    }
}
