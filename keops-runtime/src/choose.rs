//! Where a call runs: [`Choice`], settled before anything is computed.
use std::borrow::Cow;
use std::fmt;

use crate::cuda::driver::{self, Failure};
use crate::cuda::gpu::{self, Gpu};
use crate::cuda::launch::Launch;
use crate::error::Error;
use crate::float::Float;
use crate::input::Rows;
use crate::options::{Backend, Options, environment};
use crate::plan::Function;
use crate::run::Extents;

/// Pairs below which [`Backend::Auto`] stays on the CPU. One core does as many of the cheapest formulas in about a
/// millisecond, which is more than the way to a device and back takes; opening the device at the first call takes far more.
const LEAST_PAIRS: usize = 1 << 22;

/// Where a call runs, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Never [`Backend::Auto`].
    pub backend: Backend,
    /// Why, as half a sentence: "there is no CUDA driver: …".
    pub reason: Cow<'static, str>,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, because {}", self.backend, self.reason)
    }
}

/// A choice with what it takes.
pub(crate) struct Settled {
    pub(crate) choice: Choice,
    /// The devices; none for the CPU.
    pub(crate) gpus: Option<Vec<&'static Gpu>>,
    /// Whether the CPU would have done as well.
    pub(crate) is_free: bool,
}

impl Settled {
    fn cpu(reason: impl Into<Cow<'static, str>>) -> Settled {
        Settled {
            choice: Choice {
                backend: Backend::Cpu,
                reason: reason.into(),
            },
            gpus: None,
            is_free: false,
        }
    }

    fn cuda(backend: Backend, gpus: Vec<&'static Gpu>, reason: &'static str) -> Settled {
        Settled {
            choice: Choice {
                backend,
                reason: reason.into(),
            },
            gpus: Some(gpus),
            is_free: false,
        }
    }
}

/// Settles where `function` runs, whose kernels on a device are `launches`.
pub(crate) fn settle<T: Float>(
    function: &'static Function,
    launches: &[Launch],
    inputs: &[&Rows<'_, T>],
    extents: Extents,
    options: &Options,
) -> Result<Settled, Error> {
    let (backend, reason) = match options.backend {
        Backend::Auto if options.level.is_some() => (Backend::Cpu, "an instruction set was chosen"),
        Backend::Auto => match environment() {
            Ok(Backend::Auto) => (Backend::Auto, ""),
            Ok(backend) => (*backend, "KEOPS_BACKEND says so"),
            Err(value) => {
                return Err(Error::UnknownBackend {
                    function: function.name,
                    value: value.clone(),
                });
            }
        },
        backend => (backend, "it was asked for"),
    };
    let resident = inputs.iter().find_map(|rows| rows.gpu());
    let (backend, reason) = match (backend, resident) {
        (Backend::Auto, Some(gpu)) => (Backend::Cuda(gpu.ordinal), "the inputs are there"),
        (Backend::Auto, None) => return Ok(automatic(function, launches, extents)),
        chosen => (chosen.0, reason),
    };
    for (input, rows) in function.inputs.iter().zip(inputs) {
        if let Some(gpu) = rows.gpu()
            && backend != Backend::Cuda(gpu.ordinal)
        {
            return Err(Error::Elsewhere {
                function: function.name,
                variable: input.name,
                device: gpu.ordinal,
                backend,
            });
        }
    }
    if backend == Backend::Cpu {
        return Ok(Settled::cpu(reason));
    }
    has_code(function, launches).map_err(|reason| Error::NoPtx {
        function: function.name,
        reason,
    })?;
    let gpus = match backend {
        Backend::Cuda(device) => gpu::open(device).map(|gpu| vec![gpu]),
        _ => gpu::open_all(),
    };
    let gpus = gpus.map_err(|failure| failure.of(function.name))?;
    Ok(Settled::cuda(backend, gpus, reason))
}

/// Whether a function has device code, or why not.
fn has_code(
    function: &'static Function,
    launches: &[Launch],
) -> Result<&'static str, &'static str> {
    let ptx = function.ptx?;
    if launches.len() == function.passes.len() {
        Ok(ptx)
    } else {
        Err("it was called without one")
    }
}

/// Device 0 where that is possible and pays.
fn automatic(function: &'static Function, launches: &[Launch], extents: Extents) -> Settled {
    let rows = |axis: Option<_>| axis.map_or(1, |axis| extents.get(axis));
    let passes = function.passes.iter();
    let pairs = passes
        .map(|pass| rows(pass.outer).saturating_mul(rows(pass.inner)))
        .max()
        .unwrap_or(0);
    if pairs < LEAST_PAIRS {
        return Settled::cpu("there are too few pairs for a GPU to pay");
    }
    let ptx = match has_code(function, launches) {
        Ok(ptx) => ptx,
        Err(reason) => return Settled::cpu(format!("this build has no GPU kernel: {reason}")),
    };
    let first = || {
        if driver::devices()? == 0 {
            return Ok(None);
        }
        let gpu = gpu::open(0)?;
        let _bound = gpu.bind()?;
        for launch in launches {
            gpu.accepts(ptx, launch.entry)?;
        }
        Ok(Some(gpu))
    };
    match first() {
        Ok(Some(gpu)) => Settled {
            is_free: true,
            ..Settled::cuda(Backend::Cuda(0), vec![gpu], "it is there")
        },
        Ok(None) => Settled::cpu("there is no CUDA device"),
        Err(Failure::NoDriver(reason)) => {
            Settled::cpu(format!("there is no CUDA driver: {reason}"))
        }
        Err(Failure::Refused { device, log }) => {
            Settled::cpu(format!("CUDA device {device} refused the kernel: {log}"))
        }
        Err(failure) => Settled::cpu(failure.of(function.name).to_string()),
    }
}
