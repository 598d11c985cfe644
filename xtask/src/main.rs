//! `cargo xtask <task>`: the project's own tasks. Dispatch only; each task is a file.
mod ptxas;
mod table;

use std::process::ExitCode;

/// What `cargo xtask` prints without a task it knows.
const USAGE: &str = "usage: cargo xtask <task>

  ptxas [files or directories]   assemble PTX for every supported GPU; without arguments that of all examples";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let result = match arguments.next().as_deref() {
        Some("ptxas") => ptxas::run(&arguments.collect::<Vec<_>>()),
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
