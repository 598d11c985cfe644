//! `cargo xtask bench` and `cargo xtask accuracy`: build `keops-bench` for release and run it; `cargo xtask differential` and
//! `cargo xtask operations`: run `keops-differential`.
//!
//! What it measures and prints is at the top of `keops-bench/src/main.rs`. With `--case` it speaks the protocol of an external
//! benchmark: one case, one JSON line.
use std::process::Command;

/// Speed, beside plain loops; arguments go to the program.
pub(crate) fn bench(arguments: &[String]) -> Result<(), String> {
    keops_bench(&["--features", "sweep"], arguments)
}

/// Largest errors of functions and reductions.
pub(crate) fn accuracy() -> Result<(), String> {
    keops_bench(&[], &["accuracy".to_owned()])
}

/// The errors of all operations in compiled kernels and in PTX, written to the page.
pub(crate) fn operations() -> Result<(), String> {
    differential(&["operations".to_owned()])
}

/// Random formulas; arguments go to the program.
pub(crate) fn differential(arguments: &[String]) -> Result<(), String> {
    let package = ["run", "--quiet", "--package", "keops-differential", "--"];
    let status = Command::new(env!("CARGO"))
        .args(package)
        .args(arguments)
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("keops-differential failed: {status}"))
    }
}

fn keops_bench(options: &[&str], arguments: &[String]) -> Result<(), String> {
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--release", "--package", "keops-bench"])
        .args(options)
        .arg("--")
        .args(arguments)
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("keops-bench failed: {status}"))
    }
}
