//! The operations of the formula language: [`Op`], one complete record per operation, and [`OPS`], their only list.
//!
//! An operation is one file of this directory and two lines here. Records know no span and no back end: they name a
//! shape rule, a definition (other operations, or scalar primitives through the [`Lowerer`]), a derivative, local
//! simplifications and an f64 reference with a test range. Tables in the documentation, "did you mean" and the
//! per-operation tests are generated from the list.

use crate::graph::batch::{Batch, Batching, Call, Line, Side};
use crate::graph::{Graph, Node, NodeId};
use crate::lower::{Ix, Lowerer, Operand, Term};
use crate::types::{Element, Shape, Type};
pub use crate::typing::*;
use crate::value::Value;

pub mod abs;
pub mod acos;
pub mod add;
pub mod and;
pub mod argmax;
pub mod argmin;
pub mod array;
pub mod asin;
pub mod atan;
pub mod atan2;
pub mod bspline;
pub mod ceil;
pub mod clamp;
pub mod concat;
pub mod contraction;
pub mod cos;
pub mod cosh;
pub mod cross;
pub mod diagonal;
pub mod diagonal_of;
pub mod dist;
pub mod div;
pub mod dot;
pub mod elem;
pub mod elemt;
pub mod eq;
pub mod erf;
pub mod erfc;
pub mod exp;
pub mod exp2;
pub mod exp2_sum;
pub mod expm1;
pub mod extract;
pub mod extractt;
pub mod first_equal;
pub mod floor;
pub mod gate;
pub mod ge;
pub mod gt;
pub mod ifelse;
pub mod index;
pub mod index_among;
pub mod index_eq;
pub mod index_high;
pub mod index_in_columns;
pub mod index_low;
pub mod index_lt;
pub mod index_within;
pub mod inv;
pub mod inv_or_zero;
pub mod kron;
pub mod larger;
pub mod largest;
pub mod le;
pub mod log;
pub mod log1p;
pub mod log2;
pub mod lt;
pub mod matmul;
pub mod matvec;
pub mod max;
pub mod mean;
pub mod min;
pub mod modulo;
pub mod mul;
pub mod ne;
pub mod neg;
pub mod norm2;
pub mod normalize;
pub mod not;
pub mod one_hot;
pub mod or;
pub mod outer;
pub mod place;
pub mod pow;
pub mod powf;
pub mod relu;
pub mod repeat;
pub mod round;
pub mod rsqrt;
pub mod select;
pub mod sigmoid;
pub mod sign;
pub mod sin;
pub mod sinh;
pub mod sinxdivx;
pub mod slice;
pub mod smaller;
pub mod smallest;
pub mod softdtw_sqdist;
pub mod softmax;
pub mod softmin;
pub mod softplus;
pub mod spherical_bessel;
pub mod sqdist;
pub mod sqnorm2;
pub mod sqrt;
pub mod square;
pub mod stack;
pub mod step;
pub mod sub;
pub mod sum;
pub mod sumt;
pub mod take;
pub mod tan;
pub mod tanh;
pub mod tensordot;
pub mod trace;
pub mod transpose;
pub mod trunc;
pub mod vecmat;
pub mod weightedsqdist;
pub mod weightedsqnorm;
pub mod whole;
pub mod xlogx;

/// Everything about one operation.
pub struct Op {
    /// Its name in the formula language; for operators the Rust trait's (`add`), which cannot be called.
    pub name: &'static str,
    /// How it is written: a function call or an operator's token (`+`).
    pub syntax: Syntax,
    /// Its spelling in KeOps, several with commas between, or "" if KeOps has no such operation.
    pub keops_name: &'static str,
    /// One sentence for the documentation: value, conventions at special points.
    pub doc: &'static str,
    /// Number of arguments, static parameters not counted.
    pub arity: Arity,
    /// The static parameters that follow the arguments (`pow(x, 3)` has one, "exponent").
    pub params: &'static [Param],
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

/// A static parameter: known at compile time, written as a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name in messages.
    pub name: &'static str,
    /// Whether it is a list of integers, `[2, 3]`. Operations are given its length, then its entries.
    pub list: bool,
    /// Whether it may be left out, with all after it.
    pub optional: bool,
}

impl Param {
    /// An integer.
    pub const fn integer(name: &'static str) -> Param {
        Param {
            name,
            list: false,
            optional: false,
        }
    }
    /// An integer that may be left out.
    pub const fn optional(name: &'static str) -> Param {
        Param {
            optional: true,
            ..Param::integer(name)
        }
    }
    /// A list of integers.
    pub const fn list(name: &'static str) -> Param {
        Param {
            list: true,
            ..Param::integer(name)
        }
    }
    /// A list of integers that may be left out.
    pub const fn optional_list(name: &'static str) -> Param {
        Param {
            optional: true,
            ..Param::list(name)
        }
    }
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
    /// From the first to the second number, both included.
    Between(usize, usize),
}

