//! Pairs per second of the CPU engine on one thread, per kernel and instruction set, beside a plain scalar loop.
//!
//! `cargo run --release -p keops-runtime --example throughput -- [rows] [name]`: 10000 rows on each side by default, of
//! all kernels or those whose name contains `name`. Computing time counts, so that
//! others may use the machine.
#[allow(dead_code, reason = "shared with the tests")]
#[path = "../tests/engine/data.rs"]
mod data;
#[allow(dead_code, reason = "shared with the tests")]
#[path = "../tests/engine/functions.rs"]
mod functions;
#[allow(dead_code, reason = "shared with the tests")]
#[path = "../tests/engine/kernels.rs"]
mod kernels;

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

use data::{Number, Variable, random, run_at};
use keops_runtime::__private::{Function, Level, Rows, Table, table};
use keops_runtime::{Accumulate, Options};

/// Seconds that this thread has been computing, where the system tells (so that a busy neighbour does not count), or
/// seconds on the clock.
fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let computing = std::fs::read_to_string("/proc/thread-self/schedstat");
    match computing
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
    {
        Some(nanoseconds) => nanoseconds / 1e9,
        None => START.get_or_init(Instant::now).elapsed().as_secs_f64(),
    }
}

/// Seconds of one run: the least of three means over a third of a second, which is far more than the clock's ticks.
fn least(mut run: impl FnMut()) -> f64 {
    run();
    (0..3).fold(f64::INFINITY, |least, _| {
        let (start, mut runs) = (seconds(), 0);
        loop {
            run();
            runs += 1;
            let spent = seconds() - start;
            if spent > 0.33 {
                return least.min(spent / f64::from(runs));
            }
        }
    })
}

