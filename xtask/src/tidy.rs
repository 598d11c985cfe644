//! `cargo xtask tidy`: rules about the sources that no compiler checks.
//!
//! * layering: the compiler does not depend on the runtime, nor the runtime on the compiler or on `proc-macro2`; the crate they
//!   share depends on nothing;
//! * every `unsafe` block and `unsafe impl` has a `SAFETY:` line, and every `unsafe fn` says when calling it is sound;
//! * every file of `ops/` and `reductions/` is in the list of its `mod.rs`, and every mention there is a file;
//! * no file is longer than [`LONGEST`] lines, and every source file opens with `//!`;
//! * every Rust block of README.md and docs/ is compiled: none is marked `ignore`, and the facade includes the files.
//!
//! All violations are reported at once.
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of the longest source file allowed.
const LONGEST: usize = 800;
/// Directories that hold no sources of this project.
const SKIPPED: [&str; 2] = ["target", ".git"];

/// Checks all rules.
pub(crate) fn run() -> Result<(), String> {
    let root = root()?;
    let mut problems = vec![];
    let mut files = vec![];
    sources(&root, &mut files)?;
    for file in &files {
        let text = read(file)?;
        let name = file
            .strip_prefix(&root)
            .unwrap_or(file)
            .display()
            .to_string();
        if file.extension().is_some_and(|e| e == "rs") {
            source(&name, &text, &mut problems);
        } else {
            markdown(&root, &name, &text, &mut problems)?;
        }
    }
    layering(&root, &mut problems)?;
    for directory in ["ops", "reductions"] {
        registry(
            &root.join("keops-compiler/src").join(directory),
            &mut problems,
        )?;
    }
    if problems.is_empty() {
        println!("tidy: {} files", files.len());
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}

fn root() -> Result<PathBuf, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .map(Path::to_owned)
        .ok_or_else(|| "xtask has no parent directory".to_owned())
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// All Rust and Markdown files below a directory, in order.
fn sources(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        if path.is_dir() {
            if !SKIPPED.contains(&name) {
                sources(&path, files)?;
            }
        } else if name.ends_with(".rs") || name.ends_with(".md") {
            files.push(path);
        }
    }
    Ok(())
}

/// Rules for one Rust file.
fn source(name: &str, text: &str, problems: &mut Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() > LONGEST {
        problems.push(format!(
            "{name}: {} lines, more than {LONGEST}; split it",
            lines.len()
        ));
    }
    // Cases of the error tests are inputs, not modules.
    let is_case = name.contains("tests/ui/") || name.contains("tests/rejected/");
    let opening = lines.iter().find(|line| !line.is_empty());
    if !is_case && !opening.is_some_and(|line| line.starts_with("//!")) {
        problems.push(format!("{name}: does not open with `//!` on what it holds"));
    }
    for (n, line) in lines.iter().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        // In text that is formatted into code (`{{`), the text says SAFETY.
        let is_text = code.contains("{{") || code.contains('"');
        let block = code.contains("unsafe {") || code.contains("unsafe impl");
        if block && !is_text && !justified(&lines, n) {
            problems.push(format!(
                "{name}:{}: `unsafe` without a `SAFETY:` line",
                n + 1
            ));
        }
    }
}

/// Whether a line, or the comment before its statement, says SAFETY.
fn justified(lines: &[&str], n: usize) -> bool {
    if lines[n].contains("SAFETY:") {
        return true;
    }
    lines[..n]
        .iter()
        .rev()
        .take(8)
        .any(|line| line.contains("SAFETY:"))
}

/// Rules for one Markdown file.
fn markdown(root: &Path, name: &str, text: &str, problems: &mut Vec<String>) -> Result<(), String> {
    let mut rust = false;
    for (n, line) in text.lines().enumerate() {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        rust |= language.starts_with("rust");
        if language.contains("ignore") {
            problems.push(format!(
                "{name}:{}: a block marked `ignore` is not compiled",
                n + 1
            ));
        }
    }
    if rust && !read(&root.join("src/lib.rs"))?.contains(&format!("include_str!(\"../{name}\")")) {
        problems.push(format!(
            "{name}: src/lib.rs does not include it, so its Rust blocks are not compiled"
        ));
    }
    Ok(())
}

/// Who may depend on whom.
fn layering(root: &Path, problems: &mut Vec<String>) -> Result<(), String> {
    const FORBIDDEN: [(&str, &[&str]); 4] = [
        (
            "keops-compiler",
            &["keops-runtime", "keops-macros", "ndarray", "rayon"],
        ),
        (
            "keops-runtime",
            &[
                "keops-compiler",
                "keops-macros",
                "proc-macro2",
                "syn",
                "quote",
            ],
        ),
        ("keops-macros", &["keops-runtime"]),
        ("keops-gpu-kernels", &["keops-", "ndarray", "rayon", "syn"]),
    ];
    for (package, forbidden) in FORBIDDEN {
        let manifest = read(&root.join(package).join("Cargo.toml"))?;
        let dependencies = manifest.split("\n[dependencies]").nth(1).unwrap_or("");
        let dependencies = dependencies.split("\n[").next().unwrap_or("");
        for line in dependencies.lines() {
            if let Some(name) = forbidden.iter().find(|name| line.starts_with(**name)) {
                problems.push(format!(
                    "{package}/Cargo.toml: must not depend on {name} ({line})"
                ));
            }
        }
    }
    Ok(())
}

/// One record a file, and every record in the list.
fn registry(directory: &Path, problems: &mut Vec<String>) -> Result<(), String> {
    let list = read(&directory.join("mod.rs"))?;
    let mut files = vec![];
    sources(directory, &mut files)?;
    let records: Vec<String> = files
        .iter()
        .filter_map(|file| {
            file.file_stem()
                .and_then(|stem| stem.to_str())
                .map(str::to_owned)
        })
        .filter(|stem| stem != "mod")
        .collect();
    let name = directory.file_name().and_then(|n| n.to_str()).unwrap_or("");
    for record in &records {
        let module = list.contains(&format!("pub mod {record};"));
        let listed = ["OP", "REDUCTION", "PAIR"]
            .iter()
            .any(|kind| list.contains(&format!("&{record}::{kind}")));
        if !(module && listed) {
            problems.push(format!(
                "{name}/{record}.rs is not in the list of {name}/mod.rs"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(text: &str) -> Vec<String> {
        let mut problems = vec![];
        source("file.rs", text, &mut problems);
        problems
    }

    #[test]
    fn unsafe_needs_a_reason() {
        let block = ["uns", "afe { f() }"].concat();
        assert_eq!(problems_of(&format!("//! doc\n{block}\n")).len(), 1);
        assert!(problems_of(&format!("//! doc\n// SAFETY: f is fine.\n{block}\n")).is_empty());
    }

    #[test]
    fn long_files_and_files_without_a_head_are_reported() {
        let long = "//! doc\n".to_owned() + &"\n".repeat(LONGEST);
        assert_eq!(problems_of(&long).len(), 1);
        assert_eq!(problems_of("fn f() {}\n").len(), 1);
    }
}
