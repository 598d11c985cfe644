//! Conformance: what `keops!` computes, on every instruction set of this machine and on a simulated GPU, against the f64
//! reference interpreter. With `KEOPS_REQUIRE_GPU=1` it runs on CUDA device 0 and nowhere else.
//!
//! Each [`case!`](harness) states a formula once. It becomes an item for the kernels and, as text, a graph for the
//! interpreter, which shares nothing with the kernels but the parser; value and all gradients are compared at f32 and f64.
//! The cases of the operations are a program of their own, `tests/operations`: most of the time goes into compiling
//! kernels, and two crates are compiled at once.

#[macro_use]
mod harness;

mod dimensions;
mod reductions;
mod semantics;
mod wide;
