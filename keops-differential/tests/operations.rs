//! Some rows of the second table of `docs/operations.md`, measured again.

use keops_compiler::ops::{self, OPS, Op};
use keops_differential::operations::{COLUMNS, all, measure, on_page, stated};

fn named(name: &str) -> &'static Op {
    ops::find(name).unwrap_or_else(|| panic!("no operation {name}"))
}

/// Another machine's rounding may differ a little, and its compiler's.
fn compare(names: &[&str], column: usize) {
    let ops: Vec<&'static Op> = names.iter().map(|name| named(name)).collect();
    let (title, on, number) = &COLUMNS[column];
    let found = measure(&ops, on, *number).unwrap_or_else(|e| panic!("{e}"));
    for (op, found) in ops.iter().zip(found) {
        let page = on_page(op).unwrap_or_else(|e| panic!("{e}"))[column];
        let worse = |found: f64, page: f64| found > 1.5 * page + 0.5 || page > 4.0 * found + 0.5;
        let slope = match (found.slope, page.slope) {
            (Some(found), Some(page)) => worse(found, page),
            (None, None) => false,
            _ => true,
        };
        assert!(
            !worse(found.value, page.value) && !slope,
            "{title} of {}: {found:?}, not {page:?}",
            op.name
        );
    }
}

#[test]
fn on_the_cpu() {
    let names = ["exp", "sqdist", "matvec", "atan2", "softmax"];
    compare(&names, 0);
    compare(&names[..2], 2);
}

#[test]
fn in_ptx() {
    compare(&["log"], 1);
}

#[test]
fn every_row_has_all_figures() {
    for op in all() {
        let errors = on_page(op).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(errors.len(), COLUMNS.len(), "{}", op.name);
        assert!(errors.iter().all(|e| e.value.is_finite()), "{}", op.name);
        let slopes = errors.iter().map(|e| e.slope.is_some());
        assert!(
            slopes.clone().all(|s| s) || !slopes.clone().any(|s| s),
            "{}",
            op.name
        );
    }
    assert_eq!(OPS.len(), all().len() + internal());
    assert!(stated("0.5, 1e").is_none() && stated("").is_none());
}

fn internal() -> usize {
    let internal = |op: &&&Op| op.syntax == ops::Syntax::Internal;
    OPS.iter().filter(internal).count()
}
