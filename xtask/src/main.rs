//! `cargo xtask <task>`: the project's own tasks. Dispatch only; each task is a file.
mod bench;
mod ci;
mod gpu;
mod kernels;
mod ptxas;
mod race;
mod sass;
mod table;
mod tidy;
mod wheels;

use std::process::ExitCode;

/// What `cargo xtask` prints without a task it knows.
const USAGE: &str = "usage: cargo xtask <task>

  ci                             all checks that must pass before a change lands
  tidy                           rules about the sources: layering, SAFETY lines, registries, lengths
  bench [options]                speed, and tables of it; options are at the top of keops-bench/src/main.rs
  accuracy                       largest errors of functions and reductions
  differential [options]         random formulas through compiled kernels or PTX; options are at the top of keops-differential/src/main.rs
  operations                     errors of all operations in compiled kernels and PTX: the second table of docs/operations.md
  gpu [--simulated]              a directory to carry to a machine with a GPU: checks and benchmark
  ptxas [sm_90,…|all] [files]    assemble PTX, for every supported GPU; without files that of the project's own kernels
  race                           prove small launches free of races and misused barriers (SentryWard)
  sass [sm_90,…|all] [files]     instructions per pair, registers, memory and occupancy of kernels";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let result = match arguments.next().as_deref() {
        Some("ci") => ci::run(),
        Some("tidy") => tidy::run(),
        Some("bench") => bench::bench(&arguments.collect::<Vec<_>>()),
        Some("accuracy") => bench::accuracy(),
        Some("differential") => bench::differential(&arguments.collect::<Vec<_>>()),
        Some("operations") => bench::operations(),
        Some("gpu") => gpu::run(&arguments.collect::<Vec<_>>()),
        Some("ptxas") => ptxas::run(&arguments.collect::<Vec<_>>()),
        Some("race") => race::run(),
        Some("sass") => sass::run(&arguments.collect::<Vec<_>>()),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
