//! Row numbers in formulas: conditions against loops, and the rows that conditions exclude.

mod support;

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::formulas;
use keops_compiler::function::Formula;
use keops_compiler::graph::NodeId;
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::lower::bounds::Within;
use keops_compiler::lower::interpret::{Frame, parameters, run, run_function};
use keops_compiler::types::Shape;
use keops_compiler::value::Value;
use support::close;

fn formula(text: &str) -> Formula {
    let (program, errors) = parse_and_check(text.parse().expect("tokens"));
    let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
    assert!(messages.is_empty(), "{text}: {messages:?}");
    formulas(&program).pop().expect("an item")
}

/// Integral values of conditions, of i, j and w, with how they are written.
type Condition = (&'static str, fn(i64, i64, f64) -> bool);
#[allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "NaN is what the negation is about"
)]
const CONDITIONS: &[Condition] = &[
    ("i == j", |i, j, _| i == j),
    ("i != j", |i, j, _| i != j),
    ("i < j", |i, j, _| i < j),
    ("i <= j", |i, j, _| i <= j),
    ("i > j", |i, j, _| i > j),
    ("i >= j", |i, j, _| i >= j),
    ("abs(i - j) <= 3", |i, j, _| (i - j).abs() <= 3),
    ("abs(i - j) < 2", |i, j, _| (i - j).abs() < 2),
    ("abs(i - j) > 3", |i, j, _| (i - j).abs() > 3),
    ("!(abs(i - j) >= 4)", |i, j, _| (i - j).abs() < 4),
    ("2 * i + 1 == j", |i, j, _| 2 * i + 1 == j),
    ("2 * i - 3 * j + 4 < 0", |i, j, _| 2 * i - 3 * j + 4 < 0),
    ("i + j == 7", |i, j, _| i + j == 7),
    ("j < 5", |_, j, _| j < 5),
    ("i > 2 && j <= 6", |i, j, _| i > 2 && j <= 6),
    ("i == 0 || j == 0", |i, j, _| i == 0 || j == 0),
    ("min(i, j) == 2", |i, j, _| i.min(j) == 2),
    ("max(i, j - 1) <= 4", |i, j, _| i.max(j - 1) <= 4),
    ("-i > -j", |i, j, _| i < j),
    ("abs(i - j) <= w", |i, j, w| (i - j).abs() as f64 <= w),
    ("abs(i - j) < w", |i, j, w| ((i - j).abs() as f64) < w),
    ("abs(i - j) > w", |i, j, w| (i - j).abs() as f64 > w),
    ("i - w >= j", |i, j, w| i as f64 - w >= j as f64),
    ("i + w == j", |i, j, w| i as f64 + w == j as f64),
    // Constants that are made of literals.
    ("abs(i - j) < 3 && i - j >= -1", |i, j, _| {
        (-1..3).contains(&(i - j))
    }),
    ("3 * i - 2 * j <= 5 && 3 * i - 2 * j >= -7", |i, j, _| {
        (-7..=5).contains(&(3 * i - 2 * j))
    }),
    ("abs(i - j) <= 2 * (3 - 2) - -1", |i, j, _| {
        (i - j).abs() <= 3
    }),
    // Bounds that are computed.
    ("abs(i - j) <= w + 1", |i, j, w| {
        (i - j).abs() as f64 <= w + 1.0
    }),
    ("abs(i - j) < 2 * w", |i, j, w| {
        ((i - j).abs() as f64) < 2.0 * w
    }),
    ("i - j >= -w && i <= j + 1", |i, j, w| {
        (i - j) as f64 >= -w && i - j <= 1
    }),
    // What is not a comparison holds for NaN.
    ("!(abs(i - j) > w)", |i, j, w| !((i - j).abs() as f64 > w)),
    ("!(abs(i - j) <= w / 2)", |i, j, w| {
        !((i - j).abs() as f64 <= w / 2.0)
    }),
];

fn inputs(m: usize, n: usize, w: f64) -> Inputs {
    let rows = |count: usize, of: fn(f64) -> f64| {
        (0..count)
            .map(|k| Value::scalar(of(k as f64)))
            .collect::<Vec<_>>()
    };
    Inputs {
        variables: vec![
            rows(m, |k| 1.0 + k / 8.0),
            rows(n, |k| 2.0 - k / 16.0),
            vec![Value::scalar(w)],
        ],
        m,
        n,
    }
}

