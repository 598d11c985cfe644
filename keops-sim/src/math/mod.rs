//! What the instructions compute, as functions of register contents.
//!
//! Invariant: a register holds its value's bits, zero-extended to 64; every function here reads no more than its type's
//! bits and returns such a value.
pub(crate) mod approx;
pub(crate) mod bits;
pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod round;

pub(crate) type Unary = fn(u64) -> u64;
pub(crate) type Binary = fn(u64, u64) -> u64;
pub(crate) type Ternary = fn(u64, u64, u64) -> u64;
