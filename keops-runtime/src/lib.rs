//! The run-time half of keops: arrays in and out, and the two engines that run what `keops!` expands to.
//!
//! Users meet [`Error`], [`Backend`], [`Accumulate`], [`Float`] and the input and output traits, through the `keops`
//! crate. The rest is for expansions, through [`__private`].
#![warn(missing_docs)]

mod choose;
mod cpu;
pub mod cuda;
mod error;
mod expansion;
mod float;
mod input;
mod options;
mod output;
mod place;
mod plan;
mod run;
mod shape;

pub use choose::Choice;
pub use error::Error;
pub use float::Float;
pub use input::{IntoParameter, IntoRows, Rows, Tangents};
pub use ndarray;
pub use num_complex;
pub use num_complex::Complex;
pub use options::{Accumulate, Backend, Options};
pub use output::{FromValue, Value};
pub use place::{Device, Host, Place};
pub use shape::{ComplexMatrix, ComplexScalar, ComplexVector, Matrix, Scalar, Shape, Vector};

/// What expansions of `keops!` name. Not for anyone else: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use ::keops_gpu_kernels;
    pub use keops_gpu_kernels::isa::Isa;
    pub use keops_gpu_kernels::kernel::{Array, Columns, ColumnsMut, Kernel, Words};
    pub use keops_gpu_kernels::math;
    pub use keops_gpu_kernels::real::{NONE, Real};
    pub use keops_gpu_kernels::reduce;
    pub use keops_gpu_kernels::tile::Pairs;

    pub use crate::Error;
    pub use crate::choose::Choice;
    pub use crate::cpu::isa::{self, Level};
    pub use crate::cpu::table::{Table, scalar_table, table, vector_table};
    pub use crate::cuda::DeviceArray;
    pub use crate::cuda::launch::{Launch, launch};
    pub use crate::expansion::{Values, call, choose, next, no_ptx, take, zeros_like};
    pub use crate::float::Float;
    pub use crate::input::{IntoParameter, IntoRows, Rows, Tangents};
    pub use crate::options::{Accumulate, Backend, Options};
    pub use crate::output::{FromValue, Value};
    pub use crate::place::{Device, Host, Place};
    pub use crate::plan::{Axis, Code, Function, Input, Output, Parameter, Pass};
    pub use crate::run::{listed_passes, run};
    pub use crate::shape::{
        ANY, ComplexMatrix, ComplexScalar, ComplexVector, Matrix, Scalar, Shape, Vector,
    };
    pub use ndarray;
    pub use num_complex::Complex;
}
