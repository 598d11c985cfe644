//! What the tables over all operations and reductions share: random values, formulas of one node, comparisons.
#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part")]

pub mod cases;
pub mod closed;
pub mod coverage;
pub mod expected;
pub mod generate;
pub mod noise;
pub mod page;
pub mod text;

use keops_compiler::function::{Formula, Input};
use keops_compiler::graph::autodiff::vjp;
use keops_compiler::graph::rebuild::decompose;
use keops_compiler::graph::simplify::simplify;
use keops_compiler::graph::{Graph, NodeId};
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::lower::interpret::{Rows, run_function};
use keops_compiler::ops::{add, mul, select, sum};
use keops_compiler::types::{Axis, Element, Shape, Type};
use keops_compiler::value::Value;

/// A small deterministic generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Uniform in an interval.
    pub fn within(&mut self, (low, high): (f64, f64)) -> f64 {
        low + (high - low) * self.unit()
    }
    /// A value of a type; real numbers at least 1e-3 away from 0 and from all of `taken`.
    pub fn value(&mut self, ty: Type, range: (f64, f64), taken: &mut Vec<f64>) -> Value {
        let data = (0..ty.shape.len())
            .map(|_| match ty.element {
                Element::Bool => f64::from(self.unit() < 0.5),
                Element::Index | Element::Integer => (self.unit() * 3.0).floor(),
                Element::Real | Element::Complex => {
                    let free =
                        |x: f64| x.abs() > 1e-3 && taken.iter().all(|t| (t - x).abs() > 1e-3);
                    // Where a narrow range is full, numbers come closer to each other.
                    let mut x = self.within(range);
                    for _ in 0..100 {
                        if free(x) {
                            break;
                        }
                        x = self.within(range);
                    }
                    taken.push(x);
                    x
                }
            })
            .collect();
        Value {
            shape: ty.shape,
            data,
        }
    }
}

