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
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;
use support::expected::Sizes;
use support::generate::Generator;

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

impl On {
    /// How many rows the interpreter and, of PTX, the other interpreter can bear; a long axis is as long as listed pairs need on
    /// the lanes.
    fn sizes(&self) -> Sizes {
        let (short, long, numbers) = match self {
            On::Scalar => (5, (30, 400), 60_000),
            On::Ptx => (9, (30, 70), 6000),
            On::Vector | On::Optimised => (21, (150, 400), 40_000),
        };
        Sizes {
            short,
            long,
            numbers,
        }
    }
}

/// Runs formulas until as many as asked for are compared, on as many threads as the machine has, two at least; `show` is told after
/// each batch. Which formulas are compared does not depend on the threads.
///
/// # Errors
/// Each formula whose results differ, with its seed and text; or why a program could not be built or run.
pub fn run(settings: &Settings, show: &mut dyn FnMut(&str)) -> Result<Sums, String> {
    let start = Instant::now();
    let mut sums = Sums::default();
    let mut failures = vec![];
    let mut next = settings.seed;
    // As many seeds as formulas are missing, again and again: some say nothing.
    while sums.compared < settings.count && failures.len() < 10 {
        let end = next + (settings.count - sums.compared);
        let batches: Vec<Range<u64>> = (next..end)
            .step_by(settings.batch.max(1) as usize)
            .map(|first| first..(first + settings.batch).min(end))
            .collect();
        next = end;
        let taken = AtomicUsize::new(0);
        let threads = std::thread::available_parallelism().map_or(2, |n| n.get().max(2));
        std::thread::scope(|scope| -> Result<(), String> {
            let (sender, results) = mpsc::channel();
            for _ in 0..threads.min(batches.len()) {
                let sender = sender.clone();
                scope.spawn(|| {
                    let sender = sender;
                    let mut generator = Generator::new(0);
                    while let Some(seeds) = batches.get(taken.fetch_add(1, Ordering::Relaxed)) {
                        let mut sums = Sums::default();
                        let result =
                            Batch::new(seeds.clone(), &mut generator, &settings.on, &mut sums)
                                .and_then(|batch| batch.compare(&settings.on, &mut sums));
                        // Nobody listens any more where another batch has failed.
                        if sender.send((result, sums)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for (result, batch) in results {
                let found = result?;
                found.iter().for_each(|failure| show(failure));
                failures.extend(found);
                sums.add(&batch);
                let seconds = start.elapsed().as_secs_f64();
                show(&format!(
                    "{sums}; {seconds:.0} s, {} differ",
                    failures.len()
                ));
                if failures.len() >= 10 {
                    break;
                }
            }
            Ok(())
        })?;
    }
    show(&sums.coverage());
    show(&format!(
        "seeds {} to {}: {sums}; {:.0} s, {} differ",
        settings.seed,
        next - 1,
        start.elapsed().as_secs_f64(),
        failures.len()
    ));
    if failures.is_empty() {
        Ok(sums)
    } else {
        Err(failures.join("\n"))
    }
}
