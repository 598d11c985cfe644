//! The CPU engine.
pub mod isa;
