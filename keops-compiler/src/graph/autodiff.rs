//! Reverse-mode differentiation of a graph, reductions included.
//!
//! One sweep from the outputs to the inputs calls each operation's and reduction's own rule. What the sweep itself knows is
//! how a value that was broadcast collects its cotangent: a scalar beside vectors sums over their numbers, a value that
//! does not depend on i or j sums over those rows. The second is why the derivative of `sum_j` with respect to a
//! j-variable is a `sum_i`, and why derivatives of any order are graphs of the same kind.
//!
//! Invariants: the graph is free of composites; a cotangent that is zero whatever the values is `None`, never a zero node.

use super::{Graph, Kind, NodeId, chosen};
use crate::ops::{self, Body, VjpCall, add, div, mul, neg};
use crate::reductions;
use crate::types::{Axis, Element, Indices, Shape};
use std::collections::BTreeMap;

/// The vector-Jacobian product: the cotangent of each node of `wrt`, given the cotangents of some values.
///
/// A cotangent has its node's shape and at most its node's indices.
pub fn vjp(g: &mut Graph, outputs: &[(NodeId, NodeId)], wrt: &[NodeId]) -> Vec<Option<NodeId>> {
    vjp_within(g, outputs, wrt, Indices::NONE)
}

/// The same for one row of each axis in `own`: cotangents are not summed over these rows, and no reduction over them lies
/// between `outputs` and `wrt` ([`super::derive::mixed_rows`]).
pub fn vjp_within(
    g: &mut Graph,
    outputs: &[(NodeId, NodeId)],
    wrt: &[NodeId],
    own: Indices,
) -> Vec<Option<NodeId>> {
    let roots: Vec<NodeId> = outputs.iter().map(|&(value, _)| value).collect();
    let active = depends_on(g, &roots, wrt);
    // Each contribution with the rows it stands for, which it need not depend on: d Σ_i (x_i − y_j) / dy_j is −M.
    let mut pending: BTreeMap<NodeId, Vec<(Indices, NodeId)>> = BTreeMap::new();
    for &(value, cotangent) in outputs {
        pending
            .entry(value)
            .or_default()
            .push((g.indices(value), cotangent));
    }
    let mut found = BTreeMap::new();
    // Arguments have smaller ids than their users, so descending ids visit every user first.
    while let Some((node, contributions)) = pending.pop_last() {
        if !active.contains_key(&node) {
            continue;
        }
        let cotangent = collect(g, node, &contributions, own);
        if wrt.contains(&node) {
            found.insert(node, cotangent);
        }
        // Rules are linear in the cotangent, so where that is zero their results are: the condition stays outermost.
        let (condition, cotangent) = chosen::split(g, cotangent);
        let data = g.node(node).clone();
        let call = VjpCall {
            node,
            args: &data.args,
            params: if let Kind::Op(_, p) = &data.kind {
                p
            } else {
                &[]
            },
            cotangent,
        };
        let of_args = match &data.kind {
            Kind::Op(op, _) => match &op.0.body {
                Body::Elementwise { vjp, .. } | Body::Indexed { vjp, .. } => vjp(g, &call),
                Body::Composite(_) => {
                    unreachable!("internal error in keops: {op:?} was not decomposed")
                }
            },
            Kind::Reduce(_, axis, _) if own.contains(*axis) => {
                unreachable!("internal error in keops: a derivative through its own rows")
            }
            Kind::Reduce(reduction, ..) => match &reduction.0.body {
                reductions::Body::Primitive { vjp: Some(vjp), .. } => vjp(g, &call),
                _ => vec![None; data.args.len()],
            },
            _ => vec![],
        };
        let rows = match data.kind {
            Kind::Reduce(_, axis, _) => data
                .args
                .iter()
                .fold(Indices::of(Some(axis)), |rows, &a| rows.union(g.indices(a))),
            _ => data.indices,
        };
        for (&arg, contribution) in data.args.iter().zip(of_args) {
            if let Some(contribution) = contribution
                && active.contains_key(&arg)
            {
                let contribution = chosen::only(g, condition, contribution);
                pending.entry(arg).or_default().push((rows, contribution));
            }
        }
    }
    wrt.iter().map(|node| found.get(node).copied()).collect()
}

