//! The elementary functions, each as a formula, beside the standard library's at f64.
//!
//! A formula needs a reduction: with one row j whose y_j is 1, the sum returns its only term unchanged.

use crate::data::Number;
use keops::{Error, keops, ndarray::Array1};

keops! {
    fn exp_of<T>(x_i: T, y_j: T) = sum_j exp(x_i) * y_j;
    fn log_of<T>(x_i: T, y_j: T) = sum_j log(x_i) * y_j;
    fn sin_of<T>(x_i: T, y_j: T) = sum_j sin(x_i) * y_j;
    fn cos_of<T>(x_i: T, y_j: T) = sum_j cos(x_i) * y_j;
    fn tanh_of<T>(x_i: T, y_j: T) = sum_j tanh(x_i) * y_j;
    fn sqrt_of<T>(x_i: T, y_j: T) = sum_j sqrt(x_i) * y_j;
    fn rsqrt_of<T>(x_i: T, y_j: T) = sum_j rsqrt(x_i) * y_j;
    fn inv_of<T>(x_i: T, y_j: T) = sum_j inv(x_i) * y_j;
    fn powf_of<T>(x_i: T, y_j: T) = sum_j powf(x_i, 1.75) * y_j;
}

/// Where arguments are drawn from.
#[derive(Clone, Copy)]
pub(crate) enum Range {
    /// Uniformly from the interval.
    Uniform(f64, f64),
    /// 10 to a uniform power.
    Powers(f64, f64),
}

/// A formula at arguments, with the one row j.
pub(crate) type Formula<T> = fn(&Array1<T>, &[T; 1]) -> Result<Array1<T>, Error>;

/// One function.
pub(crate) struct Function<T: Number> {
    pub(crate) name: &'static str,
    pub(crate) keops: Formula<T>,
    pub(crate) exact: fn(f64) -> f64,
    pub(crate) ranges: &'static [Range],
}

/// All functions at one type.
pub(crate) fn all<T: Number>() -> Vec<Function<T>> {
    use Range::{Powers, Uniform};
    let f = |name, keops, exact, ranges| Function {
        name,
        keops,
        exact,
        ranges,
    };
    vec![
        f(
            "exp",
            |x, one| exp_of(x, one).eval(),
            f64::exp,
            &[Uniform(-1.0, 1.0), Uniform(-87.0, 88.0)],
        ),
        f(
            "log",
            |x, one| log_of(x, one).eval(),
            f64::ln,
            &[Uniform(0.5, 2.0), Powers(-37.0, 38.0)],
        ),
        f(
            "sin",
            |x, one| sin_of(x, one).eval(),
            f64::sin,
            &[Uniform(-4.0, 4.0), Uniform(-1e4, 1e4), Powers(0.0, 20.0)],
        ),
        f(
            "cos",
            |x, one| cos_of(x, one).eval(),
            f64::cos,
            &[Uniform(-4.0, 4.0), Uniform(-1e4, 1e4), Powers(0.0, 20.0)],
        ),
        f(
            "tanh",
            |x, one| tanh_of(x, one).eval(),
            f64::tanh,
            &[Uniform(-1.0, 1.0), Uniform(-20.0, 20.0), Powers(-10.0, 0.0)],
        ),
        f(
            "sqrt",
            |x, one| sqrt_of(x, one).eval(),
            f64::sqrt,
            &[Powers(-37.0, 38.0)],
        ),
        f(
            "rsqrt",
            |x, one| rsqrt_of(x, one).eval(),
            |x| 1.0 / x.sqrt(),
            &[Powers(-37.0, 38.0)],
        ),
        f(
            "inv",
            |x, one| inv_of(x, one).eval(),
            |x| 1.0 / x,
            &[Powers(-37.0, 37.0)],
        ),
        f(
            "powf 1.75",
            |x, one| powf_of(x, one).eval(),
            |x| x.powf(1.75),
            &[Uniform(0.0, 4.0), Powers(-20.0, 20.0)],
        ),
    ]
}
