//! Which pairs a pass has anything to add for: `lists`, from cotangents of the rows that reductions chose.
//!
//! Where every term of a pass is a sum's and structurally zero but for the rows that an earlier pass has left the indices of
//! (the derivative of a minimum), those indices list the pairs that matter: M of M·N, or K times as many. An engine may run
//! only these. Invariant: a pair that no list has adds 0 to every sum, whatever the values.

use super::Reducer;
use crate::graph::{Graph, NodeId, chosen};
use crate::ops::{add, and, gate, neg, or};
use crate::reductions::Feed;
use crate::types::{Axis, Indices};
use std::collections::BTreeSet;

type Lists = BTreeSet<NodeId>;

/// The indices that list the pairs that matter: for rows of one axis of the pass, rows of the other one. Empty where all
/// pairs may matter.
pub(super) fn lists(
    g: &Graph,
    feeds: &[(NodeId, Feed)],
    outer: Option<Axis>,
    inner: Option<Axis>,
) -> Lists {
    let (Some(outer), Some(inner)) = (outer, inner) else {
        return Lists::new();
    };
    let pass = Pass { g, outer, inner };
    let of_feeds = feeds.iter().map(|(_, feed)| match feed.reducer {
        Reducer::Sum => pass.of_value(feed.nodes[0]),
        _ => None,
    });
    union(of_feeds).unwrap_or_default()
}

fn union(lists: impl Iterator<Item = Option<Lists>>) -> Option<Lists> {
    let mut all = Lists::new();
    for list in lists {
        all.extend(list?);
    }
    Some(all)
}

struct Pass<'g> {
    g: &'g Graph,
    outer: Axis,
    inner: Axis,
}

impl Pass<'_> {
    /// What lists the pairs for which a value can be other than zero; `None`: all.
    fn of_value(&self, node: NodeId) -> Option<Lists> {
        if let Some((condition, value, false)) = gate::parts(self.g, node) {
            return self
                .of_condition(condition)
                .or_else(|| self.of_value(value));
        }
        if let Some(&[a]) = self.g.as_op(node, &neg::OP) {
            return self.of_value(a);
        }
        let terms = self.g.as_op(node, &add::OP)?;
        union(terms.iter().map(|&term| self.of_value(term)))
    }

    /// What lists the pairs for which a condition can hold.
    fn of_condition(&self, node: NodeId) -> Option<Lists> {
        if let Some(parts) = self.g.as_op(node, &or::OP) {
            return union(parts.iter().map(|&part| self.of_condition(part)));
        }
        if let Some(parts) = self.g.as_op(node, &and::OP) {
            return parts.iter().find_map(|&part| self.of_condition(part));
        }
        let (axis, rows) = chosen::comparison(self.g, node)?;
        let others = if axis == self.inner {
            self.outer
        } else {
            self.inner
        };
        (self.g.indices(rows) == Indices::of(Some(others))).then(|| Lists::from([rows]))
    }
}
