//! Integers made of the row numbers `i` and `j`: [`Integer`], and how comparisons of them become conditions.
//!
//! A row number has 32 bits, more than an f32 holds. So a comparison is made of two exact parts: with
//! `x = high · 2¹⁶ + low` for every row number, `a·i + b·j + c` has the parts `a·high(i) + b·high(j) + high(c)` and the same
//! of `low`, all small integers, and the sign of the whole is right after one rounding. The parts of i and of j are computed
//! once per row.
//!
//! Invariant: [`Integer`]s are in the checker's graph only. No result depends on one: comparisons and `real` take them.

use super::{Graph, Kind, NodeId};
use crate::ops::{
    add, and, clamp, div, index_eq, index_high, index_low, index_lt, index_within, max, min, mul,
    neg, not, or, sub, whole,
};
use crate::types::{Axis, Element, Indices, Shape, Type};
use std::collections::BTreeMap;

/// Largest sum of the factors of i and j: the parts stay below 2²⁴.
pub const LARGEST_FACTOR: i64 = 64;
/// Largest constant.
pub const LARGEST_CONSTANT: i64 = 1 << 36;
/// Most terms of a minimum or maximum.
pub const MOST_TERMS: usize = 16;

/// `i·i + j·j + c ± w`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Affine {
    /// Factor of i.
    pub i: i64,
    /// Factor of j.
    pub j: i64,
    /// The constant.
    pub c: i64,
    /// A number that is the same for all rows, and whether it is subtracted. It need not be an integer.
    pub w: Option<(NodeId, bool)>,
}

/// What an integer is, of its terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// The only one.
    One,
    /// The smallest.
    Least,
    /// The largest.
    Most,
}

/// An integer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Integer {
    /// What it is of its terms.
    pub of: Of,
    /// At least one.
    pub terms: Vec<Affine>,
}

impl Affine {
    fn negated(self) -> Affine {
        Affine {
            i: -self.i,
            j: -self.j,
            c: -self.c,
            w: self.w.map(|(w, minus)| (w, !minus)),
        }
    }
    fn plus(self, other: Affine) -> Option<Affine> {
        let w = match (self.w, other.w) {
            (w, None) | (None, w) => w,
            (Some((a, x)), Some((b, y))) if a == b && x != y => None,
            _ => return None,
        };
        Affine {
            i: self.i + other.i,
            j: self.j + other.j,
            c: self.c + other.c,
            w,
        }
        .checked()
    }
    fn times(self, k: i64) -> Option<Affine> {
        let w = match (self.w, k) {
            (_, 0) | (None, _) => None,
            (w, 1) => w,
            (Some((w, minus)), -1) => Some((w, !minus)),
            _ => return None,
        };
        Affine {
            i: self.i.checked_mul(k)?,
            j: self.j.checked_mul(k)?,
            c: self.c.checked_mul(k)?,
            w,
        }
        .checked()
    }
    fn checked(self) -> Option<Affine> {
        let factors = self.i.checked_abs()?.checked_add(self.j.checked_abs()?)?;
        (factors <= LARGEST_FACTOR && self.c.checked_abs()? <= LARGEST_CONSTANT).then_some(self)
    }
}

impl Integer {
    /// The row number of an axis.
    pub fn row(axis: Axis) -> Integer {
        Integer::one(Affine {
            i: i64::from(axis == Axis::I),
            j: i64::from(axis == Axis::J),
            ..Affine::default()
        })
    }
    /// One term.
    pub fn one(affine: Affine) -> Integer {
        Integer {
            of: Of::One,
            terms: vec![affine],
        }
    }
    /// The node as an integer: an integer, an integral constant, or a number that is the same for all rows.
    pub fn of(g: &Graph, node: NodeId) -> Option<Integer> {
        if let Kind::Integer(integer) = &g.node(node).kind {
            return Some(integer.clone());
        }
        let constant = literal(g, node);
        if constant.is_some() || g.as_constant(node).is_some() {
            return constant.map(|c| {
                Integer::one(Affine {
                    c,
                    ..Affine::default()
                })
            });
        }
        let same = g.ty(node) == Type::SCALAR && g.indices(node) == Indices::NONE;
        same.then(|| {
            Integer::one(Affine {
                w: Some((node, false)),
                ..Affine::default()
            })
        })
    }
    /// The constant, if it is one.
    pub fn constant(&self) -> Option<i64> {
        match self.terms.as_slice() {
            [
                Affine {
                    i: 0,
                    j: 0,
                    c,
                    w: None,
                },
            ] => Some(*c),
            _ => None,
        }
    }
    /// −self
    #[must_use]
    pub fn negated(&self) -> Integer {
        Integer {
            of: match self.of {
                Of::One => Of::One,
                Of::Least => Of::Most,
                Of::Most => Of::Least,
            },
            terms: self.terms.iter().map(|t| t.negated()).collect(),
        }
    }
    /// self + other, unless that is too much: a minimum plus a maximum, two different parameters, large factors.
    pub fn plus(&self, other: &Integer) -> Option<Integer> {
        let of = match (self.of, other.of) {
            (of, Of::One) | (Of::One, of) => of,
            (a, b) if a == b => a,
            _ => return None,
        };
        let mut terms = vec![];
        for a in &self.terms {
            for b in &other.terms {
                terms.push(a.plus(*b)?);
            }
        }
        (terms.len() <= MOST_TERMS).then_some(Integer { of, terms })
    }
    /// self · k
    pub fn times(&self, k: i64) -> Option<Integer> {
        let base = if k < 0 { self.negated() } else { self.clone() };
        let terms: Option<Vec<Affine>> = base.terms.iter().map(|t| t.times(k.abs())).collect();
        Some(Integer {
            of: base.of,
            terms: terms?,
        })
    }
    /// The smaller or the larger of two, unless they are made of the opposite.
    pub fn choose(&self, other: &Integer, of: Of) -> Option<Integer> {
        let fits = |x: &Integer| x.of == Of::One || x.of == of;
        let terms = [self.terms.as_slice(), &other.terms].concat();
        (fits(self) && fits(other) && terms.len() <= MOST_TERMS).then_some(Integer { of, terms })
    }
}