/// The rows of the only result, by both interpreters.
fn value(formula: &Formula, inputs: &Inputs) -> Vec<f64> {
    let roots: Vec<NodeId> = formula.outputs.iter().map(|o| o.node).collect();
    let expected: Vec<f64> = evaluate(&formula.graph, &roots, inputs)[0]
        .iter()
        .map(Value::first)
        .collect();
    let slots: Vec<Vec<Vec<f64>>> = inputs
        .variables
        .iter()
        .map(|v| v.iter().map(|row| row.data.clone()).collect())
        .collect();
    let found = run_function(&formula.compile(), &slots, inputs.m, inputs.n)[0].concat();
    for (k, f) in found.iter().enumerate() {
        let e = expected[k % expected.len()];
        assert!(close(*f, e, 1e-12), "kernel {found:?}, graph {expected:?}");
    }
    found
}

const VARIABLES: &str = "a_i: f64, b_j: f64, w: f64";

#[test]
fn conditions_hold_where_they_should() {
    for &(text, holds) in CONDITIONS {
        for w in [0.0, 2.0, 2.5, -1.5, f64::NAN, f64::INFINITY] {
            let at = inputs(9, 13, w);
            let (a, b) = (
                |i: i64| 1.0 + i as f64 / 8.0,
                |j: i64| 2.0 - j as f64 / 16.0,
            );
            let unused = if text.contains('w') {
                ""
            } else {
                " + (if w < 0.0 { 0.0 } else { 0.0 })"
            };
            let over_j = formula(&format!(
                "fn f({VARIABLES}) = (sum_j if {text} {{ a_i * b_j }} else {{ 0.0 }}){unused};"
            ));
            let expected: Vec<f64> = (0..9)
                .map(|i| {
                    let chosen = (0..13).filter(|&j| holds(i, j, w));
                    chosen.map(|j| a(i) * b(j)).sum()
                })
                .collect();
            let found = value(&over_j, &at);
            for (f, e) in found.iter().zip(&expected) {
                assert!(
                    close(*f, *e, 1e-12),
                    "{text}, w = {w}: {found:?}, not {expected:?}"
                );
            }
            let over_i = formula(&format!(
                "fn f({VARIABLES}) = (min_i if {text} {{ a_i * b_j }} else {{ INFINITY }}){unused};"
            ));
            let expected: Vec<f64> = (0..13)
                .map(|j| {
                    let chosen = (0..9).filter(|&i| holds(i, j, w));
                    chosen.map(|i| a(i) * b(j)).fold(f64::INFINITY, f64::min)
                })
                .collect();
            let found = value(&over_i, &at);
            for (f, e) in found.iter().zip(&expected) {
                assert!(
                    close(*f, *e, 1e-12),
                    "{text}, w = {w}: {found:?}, not {expected:?}"
                );
            }
        }
    }
}

/// Every condition on `i` and `j` that is a comparison leaves rows out, and never a row that it holds for.
#[test]
fn excluded_rows_are_skipped() {
    let (m, n) = (40, 50);
    for &(text, holds) in CONDITIONS {
        let unused = if text.contains('w') { "" } else { " + 0.0 * w" };
        let function = formula(&format!(
            "fn f({VARIABLES}) = (sum_j if {text} {{ a_i * b_j }} else {{ 0.0 }}){unused};"
        ))
        .compile();
        let ir = function
            .passes
            .iter()
            .find(|p| p.inner.is_some())
            .expect("a pass");
        let wide = [
            "i != j",
            "abs(i - j) > 3",
            "abs(i - j) > w",
            "!(abs(i - j) <= w / 2)",
        ];
        assert_eq!(ir.bounds.is_some(), text != "i != j", "{text}");
        let Some(bounds) = &ir.bounds else { continue };
        for w in [2.5, 0.0, -1.5, f64::NAN, f64::INFINITY] {
            let slots = [vec![], vec![], vec![vec![w]]];
            let parameters = parameters(ir, &slots, m as usize, n as usize);
            let mut folded = 0;
            for first in (0..m).step_by(8) {
                let last = first + 7;
                let (begin, end) = bounds.rows(first, last, n, &|column| parameters[column]);
                assert!(begin >= 0 && end <= n, "{text}");
                folded += (end - begin).max(0);
                for (i, j) in (first..=last).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let inside = (begin..end).contains(&j);
                    assert!(
                        inside || !holds(i, j, w),
                        "{text}, w = {w} leaves {i}, {j} out"
                    );
                }
            }
            if w == 2.5 && !wide.contains(&text) {
                assert!(folded < 5 * n, "{text} leaves nothing out");
            }
        }
    }
}

