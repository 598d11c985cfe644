//! How a formula is run: [`Backend`], [`Accumulate`] and [`Options`], which holds both.
use std::sync::OnceLock;

use crate::cpu::isa::Level;
use crate::error::Error;
use crate::plan::Function;

/// Where a formula runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// What the environment variable `KEOPS_BACKEND` says (`cpu`, `cuda` or `auto`), else the fastest that is available.
    /// The variable is read once per process.
    #[default]
    Auto,
    /// The CPU, on all threads of the current rayon pool.
    Cpu,
    /// The CUDA device of this number.
    Cuda(usize),
    /// All CUDA devices, each with a share of the rows.
    CudaAll,
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
}

impl Options {
    /// The default options.
    pub const fn new() -> Self {
        Options {
            backend: Backend::Auto,
            accumulate: Accumulate::Block,
            level: None,
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

    /// Settles where `function` runs: `Ok` for the CPU, which is all this version starts.
    pub(crate) fn settle(&self, function: &'static Function) -> Result<(), Error> {
        let backend = match self.backend {
            Backend::Auto => match environment() {
                Ok(backend) => *backend,
                Err(value) => {
                    return Err(Error::UnknownBackend {
                        function: function.name,
                        value: value.clone(),
                    });
                }
            },
            chosen => chosen,
        };
        match backend {
            Backend::Auto | Backend::Cpu => Ok(()),
            Backend::Cuda(_) | Backend::CudaAll => Err(match function.ptx {
                Ok(_) => Error::NoLaunch {
                    function: function.name,
                },
                Err(reason) => Error::NoPtx {
                    function: function.name,
                    reason,
                },
            }),
        }
    }
}

/// What `KEOPS_BACKEND` asks for, or its value if it is not understood.
fn environment() -> &'static Result<Backend, String> {
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
        _ => Err(value.to_owned()),
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
        assert_eq!(parse("gpu"), Err("gpu".to_owned()));
    }
}
