//! The CPU engine against plain f64 loops: every instruction set of the machine, both value types, all reductions.
mod accumulate;
mod data;
mod errors;
mod extrema;
mod functions;
mod kernels;
mod layout;
mod listed;
mod passes;
mod pruning;
mod sums;
mod threads;
mod vanishing;
