//! `docs/operations.md`: what its two parts share. The first is made from the records by a test of the compiler, the second, behind
//! [`SECTION`], by `cargo xtask operations` from compiled kernels.

use super::closed;
use keops_compiler::ops::{OPS, Op, Syntax};

/// The heading of the second part.
pub const SECTION: &str = "\n## Compiled kernels\n";

/// The page.
pub fn path() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations.md")
}

/// How an operation is called in a table, if users can write it.
pub fn name(op: &Op) -> Option<String> {
    let written = match op.syntax {
        Syntax::Call => op.name,
        Syntax::Operator(token) => token,
        Syntax::Internal => return None,
    };
    Some(format!("`{}`", written.replace('|', "\\|")))
}

/// The names of the rows of the second table, in order.
pub fn names() -> Vec<String> {
    let others = closed::all().map(|c| format!("`{}`", c.written));
    OPS.iter().filter_map(|op| name(op)).chain(others).collect()
}

/// The first cell of each row of a part of the page, in order.
pub fn rows(part: &str) -> Vec<&str> {
    part.lines()
        .filter_map(|line| line.strip_prefix("| "))
        .filter(|line| line.starts_with('`'))
        .filter_map(|line| line.split(" | ").next())
        .collect()
}