/// Several terms, opposite branches, conditions of values beside those of row numbers.
#[test]
fn terms_are_excluded_together() {
    let bounds = |body: &str| {
        let function = formula(&format!("fn f({VARIABLES}) = ({body}) + 0.0 * w;")).compile();
        let pass = function.passes.into_iter().find(|p| p.inner.is_some());
        pass.expect("a pass").bounds
    };
    let rows = |within: Option<Within>| within.map(|w| w.rows(10, 19, 100, &|_| 0.0));
    let upper = "if i < j { a_i * b_j } else { 0.0 }";
    assert_eq!(rows(bounds(&format!("sum_j {upper}"))), Some((11, 100)));
    assert_eq!(rows(bounds(&format!("sum_j -({upper})"))), Some((11, 100)));
    assert_eq!(
        rows(bounds("sum_j if i < j { 0.0 } else { a_i * b_j }")),
        Some((0, 20))
    );
    assert_eq!(
        rows(bounds(
            "sum_j if i < j && a_i < b_j { a_i * b_j } else { 0.0 }"
        )),
        Some((11, 100))
    );
    assert_eq!(
        rows(bounds("sum_j if i < j || a_i < b_j { a_i } else { 0.0 }")),
        None
    );
    // Both terms of a pass, or the rows of both.
    assert_eq!(
        rows(bounds(&format!(
            "(sum_j {upper}) / (sum_j if j < 2 {{ b_j * a_i }} else {{ 0.0 }})"
        ))),
        Some((0, 100))
    );
    assert_eq!(
        rows(bounds(&format!("(sum_j {upper}) / (sum_j a_i * b_j)"))),
        None
    );
    // Infinite values have an index, numbers times 0 may be NaN.
    assert_eq!(
        rows(bounds(
            "kmin_j::<1> if i < j { a_i * b_j } else { INFINITY }"
        )),
        None
    );
    assert_eq!(
        rows(bounds("sum_j b_j * (if i < j { a_i } else { 0.0 })")),
        None
    );
    // A bound may be made of parameters, not of rows.
    let bounded = |variables: &str, condition: &str| {
        let function = formula(&format!(
            "fn f(a_i: f64, b_j: f64, {variables}) = sum_j if {condition} {{ a_i * b_j }} else {{ 0.0 }};"
        ))
        .compile();
        let pass = function.passes.into_iter().last();
        pass.expect("a pass").bounds.is_some()
    };
    assert!(bounded("v: [f64; 3]", "abs(i - j) <= v[1]"));
    assert!(bounded("v: [f64; 3]", "abs(i - j) <= norm2(v) - 1"));
    assert!(bounded("c_j: f64", "i - j < 1.0 - 0.5"));
    assert!(!bounded("c_j: f64", "real(i - j) < c_j"));
}

