//! The project's own kernels as PTX files, and what their comments say of them.
use crate::wheels::{root, succeed, target_directory};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `keops-gpu-kernels` notes in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Outer rows of a thread.
    pub(crate) outer_rows: usize,
    /// Pairs of a register tile.
    pub(crate) pairs: usize,
}

/// The given files, with the `.ptx` files of directories, and the PTX of `.keops` files; or that of the kernels of the table, of
/// long rows and of all cases of the conformance tests, which hold every operation and reduction.
pub(crate) fn files(arguments: &[String]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    if arguments.is_empty() {
        for (name, sources) in [
            ("table", &["keops-compiler/kernels/table.keops"][..]),
            (
                "wide",
                &[
                    "keops-compiler/kernels/wide.keops",
                    "keops-compiler/kernels/vectors.keops",
                    "keops-compiler/kernels/reductions.keops",
                ],
            ),
            (
                "cases",
                &[
                    "tests/operations/main.rs",
                    "tests/conformance/reductions.rs",
                ],
            ),
        ] {
            add(&make(name, sources)?, &mut files)?;
        }
    }
    let is_source = |argument: &&String| argument.ends_with(".keops");
    let sources: Vec<&str> = arguments
        .iter()
        .filter(is_source)
        .map(String::as_str)
        .collect();
    if !sources.is_empty() {
        add(&make("given", &sources)?, &mut files)?;
    }
    for argument in arguments.iter().filter(|a| !is_source(a)) {
        add(Path::new(argument), &mut files)?;
    }
    if files.is_empty() {
        return Err("there is no .ptx file".to_owned());
    }
    files.sort();
    Ok(files)
}

/// Makes the PTX of formulas; the directory where it is.
pub(crate) fn make(name: &str, sources: &[&str]) -> Result<PathBuf, String> {
    let directory = target_directory().join("ptx-kernels").join(name);
    if directory.exists() {
        std::fs::remove_dir_all(&directory)
            .map_err(|error| format!("cannot clear {}: {error}", directory.display()))?;
    }
    let mut command = Command::new(env!("CARGO"));
    command
        .args([
            "run",
            "--quiet",
            "--package",
            "keops-compiler",
            "--example",
            "ptx",
            "--",
        ])
        .arg(&directory)
        .args(sources.iter().map(|source| root().join(source)))
        .current_dir(root());
    succeed(&mut command)?;
    Ok(directory)
}

/// Appends a file, or the `.ptx` files of a directory.
fn add(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
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

/// The notes in the entries of a file.
pub(crate) fn shapes(file: &Path) -> Result<BTreeMap<String, Shape>, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    Ok(notes(&text))
}

fn notes(ptx: &str) -> BTreeMap<String, Shape> {
    let mut shapes = BTreeMap::new();
    let mut entry = "";
    for line in ptx.lines() {
        if let Some((_, rest)) = line.split_once(".entry ") {
            entry = rest.split('(').next().unwrap_or(rest);
        }
        if let Some((_, note)) = line.split_once("// keops: ") {
            let numbers: Vec<usize> = note
                .split(", ")
                .filter_map(|part| part.rsplit(' ').next()?.parse().ok())
                .collect();
            if let [outer, inner, ..] = numbers[..] {
                let shape = Shape {
                    outer_rows: outer,
                    pairs: outer * inner,
                };
                shapes.insert(entry.to_owned(), shape);
            }
        }
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read() {
        let note = "// keops: outer rows 4, inner rows 2, inner columns 3, state words 6";
        let ptx = format!(
            ".visible .entry a(\n.param .u32 m\n)\n{{\n{note}\nadd.rn.f32 %f1, %f2, %f3;\n}}\n.visible .entry b(\n)\n{{\n\
             {note}\nadd.rn.f64 %d1, %d2, %d3;\nadd.rn.f64 %d1, %d2, %d3;\n}}\n"
        );
        let shape = Shape {
            outer_rows: 4,
            pairs: 8,
        };
        let notes = notes(&ptx);
        assert_eq!((notes["a"], notes["b"]), (shape, shape));
    }
}
