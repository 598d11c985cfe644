//! A PTX interpreter that checks what it runs. Development only: never published, never part of a user's program.
//!
//! [`Module::parse`] reads a module and rejects what an assembler would reject; [`Module::launch`] runs an entry on
//! [`Memory`], one thread after the other, and stops at the first fault: an access outside a live allocation, off its
//! natural alignment, to bytes or registers that nobody wrote, a data race, a barrier that not every thread reaches, an
//! endless loop. Approximate instructions return any value within their documented error, as [`Options::bias`] says.
//!
//! The crate `keops-sim-driver` puts a CUDA driver on top of it, which [`stand_in`] builds and stages for tests.
//!
//! The parameters of a launch are bytes, laid out as [`Entry::parameters`] says:
//!
//! ```
//! use keops_sim::{Memory, Module, Options};
//!
//! /// Doubles n floats.
//! fn double(text: &str, values: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
//!     let module = Module::parse(text)?;
//!     let mut memory = Memory::new(1 << 30);
//!     let x = memory.allocate(values.len())?;
//!     memory.write(x, values)?;
//!     let n = (values.len() / 4) as u64;
//!     let params = [x, n].map(u64::to_le_bytes).concat();
//!     module.launch(&mut memory, "double", [n.div_ceil(64) as u32, 1, 1], [64, 1, 1], 0, &params, &Options::default())?;
//!     let mut doubled = vec![0; values.len()];
//!     memory.read(x, &mut doubled)?;
//!     Ok(doubled)
//! }
//! ```
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
