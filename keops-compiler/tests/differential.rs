//! Random formulas three ways: the interpreter of the graph as written, that of the simplified graph, that of the kernels;
//! values, gradients, and gradients against tangents and finite differences.
//!
//! What the three may differ by is measured, see [`support::expected`]; how many formulas are passed over is bounded.
//!
//! `KEOPS_DIFFERENTIAL=20000` runs that many formulas, `KEOPS_DIFFERENTIAL_SEED=7` the formula of that seed alone.

mod support;

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::formulas;
use keops_compiler::function::Formula;
use keops_compiler::graph::NodeId;
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::item::Item;
use keops_compiler::lower::interpret::{Rows, run_function};
use keops_compiler::lower::without_unrolling;
use keops_compiler::ops::{OPS, Syntax};
use keops_compiler::reductions::REDUCTIONS;
use keops_compiler::value::Value;
use std::collections::BTreeMap;
use support::coverage::uses;
use support::expected::{self, Expected, Passed, ROUNDING, Sizes, as_rows, random_value};
use support::generate::Generator;
use support::setting;

/// What formulas have besides operations and reductions.
const OTHERS: [&str; 12] = [
    "grad",
    "jvp",
    "jacobian",
    "divergence",
    "laplacian",
    "index_eq",
    "index_lt",
    "index_within",
    "row numbers as values",
    "complex variables",
    "matrix variables",
    "several results",
];

/// A long axis has as many rows as the interpreters can bear.
const SIZES: Sizes = Sizes {
    short: 5,
    long: (20, 60),
    numbers: 4000,
};

fn product(a: &[Rows], b: &[Rows]) -> (f64, f64) {
    let terms = a.iter().zip(b).flat_map(|(a, b)| {
        (0..a.len().max(b.len())).flat_map(move |row| {
            let (a, b) = (&a[row.min(a.len() - 1)], &b[row.min(b.len() - 1)]);
            a.iter().zip(b).map(|(a, b)| a * b)
        })
    });
    terms.fold((0.0, 0.0), |(sum, size), term| {
        (sum + term, size + term.abs())
    })
}

/// What was found out about one formula.
struct Outcome {
    /// Whether a finite difference said something; `None`: there is no derivative.
    differences: Option<bool>,
    /// Whether the gradient along a random tangent is other than 0.
    moves: bool,
    /// The largest part of its tolerance that a number used.
    worst: f64,
}

fn roots_of(formula: &Formula) -> Vec<NodeId> {
    formula.outputs.iter().map(|o| o.node).collect()
}

fn check(item: &Item, formula: &Formula, seed: u64) -> Result<Outcome, Passed> {
    let Expected {
        inputs,
        values,
        limits,
        by_definition,
        definitions,
        gradient,
        mut random,
    } = Expected::new(item, formula, seed, &SIZES)?;
    let (m, n) = (inputs.m, inputs.n);
    let mut worst = 0.0f64;
    let mut compare = |found: &[Rows], expected: &[Rows], limits: &[f64], what: &str| {
        let used = expected::compare(found, expected, limits);
        worst = worst.max(used.unwrap_or_else(|message| panic!("{what}, {message}")));
    };
    compare(&by_definition, &values, &limits, "definitions");
    let own = Inputs {
        variables: inputs.variables[..formula.inputs.len()].to_vec(),
        ..inputs.clone()
    };
    let simplified = as_rows(&evaluate(&formula.graph, &roots_of(formula), &own));
    compare(&simplified, &values, &limits, "simplified");
    let lowered = run_function(&formula.compile(), &as_rows(&own.variables), m, n);
    compare(&lowered, &values, &limits, "lowered");
    // As for const parameters.
    let looped = without_unrolling(|| formula.compile());
    let looped = run_function(&looped, &as_rows(&own.variables), m, n);
    compare(&looped, &values, &limits, "lowered to loops");

    let cotangents = formula.cotangent_names();
    let wrt: Vec<usize> = (0..formula.inputs.len()).collect();
    let Some(gradient) = gradient else {
        return Ok(Outcome {
            differences: None,
            moves: false,
            worst,
        });
    };
    let (expected, limits, gradient) = (gradient.values, gradient.limits, gradient.formula);
    let simplified = as_rows(&evaluate(&gradient.graph, &roots_of(&gradient), &inputs));
    compare(&simplified, &expected, &limits, "simplified gradient");
    let slots = as_rows(&inputs.variables);
    let lowered = run_function(&gradient.compile(), &slots, m, n);
    compare(&lowered, &expected, &limits, "lowered gradient");
    let looped = without_unrolling(|| gradient.compile());
    let looped = run_function(&looped, &slots, m, n);
    compare(&looped, &expected, &limits, "gradient lowered to loops");

    // Along random tangents: ⟨gradient, t⟩ = ⟨e, tangent⟩ = a finite difference of ⟨e, value⟩.
    let tangents: Vec<Vec<Value>> = inputs.variables[..wrt.len()]
        .iter()
        .map(|rows| {
            rows.iter()
                .map(|v| random_value(v.shape, &mut random))
                .collect()
        })
        .collect();
    let full: Vec<Rows> = lowered
        .iter()
        .zip(&tangents)
        .map(|(rows, t)| {
            (0..t.len())
                .map(|row| rows[row.min(rows.len() - 1)].clone())
                .collect()
        })
        .collect();
    let (slope, size) = product(&full, &as_rows(&tangents));
    let sum_of_limits: f64 = limits
        .iter()
        .zip(&full)
        .map(|(l, rows)| l * rows.concat().len() as f64)
        .sum();
    if let Some(along) = formula.jvp() {
        let mut moved = inputs.clone();
        moved.variables.truncate(wrt.len());
        moved.variables.extend(tangents.clone());
        let rows = run_function(&along.compile(), &as_rows(&moved.variables), m, n);
        let e = as_rows(&inputs.variables[wrt.len()..]);
        let rows: Vec<Rows> = rows
            .into_iter()
            .zip(&e)
            .map(|(rows, e)| {
                (0..e.len())
                    .map(|row| rows[row.min(rows.len() - 1)].clone())
                    .collect()
            })
            .collect();
        let (other, other_size) = product(&rows, &e);
        let tolerance = 10.0 * (2.0 * sum_of_limits + ROUNDING * (size + other_size));
        assert!(
            (slope - other).abs() <= tolerance,
            "gradient along t: {slope}, tangent: {other}, tolerance {tolerance:e}"
        );
    }
    let (plain, roots) = definitions;
    let real: Vec<NodeId> = roots
        .iter()
        .zip(&cotangents)
        .filter_map(|(&o, name)| name.is_some().then_some(o))
        .collect();
    let at = |by: f64| {
        let mut moved = inputs.clone();
        for (rows, tangents) in moved.variables.iter_mut().zip(&tangents) {
            for (row, tangent) in rows.iter_mut().zip(tangents) {
                for (x, t) in row.data.iter_mut().zip(&tangent.data) {
                    *x += by * t;
                }
            }
        }
        let values = as_rows(&evaluate(&plain, &real, &moved));
        product(&values, &as_rows(&inputs.variables[wrt.len()..])).0
    };
    let step = 1e-4;
    let coarse = (at(step) - at(-step)) / (2.0 * step);
    let fine = (at(step / 2.0) - at(-step / 2.0)) / step;
    let (difference, doubt) = (fine + (fine - coarse) / 3.0, (fine - coarse).abs());
    let scale = 1.0 + size;
    // A kink within a step, or curvature that outweighs it: the difference says nothing.
    let says = doubt <= 1e-4 * scale;
    if says {
        assert!(
            (slope - difference).abs() <= 1e-7 * scale + doubt,
            "gradient along t: {slope}, finite difference: {difference} ± {doubt:e}"
        );
    }
    Ok(Outcome {
        differences: Some(says),
        moves: slope != 0.0,
        worst,
    })
}

