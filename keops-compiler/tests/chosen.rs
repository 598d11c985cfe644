//! Which passes of derivatives run listed pairs only: those of what reductions chose, and no others.

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::formulas;
use keops_compiler::function::{Formula, Function};

fn formula(text: &str) -> Formula {
    let (program, errors) = parse_and_check(text.parse().expect("tokens"));
    let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
    assert!(messages.is_empty(), "{text}: {messages:?}");
    formulas(&program).remove(0)
}

/// For each pass its axes, and `listed` where only listed pairs are run: `i<j`, `j<i listed`, `i` for a pass without pairs.
fn passes(function: &Function) -> String {
    let passes = function.passes.iter().map(|pass| {
        let outer = pass.outer.map_or('-', |axis| axis.letter());
        let inner = pass
            .inner
            .map_or(String::new(), |axis| format!("<{}", axis.letter()));
        let listed = if pass.listed.is_empty() {
            ""
        } else {
            " listed"
        };
        format!("{outer}{inner}{listed}")
    });
    passes.collect::<Vec<_>>().join(", ")
}

fn derivative(text: &str) -> String {
    let formula = formula(text);
    let all: Vec<usize> = (0..formula.inputs.len()).collect();
    passes(&formula.vjp(&all).compile())
}

#[test]
fn a_derivative_at_the_argument_lists_its_pairs() {
    let expected = "i<j, j<i listed, i<j listed";
    for body in [
        "min_j sqdist(x_i, y_j)",
        "max_j exp(-norm2(x_i - y_j)) * y_j[0]",
        "min_j x_i * y_j",
        "kmin_j::<4> sqdist(x_i, y_j)",
        "kmin_j::<2> x_i - y_j",
        "min_argmin_j dot(x_i, y_j)",
        "exp(min_j sqdist(x_i, y_j)) * x_i",
        "max_j if x_i[0] < y_j[0] { dot(x_i, y_j) } else { sqdist(x_i, y_j) }",
        "max_j matvec(outer(x_i, y_j), y_j[0..3])",
        "min_j concat(x_i, y_j)",
    ] {
        let text = format!("{body} where x_i: [f64; 3], y_j: [f64; 3]");
        assert_eq!(derivative(&text), expected, "{body}");
    }
    let text = "max_i sqdist(x_i, y_j) where x_i: [f64; 3], y_j: [f64; 3]";
    assert_eq!(derivative(text), "j<i, j<i listed, i<j listed");
}

#[test]
fn several_choices_are_listed_together() {
    let text =
        "(min_j sqdist(x_i, y_j)) * (max_j dot(x_i, y_j)) where x_i: [f64; 3], y_j: [f64; 3]";
    let formula = formula(text);
    let function = formula.vjp(&[0, 1]).compile();
    assert_eq!(passes(&function), "i<j, j<i listed, i<j listed");
    assert!(function.passes[1..].iter().all(|p| p.listed.len() == 2));
}

#[test]
fn what_depends_on_all_pairs_is_not_listed() {
    let where_ = "where x_i: [f64; 3], y_j: [f64; 3]";
    for body in [
        "sum_j exp(-sqdist(x_i, y_j))",
        "logsumexp_j sqdist(x_i, y_j)",
        "sum_j if i < j { dot(x_i, y_j) } else { 0.0 }",
    ] {
        let found = derivative(&format!("{body} {where_}"));
        assert!(!found.contains("listed"), "{body}: {found}");
    }
    // The value of a minimum is one pass over all pairs, its derivative adds no other one.
    let formula = formula(&format!("min_j sqdist(x_i, y_j) {where_}"));
    assert_eq!(passes(&formula.compile()), "i<j");
    let both = passes(&formula.value_and_vjp().compile());
    assert_eq!(both, "i<j, j<i listed, i<j listed");
}

#[test]
fn further_derivatives_are_listed_too() {
    let formula = formula("min_j sqdist(x_i, y_j) where x_i: [f64; 3], y_j: [f64; 3]");
    let along = formula.jvp().expect("real");
    assert_eq!(passes(&along.compile()), "i<j, i<j listed");
    let second = formula.vjp(&[0]).vjp(&[1]);
    assert_eq!(passes(&second.compile()), "i<j, j<i listed");
}
