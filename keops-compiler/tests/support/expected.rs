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
use keops_compiler::graph::derive::expand;
use keops_compiler::graph::rebuild::decompose;
use keops_compiler::graph::{Graph, Kind, NodeId};
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::item::Item;
use keops_compiler::lower::interpret::Rows;
use keops_compiler::types::{Axis, Element, Indices, Shape, Type};
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

/// How many rows formulas get.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Most rows of a short axis.
    pub short: usize,
    /// Rows of a long axis: at least and at most.
    pub long: (usize, usize),
    /// Most numbers of values that depend on both indices, which shortens a long axis.
    pub numbers: usize,
}

impl Sizes {
    /// For a formula: one in ten has a long axis, and one in three whose derivative has listed pairs, which engines run by
    /// themselves only where a row lists few of many.
    fn rows(&self, g: &Graph, roots: &[NodeId], random: &mut Random) -> (usize, usize) {
        // At least as many as the largest K, but for a few formulas of single rows.
        let mut short = || {
            if random.unit() < 0.1 {
                1
            } else {
                3 + (random.unit() * (self.short - 2) as f64) as usize
            }
        };
        let (m, n) = (short(), short());
        let (mut chosen, mut numbers) = (None, 1);
        for id in g.reachable(roots) {
            let node = g.node(id);
            if let Kind::Reduce(reduction, axis, _) = node.kind
                && CHOOSING.contains(&reduction.0.name)
            {
                chosen = Some(axis);
            }
            if node.indices.i && node.indices.j {
                numbers += node.ty.shape.len();
            }
        }
        let long = random.unit() < if chosen.is_some() { 1.0 / 3.0 } else { 0.1 };
        if !long {
            return (m, n);
        }
        let axis = chosen.unwrap_or(if random.unit() < 0.5 {
            Axis::I
        } else {
            Axis::J
        });
        let (least, most) = self.long;
        let rows = least + (random.unit() * (most - least) as f64) as usize;
        let other = if axis == Axis::I { n } else { m }.min(4);
        let rows = rows.min(self.numbers / (numbers * other)).max(self.short);
        match axis {
            Axis::I => (rows, other),
            Axis::J => (other, rows),
        }
    }
}

/// Reductions whose derivatives list pairs.
const CHOOSING: [&str; 6] = [
    "min",
    "max",
    "kmin",
    "min_argmin",
    "max_argmax",
    "kmin_argkmin",
];

/// The graph of definitions, without derivatives and composites.
fn definitions(item: &Item) -> Result<(Graph, Vec<NodeId>), Passed> {
    let (mut g, mut roots) = decompose(&item.graph, &item.outputs);
    while let Some(expanded) = expand(&g, &roots) {
        let (next, moved) = expanded.map_err(|_| Passed::Budget)?;
        (g, roots) = decompose(&next, &moved);
    }
    Ok((g, roots))
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
    /// These definitions, in which derivatives are written out, and the results among them.
    pub definitions: (Graph, Vec<NodeId>),
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
    /// Of the formula with this seed.
    ///
    /// # Errors
    /// Why it is passed over.
    pub fn new(item: &Item, formula: &Formula, seed: u64, sizes: &Sizes) -> Result<Self, Passed> {
        if formula.excess.is_some() {
            return Err(Passed::Budget);
        }
        let mut random = Random(seed ^ 0x5555);
        // The noise is that of the definitions: composites cancel inside.
        let (plain, plain_roots) = definitions(item)?;
        let (m, n) = sizes.rows(&plain, &plain_roots, &mut random);
        let mut inputs = Inputs {
            variables: vec![],
            m,
            n,
        };
        fill(&mut inputs, formula, &mut random);

        let limits = tolerances(&plain, &plain_roots, &inputs, seed)?;
        let by_definition = as_rows(&evaluate(&plain, &plain_roots, &inputs));
        let derives = |&id: &NodeId| matches!(item.graph.node(id).kind, Kind::Derivative(_));
        let mut expected = Expected {
            // A derivative has no value of its own.
            values: if item.graph.reachable(&item.outputs).iter().any(derives) {
                by_definition.clone()
            } else {
                as_rows(&evaluate(&item.graph, &item.outputs, &inputs))
            },
            by_definition,
            definitions: (plain.clone(), plain_roots.clone()),
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
    /// The derivative along random tangents of all inputs, and the inputs with these; `None` where a result is an index.
    ///
    /// # Errors
    /// Why it is passed over.
    pub fn tangent(
        &mut self,
        formula: &Formula,
        seed: u64,
    ) -> Result<Option<(Inputs, Gradient)>, Passed> {
        let Some(tangent) = formula.jvp() else {
            return Ok(None);
        };
        if tangent.excess.is_some() {
            return Err(Passed::Budget);
        }
        let own = formula.inputs.len();
        let mut inputs = self.inputs.clone();
        inputs.variables.truncate(own);
        fill(&mut inputs, &tangent, &mut self.random);
        let (mut g, roots) = self.definitions.clone();
        let pairs: Vec<(NodeId, NodeId)> = (0..own)
            .map(|k| {
                let Input { axis, shape, .. } = formula.inputs[k];
                let mut variable = |k| g.variable(k, Type::real(shape), axis);
                (variable(k), variable(own + k))
            })
            .collect();
        let along: Vec<NodeId> = roots
            .iter()
            .zip(&formula.outputs)
            .map(|(&root, output)| {
                let ty = g.ty(root);
                let dummy = g.variable(usize::MAX, ty, output.axis);
                autodiff::jvp(&mut g, root, dummy, &pairs, Indices::NONE)
                    .unwrap_or_else(|| g.constant(0.0, ty.shape))
            })
            .collect();
        let gradient = Gradient {
            limits: tolerances(&g, &along, &inputs, seed)?,
            values: as_rows(&evaluate(&g, &along, &inputs)),
            formula: tangent,
        };
        Ok(Some((inputs, gradient)))
    }
}
