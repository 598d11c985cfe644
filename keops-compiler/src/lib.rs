//! The compiler behind `keops!`.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod budget;
pub mod check;
pub mod diagnostics;
pub mod dimensions;
pub mod emit;
pub mod expand;
pub mod function;
pub mod graph;
pub mod interpret;
pub mod item;
pub mod lower;
pub mod ops;
pub mod ptx;
pub mod reductions;
pub mod schedule;
pub mod syntax;
pub mod types;
pub mod typing;
pub mod value;

pub use expand::expand;
