//! Kernel reductions over large point clouds: typed formulas compiled to SIMD and device kernels, with their derivatives.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

// Expansions name `::keops`, also in this crate's own tests and documentation.
extern crate self as keops;

pub use keops_macros::keops;
pub use keops_runtime::ndarray;
pub use keops_runtime::{
    Accumulate, Backend, Error, Float, FromValue, IntoParameter, IntoRows, Matrix, Options, Rows,
    Scalar, Shape, Value, Vector,
};

/// What expansions of [`keops!`] name. Not for anyone else: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use keops_runtime::__private::*;
}
