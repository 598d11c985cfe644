//! Timing, errors and the JSON lines.

use crate::data::Number;
use cpu_time::ProcessTime;
use keops::Error;
use keops::ndarray::{Array, Dimension};
use std::fmt::Write;
use std::time::Instant;

/// What a case computes. The result of a formula is kept as it is until [`Output::read`], outside of the clock.
pub(crate) enum Output {
    Values(Vec<f64>),
    Indices(Vec<usize>),
    Kept(Box<dyn FnOnce() -> Output + Send>),
}

impl Output {
    pub(crate) fn values<T: Number>(values: impl Iterator<Item = T>) -> Output {
        Output::Values(values.map(T::wide).collect())
    }
    pub(crate) fn indices(indices: impl Iterator<Item = usize>) -> Output {
        Output::Indices(indices.collect())
    }
    /// The result of a formula.
    pub(crate) fn of<T: Number, N: Dimension + 'static>(
        result: Result<Array<T, N>, Error>,
    ) -> Output {
        let result = result.unwrap_or_else(|e| panic!("{e}"));
        Output::Kept(Box::new(move || Output::values(result.into_iter())))
    }
    /// The result of a formula with indices.
    pub(crate) fn of_indices<N: Dimension + 'static>(
        result: Result<Array<usize, N>, Error>,
    ) -> Output {
        let result = result.unwrap_or_else(|e| panic!("{e}"));
        Output::Kept(Box::new(move || Output::indices(result.into_iter())))
    }
    /// The numbers.
    fn read(self) -> Output {
        match self {
            Output::Kept(read) => read(),
            other => other,
        }
    }
}

/// Relative L2 error; the share of different indices.
pub(crate) fn relative_error(got: Output, expected: Output) -> f64 {
    match (got.read(), expected.read()) {
        (Output::Values(a), Output::Values(b)) => {
            let difference: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
            (difference / b.iter().map(|b| b * b).sum::<f64>()).sqrt()
        }
        (Output::Indices(a), Output::Indices(b)) => {
            a.iter().zip(&b).filter(|(a, b)| a != b).count() as f64 / a.len() as f64
        }
        _ => f64::NAN,
    }
}

/// Times of some runs.
pub(crate) struct Timing {
    seconds: f64,
    wall: f64,
    least: f64,
    runs: usize,
}

/// Runs once to warm up, then `runs` times. Short calls are timed many at once, and counted each.
pub(crate) fn measure<R>(runs: usize, threads: usize, f: impl Fn() -> R) -> (Timing, R) {
    let result = f();
    let once = Instant::now();
    std::hint::black_box(f());
    let inner = (2e-4 / once.elapsed().as_secs_f64().max(1e-8)).clamp(1.0, 1e4) as usize;
    let mut times: Vec<(f64, f64)> = (0..runs)
        .map(|_| {
            let (wall, cpu) = (Instant::now(), ProcessTime::now());
            for _ in 0..inner {
                std::hint::black_box(f());
            }
            let each = |seconds: f64| seconds / inner as f64;
            let (wall, cpu) = (
                each(wall.elapsed().as_secs_f64()),
                each(cpu.elapsed().as_secs_f64()),
            );
            (wall.min(cpu / threads as f64), wall)
        })
        .collect();
    let walls = {
        let mut walls: Vec<f64> = times.iter().map(|t| t.1).collect();
        walls.sort_by(f64::total_cmp);
        walls
    };
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    (
        Timing {
            seconds: times[runs / 2].0,
            wall: walls[runs / 2],
            least: times[0].0,
            runs,
        },
        result,
    )
}

/// One measurement.
pub(crate) struct Line {
    pub(crate) system: &'static str,
    pub(crate) case: String,
    pub(crate) dtype: &'static str,
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) d: usize,
    pub(crate) timing: Timing,
    pub(crate) threads: usize,
    pub(crate) relative_error: Option<f64>,
}

impl Line {
    pub(crate) fn seconds(&self) -> f64 {
        self.timing.seconds
    }

    /// 10⁹ pairs per second.
    pub(crate) fn gpairs(&self) -> f64 {
        self.m as f64 * self.n as f64 / self.timing.seconds / 1e9
    }

    pub(crate) fn json(&self) -> String {
        let Line {
            system,
            case,
            dtype,
            m,
            n,
            d,
            threads,
            ..
        } = self;
        let Timing {
            seconds,
            wall,
            least,
            runs,
        } = self.timing;
        let mut line = format!(
            "{{\"system\": \"{system}\", \"case\": \"{case}\", \"dtype\": \"{dtype}\", \"M\": {m}, \"N\": {n}, \"D\": {d}, \
             \"seconds\": {seconds:.6e}, \"gpairs_per_s\": {:.4}, \"wall_seconds\": {wall:.6e}, \
             \"min_seconds\": {least:.6e}, \"runs\": {runs}, \"threads\": {threads}",
            self.gpairs()
        );
        if let Some(error) = self.relative_error {
            // Writing to a string cannot fail.
            let _ = write!(line, ", \"rel_err\": {error:.4e}");
        }
        line + "}"
    }
}