/// The integer that a literal is, or negations, sums, differences and products of integer literals: a constant of the linear
/// form and no parameter of it.
fn literal(g: &Graph, node: NodeId) -> Option<i64> {
    let is_made_of_literals = |id: &NodeId| {
        let made = [&neg::OP, &add::OP, &sub::OP, &mul::OP];
        g.shape(*id) == Shape::Scalar
            && (g.as_constant(*id).is_some() || made.iter().any(|op| g.as_op(*id, op).is_some()))
    };
    if !is_made_of_literals(&node) {
        return None;
    }
    // Arguments come first.
    let mut values = BTreeMap::new();
    for id in g.reachable(&[node]) {
        if !is_made_of_literals(&id) {
            return None;
        }
        let value = if let Some(c) = g.as_constant(id) {
            // Larger ones, infinities and NaN are left out below.
            (c == c.trunc()).then_some(c as i64)?
        } else {
            let argument =
                |n: usize| -> Option<i64> { values.get(g.node(id).args.get(n)?).copied() };
            let of = |op| g.as_op(id, op).is_some();
            let a = argument(0)?;
            match argument(1) {
                None => a.checked_neg()?,
                Some(b) if of(&add::OP) => a.checked_add(b)?,
                Some(b) if of(&sub::OP) => a.checked_sub(b)?,
                Some(b) => a.checked_mul(b)?,
            }
        };
        let fits = value.checked_abs()? <= LARGEST_CONSTANT;
        values.insert(id, fits.then_some(value)?);
    }
    values.get(&node).copied()
}

/// The node of an integer.
pub fn node(g: &mut Graph, integer: Integer) -> NodeId {
    let args: Vec<NodeId> = integer
        .terms
        .iter()
        .filter_map(|t| t.w.map(|w| w.0))
        .collect();
    let rows = integer.terms.iter().fold(Indices::NONE, |rows, t| {
        rows.union(Indices {
            i: t.i != 0,
            j: t.j != 0,
        })
    });
    let ty = Type {
        element: Element::Integer,
        shape: Shape::Scalar,
    };
    g.leaf(Kind::Integer(integer), args, ty, rows)
}

/// A condition of two integers: `lt`, `le`, `gt`, `ge`, `eq` or `ne`.
pub fn compare(g: &mut Graph, name: &str, left: &Integer, right: &Integer) -> Option<NodeId> {
    let one = Integer::one(Affine {
        c: -1,
        ..Affine::default()
    });
    let at_least = |g: &mut Graph, a: &Integer, b: &Integer| {
        let difference = a.plus(&b.negated())?;
        Some(not_negative(g, &difference))
    };
    match name {
        "ge" => at_least(g, left, right),
        "le" => at_least(g, right, left),
        "gt" => above(g, left, right, &one),
        "lt" => above(g, right, left, &one),
        "eq" => equal(g, left, right),
        "ne" => {
            let equal = equal(g, left, right)?;
            Some(g.apply(&not::OP, &[equal]))
        }
        _ => None,
    }
}

/// left > right
fn above(g: &mut Graph, left: &Integer, right: &Integer, one: &Integer) -> Option<NodeId> {
    let difference = left.plus(&right.negated())?;
    if difference.terms.iter().all(|t| t.w.is_none()) {
        return Some(not_negative(g, &difference.plus(one)?));
    }
    // Above a number that need not be an integer: not (left ≤ right) would hold for NaN.
    Some(fold(g, &difference, true))
}

fn equal(g: &mut Graph, left: &Integer, right: &Integer) -> Option<NodeId> {
    let difference = left.plus(&right.negated())?;
    if let [
        Affine {
            i,
            j,
            c: 0,
            w: None,
        },
    ] = difference.terms.as_slice()
        && i * j == -1
    {
        let (i, j) = (g.row(Axis::I), g.row(Axis::J));
        return Some(g.apply(&index_eq::OP, &[i, j]));
    }
    let (low, high) = (
        not_negative(g, &difference),
        not_negative(g, &difference.negated()),
    );
    Some(g.apply(&and::OP, &[low, high]))
}

