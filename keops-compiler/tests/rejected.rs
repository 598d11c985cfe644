//! Formulas that must be rejected: one mistake a file, with the message under the text at fault.
//!
//! Lines that start with `//>` are the expectation: carets under what is underlined, then the message, in the column
//! of the carets. `KEOPS_BLESS=1` rewrites them. Files named `several_…` have several independent mistakes, all others
//! exactly one. Sources are indented, so that the marks have room.

use keops_compiler::check::parse_and_check;
use keops_compiler::diagnostics::{Diagnostic, Diagnostics};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const MARK: &str = "//>";

#[test]
fn rejected_formulas_give_the_expected_messages() {
    let mut failures = String::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let source: String = text
            .lines()
            .filter(|l| !l.starts_with(MARK))
            .map(|l| format!("{l}\n"))
            .collect();
        let (_, errors) = parse_and_check(source.parse().unwrap());
        let actual = annotate(&source, &errors);
        if std::env::var_os("KEOPS_BLESS").is_some() {
            std::fs::write(&path, &actual).unwrap();
        } else if actual != text {
            writeln!(failures, "{}:\n{actual}", path.display()).unwrap();
        }
    }
    assert!(
        failures.is_empty(),
        "not as expected; KEOPS_BLESS=1 accepts:\n{failures}"
    );
}

#[test]
fn one_mistake_gives_one_error() {
    for path in files() {
        let source = std::fs::read_to_string(&path).unwrap();
        let (_, errors) = parse_and_check(source.parse().unwrap());
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let several = name.starts_with("several");
        assert_eq!(
            errors.len() > 1,
            several,
            "{name} has {} errors",
            errors.len()
        );
        assert!(!errors.is_empty(), "{name} is accepted");
    }
}

#[test]
fn messages_keep_to_the_style() {
    for path in files() {
        let source = std::fs::read_to_string(&path).unwrap();
        let (_, errors) = parse_and_check(source.parse().unwrap());
        for error in errors.iter() {
            let message = error.message();
            let name = path.display();
            assert!(
                !message.lines().any(|l| l.ends_with('.')),
                "full stop in {name}: {message}"
            );
            assert!(
                !message.starts_with(char::is_uppercase) || message.starts_with("K "),
                "capital in {name}: {message}"
            );
            assert_eq!(
                message.matches('`').count() % 2,
                0,
                "backticks in {name}: {message}"
            );
        }
    }
}

#[test]
fn an_empty_call_is_an_error() {
    let (_, errors) = parse_and_check("".parse().unwrap());
    let messages: Vec<String> = errors.iter().map(Diagnostic::message).collect();
    assert_eq!(messages.len(), 1);
    assert!(messages[0].starts_with("`keops!` needs a formula"));
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rejected");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    files
}

/// The source with every error under its line.
fn annotate(source: &str, errors: &Diagnostics) -> String {
    let mut text = String::new();
    for (number, line) in source.lines().enumerate() {
        writeln!(text, "{line}").unwrap();
        for error in errors.iter() {
            let (start, end) = (error.region.first.start(), error.region.last.end());
            if start.line != number + 1 {
                continue;
            }
            let one_line = end.line == start.line;
            let stop = if one_line {
                end.column
            } else {
                line.chars().count()
            };
            assert!(start.column > MARK.len(), "no room for marks: {line}");
            let indent = " ".repeat(start.column - MARK.len());
            let carets = "^".repeat(stop - start.column);
            let rest = if one_line {
                String::new()
            } else {
                format!("... to {}:{}", end.line, end.column)
            };
            for (k, message) in error.message().lines().enumerate() {
                match k {
                    0 => {
                        writeln!(
                            text,
                            "{MARK}{indent}{carets}{rest}\n{MARK}{indent}{message}"
                        )
                        .unwrap();
                    }
                    _ => writeln!(text, "{MARK}{indent}{message}").unwrap(),
                }
            }
        }
    }
    text
}
