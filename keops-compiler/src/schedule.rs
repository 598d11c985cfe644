//! From graph to passes: which reductions run together, what each pass reads and what it leaves for later ones.
//!
//! A pass folds over one axis for each row of another (or for one row in all). Reductions that need no other reduction's
//! result are of level 0, those that need level-0 results of level 1, and so on; all reductions of one level, one folded
//! axis and one outer axis share a pass. An output is computed at the end of the first pass over its rows that has
//! everything it needs, else by a pass of its own that folds nothing.
//!
//! Invariants: a pass only reads slots of earlier passes; slots 0.. are the inputs, then each pass's outputs in order.

use crate::graph::{Graph, Kind, NodeId};
use crate::types::Axis;
use std::collections::{BTreeMap, BTreeSet};

/// A value to return: one row per index of `axis`, or one in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// The value.
    pub node: NodeId,
    /// Its rows. The node may depend on fewer indices.
    pub axis: Option<Axis>,
}

/// One pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pass {
    /// The axis with one result row each.
    pub outer: Option<Axis>,
    /// The axis folded over.
    pub inner: Option<Axis>,
    /// The reductions it computes.
    pub reduces: Vec<NodeId>,
    /// The values it leaves in slots, in order.
    pub outputs: Vec<NodeId>,
}

/// The passes of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// In order of execution.
    pub passes: Vec<Pass>,
    /// The slot of each node that a pass leaves behind.
    pub slots: BTreeMap<NodeId, usize>,
    /// The slots returned.
    pub outputs: Vec<usize>,
}

/// Schedules the outputs of a function with `inputs` variables.
pub fn schedule(g: &Graph, outputs: &[Output], inputs: usize) -> Schedule {
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.node).collect();
    let mut passes: Vec<Pass> = vec![];
    let mut pass_of: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (key, reduces) in by_level(g, &roots) {
        pass_of.extend(reduces.iter().map(|&r| (r, passes.len())));
        passes.push(Pass {
            outer: key.outer,
            inner: Some(key.inner),
            reduces,
            outputs: vec![],
        });
    }
    let place: Vec<usize> = outputs
        .iter()
        .map(|o| place_output(g, *o, &mut passes, &pass_of))
        .collect();

    // What later passes (and outputs placed elsewhere) need from earlier ones.
    let mut kept: Vec<BTreeSet<NodeId>> = vec![BTreeSet::new(); passes.len()];
    for (p, pass) in passes.iter().enumerate() {
        let mut roots: Vec<NodeId> = pass
            .reduces
            .iter()
            .flat_map(|&r| g.node(r).args.clone())
            .collect();
        roots.extend(
            outputs
                .iter()
                .zip(&place)
                .filter(|&(_, &at)| at == p)
                .map(|(o, _)| o.node),
        );
        for r in needed_reduces(g, &roots) {
            if pass_of[&r] != p {
                kept[pass_of[&r]].insert(r);
            }
        }
    }
    let mut slots = BTreeMap::new();
    let mut result = vec![0; outputs.len()];
    let mut next = inputs;
    for (p, pass) in passes.iter_mut().enumerate() {
        for &r in &kept[p] {
            slots.insert(r, next);
            pass.outputs.push(r);
            next += 1;
        }
        for (o, _) in place.iter().enumerate().filter(|&(_, &at)| at == p) {
            result[o] = next;
            pass.outputs.push(outputs[o].node);
            next += 1;
        }
    }
    Schedule {
        passes,
        slots,
        outputs: result,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    level: usize,
    inner: Axis,
    outer: Option<Axis>,
}

fn by_level(g: &Graph, roots: &[NodeId]) -> BTreeMap<Key, Vec<NodeId>> {
    let mut levels: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut groups: BTreeMap<Key, Vec<NodeId>> = BTreeMap::new();
    for id in g.reachable(roots) {
        let node = g.node(id);
        let below = node.args.iter().map(|a| levels[a]).max().unwrap_or(0);
        let mut level = below;
        if let Kind::Reduce(_, inner, _) = node.kind {
            let outer = node.indices.single();
            groups
                .entry(Key {
                    level: below,
                    inner,
                    outer,
                })
                .or_default()
                .push(id);
            level += 1;
        }
        levels.insert(id, level);
    }
    groups
}

/// The reductions that `roots` need directly, not through another reduction.
pub fn needed_reduces(g: &Graph, roots: &[NodeId]) -> BTreeSet<NodeId> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut stack = roots.to_vec();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        if let Kind::Reduce(..) = g.node(id).kind {
            found.insert(id);
        } else {
            stack.extend(&g.node(id).args);
        }
    }
    found
}

fn place_output(
    g: &Graph,
    output: Output,
    passes: &mut Vec<Pass>,
    pass_of: &BTreeMap<NodeId, usize>,
) -> usize {
    let ready = needed_reduces(g, &[output.node])
        .iter()
        .map(|r| pass_of[r])
        .max();
    let first = ready.unwrap_or(0);
    // With nothing to wait for, a fold would only be run for its rows: prefer a pass without one.
    let found = (first..passes.len()).find(|&p| {
        passes[p].outer == output.axis && (ready.is_some() || passes[p].inner.is_none())
    });
    found.unwrap_or_else(|| {
        passes.push(Pass {
            outer: output.axis,
            ..Pass::default()
        });
        passes.len() - 1
    })
}
