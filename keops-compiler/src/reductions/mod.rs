//! The reductions of the formula language: [`Reduction`], one complete record each, and [`REDUCTIONS`], their only list.
//!
//! A reduction says which reducer of the kernel ([`Reducer`]) it is built on, what is fed to it, and how its value is read
//! from the reducer's; its derivative as graph nodes; an f64 reference. Back ends know reducers, not reductions.

use crate::graph::{Graph, Kind, Node, NodeId};
use crate::lower::{Ix, Lowerer, Operand, Reducer, Slot};
use crate::ops::{TypeError, Vjp, VjpCall, gate, index_among, index_eq};
use crate::types::{Axis, Element, Shape, Type};
use crate::value::Value;

pub mod argkmin;
pub mod argmax;
pub mod argmin;
pub mod kmin;
pub mod kmin_argkmin;
pub mod logsumexp;
pub mod logsumexpweight;
pub mod max;
pub mod max_argmax;
pub mod mean;
pub mod min;
pub mod min_argmin;
pub mod prod;
pub mod sum;
pub mod sumsoftmaxweight;

/// Everything about one reduction.
pub struct Reduction {
    /// Its name without the index: `sum` for `sum_j` and `sum_i`.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// Its spelling in KeOps, or "".
    pub keops_name: &'static str,
    /// One sentence for the documentation: value, ties, NaN, empty.
    pub doc: &'static str,
    /// Number of arguments: 1 is written `name_j body`, more `name_j(a, b)`.
    pub arity: usize,
    /// Whether it takes `::<K>`.
    pub takes_k: bool,
    /// The result's type from the arguments' types and K.
    pub infer: fn(&[Type], usize) -> Result<Type, TypeError>,
    /// Whether it has a value for no rows; if not, that is an error at run time.
    pub empty_has_value: bool,
    /// How it is computed.
    pub body: Body,
    /// The f64 reference: from the arguments' values row by row (index 0 first) and K.
    pub reference: fn(&[Vec<Value>], usize) -> Value,
}

/// How a reduction is computed.
pub enum Body {
    /// Defined by other reductions and operations: replaced by them before differentiation.
    Composite(fn(&mut Graph, Axis, &[NodeId], usize) -> NodeId),
    /// One reducer of the kernel.
    Primitive {
        /// The reducer it uses and what is fed to it.
        feed: fn(&mut Graph, &[NodeId], usize) -> Feed,
        /// The number of the result at an index, from the reducer's finished state.
        finish: fn(&mut Lowerer<'_>, &Node, Slot, &[Ix]) -> Operand,
        /// Derivative: from the node and the cotangent of its result to the cotangents of its arguments, for every
        /// pair. `None`: not differentiable (index results).
        vjp: Option<Vjp>,
    },
}

/// A reducer and the nodes fed to it.
pub struct Feed {
    /// The reducer, of one number of the first node.
    pub reducer: Reducer,
    /// The node reduced number by number; for [`Reducer::LogSumExp`] the score, then the node of the weighted sums.
    pub nodes: Vec<NodeId>,
}

/// All reductions, in the order of the documentation.
pub static REDUCTIONS: &[&Reduction] = &[
    &sum::REDUCTION,
    &mean::REDUCTION,
    &prod::REDUCTION,
    &min::REDUCTION,
    &max::REDUCTION,
    &argmin::REDUCTION,
    &argmax::REDUCTION,
    &kmin::REDUCTION,
    &argkmin::REDUCTION,
    &logsumexp::REDUCTION,
    &logsumexpweight::REDUCTION,
    &sumsoftmaxweight::REDUCTION,
];

/// All pairs of reductions, in the order of the documentation.
pub static PAIRS: &[&Pair] = &[&min_argmin::PAIR, &max_argmax::PAIR, &kmin_argkmin::PAIR];

/// Two reductions with one name: a value and its index. They are what a formula returns, and cannot be part of one.
pub struct Pair {
    /// The name without the index.
    pub name: &'static str,
    /// Its spelling in KeOps.
    pub keops_name: &'static str,
    /// One sentence for the documentation.
    pub doc: &'static str,
    /// The second result; its rules are those of the pair.
    pub index: &'static Reduction,
    /// The first result, from the body and K.
    pub value: fn(&mut Graph, Axis, NodeId, usize) -> NodeId,
}

/// The pair of this name (without the index).
pub fn find_pair(name: &str) -> Option<&'static Pair> {
    PAIRS.iter().copied().find(|p| p.name == name)
}