impl Arity {
    /// Whether a call with `count` arguments has the right number.
    pub fn accepts(self, count: usize) -> bool {
        match self {
            Arity::Exactly(n) => count == n,
            Arity::AtLeast(n) => count >= n,
            Arity::Between(least, most) => (least..=most).contains(&count),
        }
    }
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
        /// What it makes of many cotangents.
        linear: Linear,
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
        /// What it makes of many cotangents.
        linear: Linear,
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

/// What an operation makes of one value for each of many cotangents, which depends on these linearly: see
/// [`batch`](crate::graph::batch). Without a rule, derivatives with respect to many numbers are written out number by number.
#[derive(Clone, Copy)]
pub enum Linear {
    /// It is linear in nothing, or no rule is known.
    No,
    /// A sum over its real arguments: what the argument of this number contributes where the others are structurally zero, as
    /// operations that are linear in one argument.
    Sum(fn(&mut Graph, &Node, usize) -> NodeId),
    /// Number by number in one argument while the others are fixed: the operation with these arguments, that one's number and
    /// the static parameters; `None` if it is not linear in it.
    Numbers(fn(&mut Graph, &[NodeId], usize, &[i64]) -> Option<NodeId>),
    /// Linear in each argument while the others are fixed: what it makes of a batch other than [`Batch::Outer`].
    Each(fn(&mut Batching<'_>, &Call<'_>, Batch) -> Option<Vec<Batch>>),
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

/// All operations, in the order of the documentation.
pub static OPS: &[&Op] = &[
    // operators
    &add::OP,
    &sub::OP,
    &mul::OP,
    &div::OP,
    &neg::OP,
    // comparisons and choices
    &lt::OP,
    &le::OP,
    &gt::OP,
    &ge::OP,
    &eq::OP,
    &ne::OP,
    &and::OP,
    &or::OP,
    &not::OP,
    &select::OP,
    &ifelse::OP,
    // scalar maths
    &square::OP,
    &pow::OP,
    &powf::OP,
    &sqrt::OP,
    &rsqrt::OP,
    &inv::OP,
    &exp::OP,
    &exp2::OP,
    &expm1::OP,
    &log::OP,
    &log2::OP,
    &log1p::OP,
    &sin::OP,
    &cos::OP,
    &tan::OP,
    &asin::OP,
    &acos::OP,
    &atan::OP,
    &atan2::OP,
    &sinh::OP,
    &cosh::OP,
    &tanh::OP,
    &sigmoid::OP,
    &softplus::OP,
    &erf::OP,
    &erfc::OP,
    &abs::OP,
    &sign::OP,
    &step::OP,
    &relu::OP,
    &clamp::OP,
    &floor::OP,
    &ceil::OP,
    &trunc::OP,
    &round::OP,
    &modulo::OP,
    &xlogx::OP,
    &sinxdivx::OP,
    &min::OP,
    &max::OP,
    // vectors
    &sum::OP,
    &mean::OP,
    &dot::OP,
    &sqnorm2::OP,
    &norm2::OP,
    &normalize::OP,
    &sqdist::OP,
    &dist::OP,
    &weightedsqnorm::OP,
    &weightedsqdist::OP,
    &concat::OP,
    &extract::OP,
    &elem::OP,
    &index::OP,
    &slice::OP,
    &array::OP,
    &argmax::OP,
    &argmin::OP,
    &one_hot::OP,
    &cross::OP,
    &bspline::OP,
    &softmax::OP,
    &softdtw_sqdist::OP,
    &sumt::OP,
    &elemt::OP,
    &extractt::OP,
    // matrices
    &matvec::OP,
    &vecmat::OP,
    &matmul::OP,
    &outer::OP,
    &tensordot::OP,
    &kron::OP,
    &transpose::OP,
    &trace::OP,
    // made by the compiler
    &smaller::OP,
    &larger::OP,
    &smallest::OP,
    &largest::OP,
    &first_equal::OP,
    &inv_or_zero::OP,
    &gate::OP,
    &take::OP,
    &place::OP,
    &stack::OP,
    &diagonal::OP,
    &diagonal_of::OP,
    &repeat::OP,
    &index_eq::OP,
    &index_in_columns::OP,
    &index_among::OP,
    &index_lt::OP,
    &index_low::OP,
    &index_high::OP,
    &index_within::OP,
    &whole::OP,
    &exp2_sum::OP,
    &spherical_bessel::OP,
    &softmin::OP,
    &contraction::OP,
];

/// The operation of this name that users can call.
pub fn find(name: &str) -> Option<&'static Op> {
    OPS.iter()
        .copied()
        .find(|op| op.name == name && op.syntax == Syntax::Call)
}

/// A constant, if all arguments are: the result of `f` on them.
pub fn fold_constants(g: &mut Graph, args: &[NodeId], f: fn(&[f64]) -> f64) -> Option<NodeId> {
    let values: Option<Vec<f64>> = args.iter().map(|&a| g.as_constant(a)).collect();
    let shape = args.iter().map(|&a| g.shape(a)).max_by_key(|s| s.rank())?;
    Some(g.constant(f(&values?), shape))
}

/// Σ of a term over all numbers of a value of the shape of `like`.
pub fn sum_all(
    l: &mut Lowerer<'_>,
    like: NodeId,
    term: &mut dyn FnMut(&mut Lowerer<'_>, &[Ix]) -> Term,
) -> Operand {
    match l.graph.shape(like) {
        Shape::Scalar => l.sum(1, &mut |l, _| term(l, &[])),
        Shape::Vector(n) => l.sum(n, &mut |l, k| term(l, std::slice::from_ref(k))),
        Shape::Matrix(r, c) => l.sum(r, &mut |l, k| {
            let k = k.clone();
            Term::Value(l.sum(c, &mut |l, m| term(l, &[k.clone(), m.clone()])))
        }),
    }
}
