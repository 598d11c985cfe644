//! Derivatives that users write inside formulas: [`Derivative`], its types and rows, and [`expand`].
//!
//! A derivative is of one row or pair, as a function of the rows that belong to it: in `sum_j grad(k, x_i)` the kernel `k`
//! of one pair is derived by its own `x_i`, and what a reduction inside `k` folds is summed. The checker keeps derivatives
//! as nodes, so that a formula is typed as it is written; [`expand`] replaces them, innermost first.
//!
//! Invariant: no derivative goes through a reduction over rows that the value still depends on ([`mixed_rows`]): in
//! `y_j * sum_j y_j` the two `j` are different rows, and one cotangent cannot stand for both.

use super::batch::{Jacobian, batched};
use super::rebuild::{copy, rebuild};
use super::{Graph, Kind, NodeId, autodiff};
use crate::budget::{Excess, MOST_OPERATIONS};
use crate::ops::{TypeError, add, array, sum, take};
use crate::types::{Axis, Element, Indices, Shape, Type};
use std::collections::BTreeSet;

/// A derivative. Its arguments are a value, a variable and, for two of them, a value like one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Derivative {
    /// `grad(f, v)` of a scalar, or `grad(f, v, e)`: the derivative of ⟨e, f⟩.
    Grad,
    /// `jvp(f, v, t)`: how f moves when v moves along t.
    Jvp,
    /// `jacobian(f, v)`: row k is the gradient of number k.
    Jacobian,
    /// `divergence(f, v)`: the trace of the Jacobian.
    Divergence,
    /// `laplacian(f, v)`: the divergence of the gradient.
    Laplacian,
}

impl Derivative {
    /// All of them, in the order of the documentation.
    pub const ALL: [Derivative; 5] = [
        Derivative::Grad,
        Derivative::Jvp,
        Derivative::Jacobian,
        Derivative::Divergence,
        Derivative::Laplacian,
    ];
    /// Its name in formulas.
    pub fn name(self) -> &'static str {
        match self {
            Derivative::Grad => "grad",
            Derivative::Jvp => "jvp",
            Derivative::Jacobian => "jacobian",
            Derivative::Divergence => "divergence",
            Derivative::Laplacian => "laplacian",
        }
    }
    /// Its spelling in KeOps.
    pub fn keops_name(self) -> &'static str {
        match self {
            Derivative::Grad => "Grad",
            Derivative::Jvp => "Diff",
            Derivative::Jacobian => "GradMatrix, Grad_Matrix",
            Derivative::Divergence => "Divergence",
            Derivative::Laplacian => "Laplacian",
        }
    }
    /// Another name, which KeOps' users know.
    pub const ALIAS: (&str, Derivative) = ("grad_matrix", Derivative::Jacobian);
    /// The derivative of this name, or of [`Derivative::ALIAS`].
    pub fn find(name: &str) -> Option<Derivative> {
        if name == Derivative::ALIAS.0 {
            return Some(Derivative::ALIAS.1);
        }
        Derivative::ALL.into_iter().find(|d| d.name() == name)
    }
    /// How it is called.
    pub fn usage(self) -> &'static str {
        match self {
            Derivative::Grad => "grad(f, v)",
            Derivative::Jvp => "jvp(f, v, t)",
            Derivative::Jacobian => "jacobian(f, v)",
            Derivative::Divergence => "divergence(f, v)",
            Derivative::Laplacian => "laplacian(f, v)",
        }
    }
    /// Fewest and most arguments.
    pub fn arity(self) -> (usize, usize) {
        match self {
            Derivative::Grad => (2, 3),
            Derivative::Jvp => (3, 3),
            _ => (2, 2),
        }
    }

    /// Whether only scalars are derived, given the number of arguments.
    pub fn needs_scalar(self, arguments: usize) -> bool {
        match self {
            Derivative::Grad => arguments == 2,
            Derivative::Laplacian => true,
            _ => false,
        }
    }

    /// The type of the result.
    pub fn infer(self, types: &[Type]) -> Result<Type, TypeError> {
        for (arg, ty) in types.iter().enumerate() {
            if ty.element != Element::Real {
                return Err(expected(arg, "a real number"));
            }
        }
        let (f, v) = match types {
            [f, v, ..] => (f.shape, v.shape),
            _ => return Err(expected(0, "a value and a variable")),
        };
        let like = |shape: Shape, arg: usize| match types.get(2) {
            Some(ty) if ty.shape != shape => Err(TypeError::Unequal {
                left: arg,
                right: 2,
                broadcast: false,
            }),
            _ => Ok(()),
        };
        if self.needs_scalar(types.len()) && f != Shape::Scalar {
            return Err(expected(0, "a scalar"));
        }
        let shape = match self {
            Derivative::Grad => {
                like(f, 0)?;
                v
            }
            Derivative::Jvp => {
                like(v, 1)?;
                f
            }
            Derivative::Jacobian => match (f, v) {
                (Shape::Scalar, v) => v,
                (f @ Shape::Vector(_), Shape::Scalar) => f,
                (Shape::Vector(r), Shape::Vector(c)) => Shape::Matrix(r, c),
                (Shape::Vector(_), _) => return Err(expected(1, "a scalar or a vector")),
                _ => return Err(expected(0, "a scalar or a vector")),
            },
            Derivative::Divergence => {
                if f != v {
                    return Err(TypeError::Unequal {
                        left: 0,
                        right: 1,
                        broadcast: false,
                    });
                }
                Shape::Scalar
            }
            Derivative::Laplacian => Shape::Scalar,
        };
        crate::ops::sized(shape, 0)
    }

    /// The rows that the result may depend on.
    pub(super) fn indices(self, g: &Graph, args: &[NodeId]) -> Indices {
        let of = |k: usize| args.get(k).map_or(Indices::NONE, |&a| g.indices(a));
        match self {
            Derivative::Jvp => along(of(0), of(1), of(2)),
            _ => of(0).union(of(1)).union(of(2)),
        }
    }

    /// The rows that belong to one value: cotangents are not summed over them.
    fn own_rows(self, g: &Graph, args: &[NodeId]) -> Indices {
        let of = |k: usize| args.get(k).map_or(Indices::NONE, |&a| g.indices(a));
        match self {
            Derivative::Grad => of(0).union(of(2)),
            Derivative::Jvp => along(of(0), of(1), of(2)),
            Derivative::Jacobian | Derivative::Divergence => of(0),
            // What is derived the second time is the gradient, which has the variable's rows too.
            Derivative::Laplacian => of(0).union(of(1)),
        }
    }
}

