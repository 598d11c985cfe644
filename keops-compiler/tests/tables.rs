//! What `docs/` says of operations, reductions and messages is what the compiler says.
//!
//! Tables in `docs/language.md` come from the records, examples in `docs/errors.md` from the corpus of rejected formulas.
//! `KEOPS_BLESS=1` rewrites them.

use keops_compiler::ops::{OPS, Syntax};
use keops_compiler::reductions::{PAIRS, REDUCTIONS};
use std::fmt::Write;
use std::path::Path;

/// A table cell: no bar may end it early.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn keops_name(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!("`{name}`")
    }
}

fn operations() -> String {
    let mut table = "| written | KeOps | value |\n|---|---|---|\n".to_owned();
    for op in OPS {
        let written = match op.syntax {
            Syntax::Call => format!("`{}`", op.name),
            Syntax::Operator(token) => format!("`{}`", cell(token)),
            Syntax::Internal => continue,
        };
        writeln!(
            table,
            "| {written} | {} | {} |",
            keops_name(op.keops_name),
            cell(op.doc)
        )
        .unwrap();
    }
    table
}

fn reductions() -> String {
    let mut table = "| written | KeOps | value |\n|---|---|---|\n".to_owned();
    for pair in PAIRS {
        let k = if pair.index.takes_k { "::<K>" } else { "" };
        let (name, keops) = (pair.name, keops_name(pair.keops_name));
        writeln!(table, "| `{name}_j{k} s` | {keops} | {} |", cell(pair.doc)).unwrap();
    }
    for reduction in REDUCTIONS {
        let k = if reduction.takes_k { "::<K>" } else { "" };
        let arguments = if reduction.arity == 1 { " s" } else { "(s, v)" };
        let mut written = format!("`{}_j{k}{arguments}`", reduction.name);
        for alias in reduction.aliases {
            write!(written, ", `{alias}_j{k}{arguments}`").unwrap();
        }
        writeln!(
            table,
            "| {written} | {} | {} |",
            keops_name(reduction.keops_name),
            cell(reduction.doc)
        )
        .unwrap();
    }
    table
}

/// The text with what is between the two markers of `name` replaced.
fn replaced(text: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
    format!("{before}{begin}{table}{end}{after}")
}

/// The mistakes that `docs/errors.md` shows, in order.
const MISTAKES: &[&str] = &[
    "unequal_vectors",
    "matrix_for_vector",
    "matvec_dimensions",
    "unknown_function",
    "keops_function",
    "unknown_variable",
    "mixed_float_types",
    "reduction_over_wrong_index",
    "free_index",
    "nested_reduction_by_reach",
    "no_reduction",
    "index_out_of_bounds",
    "k_zero",
    "gradient_of_index",
    "gradient_of_vector",
    "gradient_across_rows",
    "unused_variable",
    "several_in_one_formula",
];

fn mistakes() -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rejected");
    let mut text = String::new();
    for name in MISTAKES {
        let case = std::fs::read_to_string(directory.join(format!("{name}.keops"))).unwrap();
        writeln!(
            text,
            "```text\n{}\n```\n",
            case.trim_end().replace("//>", "   ")
        )
        .unwrap();
    }
    text
}

/// Compares a file of `docs/` with the same file after its marked parts are replaced.
fn check(file: &str, parts: &[(&str, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let current = parts.iter().fold(text.clone(), |text, (name, part)| {
        replaced(&text, name, part)
    });
    if std::env::var_os("KEOPS_BLESS").is_some() {
        std::fs::write(&path, current).unwrap();
    } else {
        assert!(
            text == current,
            "docs/{file} is not current: run this test with KEOPS_BLESS=1"
        );
    }
}

#[test]
fn language_is_current() {
    check(
        "language.md",
        &[("operations", operations()), ("reductions", reductions())],
    );
}

#[test]
fn errors_are_current() {
    check("errors.md", &[("mistakes", mistakes())]);
}
