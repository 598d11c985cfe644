//! `docs/operations.md`: every operation with its shapes, derivative and accuracy, from its record and as measured.
//!
//! `KEOPS_BLESS=1` rewrites its first part. Accuracies are measured again by every run and must not be worse than the page says;
//! everything else must be the same. The second part is written by `cargo xtask operations`, and must have the same rows.

mod support;

use keops_compiler::function::Function;
use keops_compiler::graph::simplify::simplify;
use keops_compiler::graph::{Graph, Kind, NodeId};
use keops_compiler::interpret::evaluate;
use keops_compiler::lower::interpret::run_function;
use keops_compiler::ops::{OPS, Op, Syntax};
use keops_compiler::types::{Element, Shape, Type};
use std::fmt::Write;
use support::Random;
use support::cases::{Case, cases};
use support::closed::{COMPLEX, Closed, DERIVATIVES};
use support::page;
use support::text::{Rows, formula};

const HEAD: &str = "# Operations in detail

This table is made from the records of the operations by a test, which also measures the last two columns; see
[the language](language.md#operations) for what each computes.

- *Shapes* are examples: `T` is a number, `bool` a condition. Dimensions are yours to choose.
- *Derivative* is that of numbers, as it is compiled: with respect to `a`, to `b`, to `c`. `inv_or_zero(x)` is 1/x, and 0 at 0;
  `spherical_bessel(x, 1)` is (sin x − x·cos x)/x². It is left out where it is long, and of vectors and matrices.
- *Value* bounds the largest difference of the lowered kernel, interpreted in f64, to a plain implementation in f64, on up to 24
  combinations of shapes and numbers of the *range*, relative to 1 + |value|. 0 is the same number every time. How exact compiled kernels are is in the second table, the bounds of their functions in
  [semantics](semantics.md).
- *Slope* bounds the same for the derivative against central differences with a step of 10⁻⁵, whose own error is what you see.

";

const OF_COMPLEX: &str = "
### Complex values

`z`, `w` are complex numbers, `u`, `v` vectors of three, `A`, `B` 3×3 matrices, `x`, `y` real. Both parts of 24 rows of numbers from 0.5 to 2 are
compared with plain complex arithmetic, derivatives by both parts with differences.

";

const OF_DERIVATIVES: &str = "
### Derivatives inside formulas

Of a Gaussian bump of vectors of three numbers from 0.5 to 2, against the closed forms; *slope* is of their own derivatives.

";

/// A type as it is declared.
fn declared(ty: Type) -> String {
    let number = match ty.element {
        Element::Bool => "bool",
        _ => "T",
    };
    match ty.shape {
        Shape::Scalar => number.to_owned(),
        Shape::Vector(n) => format!("[{number}; {n}]"),
        Shape::Matrix(r, c) => format!("[[{number}; {c}]; {r}]"),
    }
}

/// Up to three examples of what it accepts.
fn shapes(op: &'static Op) -> String {
    let plain = |ty: &Type| {
        let small = [
            Shape::Scalar,
            Shape::Vector(3),
            Shape::Matrix(2, 3),
            Shape::Matrix(3, 2),
            Shape::Matrix(3, 3),
        ];
        !matches!(ty.element, Element::Index) && small.contains(&ty.shape)
    };
    let all = cases(op, usize::MAX);
    let mut some: Vec<&Case> = all.iter().filter(|c| c.types.iter().all(plain)).collect();
    if some.is_empty() || op.params.iter().any(|p| p.list) {
        some = all.iter().collect();
    }
    let mut texts: Vec<String> = vec![];
    for case in some {
        let arguments: Vec<String> = case.types.iter().map(|&ty| declared(ty)).collect();
        let ty = (op.infer)(&case.types, &case.params).expect("accepted");
        let text = format!("{} → {}", arguments.join(", "), declared(ty));
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let step = texts.len().div_ceil(3);
    let shown: Vec<String> = texts
        .iter()
        .step_by(step)
        .map(|t| format!("`{t}`"))
        .collect();
    shown.join("<br>")
}

/// An expression without the brackets around all of it.
fn bare(text: &str) -> &str {
    let mut depth = 0;
    let end = text.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth == 0
    });
    match end {
        Some((at, ')')) if at + 1 == text.len() => &text[1..at],
        _ => text,
    }
}