/// The Jacobian-vector product of `output` for tangents of some variables, by transposing twice: the vector-Jacobian
/// product is linear in its cotangent, and its transpose is the Jacobian. Needs a fresh variable node `dummy` with the
/// output's type and indices, which does not remain in the result. `own` as for [`vjp_within`].
pub fn jvp(
    g: &mut Graph,
    output: NodeId,
    dummy: NodeId,
    tangents: &[(NodeId, NodeId)],
    own: Indices,
) -> Option<NodeId> {
    let wrt: Vec<NodeId> = tangents.iter().map(|&(v, _)| v).collect();
    let cotangents = vjp_within(g, &[(output, dummy)], &wrt, own);
    let pairs: Vec<(NodeId, NodeId)> = cotangents
        .iter()
        .zip(tangents)
        .filter_map(|(c, &(_, t))| c.map(|c| (c, t)))
        .collect();
    vjp_within(g, &pairs, &[dummy], own).pop().flatten()
}

/// The nodes that are needed by `roots`, are real and depend on a node of `wrt`.
fn depends_on(g: &Graph, roots: &[NodeId], wrt: &[NodeId]) -> BTreeMap<NodeId, ()> {
    let mut active = BTreeMap::new();
    for id in g.reachable(roots) {
        let real = g.ty(id).element == Element::Real;
        if real && (wrt.contains(&id) || g.node(id).args.iter().any(|a| active.contains_key(a))) {
            active.insert(id, ());
        }
    }
    active
}

/// The cotangent of `node` from its contributions: summed to the node's shape, then added up per index set, then summed
/// over the rows that the node does not depend on (but for its `own`), so that there is one sum per index set and not one
/// per use.
fn collect(
    g: &mut Graph,
    node: NodeId,
    contributions: &[(Indices, NodeId)],
    own: Indices,
) -> NodeId {
    let (shape, indices) = (g.shape(node), g.indices(node));
    let mut groups: BTreeMap<(bool, bool), NodeId> = BTreeMap::new();
    for &(rows, contribution) in contributions {
        let (condition, contribution) = chosen::split(g, contribution);
        let fitted = fit_shape(g, contribution, shape);
        let fitted = chosen::only(g, condition, fitted);
        let extra = g.indices(fitted).union(rows);
        let key = (
            extra.i && !indices.i && !own.i,
            extra.j && !indices.j && !own.j,
        );
        let total = match groups.get(&key) {
            Some(&sum) => chosen::add(g, sum, fitted, add_up),
            None => fitted,
        };
        groups.insert(key, total);
    }
    let mut total: Option<NodeId> = None;
    for ((over_i, over_j), mut value) in groups {
        if over_j {
            value = sum_over(g, Axis::J, value);
        }
        if over_i {
            value = sum_over(g, Axis::I, value);
        }
        total = Some(total.map_or(value, |sum| chosen::add(g, sum, value, add_up)));
    }
    let total = total.unwrap_or_else(|| g.constant(0.0, shape));
    // Kinds of contributions that do not depend on the rows still need one number per entry.
    if g.shape(total) == shape {
        total
    } else {
        broadcast_to(g, total, shape)
    }
}

/// a + b with signs and doubling outside, where [`sum_over`] finds them: −a + −b = −(a + b) and a + a = 2·a exactly.
pub(super) fn add_up(g: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    if a == b {
        let two = g.literal(2.0);
        return g.apply(&mul::OP, &[two, a]);
    }
    if let (Some(&[x]), Some(&[y])) = (g.as_op(a, &neg::OP), g.as_op(b, &neg::OP)) {
        let sum = add_up(g, x, y);
        return g.apply(&neg::OP, &[sum]);
    }
    g.apply(&add::OP, &[a, b])
}

/// Sums a contribution of the shape of a broadcast result down to the argument's shape.
fn fit_shape(g: &mut Graph, value: NodeId, shape: Shape) -> NodeId {
    match (g.shape(value), shape) {
        (have, want) if have == want => value,
        (_, Shape::Scalar) => sum_numbers(g, value),
        _ => broadcast_to(g, value, shape),
    }
}

fn broadcast_to(g: &mut Graph, scalar: NodeId, shape: Shape) -> NodeId {
    let ones = g.constant(1.0, shape);
    g.apply(&mul::OP, &[scalar, ones])
}

