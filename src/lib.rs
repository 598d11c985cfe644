//! Kernel reductions over large point clouds: formulas compiled to SIMD kernels and device code, with their derivatives.
//!
//! [`keops!`] turns a formula into a typed function that never builds the M × N matrix:
//!
//! ```
//! use keops::keops;
//! use keops::ndarray::{Array1, Array2};
//!
//! keops! {
//!     /// a_i = Σ_j exp(−|x_i − y_j|²) b_j
//!     pub fn gauss(x_i: [f32; 3], y_j: [f32; 3], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
//! }
//!
//! # fn main() -> Result<(), keops::Error> {
//! let (x, y, b) = (Array2::zeros((5, 3)), Array2::ones((8, 3)), Array1::ones(8));
//! let a: Array1<f32> = gauss(&x, &y, &b).eval()?;
//! assert_eq!(a.len(), 5);
//! let g = gauss(&x, &y, &b).vjp(&a)?; // derivatives of ½ Σ a_i²
//! assert_eq!(g.x_i.dim(), (5, 3));
//! # Ok(())
//! # }
//! ```
//!
//! A name that ends in `_i` has one row for each i, one that ends in `_j` one row for each j, any other is a parameter. The
//! call binds borrowed inputs ([`IntoRows`], [`IntoParameter`]); `eval` and the derivative methods check their shapes and
//! run on a [`Backend`], which is a value, never a panic, where it is missing ([`Error`]).
//!
//! The language, its semantics, the errors and the environment variables are described in the `docs` directory of the
//! repository; `README.md` has an overview.
//!
//! Debug builds need one line in your `Cargo.toml`, because kernels are compiled in your crate:
//!
//! ```toml
//! [profile.dev]
//! opt-level = 1
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

// Expansions name `::keops`, also in this crate's own tests and documentation.
extern crate self as keops;

/// Declares kernel reductions as typed functions, or evaluates one in place.
///
/// ```
/// use keops::keops;
///
/// keops! {
///     /// Nadaraya–Watson regression at f32 and f64: two reductions and a quotient, in one pass.
///     pub fn smooth<T>(x_i: [T; 2], y_j: [T; 2], b_j: T, radius: T) = {
///         let k = exp(-sqdist(x_i, y_j) / (2.0 * radius * radius));
///         (sum_j k * b_j) / (sum_j k)
///     };
///     /// A derivative is an item again: arguments of `smooth`, then the cotangent `e_i` of its value.
///     pub fn smooth_dx = grad(smooth, x_i);
/// }
///
/// # fn main() -> Result<(), keops::Error> {
/// let x_i = vec![[0.0f64, 1.0], [1.0, 0.0]];
/// let y_j = vec![[0.0f64, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let b = vec![1.0f64, 2.0, 3.0];
/// let a = smooth(&x_i, &y_j, &b, 0.5).eval()?;
/// let da = smooth_dx(&x_i, &y_j, &b, 0.5, &a).eval()?;
/// assert_eq!(da.dim(), (2, 2));
///
/// // In place: the names in the formula are local variables.
/// let nearest = keops!(argmin_j sqdist(x_i, y_j) where x_i: [f64; 2], y_j: [f64; 2]).eval()?;
/// assert_eq!(nearest.to_vec(), [0, 1]);
/// # Ok(())
/// # }
/// ```
///
/// For an item `smooth` the macro declares the function `smooth`, the type `Smooth` with `Smooth::FORMULA` and
/// `Smooth::ptx()`, the type `SmoothCall` that the function returns, with the methods `eval`, `vjp`, `grad_x_i`, … , `on` and
/// `accumulate`, and the type `SmoothGrad` of what `vjp` returns. `#[doc]` and visibility are the item's own.
pub use keops_macros::keops;
pub use keops_runtime::ndarray;
pub use keops_runtime::num_complex;
pub use keops_runtime::{
    Accumulate, Backend, Choice, Complex, ComplexMatrix, ComplexScalar, ComplexVector, Device,
    Error, Float, FromValue, Host, IntoParameter, IntoRows, Matrix, Options, Place, Rows, Scalar,
    Shape, Tangents, Value, Vector, cuda,
};

/// What expansions of [`keops!`] name. Not for anyone else: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use keops_runtime::__private::*;
}

/// The Rust blocks of README.md and `docs/`, compiled and run as documentation tests.
#[cfg(doctest)]
mod documentation {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/language.md")]
    struct Language;
    #[doc = include_str!("../docs/semantics.md")]
    struct Semantics;
    #[doc = include_str!("../docs/errors.md")]
    struct Errors;
    #[doc = include_str!("../docs/building.md")]
    struct Building;
    #[doc = include_str!("../docs/gpu.md")]
    struct Gpu;
}
