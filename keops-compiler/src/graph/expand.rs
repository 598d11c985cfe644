//! What `#[keops(expand)]` asks for: |x − y|² as |x|² − 2 x·y + |y|², for rows of i and j.
//!
//! A coordinate of a pair then takes one multiply-add and not a subtraction besides, and the squares are of a row and not of a
//! pair. The result is rounded relative to |x|² + |y|², which is much more than |x − y|² for points that are close to one
//! another and far from the origin; that is why it is not done unasked.
//!
//! Invariants: never below zero, so that roots exist; NaN and infinities of the rows give NaN (∞ − ∞), not always as the difference
//! would. Short vectors are expanded as well, though it does not pay below eight coordinates: the form of a kernel must not
//! depend on a const parameter.

use super::rebuild::{copy, rebuild};
use super::simplify::simplify;
use super::{Graph, NodeId};
use crate::ops::{add, dot, mul, relu, sub};
use crate::types::Shape;

/// Expands the squared distances of a simplified graph.
pub fn expand(g: &Graph, roots: &[NodeId]) -> (Graph, Vec<NodeId>) {
    let (next, roots) = rebuild(g, roots, &mut |new, node, args| {
        let copied = copy(new, node, args);
        expanded(new, copied).unwrap_or(copied)
    });
    simplify(&next, &roots)
}

fn expanded(g: &mut Graph, square: NodeId) -> Option<NodeId> {
    let &[t, again] = g.as_op(square, &dot::OP)? else {
        return None;
    };
    let &[x, y] = g.as_op(t, &sub::OP)? else {
        return None;
    };
    let vectors = [x, y, t].map(|v| g.shape(v));
    let same_length = matches!(vectors[2], Shape::Vector(_))
        && vectors[0] == vectors[1]
        && vectors[1] == vectors[2];
    let per_row = !g.indices(x).is_pair() && !g.indices(y).is_pair();
    if t != again || !same_length || !per_row || !g.indices(t).is_pair() {
        return None;
    }
    let squares = [x, y].map(|v| g.apply(&dot::OP, &[v, v]));
    let squares = g.apply(&add::OP, &squares);
    let minus_two = g.literal(-2.0);
    let product = g.apply(&dot::OP, &[x, y]);
    let product = g.apply(&mul::OP, &[minus_two, product]);
    let sum = g.apply(&add::OP, &[product, squares]);
    Some(g.apply(&relu::OP, &[sum]))
}
