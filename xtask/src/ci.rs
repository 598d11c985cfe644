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
    environment: &'static [(&'static str, &'static str)],
}

/// Without this, a build whose device code cannot be made passes every test that does not ask for it.
const WITH_PTX: &[(&str, &str)] = &[("KEOPS_PTX", "require")];
const WITHOUT_PTX: &[(&str, &str)] = &[("KEOPS_PTX", "off")];

fn steps() -> Result<Vec<Step>, String> {
    let step = |command: &str, environment| Step {
        command: command.to_owned(),
        environment,
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
        step("test --workspace --locked", WITH_PTX),
        step(
            "doc --workspace --no-deps --locked",
            &[("RUSTDOCFLAGS", "-D warnings")],
        ),
    ];
    for example in examples()? {
        steps.push(step(
            &format!("run --release --locked --example {example}"),
            WITH_PTX,
        ));
    }
    steps.push(step(
        "run --release --locked --example derivatives",
        WITHOUT_PTX,
    ));
    steps.push(step("xtask ptxas", &[]));
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
            .map(|(name, value)| format!("{name}={value} "))
            .collect();
        let shown = format!("{set}cargo {command}");
        println!("==> {shown}");
        let start = Instant::now();
        let status = Command::new(env!("CARGO"))
            .args(command.split(' '))
            .envs(environment.iter().copied())
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