#[test]
fn random_formulas() {
    let alone = setting("KEOPS_DIFFERENTIAL_SEED");
    let wanted = if alone.is_some() {
        1
    } else {
        setting("KEOPS_DIFFERENTIAL").unwrap_or(1000)
    };
    let first = alone.unwrap_or(1);
    let most = if alone.is_some() {
        1
    } else {
        10 + wanted + wanted / 5
    };
    let mut generator = Generator::new(0);
    let mut passed: BTreeMap<Passed, u64> = BTreeMap::new();
    let mut used: BTreeMap<String, u64> = BTreeMap::new();
    let mut failures: Vec<String> = vec![];
    let (mut compared, mut derived, mut said, mut moved) = (0, 0, 0, 0);
    let mut worst = 0.0f64;
    let mut seed = first;
    while compared < wanted && seed - first < most {
        generator.reseed(seed.wrapping_mul(0x9e37_79b9));
        let text = generator.formula();
        if alone.is_some() {
            println!("{text}");
        }
        let (program, errors) = parse_and_check(text.parse().expect("tokens"));
        let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
        assert!(messages.is_empty(), "seed {seed}: {messages:?}\n{text}");
        let item = &program.items[0];
        let formula = formulas(&program).remove(0);
        let checked = std::panic::catch_unwind(|| check(item, &formula, seed));
        match checked {
            Ok(Ok(outcome)) => {
                compared += 1;
                derived += u64::from(outcome.differences.is_some());
                moved += u64::from(outcome.moves);
                worst = worst.max(outcome.worst);
                said += u64::from(outcome.differences == Some(true));
                for name in uses(item, &text) {
                    *used.entry(name).or_default() += 1;
                }
            }
            Ok(Err(why)) => *passed.entry(why).or_default() += 1,
            Err(_) => {
                eprintln!("seed {seed}:\n{text}");
                failures.push(format!("seed {seed}:\n{text}"));
            }
        }
        assert!(failures.len() < 10, "{}", failures.join("\n"));
        seed += 1;
    }
    println!(
        "seeds {first} to {}: {compared} formulas compared, {derived} derived ({moved} with a slope, {said} also by finite differences), passed over: {passed:?}, {worst:.3} of a tolerance used",
        seed - 1
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    if alone.is_none() {
        assert_eq!(compared, wanted, "too many formulas say nothing");
        assert!(said * 10 >= derived * 9, "finite differences say nothing");
        assert!(moved * 10 >= derived * 7, "most gradients are zero");
    }
    if wanted >= 1000 {
        let operations = OPS
            .iter()
            .filter(|op| op.syntax != Syntax::Internal)
            .map(|op| op.name);
        let others = OTHERS.into_iter().map(str::to_owned);
        let reductions = REDUCTIONS
            .iter()
            .flat_map(|r| ["i", "j"].map(|axis| format!("{}_{axis}", r.name)));
        for name in operations
            .map(str::to_owned)
            .chain(reductions)
            .chain(others)
        {
            assert!(used.contains_key(&name), "no formula uses {name}: {used:?}");
        }
    }
}
