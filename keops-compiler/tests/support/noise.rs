//! How far rounding can move a result: [`Noise`], a graph whose every intermediate number is multiplied by 1 ± δ.

use super::Random;
use keops_compiler::graph::rebuild::{copy, rebuild};
use keops_compiler::graph::{Graph, Kind, NodeId};
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::ops::{add, mul};
use keops_compiler::types::{Axis, Element, Shape, Type};
use keops_compiler::value::Value;
use std::collections::BTreeMap;

/// Far above the rounding of f64, small enough to be linear in.
const DELTA: f64 = 1.0 / (1u64 << 26) as f64;

/// What returns one of its numbers, or a small integer, rounds nothing; derivatives ask which number it was.
const EXACT: [&str; 17] = [
    "smaller",
    "larger",
    "smallest",
    "largest",
    "min",
    "max",
    "kmin",
    "first_equal",
    "argmin",
    "argmax",
    "one_hot",
    "sign",
    "step",
    "floor",
    "ceil",
    "trunc",
    "whole",
];

/// Every rounded number of a graph times 1 ± δ, signs differing from number to number and pair to pair.
pub struct Noise {
    random: Random,
    inputs: Inputs,
    variables: BTreeMap<(Shape, Option<Axis>, usize), usize>,
}

impl Noise {
    fn sign(&mut self, g: &mut Graph, shape: Shape, axis: Option<Axis>) -> NodeId {
        let variant = (self.random.unit() * 3.0) as usize;
        let key = (shape, axis, variant);
        let number = match self.variables.get(&key) {
            Some(&number) => number,
            None => {
                let rows = match axis {
                    None => 1,
                    Some(Axis::I) => self.inputs.m,
                    Some(Axis::J) => self.inputs.n,
                };
                let values = (0..rows).map(|_| Value {
                    shape,
                    data: (0..shape.len())
                        .map(|_| if self.random.unit() < 0.5 { -1.0 } else { 1.0 })
                        .collect(),
                });
                let values = values.collect();
                self.inputs.variables.push(values);
                let number = self.inputs.variables.len() - 1;
                self.variables.insert(key, number);
                number
            }
        };
        g.variable(number, Type::real(shape), axis)
    }
    /// How far results move, divided by δ: the largest of a few draws, one number per output.
    pub fn amplification(g: &Graph, roots: &[NodeId], inputs: &Inputs, seed: u64) -> Vec<f64> {
        let exact = evaluate(g, roots, inputs);
        let mut largest = vec![0.0f64; roots.len()];
        for draw in 0..3 {
            let mut noise = Noise {
                random: Random(seed ^ (draw << 40)),
                inputs: inputs.clone(),
                variables: BTreeMap::new(),
            };
            let (noisy, moved) = rebuild(g, roots, &mut |g, node, args| {
                let id = copy(g, node, args);
                let computed = match &node.kind {
                    Kind::Op(op, _) => !EXACT.contains(&op.0.name),
                    Kind::Reduce(reduction, ..) => !EXACT.contains(&reduction.0.name),
                    _ => false,
                };
                if !computed || g.ty(id).element != Element::Real {
                    return id;
                }
                let (shape, indices) = (g.shape(id), g.indices(id));
                let first = if indices.i {
                    Some(Axis::I)
                } else if indices.j {
                    Some(Axis::J)
                } else {
                    None
                };
                let mut sign = noise.sign(g, shape, first);
                if indices.i && indices.j {
                    let other = noise.sign(g, Shape::Scalar, Some(Axis::J));
                    sign = g.apply(&mul::OP, &[sign, other]);
                }
                let (delta, one) = (g.literal(DELTA), g.literal(1.0));
                let by = g.apply(&mul::OP, &[delta, sign]);
                let factor = g.apply(&add::OP, &[one, by]);
                g.apply(&mul::OP, &[id, factor])
            });
            let found = evaluate(&noisy, &moved, &noise.inputs);
            for ((a, b), largest) in numbers(&found).zip(numbers(&exact)).zip(&mut largest) {
                for (a, b) in a.iter().zip(b) {
                    // NaN counts as moved too far.
                    let by = (a - b).abs() / DELTA;
                    *largest = if by.is_nan() {
                        f64::INFINITY
                    } else {
                        largest.max(by)
                    };
                }
            }
        }
        largest
    }
}

/// The numbers of each result.
pub fn numbers(values: &[Vec<Value>]) -> impl Iterator<Item = Vec<f64>> {
    values
        .iter()
        .map(|rows| rows.iter().flat_map(|v| v.data.clone()).collect())
}
