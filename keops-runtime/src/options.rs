//! How a formula is run: [`Backend`], [`Accumulate`] and [`Options`], which holds both.
use std::sync::OnceLock;

use crate::cpu::isa::Level;

/// Where a formula runs.
///
/// The results of [`Backend::Cuda`] and [`Backend::CudaAll`] are the same to the last bit. They differ from those of the CPU
/// in the last bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// What the environment variable `KEOPS_BACKEND` says (`cpu`, `cuda`, `cuda:1`, `cuda-all` or `auto`; it is read once
    /// per process). If it says nothing: the device that holds the inputs; else CUDA device 0 where there is one, the build
    /// has device code for it, and there are at least 2²² pairs, fewer of which do not pay for the way to the device; else
    /// the CPU. `backend` of a call tells which, and why.
    #[default]
    Auto,
    /// The CPU, on all threads of the current rayon pool.
    Cpu,
    /// The CUDA device of this number.
    Cuda(usize),
    /// All CUDA devices, each with a share of the rows.
    CudaAll,
}

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Backend::Auto => f.write_str("whatever is there"),
            Backend::Cpu => f.write_str("the CPU"),
            Backend::Cuda(device) => write!(f, "CUDA device {device}"),
            Backend::CudaAll => f.write_str("all CUDA devices"),
        }
    }
}

/// How sums are accumulated.
///
/// Errors below are relative to Σ |terms|, for the summation alone; each term carries its own rounding besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Accumulate {
    /// Plain sums over blocks of at most 256 terms (a few hundred when one row is folded by many lanes), and the block
    /// sums added without error into a pair of numbers. The error is that of one block, at most 256 roundings and 1e-7
    /// in practice at f32, whatever the number of rows. It costs nothing over a plain sum.
    #[default]
    Block,
    /// Close to sums in f64, for formulas in f32: as [`Accumulate::Kahan`] in this version. The pair of f32 numbers has 48
    /// bits where an f64 has 53; the result is rounded to f32 once. At f64 it is more precise than a sum in f64.
    F64,
    /// Compensated summation: every term is added without error into a pair of numbers of the value type. For n terms the
    /// error before the result is rounded is at most n²·2⁻⁴⁹ at f32 and n²·2⁻¹⁰⁷ at f64, and usually far less. Each term is
    /// a block of its own then, which costs two thirds of the speed of [`Accumulate::Block`] for cheap formulas.
    Kahan,
}

/// How to run one formula; the default is [`Backend::Auto`] and [`Accumulate::Block`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub(crate) backend: Backend,
    pub(crate) accumulate: Accumulate,
    pub(crate) level: Option<Level>,
    /// Whether the results stay on the device.
    pub(crate) stays: bool,
}

impl Options {
    /// The default options.
    pub const fn new() -> Self {
        Options {
            backend: Backend::Auto,
            accumulate: Accumulate::Block,
            level: None,
            stays: false,
        }
    }
    /// Runs on this backend.
    pub const fn on(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }
    /// Accumulates sums like this.
    pub const fn accumulate(mut self, accumulate: Accumulate) -> Self {
        self.accumulate = accumulate;
        self
    }
    /// Runs on this instruction set instead of the best one, for tests. Panics when run where the CPU lacks it.
    #[doc(hidden)]
    pub const fn level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }
    /// Leaves the results on the device that makes them, which is this one.
    #[doc(hidden)]
    pub const fn stay(mut self, device: usize) -> Self {
        self.backend = Backend::Cuda(device);
        self.stays = true;
        self
    }
}

/// What `KEOPS_BACKEND` asks for, or its value if it is not understood.
pub(crate) fn environment() -> &'static Result<Backend, String> {
    static CHOSEN: OnceLock<Result<Backend, String>> = OnceLock::new();
    CHOSEN.get_or_init(|| match std::env::var_os("KEOPS_BACKEND") {
        None => Ok(Backend::Auto),
        Some(value) => parse(&value.to_string_lossy()),
    })
}

/// One value of `KEOPS_BACKEND`; empty counts as unset.
fn parse(value: &str) -> Result<Backend, String> {
    match value.trim().to_ascii_lowercase().as_str() {
        "" | "auto" => Ok(Backend::Auto),
        "cpu" => Ok(Backend::Cpu),
        "cuda" => Ok(Backend::Cuda(0)),
        "cuda-all" => Ok(Backend::CudaAll),
        other => match other.strip_prefix("cuda:").map(str::parse) {
            Some(Ok(device)) => Ok(Backend::Cuda(device)),
            _ => Err(value.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_environment_variable() {
        assert_eq!(parse("cpu"), Ok(Backend::Cpu));
        assert_eq!(parse(" CUDA "), Ok(Backend::Cuda(0)));
        assert_eq!(parse(""), Ok(Backend::Auto));
        assert_eq!(parse("auto"), Ok(Backend::Auto));
        assert_eq!(parse("cuda:3"), Ok(Backend::Cuda(3)));
        assert_eq!(parse("cuda-all"), Ok(Backend::CudaAll));
        for unknown in ["gpu", "cuda:", "cuda:-1", "cuda:x"] {
            assert_eq!(parse(unknown), Err(unknown.to_owned()));
        }
    }
}
