//! What the methods of an expansion call: small, so that the expansion is.
use crate::choose::Choice;
use crate::cuda::launch::Launch;
use crate::error::Error;
use crate::float::Float;
use crate::input::Rows;
use crate::options::Options;
use crate::output::{FromValue, Value};
use crate::plan::{Code, Function};

/// The outputs of a function, in order.
pub type Values<T> = std::vec::IntoIter<Value<T>>;

/// [`run`](crate::run::run), with the outputs ready to be taken one after another.
///
/// # Errors
/// As [`run`](crate::run::run).
pub fn call<T: Float>(
    code: &Code<'_, T>,
    inputs: &[&Rows<'_, T>],
    options: &Options,
) -> Result<Values<T>, Error> {
    Ok(T::run(code, inputs, options)?.into_iter())
}

/// Where [`call`] would run.
///
/// # Errors
/// As [`run`](crate::run::run).
pub fn choose<T: Float>(
    function: &'static Function,
    launches: &[Launch],
    inputs: &[&Rows<'_, T>],
    options: &Options,
) -> Result<Choice, Error> {
    T::choose(function, launches, inputs, options)
}

/// The next output.
///
/// # Panics
/// When there is none: an expansion takes as many as its function has.
pub fn next<T>(values: &mut Values<T>) -> Value<T> {
    values
        .next()
        .expect("a function has the outputs that its expansion takes")
}

/// The next output, on the host.
///
/// # Panics
/// As [`next`].
pub fn take<T: Float, V: FromValue<T>>(values: &mut Values<T>) -> V {
    V::from_value(next(values))
}

/// The error that a function has no PTX.
pub fn no_ptx(function: &'static str, reason: &'static str) -> Error {
    Error::NoPtx { function, reason }
}

/// Rows of zeros in the shape of `rows`; `zero` holds the one zero that all of them show.
pub fn zeros_like<'z, T: Float>(rows: &Rows<'_, T>, zero: &'z [T; 1]) -> Rows<'z, T> {
    Rows::repeated(rows, zero)
}