/// The rows of a Jacobian-vector product: a tangent has its variable's rows for that reason alone.
fn along(f: Indices, v: Indices, t: Indices) -> Indices {
    Indices {
        i: f.i || (t.i && !v.i),
        j: f.j || (t.j && !v.j),
    }
}

fn expected(arg: usize, expected: &str) -> TypeError {
    TypeError::Expected {
        arg,
        expected: expected.into(),
    }
}

/// A reduction that a derivative with these arguments cannot go through, because its value depends on the reduced rows in
/// another way too.
pub fn mixed_rows(g: &Graph, kind: Derivative, args: &[NodeId]) -> Option<(NodeId, Axis)> {
    let own = kind.own_rows(g, args);
    let (&f, &v) = (args.first()?, args.get(1)?);
    let mut active = BTreeSet::new();
    for id in g.reachable(&[f]) {
        let node = g.node(id);
        let depends = id == v || node.args.iter().any(|a| active.contains(a));
        if !depends || node.ty.element != Element::Real {
            continue;
        }
        active.insert(id);
        if let Kind::Reduce(_, axis, _) = node.kind
            && own.contains(axis)
        {
            return Some((id, axis));
        }
    }
    None
}

/// Replaces the innermost derivatives of a graph without composites; `None` if it has none. The error is a number of
/// operations that is too large to go on.
pub fn expand(old: &Graph, roots: &[NodeId]) -> Option<Result<(Graph, Vec<NodeId>), Excess>> {
    let is_derivative = |id: NodeId| matches!(old.node(id).kind, Kind::Derivative(_));
    let mut above = BTreeSet::new();
    let mut found = false;
    for id in old.reachable(roots) {
        let below = old.node(id).args.iter().any(|a| above.contains(a));
        found |= is_derivative(id);
        if is_derivative(id) || below {
            above.insert(id);
        }
    }
    if !found {
        return None;
    }
    let mut excess = None;
    let expanded = rebuild(old, roots, &mut |g, node, args| {
        let innermost = !node.args.iter().any(|a| above.contains(a));
        match node.kind {
            Kind::Derivative(kind) if innermost => {
                let operations = g.ids().count();
                if excess.is_none() && operations > MOST_OPERATIONS {
                    excess = Some(Excess::Operations(operations));
                }
                let made = match excess {
                    None => definition(g, kind, args),
                    Some(excess) => Err(excess),
                };
                made.unwrap_or_else(|found| {
                    excess = Some(found);
                    g.constant(0.0, node.ty.shape)
                })
            }
            _ => copy(g, node, args),
        }
    });
    Some(match excess {
        Some(excess) => Err(excess),
        None => Ok(expanded),
    })
}

