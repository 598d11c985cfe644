//! [`Error`]: everything that can go wrong when a formula is run. All that inputs can cause is found before any kernel
//! starts.
//!
//! Invariants: every message names the formula and, where there is one, the variable; it is lower case, ends without a
//! full stop, and where the remedy is known it says it.
use crate::options::Backend;
use crate::shape::Shape;

/// Why a formula could not be run.
///
/// Displayed, each says which formula and which variable it is about:
///
/// ```
/// # use keops_runtime::{Error, Shape};
/// let error = Error::Rows {
///     function: "gauss", first: "y_j", first_rows: 10, second: "b_j", second_rows: 9, axis: 'j',
/// };
/// assert_eq!(
///     error.to_string(),
///     "gauss: y_j has 10 rows but b_j has 9; all variables indexed by j need the same number of rows",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A variable's rows have another shape than the formula declares.
    #[error(
        "{function}: {variable} holds {found} but is declared with {expected}; pass an array of shape {}",
        array_shape(*.axis, *.expected)
    )]
    Columns {
        /// The formula.
        function: &'static str,
        /// The variable.
        variable: &'static str,
        /// The index it has one row for, `'i'` or `'j'`; `None` for a parameter.
        axis: Option<char>,
        /// The declared shape of one row, or of the parameter.
        expected: Shape,
        /// The shape found.
        found: Shape,
    },
    /// Two variables of the same index have different numbers of rows.
    #[error(
        "{function}: {first} has {first_rows} rows but {second} has {second_rows}; \
         all variables indexed by {axis} need the same number of rows"
    )]
    Rows {
        /// The formula.
        function: &'static str,
        /// The variable that set the number of rows.
        first: &'static str,
        /// Its number of rows.
        first_rows: usize,
        /// The variable that disagrees.
        second: &'static str,
        /// Its number of rows.
        second_rows: usize,
        /// The index, `'i'` or `'j'`.
        axis: char,
    },
    /// More rows than an index can count, 2³² − 1.
    #[error(
        "{function}: {variable} has {rows} rows, more than 4294967295; split the array and combine the results"
    )]
    TooManyRows {
        /// The formula.
        function: &'static str,
        /// The variable.
        variable: &'static str,
        /// Its number of rows.
        rows: usize,
    },
    /// A reduction over no rows that has no value (an argmin, a mean, a softmax).
    #[error(
        "{function}: {reduction} over {axis} has no value because {variable} has no rows; \
         check for an empty array before the call"
    )]
    EmptyReduction {
        /// The formula.
        function: &'static str,
        /// The reduction, as written in the formula.
        reduction: &'static str,
        /// A variable of the empty index.
        variable: &'static str,
        /// The index, `'i'` or `'j'`.
        axis: char,
    },
    /// The result, or the working memory for it, cannot be allocated.
    #[error(
        "{function}: out of memory: {bytes} bytes {purpose} cannot be allocated; run it on fewer rows at a time"
    )]
    OutOfMemory {
        /// The formula.
        function: &'static str,
        /// What the memory is for: "of output", "of working memory", "of device memory" or "of pinned host memory".
        purpose: &'static str,
        /// Bytes asked for; `usize::MAX` when the number itself overflows.
        bytes: usize,
    },
    /// There is no CUDA device of this number.
    #[error(
        "{function}: there is no CUDA device {device} ({count} found); use Backend::Auto to run on what is there"
    )]
    NoDevice {
        /// The formula.
        function: &'static str,
        /// The device asked for.
        device: usize,
        /// How many devices there are.
        count: usize,
    },
    /// The CUDA driver cannot be used.
    #[error(
        "{function}: no CUDA driver: {reason}; use Backend::Cpu, or Backend::Auto to fall back to it"
    )]
    NoDriver {
        /// The formula.
        function: &'static str,
        /// What the driver or the loader said.
        reason: String,
    },
    /// This build has no device code for the formula.
    #[error(
        "{function}: this build has no GPU kernel: {reason}; use Backend::Cpu, or Backend::Auto to fall back to it"
    )]
    NoPtx {
        /// The formula.
        function: &'static str,
        /// Why the compiler made none.
        reason: &'static str,
    },
    /// The driver does not take the device code.
    #[error(
        "{function}: CUDA device {device} refused the kernel: {log}; \
         use Backend::Cpu, or Backend::Auto to fall back to it"
    )]
    Refused {
        /// The formula.
        function: &'static str,
        /// The device.
        device: usize,
        /// What the driver's compiler said, or what the device lacks.
        log: String,
    },
    /// A function of the CUDA driver failed. Where a kernel failed, the driver says so in a later call.
    #[error("{function}: {call} on CUDA device {device} failed: {reason}")]
    Cuda {
        /// The formula.
        function: &'static str,
        /// The device.
        device: usize,
        /// The function of the driver.
        call: &'static str,
        /// Its answer.
        reason: String,
    },
    /// An input is on another device than the formula runs on.
    #[error(
        "{function}: {variable} is on CUDA device {device}, but the formula runs on {backend}; \
         use Backend::Cuda({device}), or copy it with to_host"
    )]
    Elsewhere {
        /// The formula.
        function: &'static str,
        /// The variable.
        variable: &'static str,
        /// The device that it is on.
        device: usize,
        /// Where the formula runs.
        backend: Backend,
    },
    /// The environment variable `KEOPS_BACKEND` has a value that is not understood.
    #[error(
        "{function}: KEOPS_BACKEND is {value:?}; set it to cpu, cuda, cuda:1, cuda-all or auto, or unset it"
    )]
    UnknownBackend {
        /// The formula.
        function: &'static str,
        /// The value found.
        value: String,
    },
}

impl Error {
    /// [`Error::NoPtx`], for expansions.
    #[doc(hidden)]
    pub fn no_ptx(function: &'static str, reason: &'static str) -> Self {
        Error::NoPtx { function, reason }
    }
}

/// The shape of an array that would do, for the end of a message: `[rows, 3]`.
fn array_shape(axis: Option<char>, shape: Shape) -> String {
    let rows = if axis.is_some() { "rows, " } else { "" };
    match shape {
        Shape::Scalar => format!("[{}]", rows.trim_end_matches(", ")),
        Shape::Vector(n) => format!("[{rows}{n}]"),
        Shape::Matrix(r, c) => format!("[{rows}{r}, {c}]"),
    }
}
