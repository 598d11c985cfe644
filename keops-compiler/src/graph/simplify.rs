//! Simplification: applies each operation's local rules until nothing changes, then its late rules once.
//!
//! Rules live in the operations' files; this is only the driver. Invariant: rules are exact (late ones: within the
//! documented accuracy), so user arithmetic keeps its NaN and infinities.

use super::expand::expand;
use super::rebuild::{copy, decompose, rebuild};
use super::relax::relax;
use super::{Graph, Kind, Node, NodeId};
use crate::item::Arithmetic;
use crate::ops::{Body, Simplify};
use crate::reductions::sum;

/// Rounds after which the driver stops even if rules still apply: a guard against rules that undo each other.
const MAX_ROUNDS: usize = 32;

/// Applies the local rules of all operations.
pub fn simplify(g: &Graph, roots: &[NodeId]) -> (Graph, Vec<NodeId>) {
    let (mut current, mut roots) = (g.clone(), roots.to_vec());
    for _ in 0..MAX_ROUNDS {
        let (next, moved) = rewrite(&current, &roots, exact_rule);
        let same = next.nodes == current.nodes && moved == roots;
        (current, roots) = (next, moved);
        if same {
            break;
        }
    }
    (current, roots)
}

/// Applies the rules that only pay off for the kernel, unless the formula asks for functions as written, cleans up, and
/// rearranges what the formula says may be.
pub fn late(
    g: &Graph,
    roots: &[NodeId],
    arithmetic: Arithmetic,
    expands: bool,
) -> (Graph, Vec<NodeId>) {
    let (next, roots) = match arithmetic {
        Arithmetic::Precise => (g.clone(), roots.to_vec()),
        _ => rewrite(g, roots, late_rule),
    };
    let (next, roots) = decompose(&next, &roots);
    let (next, roots) = simplify(&next, &roots);
    let (next, roots) = match arithmetic {
        Arithmetic::FastMath => relax(&next, &roots),
        _ => (next, roots),
    };
    if expands {
        expand(&next, &roots)
    } else {
        (next, roots)
    }
}

fn exact_rule(node: &Node) -> Option<Simplify> {
    match &node.kind {
        Kind::Op(op, _) => match op.0.body {
            Body::Elementwise { simplify, .. } | Body::Indexed { simplify, .. } => Some(simplify),
            Body::Composite(_) => None,
        },
        _ => None,
    }
}

fn late_rule(node: &Node) -> Option<Simplify> {
    match &node.kind {
        Kind::Op(op, _) => match op.0.body {
            Body::Elementwise { late, .. } => Some(late),
            _ => None,
        },
        _ => None,
    }
}

fn rewrite(
    g: &Graph,
    roots: &[NodeId],
    rule: fn(&Node) -> Option<Simplify>,
) -> (Graph, Vec<NodeId>) {
    let (next, roots) = rebuild(g, roots, &mut |g, node, args| {
        if let (Some(rule), Kind::Op(_, params)) = (rule(node), &node.kind)
            && let Some(better) = rule(g, args, params)
            && g.ty(better) == node.ty
        {
            return better;
        }
        // Σ 0 = 0, also over no rows: the pass disappears.
        if let (Kind::Reduce(reduction, ..), &[arg]) = (&node.kind, args)
            && reduction.0.name == sum::REDUCTION.name
            && g.as_constant(arg) == Some(0.0)
        {
            return g.constant(0.0, node.ty.shape);
        }
        copy(g, node, args)
    });
    // Rules leave nodes behind that nothing needs any more.
    rebuild(&next, &roots, &mut copy)
}