/// A node as one expression, in the formula language as far as it has the operations.
fn expression(g: &Graph, node: NodeId) -> String {
    let args: Vec<String> = g
        .node(node)
        .args
        .iter()
        .map(|&a| expression(g, a))
        .collect();
    match (&g.node(node).kind, args.as_slice()) {
        (Kind::Variable(n), _) => ["a", "b", "c"][*n].to_owned(),
        (Kind::Constant(bits), _) => format!("{}", f64::from_bits(*bits)),
        (Kind::Op(op, params), args) => match (op.0.name, op.0.syntax, args) {
            ("select", _, [c, a, b]) => {
                format!("if {} {{ {} }} else {{ {} }}", bare(c), bare(a), bare(b))
            }
            ("gate", _, [c, a]) if params.as_slice() == [0] => {
                format!("if {} {{ {} }} else {{ 0 }}", bare(c), bare(a))
            }
            ("gate", _, [c, a]) => format!("if {} {{ 0 }} else {{ {} }}", bare(c), bare(a)),
            (_, Syntax::Operator(token), [a]) => format!("{token}{a}"),
            (_, Syntax::Operator(token), [a, b]) => format!("({a} {token} {b})"),
            (name, _, args) => {
                let args = args.iter().map(|a| bare(a).to_owned());
                let all: Vec<String> = args.chain(params.iter().map(|p| p.to_string())).collect();
                format!("{name}({})", all.join(", "))
            }
        },
        _ => "…".to_owned(),
    }
}

/// The derivatives of numbers by each argument, where they are short.
fn derivative(op: &'static Op) -> String {
    let scalars = |c: &&Case| {
        let result = (op.infer)(&c.types, &c.params);
        c.types.iter().all(|&ty| ty == Type::SCALAR) && result == Ok(Type::SCALAR)
    };
    let all = cases(op, usize::MAX);
    let fine = |c: &&Case| c.params.iter().all(|&p| p == 3);
    let Some(case) = all.iter().filter(scalars).find(fine) else {
        return String::new();
    };
    if case.types.len() > 3 {
        return String::new();
    }
    let (s, node) = case.subject(|_| None);
    let (g, found) = s.gradient(node, &case.real_arguments());
    let texts = found.into_iter().map(|slope| match slope {
        None => "0".to_owned(),
        Some(slope) => {
            let (g, roots) = simplify(&g, &[slope]);
            bare(&expression(&g, roots[0])).to_owned()
        }
    });
    let texts: Vec<String> = texts.collect();
    if texts
        .iter()
        .any(|t| t.chars().count() > 60 || t.contains('…'))
    {
        return String::new();
    }
    let texts: Vec<String> = texts.iter().map(|t| format!("`{t}`")).collect();
    texts.join("<br>")
}

fn difference(found: &[f64], expected: &[f64]) -> f64 {
    let each = found.iter().zip(expected).map(|(f, e)| {
        if f == e || (f.is_nan() && e.is_nan()) {
            0.0
        } else {
            (f - e).abs() / (1.0 + f.abs().max(e.abs()))
        }
    });
    // A NaN on one side is infinitely wrong.
    each.fold(0.0, |worst, d| {
        if d.is_nan() {
            f64::INFINITY
        } else {
            d.max(worst)
        }
    })
}

/// The largest differences of values and, where it has them, of derivatives.
fn measured(op: &'static Op) -> (f64, Option<f64>) {
    let (mut value, mut slope) = (0.0f64, None);
    for case in cases(op, 24) {
        let fine = op.name == "round" && case.params.iter().any(|&p| p > 1);
        if fine || case.params.iter().any(|p| p.unsigned_abs() >= 100) {
            continue;
        }
        let (mut s, node) = case.subject(|_| None);
        let node = s.real(node);
        let expected = &evaluate(&s.graph, &[node], &s.inputs)[0][0].data;
        let found = run_function(&s.formula(node).compile(), &s.slots(), 3, 4)[0].concat();
        value = value.max(difference(&found, expected));
        if !case.is_real() {
            continue;
        }
        let node = s.weighted(node, 5);
        let wrt = case.real_arguments();
        let (g, found) = s.gradient(node, &wrt);
        for (k, found) in wrt.into_iter().zip(found) {
            let expected = s.differences(node, k).remove(0);
            let found = found.map(|f| evaluate(&g, &[f], &s.inputs)[0][0].data.clone());
            let found = found.unwrap_or(vec![0.0; expected.data.len()]);
            let worst = difference(&found, &expected.data);
            slope = Some(slope.unwrap_or(0.0f64).max(worst));
        }
    }
    (value, slope)
}

/// A bound that holds on other machines too: four times what was measured, as a power of ten.
fn bound(measured: Option<f64>) -> String {
    match measured {
        None => String::new(),
        Some(0.0) => "0".to_owned(),
        Some(x) => format!("1e{}", (4.0 * x).log10().ceil()),
    }
}

/// Whether a bound on the page holds, and says something.
fn holds(measured: Option<f64>, page: &str) -> bool {
    match measured {
        None => page.is_empty(),
        Some(x) => page
            .parse()
            .is_ok_and(|page: f64| x <= page && page <= 1e4 * x.max(1e-18)),
    }
}