fn definition(g: &mut Graph, kind: Derivative, args: &[NodeId]) -> Result<NodeId, Excess> {
    let (f, v) = (args[0], args[1]);
    let own = kind.own_rows(g, args);
    Ok(match kind {
        Derivative::Grad => {
            let e = args.get(2).copied().unwrap_or_else(|| g.literal(1.0));
            gradient(g, f, v, e, own)
        }
        Derivative::Jvp => {
            let (ty, t) = (g.ty(f), args[2]);
            // Stands for the cotangent while transposing twice, and does not remain.
            let dummy = g.placeholder(ty, g.indices(f));
            let tangent = autodiff::jvp(g, f, dummy, &[(v, t)], own);
            tangent.unwrap_or_else(|| g.constant(0.0, ty.shape))
        }
        Derivative::Jacobian => jacobian(g, f, v, own)?,
        Derivative::Divergence => divergence(g, f, v, own)?,
        // In two steps: the gradient is simplified before it is derived.
        Derivative::Laplacian => {
            let gradient = known(g.try_derivative(Derivative::Grad, &[f, v]));
            known(g.try_derivative(Derivative::Divergence, &[gradient, v]))
        }
    })
}

fn known(made: Result<NodeId, TypeError>) -> NodeId {
    match made {
        Ok(node) => node,
        Err(e) => unreachable!("internal error in keops: the derivative was checked: {e:?}"),
    }
}

fn gradient(g: &mut Graph, f: NodeId, v: NodeId, e: NodeId, own: Indices) -> NodeId {
    let cotangents = autodiff::vjp_within(g, &[(f, e)], &[v], own);
    let shape = g.shape(v);
    cotangents
        .first()
        .copied()
        .flatten()
        .unwrap_or_else(|| g.constant(0.0, shape))
}

/// The cotangent of `v` as a function of that of `f`, as a sum of batches for all numbers of `f`; `None` where an operation has no
/// rule for many cotangents. Without any where `f` does not depend on `v`.
fn many(g: &mut Graph, f: NodeId, v: NodeId, own: Indices) -> Option<Jacobian<'_>> {
    // Stands for each of the unit vectors, and does not remain.
    let (ty, shape) = (g.ty(f), g.shape(v));
    let seed = g.placeholder(ty, Indices::NONE);
    let cotangents = autodiff::vjp_within(g, &[(f, seed)], &[v], own);
    let cotangent = cotangents.first().copied().flatten();
    let cotangent = cotangent.unwrap_or_else(|| g.constant(0.0, shape));
    batched(g, cotangent, seed)
}

/// The gradient of each number of a value, in order: a sweep for each.
fn gradients(g: &mut Graph, f: NodeId, v: NodeId, own: Indices) -> Result<Vec<NodeId>, Excess> {
    let operations = g.ids().count().saturating_add(g.shape(f).len());
    if operations > MOST_OPERATIONS {
        return Err(Excess::Operations(operations));
    }
    let one = g.literal(1.0);
    Ok((0..g.shape(f).len())
        .map(|k| {
            let number = take::block(g, f, k, Shape::Scalar);
            gradient(g, number, v, one, own)
        })
        .collect())
}

fn jacobian(g: &mut Graph, f: NodeId, v: NodeId, own: Indices) -> Result<NodeId, Excess> {
    if g.shape(f) == Shape::Scalar {
        let one = g.literal(1.0);
        return Ok(gradient(g, f, v, one, own));
    }
    if let Some(matrix) = many(g, f, v, own).and_then(Jacobian::matrix) {
        return Ok(matrix);
    }
    let rows = gradients(g, f, v, own)?;
    Ok(g.apply(&array::OP, &rows))
}

fn divergence(g: &mut Graph, f: NodeId, v: NodeId, own: Indices) -> Result<NodeId, Excess> {
    if g.shape(f) == Shape::Scalar {
        return jacobian(g, f, v, own);
    }
    if let Some(trace) = many(g, f, v, own).and_then(Jacobian::trace) {
        return Ok(trace);
    }
    let mut terms = vec![];
    for (k, row) in gradients(g, f, v, own)?.into_iter().enumerate() {
        if g.as_constant(row) != Some(0.0) {
            terms.push(take::block(g, row, k, Shape::Scalar));
        }
    }
    Ok(match terms.as_slice() {
        [] => g.literal(0.0),
        &[only] => only,
        [first, second] => g.apply(&add::OP, &[*first, *second]),
        _ => {
            let all = g.apply(&array::OP, &terms);
            g.apply(&sum::OP, &[all])
        }
    })
}
