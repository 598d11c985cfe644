//! Random formulas three ways: the interpreter of the graph as written, that of the simplified graph, that of the kernels;
//! values, gradients, and gradients against tangents and finite differences.
//!
//! What the three may differ by is measured, not guessed: [`Noise`] multiplies every intermediate number by 1 ± δ, and
//! what that moves a result by, divided by δ, is how far rounding at every step can move it. Formulas that it moves too far
//! (a jump nearby, a pole) say nothing and are passed over; how many is bounded.
//!
//! `KEOPS_DIFFERENTIAL=20000` runs that many formulas, `KEOPS_DIFFERENTIAL_SEED=7` the formula of that seed alone.

mod support;

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::formulas;
use keops_compiler::function::{Formula, Input};
use keops_compiler::graph::autodiff;
use keops_compiler::graph::rebuild::decompose;
use keops_compiler::graph::{Graph, Kind, NodeId};
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::item::Item;
use keops_compiler::lower::interpret::{Rows, run_function};
use keops_compiler::ops::{OPS, Syntax};
use keops_compiler::reductions::REDUCTIONS;
use keops_compiler::types::{Axis, Element, Shape, Type};
use keops_compiler::value::Value;
use std::collections::{BTreeMap, BTreeSet};
use support::Random;
use support::generate::Generator;
use support::noise::{Noise, numbers};

/// Rounding of a number by about 450 units in the last place, all steps together: the three orders of evaluation differ,
/// and a few draws of noise find the worst direction only nearly.
const ROUNDING: f64 = 1e-13;
/// How far a result may move, per relative movement of all intermediate numbers, for a formula to be compared.
const CONDITION: f64 = 1e4;

/// Why a formula is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Passed {
    TooLarge,
    IllConditioned,
    Budget,
}

/// The largest number that is computed; infinite if one is not finite. (Constants may be: maxima start at −∞.)
fn largest(g: &Graph, roots: &[NodeId], inputs: &Inputs) -> f64 {
    let nodes = g.reachable(roots);
    let real: Vec<NodeId> = nodes
        .into_iter()
        .filter(|&n| g.ty(n).element == Element::Real)
        .filter(|&n| !matches!(g.node(n).kind, Kind::Constant(_)))
        .collect();
    numbers(&evaluate(g, &real, inputs))
        .flatten()
        .fold(0.0, |so_far: f64, x| {
            if x.is_finite() {
                so_far.max(x.abs())
            } else {
                f64::INFINITY
            }
        })
}

fn as_rows(values: &[Vec<Value>]) -> Vec<Rows> {
    let rows = |v: &Vec<Value>| v.iter().map(|row| row.data.clone()).collect();
    values.iter().map(rows).collect()
}

/// Compares results; those that are the same for all rows may have one.
/// Returns the largest part of its tolerance that a number uses.
fn compare(found: &[Rows], expected: &[Rows], tolerances: &[f64], what: &str) -> f64 {
    assert_eq!(found.len(), expected.len(), "{what}");
    let mut worst = 0.0f64;
    for ((found, expected), &tolerance) in found.iter().zip(expected).zip(tolerances) {
        for row in 0..found.len().max(expected.len()) {
            let f = &found[row.min(found.len() - 1)];
            let e = &expected[row.min(expected.len() - 1)];
            assert_eq!(f.len(), e.len(), "{what}, row {row}");
            for (f, e) in f.iter().zip(e) {
                assert!(
                    (f - e).abs() <= tolerance,
                    "{what}, row {row}: {f}, not {e}, tolerance {tolerance:e}"
                );
                worst = worst.max((f - e).abs() / tolerance);
            }
        }
    }
    worst
}

/// Tolerances of results as written, or why they say nothing.
fn tolerances(g: &Graph, roots: &[NodeId], inputs: &Inputs, seed: u64) -> Result<Vec<f64>, Passed> {
    if largest(g, roots, inputs) > 1e6 {
        return Err(Passed::TooLarge);
    }
    let values = evaluate(g, roots, inputs);
    let sizes =
        numbers(&values).map(|all| all.iter().fold(0.0, |so_far: f64, x| so_far.max(x.abs())));
    let amplified = Noise::amplification(g, roots, inputs, seed);
    sizes
        .zip(amplified)
        .map(|(size, amplified)| {
            if amplified > CONDITION * (1.0 + size) {
                Err(Passed::IllConditioned)
            } else {
                Ok(ROUNDING * (amplified + size) + f64::MIN_POSITIVE)
            }
        })
        .collect()
}

fn random_value(shape: Shape, random: &mut Random) -> Value {
    Value {
        shape,
        data: (0..shape.len())
            .map(|_| random.within((-1.2, 1.2)))
            .collect(),
    }
}

