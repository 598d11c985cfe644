//! `cargo xtask ci`: everything that must hold before a change lands, in one command. `.ci/run` calls it.
//!
//! Cheap checks first. Each step is a cargo command as one would type it; the first that fails ends the run. The last lines
//! say how long each step took.
use crate::table::table;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A step: arguments of cargo, and variables set for it.
struct Step {
    command: String,
    environment: Vec<(&'static str, String)>,
}

fn steps() -> Result<Vec<Step>, String> {
    let step = |command: &str, environment: &[(&'static str, &str)]| Step {
        command: command.to_owned(),
        environment: environment
            .iter()
            .map(|&(name, value)| (name, value.to_owned()))
            .collect(),
    };
    let mut steps = vec![
        step("fmt --all --check", &[]),
        step("xtask tidy", &[]),
        // Warnings are errors here and only here: a new compiler's warning must not break anyone's build.
        step(
            "clippy --workspace --all-targets --locked -- -D warnings",
            &[],
        ),
        // The command that README.md gives: unit, integration and ui tests, examples built, documentation tests.
        step("test --workspace --locked", &[]),
        step(
            "doc --workspace --no-deps --locked",
            &[("RUSTDOCFLAGS", "-D warnings")],
        ),
    ];
    // Each example runs once, and the same build leaves its PTX in a directory of its own for `ptxas`. Device code is
    // required here: otherwise a build that cannot make it would pass.
    let ptx = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/ptx-ci");
    if ptx.exists() {
        std::fs::remove_dir_all(&ptx).map_err(|e| format!("{}: {e}", ptx.display()))?;
    }
    // Long rows and every reduction beside them. Without arguments the task takes the kernels of all conformance tests, too, which
    // is a matter of many minutes.
    let mut assemble = "xtask ptxas all keops-compiler/kernels/table.keops \
                        keops-compiler/kernels/wide.keops keops-compiler/kernels/vectors.keops \
                        keops-compiler/kernels/reductions.keops"
        .to_owned();
    for example in examples()? {
        let directory = ptx.join(&example).display().to_string();
        steps.push(step(
            &format!("run --release --locked --example {example}"),
            &[("KEOPS_PTX", "require"), ("KEOPS_PTX_DIR", &directory)],
        ));
        assemble = format!("{assemble} {directory}");
    }
    steps.push(step(
        "run --release --locked --example derivatives",
        &[("KEOPS_PTX", "off")],
    ));
    steps.push(step(&assemble, &[]));
    steps.push(step("xtask race", &[]));
    Ok(steps)
}

/// The names of all examples of the root package, in order.
fn examples() -> Result<Vec<String>, String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let entries =
        std::fs::read_dir(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            entry
                .ok()?
                .file_name()
                .to_str()?
                .strip_suffix(".rs")
                .map(str::to_owned)
        })
        .collect();
    names.sort();
    Ok(names)
}

/// Runs all steps.
pub(crate) fn run() -> Result<(), String> {
    let mut rows: Vec<Vec<String>> = vec![];
    for Step {
        command,
        environment,
    } in steps()?
    {
        let set: String = environment
            .iter()
            .filter(|(name, _)| *name != "KEOPS_PTX_DIR")
            .map(|(name, value)| format!("{name}={value} "))
            .collect();
        let shown = format!("{set}cargo {command}");
        println!("==> {shown}");
        let start = Instant::now();
        let status = Command::new(env!("CARGO"))
            .args(command.split(' '))
            .envs(environment)
            .status()
            .map_err(|error| format!("cargo cannot be started: {error}"))?;
        if !status.success() {
            return Err(format!("ci: `{shown}` failed"));
        }
        rows.push(vec![
            shown,
            format!("{:.0} s", start.elapsed().as_secs_f64()),
        ]);
    }
    print!("\n{}", table(&["step", "time"], &rows));
    Ok(())
}
