//! What a random formula must give: its value and gradient on random rows by the interpreter of its definitions, and how far
//! rounding may move them.
//!
//! What ways to compute a formula may differ by is measured, not guessed: [`Noise`] multiplies every intermediate number
//! by 1 ± δ, and what that moves a result by, divided by δ, is how far rounding at every step can move it. Formulas that it
//! moves too far (a jump nearby, a pole) say nothing and are passed over.

use super::Random;
use super::noise::{Noise, numbers};
use keops_compiler::function::{Formula, Input};
use keops_compiler::graph::autodiff;
use keops_compiler::graph::rebuild::decompose;
use keops_compiler::graph::{Graph, Kind, NodeId};
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::item::Item;
use keops_compiler::lower::interpret::Rows;
use keops_compiler::types::{Axis, Element, Shape, Type};
use keops_compiler::value::Value;

/// Rounding of a number by about 450 units in the last place, all steps together: the three orders of evaluation differ,
/// and a few draws of noise find the worst direction only nearly.
pub const ROUNDING: f64 = 1e-13;
/// How far a result may move, per relative movement of all intermediate numbers, for a formula to be compared.
pub const CONDITION: f64 = 1e4;

/// Why a formula is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passed {
    /// A number is too large, or not finite.
    TooLarge,
    /// Rounding moves a result too far.
    IllConditioned,
    /// The formula takes too much of something.
    Budget,
}

/// The largest number that is computed; infinite if one is not finite. (Constants may be: maxima start at −∞.)
pub fn largest(g: &Graph, roots: &[NodeId], inputs: &Inputs) -> f64 {
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

pub fn as_rows(values: &[Vec<Value>]) -> Vec<Rows> {
    let rows = |v: &Vec<Value>| v.iter().map(|row| row.data.clone()).collect();
    values.iter().map(rows).collect()
}

/// Compares results; those that are the same for all rows may have one.
/// Returns the largest part of its tolerance that a number uses.
///
/// # Errors
/// The first number that is too far off, or missing.
pub fn compare(found: &[Rows], expected: &[Rows], limits: &[f64]) -> Result<f64, String> {
    if found.len() != expected.len() {
        return Err(format!("{} results, not {}", found.len(), expected.len()));
    }
    let mut worst = 0.0f64;
    for ((found, expected), &limit) in found.iter().zip(expected).zip(limits) {
        let rows = found.len().max(expected.len());
        for row in 0..rows {
            let at = |rows: &Rows| rows.get(row.min(rows.len().saturating_sub(1))).cloned();
            let (Some(found), Some(expected)) = (at(found), at(expected)) else {
                return Err(format!("no row {row}"));
            };
            if found.len() != expected.len() {
                let (found, expected) = (found.len(), expected.len());
                return Err(format!("row {row} has {found} numbers, not {expected}"));
            }
            for (f, e) in found.iter().zip(&expected) {
                let by = (f - e).abs();
                // NaN is too far off.
                if by.is_nan() || by > limit {
                    return Err(format!("row {row}: {f}, not {e}, tolerance {limit:e}"));
                }
                worst = worst.max(by / limit);
            }
        }
    }
    Ok(worst)
}

/// Tolerances of results as written, or why they say nothing.
pub fn tolerances(
    g: &Graph,
    roots: &[NodeId],
    inputs: &Inputs,
    seed: u64,
) -> Result<Vec<f64>, Passed> {
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

pub fn random_value(shape: Shape, random: &mut Random) -> Value {
    Value {
        shape,
        data: (0..shape.len())
            .map(|_| random.within((-1.2, 1.2)))
            .collect(),
    }
}

/// Random rows for the inputs of a formula from this one on.
pub fn fill(inputs: &mut Inputs, formula: &Formula, random: &mut Random) {
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

/// A formula on random rows.
pub struct Expected {
    /// The rows; those of the gradient's cotangents behind the formula's own.
    pub inputs: Inputs,
    /// Its values.
    pub values: Vec<Rows>,
    /// How far each may be off.
    pub limits: Vec<f64>,
    /// The same by the definitions of composite operations.
    pub by_definition: Vec<Rows>,
    /// Its derivative with respect to all variables, where it has one.
    pub gradient: Option<Gradient>,
    /// For further random numbers.
    pub random: Random,
}

/// The gradient of a formula.
pub struct Gradient {
    /// As it is run.
    pub formula: Formula,
    /// Its values.
    pub values: Vec<Rows>,
    /// How far each may be off.
    pub limits: Vec<f64>,
}

impl Expected {
    /// Of the formula with this seed, on at most so many rows.
    ///
    /// # Errors
    /// Why it is passed over.
    pub fn new(item: &Item, formula: &Formula, seed: u64, most: usize) -> Result<Self, Passed> {
        if formula.excess.is_some() {
            return Err(Passed::Budget);
        }
        let mut random = Random(seed ^ 0x5555);
        // At least as many as the largest K, but for a few formulas of single rows.
        let mut rows = || {
            if random.unit() < 0.1 {
                1
            } else {
                3 + (random.unit() * (most - 2) as f64) as usize
            }
        };
        let (m, n) = (rows(), rows());
        let mut inputs = Inputs {
            variables: vec![],
            m,
            n,
        };
        fill(&mut inputs, formula, &mut random);

        // The noise is that of the definitions: composites cancel inside.
        let (plain, plain_roots) = decompose(&item.graph, &item.outputs);
        let limits = tolerances(&plain, &plain_roots, &inputs, seed)?;
        let mut expected = Expected {
            values: as_rows(&evaluate(&item.graph, &item.outputs, &inputs)),
            by_definition: as_rows(&evaluate(&plain, &plain_roots, &inputs)),
            inputs,
            limits,
            gradient: None,
            random,
        };
        let cotangents = formula.cotangent_names();
        let wrt: Vec<usize> = (0..formula.inputs.len()).collect();
        if cotangents.iter().all(Option::is_none) {
            return Ok(expected);
        }
        let gradient = formula.vjp(&wrt);
        if gradient.excess.is_some() {
            return Err(Passed::Budget);
        }
        fill(&mut expected.inputs, &gradient, &mut expected.random);
        let (mut g, mut seeds, mut number) = (plain, vec![], wrt.len());
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
        expected.gradient = Some(Gradient {
            limits: tolerances(&g, &found, &expected.inputs, seed)?,
            values: as_rows(&evaluate(&g, &found, &expected.inputs)),
            formula: gradient,
        });
        Ok(expected)
    }
}