/// Random rows for the inputs of a formula from this one on.
fn fill(inputs: &mut Inputs, formula: &Formula, random: &mut Random) {
    for input in &formula.inputs[inputs.variables.len()..] {
        let rows = match input.axis {
            None => 1,
            Some(Axis::I) => inputs.m,
            Some(Axis::J) => inputs.n,
        };
        let values = (0..rows)
            .map(|_| random_value(input.shape, random))
            .collect();
        inputs.variables.push(values);
    }
}

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
    if formula.excess.is_some() {
        return Err(Passed::Budget);
    }
    let mut random = Random(seed ^ 0x5555);
    // At least as many as the largest K, but for a few formulas of single rows.
    let mut rows = || {
        if random.unit() < 0.1 {
            1
        } else {
            3 + (random.unit() * 3.0) as usize
        }
    };
    let (m, n) = (rows(), rows());
    let mut inputs = Inputs {
        variables: vec![],
        m,
        n,
    };
    fill(&mut inputs, formula, &mut random);

    // Values. The noise is that of the definitions: composites cancel inside.
    let (plain, plain_roots) = decompose(&item.graph, &item.outputs);
    let limits = tolerances(&plain, &plain_roots, &inputs, seed)?;
    let expected = as_rows(&evaluate(&item.graph, &item.outputs, &inputs));
    let by_definition = as_rows(&evaluate(&plain, &plain_roots, &inputs));
    let mut worst = compare(&by_definition, &expected, &limits, "definitions");
    let simplified = as_rows(&evaluate(&formula.graph, &roots_of(formula), &inputs));
    worst = worst.max(compare(&simplified, &expected, &limits, "simplified"));
    let slots = as_rows(&inputs.variables);
    let lowered = run_function(&formula.compile(), &slots, m, n);
    worst = worst.max(compare(&lowered, &expected, &limits, "lowered"));

    // Gradients.
    let cotangents = formula.cotangent_names();
    let wrt: Vec<usize> = (0..formula.inputs.len()).collect();
    if cotangents.iter().all(Option::is_none) {
        return Ok(Outcome {
            differences: None,
            moves: false,
            worst,
        });
    }
    let gradient = formula.vjp(&wrt);
    if gradient.excess.is_some() {
        return Err(Passed::Budget);
    }
    fill(&mut inputs, &gradient, &mut random);
    let (mut g, mut seeds, mut number) = (plain.clone(), vec![], wrt.len());
    for (&root, name) in plain_roots.iter().zip(&cotangents) {
        if name.is_some() {
            let Input { axis, shape, .. } = gradient.inputs[number];
            seeds.push((root, g.variable(number, Type::real(shape), axis)));
            number += 1;
        }
    }
    let variables: Vec<NodeId> = wrt
        .iter()
        .map(|&k| {
            let Input { axis, shape, .. } = formula.inputs[k];
            g.variable(k, Type::real(shape), axis)
        })
        .collect();
    let found = autodiff::vjp(&mut g, &seeds, &variables);
    let found: Vec<NodeId> = found
        .into_iter()
        .zip(&wrt)
        .map(|(c, &k)| c.unwrap_or_else(|| g.constant(0.0, formula.inputs[k].shape)))
        .collect();
    let limits = tolerances(&g, &found, &inputs, seed)?;
    let expected = as_rows(&evaluate(&g, &found, &inputs));
    let simplified = as_rows(&evaluate(&gradient.graph, &roots_of(&gradient), &inputs));
    worst = worst.max(compare(
        &simplified,
        &expected,
        &limits,
        "simplified gradient",
    ));
    let slots = as_rows(&inputs.variables);
    let lowered = run_function(&gradient.compile(), &slots, m, n);
    worst = worst.max(compare(&lowered, &expected, &limits, "lowered gradient"));

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
    let real: Vec<NodeId> = item
        .outputs
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
        let values = as_rows(&evaluate(&item.graph, &real, &moved));
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

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
    )
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
    let mut used: BTreeMap<&str, u64> = BTreeMap::new();
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
                let mut names = BTreeSet::new();
                for id in item.graph.reachable(&item.outputs) {
                    match &item.graph.node(id).kind {
                        Kind::Op(op, _) => names.insert(op.0.name),
                        Kind::Reduce(reduction, ..) => names.insert(reduction.0.name),
                        _ => false,
                    };
                }
                for name in names {
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
        for name in operations.chain(REDUCTIONS.iter().map(|r| r.name)) {
            assert!(used.contains_key(name), "no formula uses {name}: {used:?}");
        }
    }
}
