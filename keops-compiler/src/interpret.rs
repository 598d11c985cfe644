//! The reference interpreter: a graph in plain f64, pair by pair, from the operations' and reductions' own references.
//!
//! It is the oracle of every test, so it shares nothing with lowering and works on a graph at any stage, composites
//! included, derivatives not. Indices are exact numbers, conditions 1 and 0. It builds whole tables (M·N values for what depends on both
//! indices): for small inputs only.

use crate::graph::{Graph, Kind, Node, NodeId};
use crate::ops::Reference;
use crate::types::{Axis, Indices, Shape};
use crate::value::Value;
use std::collections::BTreeMap;

/// The inputs of a formula.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// For each variable one value per row of its axis, or a single one for parameters.
    pub variables: Vec<Vec<Value>>,
    /// Rows of i.
    pub m: usize,
    /// Rows of j.
    pub n: usize,
}

/// A table with one value per row of each index that the node depends on, i before j.
struct Table {
    indices: Indices,
    values: Vec<Value>,
}

impl Table {
    fn at(&self, i: usize, j: usize, inputs: &Inputs) -> &Value {
        match (self.indices.i, self.indices.j) {
            (false, false) => &self.values[0],
            (true, false) => &self.values[i],
            (false, true) => &self.values[j],
            (true, true) => &self.values[i * inputs.n + j],
        }
    }
}

/// The values of some nodes: one per row of each node's axis (M·N for a node of both, i first), or a single one.
///
/// # Panics
/// If the inputs do not fit the graph: it is the tests' oracle.
pub fn evaluate(g: &Graph, outputs: &[NodeId], inputs: &Inputs) -> Vec<Vec<Value>> {
    let mut tables: BTreeMap<NodeId, Table> = BTreeMap::new();
    for id in g.reachable(outputs) {
        let node = g.node(id);
        let rows_i = if node.indices.i { inputs.m } else { 1 };
        let rows_j = if node.indices.j { inputs.n } else { 1 };
        let values = (0..rows_i)
            .flat_map(|i| (0..rows_j).map(move |j| (i, j)))
            .map(|(i, j)| compute(node, &tables, inputs, i, j))
            .collect();
        tables.insert(
            id,
            Table {
                indices: node.indices,
                values,
            },
        );
    }
    outputs.iter().map(|o| tables[o].values.clone()).collect()
}

fn compute(
    node: &Node,
    tables: &BTreeMap<NodeId, Table>,
    inputs: &Inputs,
    i: usize,
    j: usize,
) -> Value {
    let args = |i: usize, j: usize| {
        node.args
            .iter()
            .map(|a| tables[a].at(i, j, inputs).clone())
            .collect::<Vec<_>>()
    };
    let shape = node.ty.shape;
    match &node.kind {
        Kind::Variable(n) => {
            let row = match node.indices.single() {
                None => 0,
                Some(Axis::I) => i,
                Some(Axis::J) => j,
            };
            inputs.variables[*n][row].clone()
        }
        Kind::Constant(bits) => Value::filled(f64::from_bits(*bits), shape),
        Kind::Complex => panic!("a complex value is two real ones"),
        Kind::Integer(i) => panic!("{i:?} is never part of a result"),
        Kind::Derivative(d) => panic!("{d:?} has no value of its own: expand it first"),
        Kind::Row(axis) => Value::scalar(if *axis == Axis::I { i as f64 } else { j as f64 }),
        Kind::Extent(axis) => Value::scalar(if *axis == Axis::I {
            inputs.m as f64
        } else {
            inputs.n as f64
        }),
        Kind::Op(op, params) => apply(op.0.reference, &args(i, j), params, shape),
        Kind::Reduce(reduction, axis, k) => {
            let rows: Vec<Vec<Value>> = match axis {
                Axis::I => (0..inputs.m).map(|i| args(i, j)).collect(),
                Axis::J => (0..inputs.n).map(|j| args(i, j)).collect(),
            };
            let value = (reduction.0.reference)(&rows, *k);
            // Without rows a reference does not know the shape, but all its numbers are equal.
            if rows.is_empty() {
                Value::filled(value.first(), shape)
            } else {
                value
            }
        }
    }
}

/// An operation's reference on one set of arguments, `shape` being its result's.
pub fn apply(reference: Reference, args: &[Value], params: &[i64], shape: Shape) -> Value {
    match reference {
        Reference::Elementwise(f) => {
            let number = |k: usize| {
                f(
                    &args.iter().map(|a| a.broadcast(k)).collect::<Vec<_>>(),
                    params,
                )
            };
            Value {
                shape,
                data: (0..shape.len()).map(number).collect(),
            }
        }
        Reference::Whole(f) => f(args, params),
    }
}
