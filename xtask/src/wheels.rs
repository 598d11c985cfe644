//! Tools from the Python package index: NVIDIA's assembler and disassembler, and a race checker.
//!
//! Each is installed at its first use into a virtual environment of its own below `target`. Their licences do not allow to pass
//! them on (NVIDIA's) or there is no reason to (SentryWard), so they are never committed. Versions are pinned: register counts
//! and findings depend on them. A variable of the environment names a program to use instead.
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program of a package.
pub(crate) struct Tool {
    /// The package with its version, `name==version`.
    package: &'static str,
    /// Where the program is in the virtual environment, below `lib/python3.x/site-packages` or, from `bin/` on, at its top.
    path: &'static str,
    /// The variable that names another program.
    variable: &'static str,
}

/// NVIDIA's assembler.
pub(crate) const PTXAS: Tool = Tool {
    package: "nvidia-cuda-nvcc==13.5.37",
    path: "nvidia/cu13/bin/ptxas",
    variable: "KEOPS_PTXAS",
};
/// NVIDIA's disassembler.
pub(crate) const NVDISASM: Tool = Tool {
    package: "nvidia-cuda-nvdisasm==13.5.37",
    path: "nvidia/cu13/bin/nvdisasm",
    variable: "KEOPS_NVDISASM",
};
/// A prover of the absence of data races and of misused barriers.
pub(crate) const SENTRYWARD: Tool = Tool {
    package: "sentryward==0.1.1",
    path: "bin/sentryward",
    variable: "KEOPS_SENTRYWARD",
};

impl Tool {
    /// The program: the one that the variable names, or the package's.
    pub(crate) fn find(&self) -> Result<PathBuf, String> {
        if let Some(path) = std::env::var_os(self.variable) {
            return Ok(PathBuf::from(path));
        }
        let environment = target_directory()
            .join("wheels")
            .join(self.package.replace("==", "-"));
        if let Some(path) = self.installed(&environment) {
            return Ok(path);
        }
        let explain = |message: String| {
            format!(
                "{message}\n{} comes from PyPI: this task needs python3 with venv and pip, and the network once. \
                 {}=<path> uses one that is there already.",
                self.package, self.variable
            )
        };
        let venv = ["-m", "venv"];
        succeed(Command::new("python3").args(venv).arg(&environment)).map_err(explain)?;
        let mut pip = Command::new(environment.join("bin").join("python"));
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
        ]);
        succeed(pip.arg(self.package)).map_err(explain)?;
        self.installed(&environment).ok_or_else(|| {
            explain(format!(
                "{} holds no {} for this platform",
                self.package, self.path
            ))
        })
    }

    /// The program of an environment that has it.
    fn installed(&self, environment: &Path) -> Option<PathBuf> {
        if self.path.starts_with("bin/") {
            return Some(environment.join(self.path)).filter(|path| path.exists());
        }
        let versions = std::fs::read_dir(environment.join("lib")).ok()?;
        versions
            .flatten()
            .map(|version| version.path().join("site-packages").join(self.path))
            .find(|path| path.exists())
    }
}

/// Runs a command whose output is for the user.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown}: {status}")),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}

/// The workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}

/// Where build results go.
pub(crate) fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |path| root().join(path))
}
