//! The operations of the formula language: [`Op`], one complete record per operation, and [`OPS`], their only list.
//!
//! An operation is one file of this directory and two lines here. Records know no span and no back end: they name a
//! shape rule, a definition (other operations, or scalar primitives through the [`Lowerer`]), a derivative, local
//! simplifications and an f64 reference with a test range. Tables in the documentation, "did you mean" and the
//! per-operation tests are generated from the list.

use crate::graph::{Graph, Node, NodeId};
use crate::lower::{Ix, Lowerer, Operand, Term};
use crate::types::{Element, Shape, Type};
use crate::value::Value;

pub mod add;
pub mod div;
pub mod dot;
pub mod exp;
pub mod exp2_sum;
pub mod mul;
pub mod neg;
pub mod sqdist;
pub mod sqnorm2;
pub mod sub;
pub mod sum;

/// Everything about one operation.
pub struct Op {
    /// Its name in the formula language; for operators the Rust trait's (`add`), which cannot be called.
    pub name: &'static str,
    /// How it is written: a function call or an operator's token (`+`).
    pub syntax: Syntax,
    /// Its spelling in KeOps, or "" if KeOps has no such operation.
    pub keops_name: &'static str,
    /// One sentence for the documentation: value, conventions at special points.
    pub doc: &'static str,
    /// Number of arguments, static parameters not counted.
    pub arity: Arity,
    /// Names of the static integer parameters that follow the arguments (`pow(x, 3)` has one, "exponent").
    pub params: &'static [&'static str],
    /// The result's type from the arguments' types. Called by the checker (errors go to the user) and by every
    /// [`Graph::apply`].
    pub infer: fn(&[Type], &[i64]) -> Result<Type, TypeError>,
    /// What it computes.
    pub body: Body,
    /// The same in plain f64, as literally as possible, independent of `body`: the oracle of the tests.
    pub reference: Reference,
    /// Arguments for the tests are drawn from this interval. Points where the derivative has a kink are avoided by the
    /// tests themselves (values are at least 1e-3 away from 0 and from each other).
    pub test_range: (f64, f64),
}

/// How an operation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `name(a, b)`
    Call,
    /// Infix or prefix operator with this token.
    Operator(&'static str),
    /// Made by the compiler only (derivatives); users cannot write it.
    Internal,
}

/// Number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly this many.
    Exactly(usize),
    /// At least this many.
    AtLeast(usize),
}

