//! Arrays in and out, CPU engine of keops.
pub mod cpu;
