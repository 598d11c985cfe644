//! `cargo xtask gpu`: what a machine with a GPU needs to be checked and measured, in one directory without sources.
//!
//! The directory holds the conformance suite (two programs) and the benchmark as programs, PyKeOps' side of the benchmark, and `run.sh`, which
//! runs it all in less than ten minutes on a GPU and ends in one table. Copy it there (same processor architecture, a glibc
//! that is not older), install what `requirements.txt` lists if PyKeOps is to be measured, and run `./run.sh`.
//!
//! With `--simulated` it is then run here, on the stand-in driver of `keops-sim` and with few points: everything but PyKeOps,
//! and none of the times mean anything.
//!
//! The suite is built as `cargo test` does: device code is the same in every profile, and the suite's reference is quick.
use std::path::{Path, PathBuf};
use std::process::Command;

/// The script. `$1` is the number of points.
const RUN: &str = r#"#!/bin/sh
# Checks and measures keops on CUDA device 0; see the top of xtask/src/gpu.rs. Usage: ./run.sh [points]
cd "$(dirname "$0")" || exit 1
points=${1:-100000}
rm -f ours.jsonl pykeops.jsonl
echo "== conformance suite on CUDA device 0"
for suite in operations conformance together; do
    KEOPS_REQUIRE_GPU=1 timeout 120 "./$suite" --test-threads=4 || { echo "the suite $suite failed"; exit 1; }
done
echo "== keops, $points x $points"
timeout 180 ./keops-bench gpu --m "$points" --n "$points" > ours.jsonl || { cat ours.jsonl; echo "the benchmark failed"; exit 1; }
echo "== PyKeOps"
if python3 -c 'import pykeops.torch' 2>/dev/null; then
    timeout 170 python3 gpu.py --m "$points" --n "$points" > pykeops.jsonl || echo "PyKeOps did not finish"
else
    echo "not importable: pip install -r requirements.txt"; : > pykeops.jsonl
fi
echo "== Gpairs/s (keops-rs: the device's own time; keops-rs-host: whole calls, from the host and back)"
./keops-bench table ours.jsonl pykeops.jsonl
"#;

/// What PyKeOps needs. Its compiler needs a CUDA toolkit (nvcc) on the machine, ours needs none.
const REQUIREMENTS: &str = "pykeops==2.3\ntorch>=2.2\nnumpy\n";

/// Prepares the directory; runs it on the stand-in if asked.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let simulated = match arguments {
        [] => false,
        [option] if option == "--simulated" => true,
        _ => return Err("usage: cargo xtask gpu [--simulated]".to_owned()),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let directory = target.join("gpu-run");
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    if directory.exists() {
        std::fs::remove_dir_all(&directory).map_err(failed)?;
    }
    std::fs::create_dir_all(&directory).map_err(failed)?;
    // Device code is required of the benchmark, so that a compiler that makes none is found here. The suites are then built as
    // `cargo test` has them, mostly already.
    let bench = build(
        &["build", "--release", "--package", "keops-bench"],
        &[("KEOPS_PTX", "require")],
    )?;
    let copy = |from: &Path, name: &str| {
        std::fs::copy(from, directory.join(name))
            .map(|_| ())
            .map_err(|error| format!("{}: {error}", from.display()))
    };
    for suite in ["operations", "conformance", "together"] {
        let program = build(
            &["test", "--no-run", "--package", "keops", "--test", suite],
            &[],
        )?;
        copy(&program, suite)?;
    }
    copy(&bench, "keops-bench")?;
    copy(&root.join("keops-bench/peers/gpu.py"), "gpu.py")?;
    std::fs::write(directory.join("requirements.txt"), REQUIREMENTS).map_err(failed)?;
    let script = directory.join("run.sh");
    std::fs::write(&script, RUN).map_err(failed)?;
    println!(
        "{} is ready: copy it to a machine with a GPU and run ./run.sh",
        directory.display()
    );
    if simulated {
        simulate(&target, &script)?;
    }
    Ok(())
}

/// Builds, and returns the program that cargo made last.
fn build(arguments: &[&str], environment: &[(&str, &str)]) -> Result<PathBuf, String> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--message-format=json")
        .envs(environment.iter().copied())
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("`cargo {}` failed", arguments.join(" ")));
    }
    // Messages are JSON lines; a program's has its path as a string without escapes.
    let text = String::from_utf8_lossy(&output.stdout);
    let program = text.lines().rev().find_map(|line| {
        let (_, rest) = line.split_once("\"executable\":\"")?;
        rest.split('"').next()
    });
    program
        .map(PathBuf::from)
        .ok_or_else(|| format!("`cargo {}` made no program", arguments.join(" ")))
}

/// Runs the script on the stand-in driver.
fn simulate(target: &Path, script: &Path) -> Result<(), String> {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "keops-sim-driver"])
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !status.success() {
        return Err("keops-sim-driver could not be built".to_owned());
    }
    // A directory of its own, as `keops_sim::stand_in` has: no loader finds the stand-in by itself.
    let directory = target.join("debug/keops-sim");
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    std::fs::create_dir_all(&directory).map_err(failed)?;
    std::fs::copy(
        target.join("debug/libkeops_sim_driver.so"),
        directory.join("libcuda.so"),
    )
    .map_err(failed)?;
    let status = Command::new("sh")
        .arg(script)
        .arg("300")
        .env("LD_LIBRARY_PATH", &directory)
        // What is kept for later calls is not of interest here.
        .env("KEOPS_SIM_LEAKS", "ignore")
        .status()
        .map_err(|error| format!("sh cannot be started: {error}"))?;
    println!("(on the stand-in driver: these times mean nothing)");
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} failed: {status}", script.display()))
    }
}
