//! Test data, the value types, and running a function on every instruction set.
use keops_runtime::__private::{
    Function, IntoRows, Level, Rows, Scalar, Table, Value, Vector, run,
};
use keops_runtime::ndarray::Array2;
use keops_runtime::{Float, Options};

/// Numbers of rows: around the sizes of vectors, register tiles and tiles.
pub(crate) const SIZES: [usize; 14] = [0, 1, 2, 3, 7, 8, 9, 16, 17, 31, 255, 256, 257, 1000];

/// A value type of the tests.
pub(crate) trait Number: Float + Into<f64> {
    /// Largest error of a sum, relative to the sum of magnitudes of its terms: that of the terms' own exponentials.
    const TOLERANCE: f64;
}

impl Number for f32 {
    const TOLERANCE: f64 = 1e-6;
}

impl Number for f64 {
    const TOLERANCE: f64 = 1e-14;
}

/// Pseudo-random numbers in [-1, 1) with few enough bits to be the same at both value types (splitmix64).
pub(crate) fn random(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..count)
        .map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 44) as f64 / (1u64 << 19) as f64 - 1.0
        })
        .collect()
}

/// The numbers at a value type.
pub(crate) fn to<T: Number>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|&x| T::of(x)).collect()
}

/// The numbers of a variable, with as many columns.
pub(crate) struct Variable<T> {
    array: Array2<T>,
}

impl<T: Number> Variable<T> {
    /// Row-major `numbers`.
    pub(crate) fn new(numbers: &[f64], columns: usize) -> Self {
        let array =
            Array2::from_shape_vec((numbers.len() / columns, columns), to(numbers)).unwrap();
        Variable { array }
    }

    /// As an input.
    pub(crate) fn rows(&self) -> Rows<'_, T> {
        match self.array.ncols() {
            1 => IntoRows::<T, Scalar>::into_rows(self.array.column(0)),
            2 => IntoRows::<T, Vector<2>>::into_rows(&self.array),
            3 => IntoRows::<T, Vector<3>>::into_rows(&self.array),
            _ => IntoRows::<T, Vector<64>>::into_rows(&self.array),
        }
    }
}

/// A result: values or indices, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Numbers {
    Values(Vec<f64>),
    Indices(Vec<usize>),
}

impl Numbers {
    pub(crate) fn values(&self) -> &[f64] {
        match self {
            Numbers::Values(values) => values,
            Numbers::Indices(_) => panic!("indices"),
        }
    }
    pub(crate) fn indices(&self) -> &[usize] {
        match self {
            Numbers::Indices(indices) => indices,
            Numbers::Values(_) => panic!("values"),
        }
    }
}

/// Runs on one instruction set.
pub(crate) fn run_at<T: Number>(
    function: &'static Function,
    tables: &[Table<T>],
    inputs: &[&Rows<'_, T>],
    options: Options,
) -> Vec<Numbers> {
    run(function, tables, inputs, &options)
        .unwrap()
        .into_iter()
        .map(numbers)
        .collect()
}

/// Runs on every instruction set of the machine.
pub(crate) fn run_all<T: Number>(
    function: &'static Function,
    tables: &[Table<T>],
    inputs: &[&Rows<'_, T>],
) -> Vec<(Level, Vec<Numbers>)> {
    let run = |level| {
        (
            level,
            run_at(function, tables, inputs, Options::new().level(level)),
        )
    };
    Level::supported().into_iter().map(run).collect()
}

/// An output as plain numbers.
fn numbers<T: Number>(value: Value<T>) -> Numbers {
    match value.into_parts() {
        (_, _, Ok(values)) => Numbers::Values(values.into_iter().map(Into::into).collect()),
        (_, _, Err(indices)) => Numbers::Indices(indices),
    }
}

/// Checks `found` against `expected` with an error of `tolerance` times `scale`, for each number.
#[track_caller]
pub(crate) fn assert_near(
    found: &[f64],
    expected: &[(f64, f64)],
    tolerance: f64,
    what: &dyn std::fmt::Debug,
) {
    assert_eq!(found.len(), expected.len(), "{what:?}");
    for (k, (&found, &(expected, scale))) in found.iter().zip(expected).enumerate() {
        let fine = (found - expected).abs() <= tolerance * scale || found == expected;
        assert!(
            fine,
            "{what:?}: number {k} is {found}, expected {expected} ± {}",
            tolerance * scale
        );
    }
}

/// |x − y|²
pub(crate) fn sqdist(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum()
}
