//! Cotangents that are structurally zero but at the rows that a reduction chose: a minimum's at its arguments.
//!
//! Such a cotangent is a gate whose condition compares a row number with the indices behind the reduction's result.
//! `autodiff` keeps the gate outermost through every rule and down to the sum over rows, so that a later pass sees from its terms
//! alone which pairs there are anything to add for ([`crate::lower::listed`]), and so that what was not chosen is never
//! multiplied: it may be infinite or NaN.
//!
//! Invariant: conditions that are split off are scalars, so they hold for whole values.

use super::{Graph, Kind, NodeId};
use crate::ops::{and, gate, index_among, index_eq, or};
use crate::types::{Axis, Element, Shape};

/// The axis whose row numbers a condition compares, and the indices that a reduction left: of `row == rows` and `row among
/// rows`.
pub fn comparison(g: &Graph, condition: NodeId) -> Option<(Axis, NodeId)> {
    let args = g
        .as_op(condition, &index_eq::OP)
        .or(g.as_op(condition, &index_among::OP))?;
    let &[row, rows] = args else { return None };
    let is_left = matches!(g.node(rows).kind, Kind::Reduce(..));
    match g.node(row).kind {
        Kind::Row(axis) if is_left && g.ty(rows).element == Element::Index => Some((axis, rows)),
        _ => None,
    }
}

fn is_choice(g: &Graph, condition: NodeId) -> bool {
    if let Some(parts) = g.as_op(condition, &or::OP).or(g.as_op(condition, &and::OP)) {
        return parts.iter().all(|&part| is_choice(g, part));
    }
    g.shape(condition) == Shape::Scalar && comparison(g, condition).is_some()
}

/// The condition outside of which a value is structurally zero, if it says so, and the value where it holds.
pub fn split(g: &mut Graph, value: NodeId) -> (Option<NodeId>, NodeId) {
    let (mut all, mut value) = (None, value);
    while let Some((condition, inside, false)) = gate::parts(g, value)
        && is_choice(g, condition)
    {
        all = Some(all.map_or(condition, |outer| g.apply(&and::OP, &[outer, condition])));
        value = inside;
    }
    (all, value)
}

/// A value that is structurally zero where a condition does not hold.
pub fn only(g: &mut Graph, condition: Option<NodeId>, value: NodeId) -> NodeId {
    match condition {
        Some(condition) => g.apply_with(&gate::OP, &[condition, value], &[0]),
        None => value,
    }
}

/// The sum, by `plus`, of values that may be structurally zero: where both are, so is the sum.
pub fn add(
    g: &mut Graph,
    a: NodeId,
    b: NodeId,
    plus: fn(&mut Graph, NodeId, NodeId) -> NodeId,
) -> NodeId {
    let ((of_a, in_a), (of_b, in_b)) = (split(g, a), split(g, b));
    match (of_a, of_b) {
        (Some(condition), Some(other)) if condition == other => {
            let sum = plus(g, in_a, in_b);
            only(g, of_a, sum)
        }
        (Some(condition), Some(other)) => {
            let either = g.apply(&or::OP, &[condition, other]);
            let sum = plus(g, a, b);
            only(g, Some(either), sum)
        }
        _ => plus(g, a, b),
    }
}
