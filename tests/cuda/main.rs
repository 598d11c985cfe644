//! The CUDA backend end to end, on the stand-in driver of `keops-sim`: what a program with a GPU would do, where there is
//! none. Each test runs again in a process of its own, with the settings of the driver that it needs.
//!
//! Values are compared with those of the CPU, whose suite compares them with the interpreter of formulas.

#[macro_use]
mod harness;

mod arrays;
mod chosen;
mod complex;
mod complex_arrays;
mod derivatives;
mod driver;
mod failures;
mod several;
mod sizes;
