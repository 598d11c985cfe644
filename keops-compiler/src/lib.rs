//! The compiler behind `keops!`.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod graph;
pub mod lower;
pub mod ops;
pub mod reductions;
pub mod types;
pub mod typing;
pub mod value;