fn not_negative(g: &mut Graph, integer: &Integer) -> NodeId {
    fold(g, integer, false)
}

/// Whether an integer is ≥ 0, or above where `strict`.
fn fold(g: &mut Graph, integer: &Integer, strict: bool) -> NodeId {
    let mut conditions = vec![];
    for &term in &integer.terms {
        conditions.push(within(g, term, strict));
    }
    let join = if integer.of == Of::Most {
        &or::OP
    } else {
        &and::OP
    };
    let mut all = conditions[0];
    for &condition in &conditions[1..] {
        all = g.apply(join, &[all, condition]);
    }
    all
}

/// term ≥ 0, or > 0 where `strict`.
fn within(g: &mut Graph, term: Affine, strict: bool) -> NodeId {
    // x ≥ w is x ≥ ⌈w⌉ for an integer x, x > w is x ≥ ⌊w⌋ + 1, and so on: whole numbers are left.
    let whole = term.w.map(|(w, minus)| {
        let up = i64::from(minus != strict);
        let whole = g.apply_with(&whole::OP, &[w], &[up]);
        let most = g.literal((1u64 << 40) as f64);
        let least = g.literal(-((1u64 << 40) as f64));
        (g.apply(&clamp::OP, &[whole, least, most]), minus)
    });
    let term = if strict {
        Affine {
            c: term.c - 1,
            ..term
        }
    } else {
        term
    };
    if term.w.is_none() && term.i * term.j == -1 {
        let (i, j) = (g.row(Axis::I), g.row(Axis::J));
        let (above, below) = if term.i > 0 { (i, j) } else { (j, i) };
        match term.c {
            -1 => return g.apply(&index_lt::OP, &[below, above]),
            0 => {
                let less = g.apply(&index_lt::OP, &[above, below]);
                return g.apply(&not::OP, &[less]);
            }
            _ => {}
        }
    }
    let (high, low) = parts(g, term, whole);
    let sign = term.w.map_or(0, |(_, minus)| if minus { -1 } else { 1 });
    let mut args = vec![high, low];
    args.extend(whole.map(|w| w.0));
    g.apply_with(&index_within::OP, &args, &[term.i, term.j, term.c, sign])
}

/// The exact parts of a term. What belongs to one row is one node.
fn parts(g: &mut Graph, term: Affine, whole: Option<(NodeId, bool)>) -> (NodeId, NodeId) {
    let scale = g.literal(65536.0);
    let mut high = vec![];
    let mut low = vec![];
    if let Some((whole, minus)) = whole {
        let part = g.apply(&div::OP, &[whole, scale]);
        let part = g.apply_with(&whole::OP, &[part], &[0]);
        let rest = g.apply(&mul::OP, &[part, scale]);
        let rest = g.apply(&sub::OP, &[whole, rest]);
        for (parts, part) in [(&mut high, part), (&mut low, rest)] {
            parts.push(if minus {
                g.apply(&neg::OP, &[part])
            } else {
                part
            });
        }
    }
    if term.c != 0 {
        high.push(g.literal(term.c.div_euclid(65536) as f64));
        low.push(g.literal(term.c.rem_euclid(65536) as f64));
    }
    for (axis, factor) in [(Axis::I, term.i), (Axis::J, term.j)] {
        if factor == 0 {
            continue;
        }
        let row = g.row(axis);
        for (parts, op) in [(&mut high, &index_high::OP), (&mut low, &index_low::OP)] {
            let number = g.apply(op, &[row]);
            parts.push(if factor == 1 {
                number
            } else {
                let factor = g.literal(factor as f64);
                g.apply(&mul::OP, &[number, factor])
            });
        }
    }
    (total(g, &high), total(g, &low))
}

fn total(g: &mut Graph, parts: &[NodeId]) -> NodeId {
    let Some((&first, rest)) = parts.split_first() else {
        return g.literal(0.0);
    };
    rest.iter()
        .fold(first, |sum, &part| g.apply(&add::OP, &[sum, part]))
}

/// The nearest number.
pub fn real(g: &mut Graph, integer: &Integer) -> NodeId {
    let mut numbers = vec![];
    for &term in &integer.terms {
        let (high, low) = parts(g, Affine { w: None, ..term }, None);
        let scale = g.literal(65536.0);
        let high = g.apply(&mul::OP, &[high, scale]);
        let mut number = g.apply(&add::OP, &[high, low]);
        if let Some((w, minus)) = term.w {
            number = g.apply(if minus { &sub::OP } else { &add::OP }, &[number, w]);
        }
        numbers.push(number);
    }
    let join = if integer.of == Of::Least {
        &min::OP
    } else {
        &max::OP
    };
    let first = numbers[0];
    numbers[1..]
        .iter()
        .fold(first, |all, &number| g.apply(join, &[all, number]))
}