/// Equal up to rounding: relative to the larger one, NaN equal to NaN.
pub fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b
        || (a.is_nan() && b.is_nan())
        || (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// All numbers close, shapes equal.
pub fn assert_close(found: &Value, expected: &Value, tolerance: f64, what: &str) {
    assert_eq!(found.shape, expected.shape, "{what}: shape");
    for (k, (a, b)) in found.data.iter().zip(&expected.data).enumerate() {
        assert!(
            close(*a, *b, tolerance),
            "{what}: number {k} is {a}, not {b}\n{found:?}\n{expected:?}"
        );
    }
}

/// A formula under test: its graph over variables with values.
#[derive(Clone)]
pub struct Subject {
    pub graph: Graph,
    pub variables: Vec<NodeId>,
    pub types: Vec<(Type, Option<Axis>)>,
    pub inputs: Inputs,
}

impl Subject {
    /// Variables of these types and axes with random values.
    pub fn new(
        types: &[(Type, Option<Axis>)],
        (m, n): (usize, usize),
        range: (f64, f64),
        seed: u64,
    ) -> Subject {
        let mut subject = Subject {
            graph: Graph::new(),
            variables: vec![],
            types: vec![],
            inputs: Inputs {
                variables: vec![],
                m,
                n,
            },
        };
        let mut random = Random(seed);
        for &(ty, axis) in types {
            subject.add(ty, axis, range, &mut random);
        }
        subject
    }
    /// One more variable.
    pub fn add(
        &mut self,
        ty: Type,
        axis: Option<Axis>,
        range: (f64, f64),
        random: &mut Random,
    ) -> NodeId {
        let rows = self.rows(axis);
        let mut taken = self
            .inputs
            .variables
            .iter()
            .flatten()
            .flat_map(|v| v.data.clone())
            .collect();
        let values = (0..rows)
            .map(|_| random.value(ty, range, &mut taken))
            .collect();
        self.add_with(ty, axis, values)
    }
    /// One more variable with these values.
    pub fn add_with(&mut self, ty: Type, axis: Option<Axis>, values: Vec<Value>) -> NodeId {
        let variable = self.graph.variable(self.variables.len(), ty, axis);
        self.variables.push(variable);
        self.types.push((ty, axis));
        self.inputs.variables.push(values);
        variable
    }
    /// Rows of an axis.
    pub fn rows(&self, axis: Option<Axis>) -> usize {
        match axis {
            None => 1,
            Some(Axis::I) => self.inputs.m,
            Some(Axis::J) => self.inputs.n,
        }
    }
    /// A condition as a number.
    pub fn real(&mut self, node: NodeId) -> NodeId {
        if self.graph.ty(node).element != Element::Bool {
            return node;
        }
        let (one, zero) = (self.graph.literal(1.0), self.graph.literal(0.0));
        self.graph.apply(&select::OP, &[node, one, zero])
    }
    /// The formula that returns a node.
    pub fn formula(&self, output: NodeId) -> Formula {
        let inputs = self.types.iter().enumerate().map(|(k, &(ty, axis))| Input {
            name: format!("v{k}"),
            axis,
            shape: ty.shape,
            complex: None,
            cotangent: false,
        });
        Formula::new(inputs.collect(), &self.graph, &[output])
    }
    /// The values through simplification, scheduling and lowering, and those of the reference.
    pub fn check_lowering(&self, output: NodeId, tolerance: f64, what: &str) {
        let expected = &evaluate(&self.graph, &[output], &self.inputs)[0];
        let function = self.formula(output).compile();
        let found = &run_function(&function, &self.slots(), self.inputs.m, self.inputs.n)[0];
        self.compare(found, expected, tolerance, what);
    }
    /// The inputs as slots.
    pub fn slots(&self) -> Vec<Rows> {
        self.inputs
            .variables
            .iter()
            .map(|v| v.iter().map(|row| row.data.clone()).collect())
            .collect()
    }
    /// Compares rows.
    pub fn compare(&self, found: &Rows, expected: &[Value], tolerance: f64, what: &str) {
        assert_eq!(found.len(), expected.len(), "{what}: rows");
        for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
            let found = Value {
                shape: expected.shape,
                data: found.clone(),
            };
            assert_close(&found, expected, tolerance, &format!("{what}, row {row}"));
        }
    }
    /// The node times a random weight with its axis: a sum whose gradient tells all derivatives apart.
    pub fn weighted(&mut self, node: NodeId, seed: u64) -> NodeId {
        let (ty, axis) = (self.graph.ty(node), self.graph.indices(node).single());
        let weight = self.add(ty, axis, (-1.0, 1.0), &mut Random(seed));
        self.graph.apply(&mul::OP, &[weight, node])
    }
    /// The gradient of [`Subject::total`] with respect to variables, in a decomposed graph.
    pub fn gradient(&self, node: NodeId, wrt: &[usize]) -> (Graph, Vec<Option<NodeId>>) {
        let (mut g, roots) = decompose(&self.graph, &[node]);
        let ones = g.constant(1.0, g.shape(roots[0]));
        let variables: Vec<NodeId> = wrt
            .iter()
            .map(|&k| g.variable(k, self.types[k].0, self.types[k].1))
            .collect();
        let found = vjp(&mut g, &[(roots[0], ones)], &variables);
        (g, found)
    }
    /// Checks the derivatives of [`Subject::total`] by variables, simplified and lowered too.
    pub fn check_derivatives(&mut self, node: NodeId, wrt: &[usize], tolerance: f64, what: &str) {
        let (g, found) = self.gradient(node, wrt);
        for (&k, cotangent) in wrt.iter().zip(found) {
            let what = format!("derivative of {what} by variable {k}");
            let expected = self.differences(node, k);
            let Some(cotangent) = cotangent else {
                assert!(
                    expected.iter().flat_map(|v| &v.data).all(|&x| x == 0.0),
                    "{what} is not zero: {expected:?}"
                );
                continue;
            };
            let values = evaluate(&g, &[cotangent], &self.inputs).remove(0);
            // A derivative that is the same for all rows may have one.
            let row = |values: &[Value], row: usize| values[row.min(values.len() - 1)].clone();
            for (r, expected) in expected.iter().enumerate() {
                assert_close(
                    &row(&values, r),
                    expected,
                    tolerance,
                    &format!("{what}, row {r}"),
                );
            }
            let (simple, roots) = simplify(&g, &[cotangent]);
            let simplified = evaluate(&simple, &roots, &self.inputs).remove(0);
            for (r, value) in values.iter().enumerate() {
                assert_close(
                    &row(&simplified, r),
                    value,
                    1e-13,
                    &format!("simplified {what}, row {r}"),
                );
            }
            Subject {
                graph: g.clone(),
                ..self.clone()
            }
            .check_lowering(cotangent, 1e-11, &what);
        }
    }
    /// Replaces the graph by that of the first derivatives, and returns a random combination of them as one node per
    /// variable's rows, to differentiate again.
    pub fn first_derivatives(&mut self, node: NodeId, wrt: &[usize]) -> Option<NodeId> {
        let (g, found) = self.gradient(node, wrt);
        self.graph = g;
        let mut random = Random(9);
        let mut total: Option<NodeId> = None;
        for cotangent in found.into_iter().flatten() {
            let (ty, axis) = (
                self.graph.ty(cotangent),
                self.graph.indices(cotangent).single(),
            );
            let weight = self.add(ty, axis, (-1.0, 1.0), &mut random);
            let mut term = self.graph.apply(&mul::OP, &[weight, cotangent]);
            if self.graph.shape(term) != Shape::Scalar {
                term = self.graph.apply(&sum::OP, &[term]);
            }
            if let Some(axis) = axis {
                term = self.graph.sum_over(axis, term);
            }
            total = Some(total.map_or(term, |t| self.graph.apply(&add::OP, &[t, term])));
        }
        total
    }
    /// Σ of all numbers of a node over all its rows, in the reference.
    pub fn total(&self, node: NodeId) -> f64 {
        evaluate(&self.graph, &[node], &self.inputs)[0]
            .iter()
            .flat_map(|v| &v.data)
            .sum()
    }
    /// Central differences of [`Subject::total`] with respect to all numbers of a variable.
    pub fn differences(&mut self, node: NodeId, variable: usize) -> Vec<Value> {
        let mut slopes = self.inputs.variables[variable].clone();
        let step = 1e-5;
        for (row, slope) in slopes.iter_mut().enumerate() {
            for k in 0..slope.data.len() {
                let x = self.inputs.variables[variable][row].data[k];
                let mut at = |x: f64| {
                    self.inputs.variables[variable][row].data[k] = x;
                    self.total(node)
                };
                let difference = (at(x + step) - at(x - step)) / (2.0 * step);
                at(x);
                slope.data[k] = difference;
            }
        }
        slopes
    }
}

/// The names of the record files of a directory of the crate.
pub fn record_files(directory: &str) -> Vec<String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src")
        .join(directory);
    let mut names: Vec<String> = std::fs::read_dir(path)
        .expect("the sources are there")
        .filter_map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .to_str()?
                .strip_suffix(".rs")
                .map(String::from)
        })
        .filter(|name| name != "mod")
        .collect();
    names.sort();
    names
}

/// The number that a variable of the environment says, if it is set.
pub fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
    )
}
