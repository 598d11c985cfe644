//! Building the stand-in driver and running tests on it.
//!
//! The driver's library is called `libkeops_sim_driver.so` where cargo builds it, and `libcuda.so` only in a directory of
//! its own below the target directory, which no loader searches by itself. A test program runs itself again with that
//! directory in `LD_LIBRARY_PATH`, see [`rerun`]; a program never finds the stand-in otherwise.
//!
//! ```
//! // with `#[test]`
//! fn a_test() {
//!     if !keops_sim::stand_in::on_stand_in("a_test", &[("KEOPS_SIM_DEVICES", "2")]) {
//!         return;
//!     }
//!     // … CudaContext::new(1) …
//! }
//! ```
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Set where a test program runs on the stand-in.
const MARK: &str = "KEOPS_SIM_TEST";

/// Builds the driver and stages it as `libcuda.so`; the directory that holds it.
///
/// To be called from a test program of this workspace, whose profile and target directory the build shares.
///
/// # Errors
/// Cargo's message, or why the library cannot be staged.
pub fn stage() -> Result<PathBuf, String> {
    // Tests of a program run in threads; one of them builds.
    static STAGED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    STAGED.get_or_init(build).clone()
}

fn build() -> Result<PathBuf, String> {
    let program = std::env::current_exe()
        .map_err(|error| format!("the test program has no path: {error}"))?;
    // <target>/<profile>/deps/<program> for tests, <target>/<profile>/<program> for others
    let directory = program.parent();
    let profile = directory
        .filter(|directory| !directory.ends_with("deps"))
        .or(directory.and_then(Path::parent))
        .ok_or("the test program is not in a target directory")?;
    let target = profile
        .parent()
        .ok_or("the test program is not in a target directory")?;
    let name = match profile.file_name().and_then(|name| name.to_str()) {
        None | Some("debug") => "dev",
        Some(name) => name,
    };
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args([
            "build",
            "--quiet",
            "--offline",
            "--package",
            "keops-sim-driver",
            "--profile",
            name,
        ])
        .arg("--manifest-path")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("driver/Cargo.toml"))
        .arg("--target-dir")
        .arg(target);
    let output = cargo
        .output()
        .map_err(|error| format!("cargo cannot be started to build keops-sim-driver: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("keops-sim-driver could not be built: {message}"));
    }
    let built = profile.join(format!(
        "{}keops_sim_driver{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    ));
    let directory = profile.join("keops-sim");
    let staged = directory.join("libcuda.so");
    let fresh = |path: &Path| {
        std::fs::metadata(path)
            .and_then(|data| data.modified())
            .ok()
    };
    if fresh(&staged) < fresh(&built) || fresh(&staged).is_none() {
        // Copied under another name first, so that a program that is just starting finds the old or the new one whole.
        let part = directory.join(format!("libcuda.{}.part", std::process::id()));
        std::fs::create_dir_all(&directory)
            .and_then(|()| std::fs::copy(&built, &part))
            .and_then(|_| std::fs::rename(&part, &staged))
            .map_err(|error| format!("{} cannot be staged: {error}", built.display()))?;
    }
    Ok(directory)
}

/// Whether this process was started by [`rerun`].
pub fn is_rerun() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Runs one test of this program again, in a process of its own, on the stand-in driver with the settings `settings`.
///
/// # Errors
/// The driver cannot be built or the program not be started.
pub fn rerun(test: &str, settings: &[(&str, &str)]) -> Result<Output, String> {
    run_again(
        &["--exact", test, "--nocapture", "--test-threads=1"],
        settings,
    )
}

/// Runs this program again with other arguments, on the stand-in driver with the settings `settings`.
///
/// # Errors
/// The driver cannot be built or the program not be started.
pub fn run_again(arguments: &[&str], settings: &[(&str, &str)]) -> Result<Output, String> {
    let directory = stage()?;
    let program = std::env::current_exe()
        .map_err(|error| format!("the test program has no path: {error}"))?;
    let mut path = directory.into_os_string();
    if let Some(others) = std::env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
        path.push(":");
        path.push(others);
    }
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env(MARK, "1")
        .env("LD_LIBRARY_PATH", path);
    for (name, value) in settings {
        command.env(name, value);
    }
    command
        .output()
        .map_err(|error| format!("the test program cannot be started again: {error}"))
}

/// The body of a test on the stand-in: in the first process runs the test again and fails with its output if that fails; in
/// the second one returns true, and the caller goes on.
///
/// # Panics
/// The second process failed.
pub fn on_stand_in(test: &str, settings: &[(&str, &str)]) -> bool {
    if is_rerun() {
        return true;
    }
    let output = rerun(test, settings).unwrap_or_else(|reason| panic!("{reason}"));
    assert!(
        output.status.success(),
        "{test} on the stand-in driver: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    false
}