/// The reduction of this name (without the index), aliases included.
pub fn find(name: &str) -> Option<&'static Reduction> {
    REDUCTIONS
        .iter()
        .copied()
        .find(|r| r.name == name || r.aliases.contains(&name))
}

/// The same, preferring one with this many arguments: `logsumexp` has a weighted form.
pub fn find_for(name: &str, arguments: usize) -> Option<&'static Reduction> {
    let same_name = |r: &&&Reduction| r.name == name || r.aliases.contains(&name);
    REDUCTIONS
        .iter()
        .find(|r| same_name(r) && r.arity == arguments)
        .copied()
        .or_else(|| find(name))
}

/// The type of a real argument.
pub fn real(types: &[Type], arg: usize) -> Result<Type, TypeError> {
    match types[arg].element {
        Element::Real => Ok(types[arg]),
        _ => Err(TypeError::Expected {
            arg,
            expected: "a real number".into(),
        }),
    }
}

/// The axis that a reduction folds.
pub fn axis_of(g: &Graph, reduction: NodeId) -> Axis {
    match g.node(reduction).kind {
        Kind::Reduce(_, axis, _) => axis,
        _ => unreachable!("internal error in keops: not a reduction"),
    }
}

/// The cotangent at the rows that the reduction chose (by `rows`, the indices behind its result), number by number, and
/// structurally zero at all others.
pub fn where_chosen(g: &mut Graph, call: &VjpCall<'_>, rows: NodeId) -> NodeId {
    let row = g.row(axis_of(g, call.node));
    let chosen = g.apply(&index_eq::OP, &[row, rows]);
    g.apply_with(&gate::OP, &[chosen, call.cotangent], &[0])
}

/// A cotangent behind the one question that is asked of a whole row: whether it is among those that the reduction chose for
/// any of its numbers. [`chosen`](crate::graph::chosen) keeps it outermost.
pub fn in_chosen_rows(
    g: &mut Graph,
    call: &VjpCall<'_>,
    rows: NodeId,
    cotangent: NodeId,
) -> NodeId {
    if g.shape(rows) == Shape::Scalar {
        return cotangent;
    }
    let row = g.row(axis_of(g, call.node));
    let chosen = g.apply(&index_among::OP, &[row, rows]);
    g.apply_with(&gate::OP, &[chosen, cotangent], &[0])
}

/// Reference of reductions that work number by number: folds every number of the first argument over the rows.
pub fn elementwise(rows: &[Vec<Value>], start: f64, f: fn(f64, f64) -> f64) -> Value {
    by_column(rows, |column| {
        column.iter().fold(start, |acc, &x| f(acc, x))
    })
}

/// Reference of reductions that work number by number, given the whole column of one number.
pub fn by_column(rows: &[Vec<Value>], f: impl Fn(&[f64]) -> f64) -> Value {
    let Some(first) = rows.first() else {
        return Value::scalar(f(&[]));
    };
    let shape = first[0].shape;
    let data = (0..shape.len())
        .map(|n| f(&rows.iter().map(|r| r[0].data[n]).collect::<Vec<_>>()))
        .collect();
    Value { shape, data }
}

/// The lowest index whose value no other one precedes; `u32::MAX` if all are NaN.
pub fn lowest(column: &[f64], precedes: fn(f64, f64) -> bool) -> f64 {
    let mut best: Option<usize> = None;
    for (k, &x) in column.iter().enumerate() {
        if !x.is_nan() && best.is_none_or(|b| precedes(x, column[b])) {
            best = Some(k);
        }
    }
    best.map_or(f64::from(u32::MAX), |k| k as f64)
}
