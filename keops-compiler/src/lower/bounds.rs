//! Which inner rows can matter to some outer rows: [`Within`], from conditions on row numbers.
//!
//! Where every term of a pass is `if c { … } else { 0 }` under a sum (or the neutral value under another reducer), rows for
//! which `c` is false for all outer rows at hand need not be folded. Invariant: a bound is never too narrow; a condition that
//! says nothing about row numbers says nothing about rows.

use super::{Location, Reducer, Space};
use crate::graph::{Graph, Kind, NodeId};
use crate::ops::{add, and, gate, index_eq, index_lt, index_within, neg, not, or, select};
use crate::types::Axis;
use keops_gpu_kernels::kernel;
use std::collections::BTreeMap;

/// The inner rows that can matter.
#[derive(Clone, Debug, PartialEq)]
pub enum Within {
    /// All.
    All,
    /// Those with `outer · o + inner · row + c ± w ≥ 0` for some outer row o at hand, and all where w is NaN and
    /// [`Bound::or_nan`] says so.
    NotNegative(Linear),
    /// Those in both.
    Both(Box<[Within; 2]>),
    /// Those in either.
    Either(Box<[Within; 2]>),
}

/// `outer · o + inner · row + c ± w`
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Linear {
    /// Factor of the outer row's number.
    pub outer: i64,
    /// Factor of the inner row's number.
    pub inner: i64,
    /// The constant.
    pub c: i64,
    /// w, where there is one.
    pub w: Option<Bound>,
}

/// A parameter column that holds a whole number of at most 2⁴⁰, or NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Its number.
    pub column: usize,
    /// Whether it is subtracted.
    pub minus: bool,
    /// Whether the condition holds where it is NaN, as the opposite of a comparison does.
    pub or_nan: bool,
}

impl Within {
    fn both(self, other: Within) -> Within {
        match (self, other) {
            (Within::All, x) | (x, Within::All) => x,
            (a, b) => Within::Both(Box::new([a, b])),
        }
    }
    pub(super) fn either(self, other: Within) -> Within {
        match (self, other) {
            (Within::All, _) | (_, Within::All) => Within::All,
            (a, b) if a == b => a,
            (a, b) => Within::Either(Box::new([a, b])),
        }
    }

    /// First row and the row behind the last, for outer rows `first..=last` out of n inner ones. The same as the emitted
    /// text.
    pub fn rows(
        &self,
        first: i64,
        last: i64,
        n: i64,
        parameter: &dyn Fn(usize) -> f64,
    ) -> (i64, i64) {
        match self {
            Within::All => (0, n),
            Within::NotNegative(l) => {
                let o = if l.outer > 0 { last } else { first };
                let w =
                    l.w.map_or(0, |w| kernel::bound(parameter(w.column), w.minus, w.or_nan));
                kernel::not_negative(l.outer * o + l.c + w, l.inner, n)
            }
            Within::Both(parts) => {
                let [a, b] = parts.each_ref().map(|p| p.rows(first, last, n, parameter));
                kernel::both(a, b)
            }
            Within::Either(parts) => {
                let [a, b] = parts.each_ref().map(|p| p.rows(first, last, n, parameter));
                kernel::either(a, b)
            }
        }
    }
}

/// What is known of a pass.
pub(super) struct Conditions<'a> {
    pub(super) g: &'a Graph,
    /// The axis of its outer rows.
    pub(super) outer: Option<Axis>,
    /// Where values are.
    pub(super) locations: &'a BTreeMap<NodeId, Location>,
}