/// Σ over the numbers of a value; scalar factors stay outside, and Σ a·b is a scalar product.
fn sum_numbers(g: &mut Graph, value: NodeId) -> NodeId {
    if g.shape(value) == Shape::Scalar {
        return value;
    }
    if let Some(&[a]) = g.as_op(value, &neg::OP) {
        let sum = sum_numbers(g, a);
        return g.apply(&neg::OP, &[sum]);
    }
    if let Some(&[a, b]) = g.as_op(value, &mul::OP) {
        for (scalar, rest) in [(a, b), (b, a)] {
            if g.shape(scalar) == Shape::Scalar {
                if g.as_constant(rest) == Some(1.0) {
                    let count = g.literal(g.shape(rest).len() as f64);
                    return g.apply(&mul::OP, &[scalar, count]);
                }
                let sum = sum_numbers(g, rest);
                return g.apply(&mul::OP, &[scalar, sum]);
            }
        }
        if let (Shape::Vector(_), Shape::Vector(_)) = (g.shape(a), g.shape(b)) {
            return g.apply(&ops::dot::OP, &[a, b]);
        }
    }
    g.apply(&ops::sum::OP, &[value])
}

/// Σ over the rows of an axis; factors that do not depend on it stay outside.
pub(super) fn sum_over(g: &mut Graph, axis: Axis, value: NodeId) -> NodeId {
    if !g.indices(value).contains(axis) {
        let count = g.extent(axis);
        return g.apply(&mul::OP, &[value, count]);
    }
    if let (Some(condition), inside) = chosen::split(g, value) {
        if g.indices(condition).contains(axis) {
            return g.sum_over(axis, value);
        }
        let sum = sum_over(g, axis, inside);
        return chosen::only(g, Some(condition), sum);
    }
    if let Some(&[a]) = g.as_op(value, &neg::OP) {
        let sum = sum_over(g, axis, a);
        return g.apply(&neg::OP, &[sum]);
    }
    if let Some(&[a, b]) = g.as_op(value, &div::OP)
        && !g.indices(b).contains(axis)
    {
        let sum = sum_over(g, axis, a);
        return g.apply(&div::OP, &[sum, b]);
    }
    let mut factors = vec![];
    let mut negative = false;
    split_product(g, axis, value, &mut factors, &mut negative);
    let (outside, inside): (Vec<NodeId>, Vec<NodeId>) =
        factors.iter().partition(|&&f| !g.indices(f).contains(axis));
    if outside.is_empty() && !negative {
        return g.sum_over(axis, value);
    }
    // Scalars first: the vector factor multiplies once.
    let inside = product(g, &inside);
    let mut result = g.sum_over(axis, inside);
    if let Some(outside) = (!outside.is_empty()).then(|| product(g, &outside)) {
        result = g.apply(&mul::OP, &[outside, result]);
    }
    if negative {
        g.apply(&neg::OP, &[result])
    } else {
        result
    }
}

/// The factors of a product, through nested products that hold a factor independent of the axis.
fn split_product(
    g: &Graph,
    axis: Axis,
    value: NodeId,
    factors: &mut Vec<NodeId>,
    negative: &mut bool,
) {
    if let Some(&[a]) = g.as_op(value, &neg::OP) {
        *negative = !*negative;
        return split_product(g, axis, a, factors, negative);
    }
    if let Some(&[a, b]) = g.as_op(value, &mul::OP)
        && (has_free_factor(g, axis, a) || has_free_factor(g, axis, b))
    {
        split_product(g, axis, a, factors, negative);
        return split_product(g, axis, b, factors, negative);
    }
    factors.push(value);
}

fn has_free_factor(g: &Graph, axis: Axis, value: NodeId) -> bool {
    if !g.indices(value).contains(axis) || g.as_op(value, &neg::OP).is_some() {
        return true;
    }
    match g.as_op(value, &mul::OP) {
        Some(&[a, b]) => has_free_factor(g, axis, a) || has_free_factor(g, axis, b),
        _ => false,
    }
}

fn product(g: &mut Graph, factors: &[NodeId]) -> NodeId {
    let mut sorted = factors.to_vec();
    sorted.sort_by_key(|&f| (g.shape(f).rank(), f));
    let mut result = None;
    for f in sorted {
        result = Some(result.map_or(f, |p| g.apply(&mul::OP, &[p, f])));
    }
    result.unwrap_or_else(|| g.literal(1.0))
}
