//! `cargo xtask ptxas`: does NVIDIA's assembler accept the PTX, and what does each entry cost?
//!
//! `ptxas` comes from the Python package `nvidia-cuda-nvcc`, installed into a virtual environment below `target`: its
//! licence does not allow to pass it on, so it is never committed. `KEOPS_PTXAS` names another one to use instead.
//!
//! Invariant: a spill, a use of local memory or a warning fails the task, and so does an example without PTX.
use crate::table::table;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The package, pinned: register counts depend on it.
const PACKAGE: &str = "nvidia-cuda-nvcc==13.5.37";
/// From the oldest supported GPU to the newest.
const ARCHITECTURES: [&str; 5] = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];

/// Assembles the given files and directories, or the PTX of all examples.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let target = target_directory();
    let ptxas = find_ptxas(&target)?;
    let mut files = Vec::new();
    if arguments.is_empty() {
        let directory = target.join("ptx");
        build_examples(&target, &directory)?;
        add_files(&directory, &mut files)?;
    }
    for argument in arguments {
        add_files(Path::new(argument), &mut files)?;
    }
    if files.is_empty() {
        return Err("there is no .ptx file to assemble".to_owned());
    }
    files.sort();
    let mut rows = Vec::new();
    let mut failures = String::new();
    for file in &files {
        for architecture in ARCHITECTURES {
            match assemble(&ptxas, &target, file, architecture) {
                Ok(usages) => rows.extend(usages.into_iter().map(|usage| usage.row(architecture))),
                Err(message) => {
                    failures += &format!("{} for {architecture}:\n{message}\n", file.display())
                }
            }
        }
    }
    // Stable: the architectures of an entry stay in order.
    rows.sort_by(|a: &Vec<String>, b| a[0].cmp(&b[0]));
    print!(
        "{}",
        table(&["entry", "arch", "registers", "spills", "smem"], &rows)
    );
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures)
    }
}

/// What `ptxas -v` says about an entry.
#[derive(Debug, Default, PartialEq)]
struct Usage {
    entry: String,
    registers: u32,
    /// Bytes of spill stores and loads.
    spills: u32,
    /// Bytes of shared memory.
    shared: u32,
}

impl Usage {
    fn row(self, architecture: &str) -> Vec<String> {
        let Usage {
            entry,
            registers,
            spills,
            shared,
        } = self;
        vec![
            entry,
            architecture.to_owned(),
            registers.to_string(),
            spills.to_string(),
            shared.to_string(),
        ]
    }
}

/// Assembles one file; what its entries use, or the assembler's message.
fn assemble(
    ptxas: &Path,
    target: &Path,
    file: &Path,
    architecture: &str,
) -> Result<Vec<Usage>, String> {
    let output = Command::new(ptxas)
        .arg(format!("-arch={architecture}"))
        .args([
            "-v",
            "-Werror",
            "--warn-on-spills",
            "--warn-on-local-memory-usage",
        ])
        .arg(file)
        .arg("-o")
        .arg(target.join("ptxas.cubin"))
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", ptxas.display()))?;
    let message = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        Ok(usages(&message))
    } else {
        Err(message.into_owned())
    }
}

/// Reads the report of `ptxas -v`.
fn usages(report: &str) -> Vec<Usage> {
    let mut usages: Vec<Usage> = Vec::new();
    for line in report.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let entry = rest.split('\'').next().unwrap_or(rest).to_owned();
            usages.push(Usage {
                entry,
                ..Usage::default()
            });
        }
        if let Some(usage) = usages.last_mut() {
            usage.registers = usage.registers.max(number_before(line, " registers"));
            usage.spills += number_before(line, " bytes spill stores")
                + number_before(line, " bytes spill loads");
            usage.shared = usage.shared.max(number_before(line, " bytes smem"));
        }
    }
    usages
}

/// The number that stands before `words` in a line, or 0.
fn number_before(line: &str, words: &str) -> u32 {
    let number = line
        .split_once(words)
        .and_then(|(before, _)| before.rsplit([' ', ',']).next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Builds all examples so that each formula's PTX lands in `directory`.
fn build_examples(target: &Path, directory: &Path) -> Result<(), String> {
    if directory.exists() {
        std::fs::remove_dir_all(directory)
            .map_err(|error| format!("cannot clear {}: {error}", directory.display()))?;
    }
    // Macros run only where something is compiled: in a place of its own, without the results of the last time.
    let build = target.join("ptx-build");
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .args(arguments)
            .arg("--target-dir")
            .arg(&build)
            .current_dir(root());
        command
            .env("KEOPS_PTX", "require")
            .env("KEOPS_PTX_DIR", directory);
        succeed(&mut command)
    };
    if build.exists() {
        cargo(&["clean", "--quiet", "--package", "keops"])?;
    }
    cargo(&["build", "--quiet", "--package", "keops", "--examples"])
}

/// Appends a file, or the `.ptx` files of a directory.
fn add_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |error| format!("cannot read {}: {error}", path.display());
    if !std::fs::metadata(path).map_err(failed)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|extension| extension == "ptx") {
            files.push(file);
        }
    }
    Ok(())
}

/// The assembler: `KEOPS_PTXAS`, or the package's, installed at the first use.
fn find_ptxas(target: &Path) -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("KEOPS_PTXAS") {
        return Ok(PathBuf::from(path));
    }
    let environment = target.join("ptxas").join(PACKAGE.replace("==", "-"));
    if let Some(path) = installed(&environment) {
        return Ok(path);
    }
    let explain = |message: String| {
        format!(
            "{message}\nThe assembler comes from PyPI: this task needs python3 with venv and pip, and the network once. \
             KEOPS_PTXAS=<path of ptxas> uses one that is there already."
        )
    };
    succeed(
        Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment),
    )
    .map_err(explain)?;
    let mut pip = Command::new(environment.join("bin").join("python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        PACKAGE,
    ]);
    succeed(&mut pip).map_err(explain)?;
    installed(&environment)
        .ok_or_else(|| explain(format!("{PACKAGE} holds no ptxas for this platform")))
}

/// `ptxas` of an environment that has it.
fn installed(environment: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(environment.join("lib")).ok()?;
    let below = Path::new("site-packages/nvidia/cu13/bin/ptxas");
    versions
        .flatten()
        .map(|version| version.path().join(below))
        .find(|path| path.exists())
}

/// Runs a command whose output is for the user.
fn succeed(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown}: {status}")),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}

/// The workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}

/// Where build results go.
fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |path| root().join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let report = "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'gauss' for 'sm_90'
ptxas info    : Function properties for gauss
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 48 registers, used 1 barriers, 4096 bytes smem, 400 bytes cmem[0]
ptxas info    : Compiling entry function 'plain' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
";
        let usage = |entry: &str, registers, spills, shared| Usage {
            entry: entry.to_owned(),
            registers,
            spills,
            shared,
        };
        assert_eq!(
            usages(report),
            [usage("gauss", 48, 28, 4096), usage("plain", 8, 0, 0)]
        );
    }
}