/// What an operation computes.
pub enum Body {
    /// Defined by other operations: replaced by them before differentiation, so it needs no derivative of its own.
    Composite(fn(&mut Graph, &[NodeId], &[i64]) -> NodeId),
    /// Number by number, scalars broadcasting.
    Elementwise {
        /// One number of the result from one number of each argument.
        lower: fn(&mut Lowerer<'_>, &[Operand], &[i64]) -> Operand,
        /// Derivative rule.
        vjp: Vjp,
        /// Local rewriting: a node equal to the operation applied to these arguments, if a better one exists.
        simplify: Simplify,
        /// Rewriting toward cheaper primitives, applied once, after differentiation; it may change the rounding within
        /// the documented bounds.
        late: Simplify,
    },
    /// Anything else.
    Indexed {
        /// The number of the result at an index (as many entries as the result's rank).
        lower: fn(&mut Lowerer<'_>, &Node, &[Ix]) -> Operand,
        /// Whether one number of the result costs more than a few primitives: such results are computed once into an
        /// array instead of again at each use.
        costly: bool,
        /// Derivative rule.
        vjp: Vjp,
        /// Local rewriting.
        simplify: Simplify,
    },
}

/// Derivative rule: from the graph, the node, its arguments and static parameters and the cotangent of its result to the
/// cotangent of each argument; `None` where that is zero whatever the values. A cotangent may have the result's shape
/// where the argument is a broadcast scalar, or extra indices: [`autodiff`](crate::graph::autodiff) sums them.
pub type Vjp = fn(&mut Graph, &VjpCall<'_>) -> Vec<Option<NodeId>>;

/// What a derivative rule is given.
pub struct VjpCall<'a> {
    /// The node whose rule is asked.
    pub node: NodeId,
    /// Its arguments.
    pub args: &'a [NodeId],
    /// Its static parameters.
    pub params: &'a [i64],
    /// The cotangent of its value.
    pub cotangent: NodeId,
}

/// Local simplification: the arguments and static parameters to a node with the same value, or `None`.
pub type Simplify = fn(&mut Graph, &[NodeId], &[i64]) -> Option<NodeId>;

/// No local simplification.
pub fn no_simplification(_: &mut Graph, _: &[NodeId], _: &[i64]) -> Option<NodeId> {
    None
}

/// The f64 reference of an operation. Conditions are 1 and 0.
#[derive(Clone, Copy)]
pub enum Reference {
    /// Number by number, scalars broadcasting.
    Elementwise(fn(&[f64], &[i64]) -> f64),
    /// Whole values.
    Whole(fn(&[Value], &[i64]) -> Value),
}

/// Why arguments do not fit, without spans: argument numbers, for the checker to attach expressions and types to.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeError {
    /// Two arguments must have equal shapes (or one must be a scalar, where `broadcast`).
    Unequal {
        /// One argument.
        left: usize,
        /// The other.
        right: usize,
        /// Whether a scalar would have been accepted.
        broadcast: bool,
    },
    /// An argument has the wrong kind of type.
    Expected {
        /// The argument.
        arg: usize,
        /// What would fit, as in "a vector", "a vector of dimension 3", "a scalar", "a condition".
        expected: String,
    },
    /// A static parameter is out of range.
    Parameter {
        /// Its number.
        param: usize,
        /// What would fit, as in "at least 1", "less than the dimension 3".
        expected: String,
    },
}

/// Shape rule of element-wise operations on real numbers: equal shapes, scalars broadcast.
pub fn broadcast(types: &[Type], _: &[i64]) -> Result<Type, TypeError> {
    Ok(Type::real(broadcast_shape(types, 0)?))
}

/// The common shape of real arguments, scalars broadcasting; `first` is the number of `types[0]` in the call.
pub fn broadcast_shape(types: &[Type], first: usize) -> Result<Shape, TypeError> {
    let mut shape = Shape::Scalar;
    let mut widest = 0;
    for (k, ty) in types.iter().enumerate() {
        if ty.element != Element::Real {
            return Err(TypeError::Expected { arg: first + k, expected: "a real number".into() });
        }
        if ty.shape == Shape::Scalar || ty.shape == shape {
            continue;
        }
        if shape != Shape::Scalar {
            return Err(TypeError::Unequal { left: first + widest, right: first + k, broadcast: true });
        }
        (shape, widest) = (ty.shape, k);
    }
    Ok(shape)
}

/// The dimension of a vector argument.
pub fn vector(types: &[Type], arg: usize) -> Result<usize, TypeError> {
    match types.get(arg) {
        Some(Type { element: Element::Real, shape: Shape::Vector(n) }) => Ok(*n),
        _ => Err(TypeError::Expected { arg, expected: "a vector".into() }),
    }
}

/// The dimensions of a matrix argument.
pub fn matrix(types: &[Type], arg: usize) -> Result<(usize, usize), TypeError> {
    match types.get(arg) {
        Some(Type { element: Element::Real, shape: Shape::Matrix(r, c) }) => Ok((*r, *c)),
        _ => Err(TypeError::Expected { arg, expected: "a matrix".into() }),
    }
}

/// Two vector arguments of the same dimension.
pub fn equal_vectors(types: &[Type], left: usize, right: usize) -> Result<usize, TypeError> {
    let (n, m) = (vector(types, left)?, vector(types, right)?);
    if n == m { Ok(n) } else { Err(TypeError::Unequal { left, right, broadcast: false }) }
}

/// All operations, in the order of the documentation.
pub static OPS: &[&Op] = &[
    &add::OP,
    &sub::OP,
    &mul::OP,
    &div::OP,
    &neg::OP,
    &exp::OP,
    &exp2_sum::OP,
    &sum::OP,
    &dot::OP,
    &sqnorm2::OP,
    &sqdist::OP,
];

/// The operation of this name that users can call.
pub fn find(name: &str) -> Option<&'static Op> {
    OPS.iter().copied().find(|op| op.name == name && op.syntax == Syntax::Call)
}

/// A constant, if all arguments are: the result of `f` on them.
pub fn fold_constants(g: &mut Graph, args: &[NodeId], f: fn(&[f64]) -> f64) -> Option<NodeId> {
    let values: Option<Vec<f64>> = args.iter().map(|&a| g.as_constant(a)).collect();
    let shape = args.iter().map(|&a| g.shape(a)).max_by_key(|s| s.rank())?;
    Some(g.constant(f(&values?), shape))
}

/// Σ of a term over all numbers of a value of the shape of `like`.
pub fn sum_all(l: &mut Lowerer<'_>, like: NodeId, term: &mut dyn FnMut(&mut Lowerer<'_>, &[Ix]) -> Term) -> Operand {
    match l.graph.shape(like) {
        Shape::Scalar => l.sum(1, &mut |l, _| term(l, &[])),
        Shape::Vector(n) => l.sum(n, &mut |l, k| term(l, &[k.clone()])),
        Shape::Matrix(r, c) => l.sum(r, &mut |l, k| {
            let k = k.clone();
            Term::Value(l.sum(c, &mut |l, m| term(l, &[k.clone(), m.clone()])))
        }),
    }
}
