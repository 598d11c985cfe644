//! Device code: Rust text in, PTX out, by the compiler that is already running.
//!
//! A proc macro runs inside rustc, so [`std::env::current_exe`] is a compiler that can also make PTX. [`compile`] starts
//! it a second time, as a child with the device crate's text on standard input. All items of a macro call share one
//! child; [`split`] then gives each item its own module.
//!
//! Invariants: a build never fails because PTX cannot be made, unless `KEOPS_PTX=require` asks for that; no child runs where
//! the compiler at hand is not rustc or emits no code (`cargo check`, clippy, rustdoc, an IDE); a child cannot hang the
//! build; nothing is left behind on disk except where `KEOPS_PTX_DIR` says so.
//!
//! | variable | meaning |
//! |---|---|
//! | `KEOPS_PTX` | `auto` (default): without PTX the reason is embedded; `off`: never; `require`: the reason is an error |
//! | `KEOPS_PTX_DIR` | a directory into which each item's module is also written, as `<item>.ptx` |
mod child;
mod module;
mod situation;

pub use child::compile_with;
pub use module::split;

use std::path::Path;

/// What became of the device code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The PTX module.
    Ptx(String),
    /// There is none, and why: one or more lines to show where a GPU is asked for.
    Unavailable(String),
}

/// Compiles a device crate (see [`keops_gpu_kernels::device::source`]) with the running compiler.
///
/// # Errors
/// A message for a compile error: `KEOPS_PTX` has no valid value, or it is `require` and this build generates code but the
/// PTX could not be made.
pub fn compile(source: &str) -> Result<Outcome, String> {
    let setting = std::env::var_os("KEOPS_PTX");
    let require = match setting.as_ref().map(|value| value.to_str()) {
        None | Some(Some("" | "auto")) => false,
        Some(Some("require")) => true,
        Some(Some("off")) => {
            return Ok(Outcome::Unavailable(
                "device code was switched off by KEOPS_PTX=off".to_owned(),
            ));
        }
        Some(other) => {
            let value = other.unwrap_or("no text");
            return Err(format!(
                "KEOPS_PTX is `{value}`, but must be `auto`, `off` or `require`"
            ));
        }
    };
    let needed =
        situation::compiles().and_then(|()| situation::generates_code(std::env::args_os()));
    if let Err(reason) = needed {
        return Ok(Outcome::Unavailable(reason));
    }
    let compiled = situation::running_rustc().and_then(|rustc| compile_with(&rustc, source));
    match compiled {
        Ok(ptx) => Ok(Outcome::Ptx(ptx)),
        Err(reason) if require => Err(format!("KEOPS_PTX=require, but {reason}")),
        Err(reason) => Ok(Outcome::Unavailable(reason)),
    }
}

/// Writes an item's module to `KEOPS_PTX_DIR`, where that is set.
///
/// # Errors
/// A message for a compile error: the directory cannot be made or the file not be written.
pub fn export(item: &str, ptx: &str) -> Result<(), String> {
    match std::env::var_os("KEOPS_PTX_DIR") {
        Some(directory) if !directory.is_empty() => export_to(Path::new(&directory), item, ptx),
        _ => Ok(()),
    }
}

/// Writes `<directory>/<item>.ptx`.
fn export_to(directory: &Path, item: &str, ptx: &str) -> Result<(), String> {
    let path = directory.join(format!("{item}.ptx"));
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(&path, ptx))
        .map_err(|error| format!("KEOPS_PTX_DIR: cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_that_fails_names_the_file() {
        let file = std::env::temp_dir().join(format!("keops-export-{}", std::process::id()));
        std::fs::write(&file, "").unwrap();
        let error = export_to(&file, "gauss", "").unwrap_err();
        assert!(error.contains("gauss.ptx"), "{error}");
        std::fs::remove_file(&file).unwrap();
        export_to(&file, "gauss", "text").unwrap();
        assert_eq!(
            std::fs::read_to_string(file.join("gauss.ptx")).unwrap(),
            "text"
        );
        std::fs::remove_dir_all(&file).unwrap();
    }

    #[test]
    fn outside_rustc_there_is_a_reason() {
        // The test program is not rustc, whatever its arguments.
        match compile("") {
            // The reason is an error where these tests run with `KEOPS_PTX=require`.
            Ok(Outcome::Unavailable(reason)) | Err(reason) => assert!(!reason.is_empty()),
            other => panic!("{other:?}"),
        }
    }
}