/// The same of a formula with a closed value, on 24 rows.
fn measured_closed(closed: &Closed) -> (f64, Option<f64>) {
    let formula = formula(&closed.item("f", "f64"));
    let mut slots = closed.rows(24);
    let count = slots.len();
    let expected: Vec<f64> = (0..24)
        .flat_map(|row| {
            let at: Vec<&[f64]> = slots.iter().map(|rows| rows[row].as_slice()).collect();
            closed.value(&at)
        })
        .collect();
    slots.push(vec![vec![1.0]]);
    let run = |formula: &Function, slots: &[Rows]| run_function(formula, slots, 24, 1);
    let compiled = formula.compile();
    let found = run(&compiled, &slots)[0].clone();
    let value = difference(&found.concat(), &expected);

    let mut random = Random(5);
    let cotangents: Rows = found
        .iter()
        .map(|row| row.iter().map(|_| random.within((-1.0, 1.0))).collect())
        .collect();
    let wrt: Vec<usize> = (0..count).collect();
    let mut inputs = slots.clone();
    inputs.push(cotangents.clone());
    let slopes = run(&formula.vjp(&wrt).compile(), &inputs);
    let mut worst = 0.0f64;
    for (k, slopes) in slopes.iter().enumerate() {
        for d in 0..slopes[0].len() {
            // Rows do not meet: all move at once.
            let moved = |by: f64| -> Vec<f64> {
                let mut slots = slots.clone();
                slots[k].iter_mut().for_each(|row| row[d] += by);
                let found = run(&compiled, &slots)[0].clone();
                let each = found.iter().zip(&cotangents);
                each.map(|(f, e)| f.iter().zip(e).map(|(f, e)| f * e).sum())
                    .collect()
            };
            let (up, down) = (moved(1e-5), moved(-1e-5));
            let expected: Vec<f64> = up.iter().zip(&down).map(|(u, d)| (u - d) / 2e-5).collect();
            let found: Vec<f64> = slopes.iter().map(|row| row[d]).collect();
            worst = worst.max(difference(&found, &expected));
        }
    }
    (value, Some(worst))
}

/// What is stated of a row that starts like this, or what may be.
fn stated(page: &str, row: &str, name: &str, found: (f64, Option<f64>)) -> String {
    let (value, slope) = found;
    let bless = std::env::var_os("KEOPS_BLESS").is_some();
    let line = page.lines().find_map(|line| line.strip_prefix(row));
    let cells: Vec<&str> = line.unwrap_or("").split('|').map(str::trim).collect();
    // A row that the page lacks makes it not current, whatever stands in these cells.
    match cells.as_slice() {
        [of_value, of_slope, ""] if !bless => {
            assert!(
                holds(Some(value), of_value),
                "{name}: {value:e}, not {of_value}"
            );
            assert!(
                holds(slope, of_slope),
                "{name}: slope {slope:?}, not {of_slope}"
            );
            format!("{row} {of_value} | {of_slope} |\n")
        }
        _ => format!("{row} {} | {} |\n", bound(Some(value)), bound(slope)),
    }
}

fn closed_rows(page: &str, all: &[Closed]) -> String {
    let mut table = "| written | KeOps | value | slope |\n|---|---|---|---|\n".to_owned();
    for closed in all {
        let keops = match closed.keops {
            "" => String::new(),
            name => format!("`{name}`"),
        };
        let row = format!("| `{}` | {keops} |", closed.written);
        table += &stated(page, &row, closed.written, measured_closed(closed));
    }
    table
}

fn row(op: &'static Op) -> Option<String> {
    let written = page::name(op)?;
    let cell = |text: &str| text.replace('|', "\\|");
    let keops = match op.keops_name {
        "" => String::new(),
        name => format!("`{name}`"),
    };
    let numbers = cases(op, 24).iter().any(|c| !c.real_arguments().is_empty());
    let range = match op.test_range {
        (low, high) if numbers => format!("{low} to {high}"),
        _ => String::new(),
    };
    Some(format!(
        "| {written} | {keops} | {} | {} | {range} |",
        cell(&shapes(op)),
        cell(&derivative(op)),
    ))
}

#[test]
fn the_page_is_current() {
    let path = page::path();
    let bless = std::env::var_os("KEOPS_BLESS").is_some();
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let at = text.find(page::SECTION).unwrap_or(text.len());
    let (page, kernels) = text.split_at(at);
    let mut current = format!(
        "{HEAD}| written | KeOps | shapes | derivative | range | value | slope |\n|---|---|---|---|---|---|---|\n"
    );
    for op in OPS {
        let Some(row) = row(op) else { continue };
        current += &stated(page, &row, op.name, measured(op));
    }
    write!(
        current,
        "{OF_COMPLEX}{}{OF_DERIVATIVES}{}",
        closed_rows(page, COMPLEX),
        closed_rows(page, DERIVATIVES)
    )
    .unwrap();
    if bless {
        std::fs::write(&path, current + kernels).unwrap();
    } else {
        assert!(
            page == current,
            "docs/operations.md is not current: run this test with KEOPS_BLESS=1"
        );
        assert_eq!(
            page::rows(kernels),
            page::names(),
            "the second table of docs/operations.md is not current: run `cargo xtask operations`"
        );
    }
}
