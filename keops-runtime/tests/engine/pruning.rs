//! Passes that may skip tiles against the same passes in parts, each too small for that: equal to the bit.
use keops_runtime::__private::{Function, Level, Table, table};
use keops_runtime::Options;

use crate::data::{Number, Numbers, Variable, random, run_at};
use crate::functions::{ARGMIN, CLOSEST_NUMBER, NEAREST_1, NEAREST_4};
use crate::kernels::{ArgMin, ClosestNumber, Nearest};

/// Large enough on both sides that skipping is tried.
const ROWS: usize = 34_000;
/// Rows of a part, and where the parts begin that are compared.
const PART: usize = 500;
const PARTS: [usize; 3] = [0, 16_100, ROWS - PART];

/// Coordinates in [-1, 1): what makes points easy or hard to separate.
#[derive(Clone, Copy, Debug)]
enum Points {
    Uniform,
    /// Multiples of 1/16: many ties.
    Grid,
    /// Twelve small clusters.
    Clusters,
    /// All but the first coordinate equal.
    Line,
    /// All equal: nothing can be skipped.
    Equal,
    /// NaN and infinities among them.
    NotFinite,
}

fn points(kind: Points, seed: u64, rows: usize, columns: usize) -> Vec<f64> {
    let random = random(seed, rows * columns);
    let at = |k: usize, x: f64| match kind {
        Points::Uniform => x,
        Points::Grid => (x * 16.0).round() / 16.0,
        Points::Clusters => {
            let (cluster, column) = (k / columns % 12, k % columns);
            (cluster * 7 % 12 + 3 * column) as f64 / 8.0 + x / 256.0
        }
        Points::Line if !k.is_multiple_of(columns) => 0.25,
        Points::Line => x,
        Points::Equal => 0.5,
        Points::NotFinite => match k % 997 {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => f64::NEG_INFINITY,
            _ => x,
        },
    };
    random.iter().enumerate().map(|(k, &x)| at(k, x)).collect()
}

/// The rows from `start` on of an output of `all` rows.
fn part(output: &Numbers, start: usize, all: usize) -> Numbers {
    match output {
        Numbers::Values(v) => {
            let columns = v.len() / all;
            Numbers::Values(v[start * columns..(start + PART) * columns].to_vec())
        }
        Numbers::Indices(v) => {
            let columns = v.len() / all;
            Numbers::Indices(v[start * columns..(start + PART) * columns].to_vec())
        }
    }
}

fn check<T: Number>(
    function: &'static Function,
    tables: &[Table<T>],
    kind: Points,
    columns: usize,
    levels: &[Level],
) {
    let (x, y) = (
        points(kind, 1, ROWS, columns),
        points(kind, 2, ROWS + 33, columns),
    );
    let small: Vec<f64> = random(3, ROWS + 33).iter().map(|b| b / 256.0).collect();
    let b = Variable::<T>::new(&small, 1);
    let y = Variable::<T>::new(&y, columns);
    let third = b.rows();
    let run = |level, x: &[f64]| {
        let (x, y) = (Variable::<T>::new(x, columns), y.rows());
        let x = x.rows();
        let inputs = [&x, &y, &third];
        let inputs = &inputs[..function.inputs.len()];
        run_at(function, tables, inputs, Options::new().level(level))
    };
    for &level in levels {
        let whole = run(level, &x);
        for start in PARTS {
            let rows = &x[start * columns..(start + PART) * columns];
            let whole: Vec<Numbers> = whole.iter().map(|o| part(o, start, ROWS)).collect();
            let name = function.name;
            assert!(
                whole == run(level, rows),
                "{name} {kind:?} {level:?} {start}"
            );
        }
    }
}

fn all<T: Number>(kind: Points, levels: &[Level]) {
    check(&ARGMIN, &[table::<T, ArgMin>()], kind, 3, levels);
    if matches!(kind, Points::Equal) {
        return;
    }
    check(
        &CLOSEST_NUMBER,
        &[table::<T, ClosestNumber>()],
        kind,
        1,
        levels,
    );
    if matches!(kind, Points::Uniform | Points::NotFinite) {
        let best = &levels[..1];
        check(&NEAREST_1, &[table::<T, Nearest<1>>()], kind, 3, best);
        check(&NEAREST_4, &[table::<T, Nearest<4>>()], kind, 3, best);
    }
}

#[test]
fn at_f32() {
    all::<f32>(Points::Uniform, &Level::supported());
    let best = &Level::supported()[..1];
    for kind in [
        Points::Grid,
        Points::Clusters,
        Points::Line,
        Points::Equal,
        Points::NotFinite,
    ] {
        all::<f32>(kind, best);
    }
}

#[test]
fn at_f64() {
    let best = &Level::supported()[..1];
    all::<f64>(Points::Uniform, best);
    all::<f64>(Points::Grid, best);
}
