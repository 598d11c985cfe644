//! Graph-to-graph passes: [`decompose`] replaces composites by their definitions.
//!
//! Invariant: a rebuilt graph holds only what its roots need, arguments before users.

use super::{Graph, Kind, Node, NodeId};
use crate::ops;
use crate::reductions;
use std::collections::BTreeMap;

/// Rebuilds what `roots` need, node by node: `f` is given the new graph, the old node and its new arguments.
pub fn rebuild(
    old: &Graph,
    roots: &[NodeId],
    f: &mut dyn FnMut(&mut Graph, &Node, &[NodeId]) -> NodeId,
) -> (Graph, Vec<NodeId>) {
    let mut new = Graph::new();
    let mut moved: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for id in old.reachable(roots) {
        let node = old.node(id);
        let args: Vec<NodeId> = node.args.iter().map(|a| moved[a]).collect();
        let replacement = f(&mut new, node, &args);
        moved.insert(id, replacement);
    }
    let roots = roots.iter().map(|r| moved[r]).collect();
    (new, roots)
}

/// The same node in another graph, with other arguments.
pub fn copy(g: &mut Graph, node: &Node, args: &[NodeId]) -> NodeId {
    match &node.kind {
        Kind::Variable(n) => g.variable(*n, node.ty, node.indices.single()),
        Kind::Constant(bits) => g.constant(f64::from_bits(*bits), node.ty.shape),
        Kind::Op(op, params) => g.apply_with(op.0, args, params),
        Kind::Reduce(reduction, axis, k) => g.reduce(reduction.0, *axis, args, *k),
        Kind::Derivative(kind) => match g.try_derivative(*kind, args) {
            Ok(id) => id,
            Err(e) => panic!("internal error in keops: {kind:?}: {e:?}"),
        },
        Kind::Integer(_) | Kind::Complex => {
            unreachable!("internal error in keops: a result made of {:?}", node.kind)
        }
        Kind::Row(axis) => g.row(*axis),
        Kind::Extent(axis) => g.extent(*axis),
    }
}

/// Copies what `roots` need into another graph, with variables renumbered by `variable`.
pub fn import(
    g: &mut Graph,
    old: &Graph,
    roots: &[NodeId],
    variable: &mut dyn FnMut(&mut Graph, usize, &Node) -> NodeId,
) -> Vec<NodeId> {
    let mut moved: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for id in old.reachable(roots) {
        let node = old.node(id);
        let args: Vec<NodeId> = node.args.iter().map(|a| moved[a]).collect();
        let new = match node.kind {
            Kind::Variable(n) => variable(g, n, node),
            _ => copy(g, node, &args),
        };
        moved.insert(id, new);
    }
    roots.iter().map(|r| moved[r]).collect()
}

/// Replaces composite operations and reductions by their definitions, until none is left.
pub fn decompose(old: &Graph, roots: &[NodeId]) -> (Graph, Vec<NodeId>) {
    let mut current = old.clone();
    let mut roots = roots.to_vec();
    loop {
        let mut changed = false;
        let (next, moved) = rebuild(&current, &roots, &mut |g, node, args| match &node.kind {
            Kind::Op(op, params) => match op.0.body {
                ops::Body::Composite(definition) => {
                    changed = true;
                    definition(g, args, params)
                }
                _ => copy(g, node, args),
            },
            Kind::Reduce(reduction, axis, k) => match reduction.0.body {
                reductions::Body::Composite(definition) => {
                    changed = true;
                    definition(g, *axis, args, *k)
                }
                _ => copy(g, node, args),
            },
            _ => copy(g, node, args),
        });
        (current, roots) = (next, moved);
        if !changed {
            return (current, roots);
        }
    }
}
