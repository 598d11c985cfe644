//! A PTX interpreter that checks what it runs. Development only: never published, never part of a user's program.
//!
//! [`Module::parse`] reads a module and rejects what an assembler would reject; [`Module::launch`] runs an entry on
//! [`Memory`], one thread after the other, and stops at the first fault: an access outside a live allocation, off its
//! natural alignment, to bytes or registers that nobody wrote, a data race, a barrier that not every thread reaches, an
//! endless loop. Approximate instructions return any value within their documented error, as [`Options::bias`] says.
//!
//! The crate `keops-sim-driver` puts a CUDA driver on top of it, which [`stand_in`] builds and stages for tests.
//!
//! Invariants: a run is a pure function of its arguments; no text and no launch makes the interpreter panic.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod decode;
mod error;
mod exec;
mod math;
mod memory;
mod module;
mod op;
mod options;
mod ptx;
pub mod stand_in;

pub use error::{Error, ErrorKind, Place};
pub use memory::{GAP, Memory, OutOfMemory};
pub use module::{Entry, Module, Parameter};
pub use options::{Bias, Options, Order, Stats};

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
