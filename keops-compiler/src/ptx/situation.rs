//! Whether the process at hand is a rustc that emits code.
//!
//! A child costs a few hundred milliseconds, and an IDE or `cargo check` would pay them at every keystroke for PTX that
//! nobody reads.
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Kinds of `--emit` for which rustc generates code.
const CODE: [&str; 5] = ["link", "asm", "obj", "llvm-ir", "llvm-bc"];

/// Programs that run macros without compiling.
const TOOLS: [&str; 4] = ["rustdoc", "clippy-driver", "miri", "rust-analyzer"];

/// The running compiler's path, if it is one; the error is a reason.
pub(super) fn running_rustc() -> Result<PathBuf, String> {
    let path = running()?;
    if is_rustc(name(&path)) {
        Ok(path)
    } else {
        Err(format!(
            "the macro runs inside {}, which is not rustc",
            path.display()
        ))
    }
}

/// Whether the running program compiles at all: the error is a reason why it does not.
pub(super) fn compiles() -> Result<(), String> {
    match running() {
        Ok(path) if is_tool(name(&path)) => Err(format!("{} generates no code", path.display())),
        _ => Ok(()),
    }
}

fn running() -> Result<PathBuf, String> {
    std::env::current_exe()
        .map_err(|error| format!("the running compiler's path is unknown: {error}"))
}

/// The name of a program.
fn name(path: &Path) -> &str {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("");
    name.strip_suffix(std::env::consts::EXE_SUFFIX)
        .unwrap_or(name)
}

fn is_tool(name: &str) -> bool {
    TOOLS.iter().any(|tool| name.starts_with(tool))
}

/// Whether a name is rustc's: `rustc`, or with a version as distributions have it (`rustc-1.85`).
fn is_rustc(name: &str) -> bool {
    name.strip_prefix("rustc").is_some_and(|rest| {
        rest.is_empty()
            || rest
                .strip_prefix('-')
                .is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Whether the compiler with these arguments generates code, or why not.
pub(super) fn generates_code(arguments: impl Iterator<Item = OsString>) -> Result<(), String> {
    let mut emit: Option<String> = None;
    let mut add = |kinds: &str| {
        let emit = emit.get_or_insert_default();
        emit.push(',');
        emit.push_str(kinds);
    };
    let arguments = expand(arguments);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "-Zno-codegen" {
            return Err("this build generates no code (-Zno-codegen)".to_owned());
        } else if argument == "--emit" {
            add(arguments.next().map_or("", String::as_str));
        } else if let Some(kinds) = argument.strip_prefix("--emit=") {
            add(kinds);
        }
    }
    let Some(emit) = emit else { return Ok(()) };
    // A kind may name its file: `asm=path`.
    if emit
        .split(',')
        .any(|kind| CODE.contains(&kind.split('=').next().unwrap_or(kind)))
    {
        Ok(())
    } else {
        Err("this build generates no code (as in `cargo check`)".to_owned())
    }
}

/// The arguments as text, with the lines of `@file` arguments in their place, as rustc reads them.
fn expand(arguments: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut out = Vec::new();
    for argument in arguments {
        let argument = argument.to_string_lossy().into_owned();
        match argument
            .strip_prefix('@')
            .and_then(|path| std::fs::read_to_string(path).ok())
        {
            Some(text) => out.extend(text.lines().map(str::to_owned)),
            None => out.push(argument),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(text: &str) -> Result<(), String> {
        generates_code(text.split_whitespace().map(OsString::from))
    }

    #[test]
    fn only_emitted_code_counts() {
        assert!(arguments("rustc lib.rs").is_ok());
        assert!(arguments("rustc --emit=dep-info,metadata,link lib.rs").is_ok());
        assert!(arguments("rustc --emit dep-info,link lib.rs").is_ok());
        assert!(arguments("rustc --emit=metadata --emit=asm=out.s lib.rs").is_ok());
        assert!(arguments("rustc --emit=dep-info,metadata lib.rs").is_err());
        assert!(arguments("rustc --emit metadata lib.rs").is_err());
        assert!(arguments("rustc -Zno-codegen lib.rs").is_err());
    }

    #[test]
    fn argument_files_are_read() {
        let file = std::env::temp_dir().join(format!("keops-arguments-{}", std::process::id()));
        std::fs::write(&file, "lib.rs\n--emit=dep-info,metadata\n").unwrap();
        assert!(arguments(&format!("rustc @{}", file.display())).is_err());
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn programs_are_known_by_name() {
        let rustc = PathBuf::from(format!("/bin/rustc{}", std::env::consts::EXE_SUFFIX));
        assert!(is_rustc(name(&rustc)) && is_rustc("rustc-1.85"));
        for tool in [
            "rust-analyzer-proc-macro-srv",
            "clippy-driver",
            "rustdoc",
            "miri",
        ] {
            assert!(!is_rustc(tool) && is_tool(tool), "{tool}");
        }
        for other in ["rustc-wrapper", "rustcheck", ""] {
            assert!(!is_rustc(other) && !is_tool(other), "{other}");
        }
    }
}