/// Exact beyond the integers that an f32 holds: the primitives in f32, at row numbers up to 2³² − 1.
#[test]
fn comparisons_are_exact_in_single_precision() {
    let top = i64::from(u32::MAX);
    let pairs = [
        (16_777_216, 16_777_217),
        (16_777_217, 16_777_216),
        (top, top - 1),
        (top - 3, top),
        (top, 0),
        (65_535, 65_536),
        (1 << 31, (1 << 31) + 4),
    ];
    for &(text, holds) in CONDITIONS {
        if text.contains('w') {
            continue;
        }
        let function = formula(&format!(
            "fn f({VARIABLES}) = sum_j if {text} {{ a_i + b_j + w }} else {{ 0.0 }};"
        ))
        .compile();
        let ir = &function.passes[0];
        for (i, j) in pairs {
            let base = Frame {
                parameters: vec![0.0],
                outer: vec![1.0],
                inner: vec![0.0],
                outer_index: i as usize,
                inner_index: j as usize,
                ..Frame::default()
            };
            let columns = |stmts, from: usize, raw: Vec<f64>| {
                let mut frame = base.clone();
                run(stmts, &mut frame);
                let put = frame.put;
                [raw, put.get(from..).map_or(vec![], <[f64]>::to_vec)].concat()
            };
            let outer = columns(&ir.prepare_outer, ir.outer_raw, vec![1.0]);
            let inner = columns(&ir.prepare_inner, 0, vec![]);
            let mut frame = Frame {
                outer,
                inner,
                state: vec![0.0],
                single: true,
                ..base.clone()
            };
            run(&ir.step, &mut frame);
            assert_eq!(
                frame.state[0] != 0.0,
                holds(i, j, 0.0),
                "{text} of {i} and {j}"
            );
        }
    }
}

#[test]
fn integers_become_numbers() {
    let at = inputs(3, 4, 1.5);
    let found = value(
        &formula(&format!(
            "fn f({VARIABLES}) = sum_j real(2 * i - j) * a_i + 0.0 * b_j + real(abs(i - j) + w) + real(min(i, j));"
        )),
        &at,
    );
    for (i, found) in found.iter().enumerate() {
        let expected: f64 = (0..4)
            .map(|j| {
                let (x, y) = (i as f64, f64::from(j));
                (2.0 * x - y) * (1.0 + x / 8.0) + (x - y).abs() + 1.5 + x.min(y)
            })
            .sum();
        assert!(close(*found, expected, 1e-12), "{found}, not {expected}");
    }
}

/// A row number needs rows, and rows that nothing else reads need a variable.
#[test]
fn variables_may_only_be_counted() {
    let at = Inputs {
        variables: vec![
            (0..3).map(|_| Value::scalar(0.0)).collect(),
            (0..4).map(|k| Value::scalar(f64::from(k) + 1.0)).collect(),
        ],
        m: 3,
        n: 4,
    };
    let sums = formula("fn f(a_i: f64, b_j: f64) = sum_j if j <= i { b_j } else { 0.0 };");
    assert_eq!(value(&sums, &at), [1.0, 3.0, 6.0]);
    assert_eq!(sums.inputs[0].shape, Shape::Scalar);
}

/// Conditions have no derivative, what they choose has.
#[test]
fn derivatives_go_through_the_chosen_branch() {
    let gradient = formula(
        "fn f(a_i: f64, b_j: f64) = sum_j if abs(i - j) <= 1 { a_i * a_i * b_j } else { 0.0 }; fn g = grad(f, a_i);",
    );
    let mut at = inputs(4, 4, 0.0);
    at.variables.truncate(2);
    at.variables
        .push((0..4).map(|_| Value::scalar(1.0)).collect());
    let function = gradient.compile();
    assert!(function.passes.iter().all(|p| p.bounds.is_some()));
    let found = value(&gradient, &at);
    for (i, found) in found.iter().enumerate() {
        let near = (0..4usize).filter(|j| i.abs_diff(*j) <= 1);
        let expected: f64 = near
            .map(|j| 2.0 * (1.0 + i as f64 / 8.0) * (2.0 - j as f64 / 16.0))
            .sum();
        assert!(close(*found, expected, 1e-12), "{found}, not {expected}");
    }
}

/// The derivative of the branch that was not taken does not count, infinite or not.
#[test]
fn infinite_branches_have_no_derivative_where_they_are_not_taken() {
    let gradient = formula(
        "fn f(a_i: f64, b_j: f64) = sum_j if i == j { a_i } else { b_j / (a_i - a_i) }; fn g = grad(f, a_i);",
    );
    let mut at = inputs(3, 1, 0.0);
    at.variables.truncate(2);
    at.variables
        .push((0..3).map(|_| Value::scalar(1.0)).collect());
    assert_eq!(value(&gradient, &at)[0], 1.0);
    assert!(value(&gradient, &at)[1].is_nan());
}
