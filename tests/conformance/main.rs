//! Conformance: what `keops!` computes, on every instruction set of this machine, against the f64 reference interpreter.
//!
//! Each [`case!`](harness) states a formula once. It becomes an item for the kernels and, as text, a graph for the
//! interpreter, which shares nothing with the kernels but the parser; value and all gradients are compared at f32 and f64.

#[macro_use]
mod harness;

mod language;
mod reductions;
mod semantics;