/// One line: Gpairs/s on each instruction set.
fn line<T: Number>(
    name: &str,
    function: &'static Function,
    table: Table<T>,
    inputs: &[&Rows<'_, T>],
    pairs: f64,
) {
    if std::env::args()
        .nth(2)
        .is_some_and(|wish| !name.contains(&wish))
    {
        return;
    }
    print!("{name:24}");
    for level in Level::supported() {
        let options = Options::new().level(level);
        let tables = std::slice::from_ref(&table);
        let seconds = least(|| drop(black_box(run_at(function, tables, inputs, options))));
        print!("  {} {:6.3}", level.name(), pairs / seconds / 1e9);
        if name.contains("kahan") {
            let options = options.accumulate(Accumulate::Kahan);
            let seconds = least(|| drop(black_box(run_at(function, tables, inputs, options))));
            print!(" ({:6.3} compensated)", pairs / seconds / 1e9);
        }
    }
    println!();
}

/// The Gaussian sum as one would write it.
fn plain_loop(x: &[f32], y: &[f32], b: &[f32], out: &mut [f32]) {
    for (x, out) in x.chunks_exact(3).zip(out) {
        let mut sum = 0.0;
        for (y, b) in y.chunks_exact(3).zip(b) {
            let (t0, t1, t2) = (x[0] - y[0], x[1] - y[1], x[2] - y[2]);
            sum += (-(t0 * t0 + t1 * t1 + t2 * t2)).exp() * b;
        }
        *out = sum;
    }
}

fn all<T: Number>(rows: usize, name: &str) {
    let pairs = (rows * rows) as f64;
    let (x, y) = (random(1, 64 * rows), random(2, 64 * rows));
    let (wide_x, wide_y) = (Variable::<T>::new(&x, 64), Variable::new(&y, 64));
    let (x1, y1) = (
        Variable::<T>::new(&x[..rows], 1),
        Variable::new(&y[..rows], 1),
    );
    let (x, y) = (
        Variable::<T>::new(&x[..3 * rows], 3),
        Variable::new(&y[..3 * rows], 3),
    );
    let b = Variable::new(&random(3, rows), 1);
    let (x, y, b, wide_x, wide_y, x1, y1) = (
        x.rows(),
        y.rows(),
        b.rows(),
        wide_x.rows(),
        wide_y.rows(),
        x1.rows(),
        y1.rows(),
    );
    let gauss = || table::<T, kernels::Gauss<3>>();
    line(
        &format!("gauss 3 {name}"),
        &functions::GAUSS,
        gauss(),
        &[&x, &y, &b],
        pairs,
    );
    line(
        &format!("gauss 3 kahan {name}"),
        &functions::GAUSS,
        gauss(),
        &[&x, &y, &b],
        pairs,
    );
    line(
        &format!("gauss 64 {name}"),
        &functions::GAUSS_64,
        table::<T, kernels::Gauss<64>>(),
        &[&wide_x, &wide_y, &b],
        pairs,
    );
    line(
        &format!("gradient {name}"),
        &functions::GRADIENT,
        table::<T, kernels::Gradient>(),
        &[&x, &y, &b, &b],
        pairs,
    );
    line(
        &format!("logsumexp {name}"),
        &functions::LOG_SUM_EXP,
        table::<T, kernels::LogSumExp>(),
        &[&x, &y],
        pairs,
    );
    line(
        &format!("softmax {name}"),
        &functions::SOFTMAX,
        table::<T, kernels::Softmax>(),
        &[&x1, &y1, &b],
        pairs,
    );
    line(
        &format!("argmin {name}"),
        &functions::ARGMIN,
        table::<T, kernels::ArgMin>(),
        &[&x, &y],
        pairs,
    );
    line(
        &format!("argkmin 4 {name}"),
        &functions::NEAREST_4,
        table::<T, kernels::Nearest<4>>(),
        &[&x, &y, &b],
        pairs,
    );
}

/// A single outer row: lanes run over inner rows.
fn single<T: Number>(rows: usize, name: &str) {
    let (x, y, b) = (random(1, 3), random(2, 3 * rows), random(3, rows));
    let (x, y, b) = (
        Variable::<T>::new(&x, 3),
        Variable::new(&y, 3),
        Variable::new(&b, 1),
    );
    let (x, y, b) = (x.rows(), y.rows(), b.rows());
    let table = table::<T, kernels::Gauss<3>>();
    line(
        &format!("one row {name}"),
        &functions::GAUSS,
        table,
        &[&x, &y, &b],
        rows as f64,
    );
}

/// Microseconds of a call with 10 rows on each side.
fn overhead() {
    let (x, b) = (
        Variable::<f32>::new(&random(1, 30), 3),
        Variable::new(&random(3, 10), 1),
    );
    let (x, b) = (x.rows(), b.rows());
    let tables = [table::<f32, kernels::Gauss<3>>()];
    let call = || {
        for _ in 0..1000 {
            let inputs = [&x, &x, &b];
            drop(black_box(keops_runtime::__private::run(
                &functions::GAUSS,
                &tables,
                &inputs,
                &Options::new(),
            )));
        }
    };
    println!(
        "10 × 10                   {:.2} µs a call",
        1e3 * least(call)
    );
}

fn main() {
    let rows = std::env::args()
        .nth(1)
        .map_or(10_000, |rows| rows.parse().expect("a number of rows"));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("one thread");
    pool.install(|| {
        println!("Gpairs/s on one thread, {rows} rows on each side");
        let few = rows.min(2000);
        let (x, b) = (
            data::to::<f32>(&random(1, 3 * few)),
            data::to::<f32>(&random(3, few)),
        );
        let mut out = vec![0.0; few];
        let seconds = least(|| plain_loop(black_box(&x), &x, &b, black_box(&mut out)));
        println!(
            "plain loop, gauss 3 f32   {:6.3}",
            (few * few) as f64 / seconds / 1e9
        );
        overhead();
        all::<f32>(rows, "f32");
        all::<f64>(rows, "f64");
        single::<f32>(100 * rows, "f32");
        single::<f64>(100 * rows, "f64");
    });
}
