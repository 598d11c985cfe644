//! Random formulas through real code: their compiled kernels in the CPU engine, or their PTX in the interpreter, against the
//! f64 interpreter of their definitions, values and gradients.
//!
//! Formulas are made in batches. A batch is one program, [`program`]: the text that the macro would emit for each formula,
//! compiled by one `rustc`, linked against the runtime that is already built. [`batch`] makes the formulas and compares. [`operations`]
//! runs each operation by itself, for the documentation.
//!
//! Invariants: everything is a function of the first seed; a formula that is passed over is counted.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod batch;
pub mod operations;
pub mod program;

#[allow(missing_docs, reason = "the support of the compiler's own tests")]
#[path = "../../keops-compiler/tests/support/mod.rs"]
mod support;

use batch::{Batch, Sums};
use std::time::Instant;

/// What runs the kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// The CPU engine with kernels compiled for one lane only, not optimised: cheap to compile.
    Scalar,
    /// The same on vectors: AVX2 or NEON.
    Vector,
    /// The CPU engine with kernels compiled as a user's are, optimised for every instruction set: half a minute a formula.
    Optimised,
    /// PTX in the interpreter, through the CUDA engine and the stand-in driver.
    Ptx,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Formulas to compare.
    pub count: u64,
    /// The first formula's seed.
    pub seed: u64,
    /// Formulas of a program.
    pub batch: u64,
    /// What runs them.
    pub on: On,
}

/// Runs formulas until as many as asked for are compared; `show` is told after each batch.
///
/// # Errors
/// Each formula whose results differ, with its seed and text; or why a program could not be built or run.
pub fn run(settings: &Settings, show: &mut dyn FnMut(&str)) -> Result<Sums, String> {
    let start = Instant::now();
    let mut sums = Sums::default();
    let mut failures = vec![];
    let mut seed = settings.seed;
    while sums.compared < settings.count {
        let wanted = settings.batch.min(settings.count - sums.compared);
        let batch = Batch::new(seed, wanted, &settings.on, &mut sums)?;
        failures.extend(batch.compare(&settings.on, &mut sums)?);
        seed = batch.next;
        show(&format!(
            "seeds {} to {}: {sums}; {:.0} s",
            settings.seed,
            seed - 1,
            start.elapsed().as_secs_f64()
        ));
        if failures.len() >= 10 {
            break;
        }
    }
    if failures.is_empty() {
        Ok(sums)
    } else {
        Err(failures.join("\n"))
    }
}
