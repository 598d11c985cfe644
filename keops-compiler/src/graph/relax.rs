//! What `fast_math` allows beyond the late rules: rearrangements that are cheaper per pair and round differently.
//!
//! * `2^(c·|x − y|²)` with a constant or parameter c < 0 becomes `2^−|s·x − s·y|²` with s = √−c: the factor is applied to each row
//!   once and not to each pair. The error of the exponent then grows with |x|·|x − y| and no longer with |x − y|², which is why
//!   it is not done unasked: far from the origin it is more than twice the error of the plain form;
//! * a quotient by something that is the same for all pairs of a row becomes a product with its reciprocal;
//! * factors that do not depend on the summed index leave the sum.
//!
//! Invariant: a value whose rows are longer than a few numbers is not scaled: its rows would have to be written once more.

use super::autodiff::sum_over;
use super::rebuild::{copy, rebuild};
use super::simplify::simplify;
use super::{Graph, Kind, NodeId};
use crate::ops::{div, dot, exp2_sum, mul, neg, sqrt, sub};
use crate::reductions::sum;
use crate::types::{Indices, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// Longest vectors that are scaled.
const LONGEST: usize = 16;

/// Applies the rearrangements to a simplified graph.
pub fn relax(g: &Graph, roots: &[NodeId]) -> (Graph, Vec<NodeId>) {
    let scales = scales(g, roots);
    let (next, roots) = rescale(g, roots, &scales);
    let (next, roots) = reciprocals(&next, &roots);
    let (next, roots) = rebuild(&next, &roots, &mut |g, node, args| match node.kind {
        Kind::Reduce(reduction, axis, _) if reduction.0.name == sum::REDUCTION.name => {
            sum_over(g, axis, args[0])
        }
        _ => copy(g, node, args),
    });
    simplify(&next, &roots)
}

/// The differences x − y that are to be scaled, each with the coefficient c of its exponential.
fn scales(g: &Graph, roots: &[NodeId]) -> BTreeMap<NodeId, NodeId> {
    let mut scales = BTreeMap::new();
    for id in g.reachable(roots) {
        if let Some((difference, coefficient)) = scaled_square(g, id) {
            scales.entry(difference).or_insert(coefficient);
        }
    }
    scales
}

/// (x − y, c) of `2^(c·|x − y|²)`.
fn scaled_square(g: &Graph, node: NodeId) -> Option<(NodeId, NodeId)> {
    let &[square, coefficient] = g.as_op(node, &exp2_sum::OP)? else {
        return None;
    };
    let &[t, again] = g.as_op(square, &dot::OP)? else {
        return None;
    };
    let &[x, y] = g.as_op(t, &sub::OP)? else {
        return None;
    };
    let short = matches!(g.shape(t), Shape::Vector(n) if n <= LONGEST);
    let per_row = !g.indices(x).is_pair() && !g.indices(y).is_pair();
    let constant = g.indices(coefficient) == Indices::NONE && g.shape(coefficient) == Shape::Scalar;
    (t == again && short && per_row && constant && is_negative(g, coefficient) == Some(true))
        .then_some((t, coefficient))
}

/// Whether a product or quotient is proven to be ≤ 0 (true), ≥ 0 (false), or NaN.
fn is_negative(g: &Graph, node: NodeId) -> Option<bool> {
    let mut negative = false;
    // Factors of unknown sign, each once where it is there an odd number of times.
    let mut odd = BTreeSet::new();
    let mut left = vec![node];
    while let Some(node) = left.pop() {
        if let Some(value) = g.as_constant(node) {
            negative ^= value < 0.0;
        } else if let Some(&[a]) = g.as_op(node, &neg::OP) {
            negative = !negative;
            left.push(a);
        } else if let Some(args) = g.as_op(node, &mul::OP).or(g.as_op(node, &div::OP)) {
            left.extend(args);
        } else if !exp2_sum::is_nonnegative(g, node) && !odd.insert(node) {
            odd.remove(&node);
        }
    }
    odd.is_empty().then_some(negative)
}

/// Replaces x − y by (s·x − s·y)/s, and with it |x − y|² and the exponentials.
fn rescale(g: &Graph, roots: &[NodeId], scales: &BTreeMap<NodeId, NodeId>) -> (Graph, Vec<NodeId>) {
    let ids: Vec<NodeId> = g.reachable(roots);
    let mut scaled: BTreeMap<NodeId, (NodeId, NodeId)> = BTreeMap::new();
    let mut at = ids.iter();
    let (next, roots) = rebuild(g, roots, &mut |new, node, args| {
        let Some(&id) = at.next() else {
            return copy(new, node, args);
        };
        if let Some(coefficient) = scales.get(&id) {
            let coefficient = bring(g, new, *coefficient);
            let minus = new.apply(&neg::OP, &[coefficient]);
            let s = new.apply(&sqrt::OP, &[minus]);
            let x = new.apply(&mul::OP, &[s, args[0]]);
            let y = new.apply(&mul::OP, &[s, args[1]]);
            let t = new.apply(&sub::OP, &[x, y]);
            let one = new.literal(1.0);
            let inverse = new.apply(&div::OP, &[one, s]);
            scaled.insert(id, (t, inverse));
            new.apply(&mul::OP, &[inverse, t])
        } else if let Some(((t, _), true)) = scaled_square(g, id)
            .and_then(|(t, c)| Some((*scaled.get(&t)?, scales.get(&t) == Some(&c))))
        {
            let square = new.apply(&dot::OP, &[t, t]);
            let minus = new.literal(-1.0);
            new.apply_with(&exp2_sum::OP, &[square, minus], &[1])
        } else if let Some(&(t, inverse)) = square_of(g, id).and_then(|t| scaled.get(&t)) {
            let square = new.apply(&dot::OP, &[t, t]);
            let inverse = new.apply(&mul::OP, &[inverse, inverse]);
            new.apply(&mul::OP, &[inverse, square])
        } else {
            copy(new, node, args)
        }
    });
    (next, roots)
}

/// A node of the old graph in the new one, before its turn; equal nodes are one.
fn bring(old: &Graph, new: &mut Graph, id: NodeId) -> NodeId {
    let node = old.node(id);
    let args: Vec<NodeId> = node.args.iter().map(|&a| bring(old, new, a)).collect();
    copy(new, node, &args)
}

/// t of |t|².
fn square_of(g: &Graph, node: NodeId) -> Option<NodeId> {
    match g.as_op(node, &dot::OP)? {
        &[t, again] if t == again => Some(t),
        _ => None,
    }
}

/// Replaces quotients of pairs by something that is the same for all pairs of a row.
fn reciprocals(g: &Graph, roots: &[NodeId]) -> (Graph, Vec<NodeId>) {
    rebuild(g, roots, &mut |new, node, args| match &node.kind {
        Kind::Op(op, _)
            if op.0.name == div::OP.name
                && new.indices(args[0]).is_pair()
                && !new.indices(args[1]).is_pair()
                && new.shape(args[1]) == Shape::Scalar =>
        {
            let one = new.literal(1.0);
            let inverse = new.apply(&div::OP, &[one, args[1]]);
            new.apply(&mul::OP, &[args[0], inverse])
        }
        _ => copy(new, node, args),
    })
}