impl Conditions<'_> {
    /// The rows for which a fed value can be other than the reducer's neutral one.
    pub(super) fn of_feed(&self, reducer: Reducer, node: NodeId) -> Within {
        let neutral = match reducer {
            Reducer::Sum => 0.0,
            Reducer::Prod => 1.0,
            Reducer::Min => f64::INFINITY,
            Reducer::Max | Reducer::LogSumExp(_) => f64::NEG_INFINITY,
            // Also a row of the neutral value has an index.
            Reducer::KMin(_) => return Within::All,
        };
        self.of_value(node, neutral)
    }

    fn of_value(&self, node: NodeId, neutral: f64) -> Within {
        if let Some(&[condition, then, otherwise]) = self.g.as_op(node, &select::OP) {
            let is_neutral = |id: NodeId| self.g.as_constant(id) == Some(neutral);
            return match (is_neutral(then), is_neutral(otherwise)) {
                (_, true) => self
                    .of_condition(condition, false)
                    .both(self.of_value(then, neutral)),
                (true, _) => self
                    .of_condition(condition, true)
                    .both(self.of_value(otherwise, neutral)),
                _ => Within::All,
            };
        }
        if let Some((condition, value, opposite)) = gate::parts(self.g, node)
            && neutral == 0.0
        {
            return self
                .of_condition(condition, opposite)
                .both(self.of_value(value, neutral));
        }
        match (self.g.as_op(node, &neg::OP), self.g.as_op(node, &add::OP)) {
            (Some(&[a]), _) => self.of_value(a, -neutral),
            (_, Some(&[a, b])) if neutral == 0.0 => {
                self.of_value(a, neutral).either(self.of_value(b, neutral))
            }
            _ => Within::All,
        }
    }

    /// The rows for which a condition can be true, or false where `negated`.
    fn of_condition(&self, node: NodeId, negated: bool) -> Within {
        if let Some(&[a]) = self.g.as_op(node, &not::OP) {
            return self.of_condition(a, !negated);
        }
        for (op, all) in [(&and::OP, !negated), (&or::OP, negated)] {
            if let Some(&[a, b]) = self.g.as_op(node, op) {
                let (a, b) = (self.of_condition(a, negated), self.of_condition(b, negated));
                return if all { a.both(b) } else { a.either(b) };
            }
        }
        let Kind::Op(_, params) = &self.g.node(node).kind else {
            return Within::All;
        };
        if let Some(&[a, b]) = self.g.as_op(node, &index_eq::OP) {
            if negated {
                return Within::All;
            }
            return self.not_negative(a, b, 0).both(self.not_negative(b, a, 0));
        }
        if let Some(&[a, b]) = self.g.as_op(node, &index_lt::OP) {
            // a < b is b − a − 1 ≥ 0, its opposite a − b ≥ 0.
            return if negated {
                self.not_negative(a, b, 0)
            } else {
                self.not_negative(b, a, -1)
            };
        }
        if let Some(args) = self.g.as_op(node, &index_within::OP) {
            let &[i, j, c, sign] = params.as_slice() else {
                return Within::All;
            };
            if i == 0 && j == 0 {
                return Within::All;
            }
            let mut c = c;
            let w = match args.get(2).map(|w| (self.locations.get(w), *w)) {
                None => None,
                Some((Some(&Location::Columns(Space::Parameter, column)), _)) => Some(Bound {
                    column,
                    minus: sign < 0,
                    or_nan: negated,
                }),
                // What simplification has made a number of. Whole numbers up to 2⁴⁰ are exact.
                Some((_, w)) => match self.g.as_constant(w) {
                    Some(w) if !w.is_nan() => {
                        c += sign * w as i64;
                        None
                    }
                    _ => return Within::All,
                },
            };
            let (outer, inner) = if self.outer == Some(Axis::I) {
                (i, j)
            } else {
                (j, i)
            };
            let linear = Linear { outer, inner, c, w };
            return Within::NotNegative(if negated {
                Linear {
                    outer: -outer,
                    inner: -inner,
                    c: -c - 1,
                    w: w.map(|w| Bound {
                        minus: !w.minus,
                        ..w
                    }),
                }
            } else {
                linear
            });
        }
        Within::All
    }

    /// The rows for which the index `a` minus the index `b` plus c is not negative.
    fn not_negative(&self, a: NodeId, b: NodeId, c: i64) -> Within {
        let mut linear = Linear {
            c,
            ..Linear::default()
        };
        for (node, sign) in [(a, 1), (b, -1)] {
            match self.g.node(node).kind {
                Kind::Row(axis) if Some(axis) == self.outer => linear.outer += sign,
                Kind::Row(_) => linear.inner += sign,
                // A row that a minimum came from: known only when all are.
                _ => return Within::All,
            }
        }
        Within::NotNegative(linear)
    }
}
