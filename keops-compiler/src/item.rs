//! What the checker hands on: typed items, and what is known of items with errors.

use crate::graph::complex;
use crate::graph::{Graph, NodeId};
use crate::syntax::{Form, Name, Region};
use crate::types::{Axis, Shape, Type};
use proc_macro2::TokenStream;
use std::collections::BTreeMap;

/// A checked macro call.
#[derive(Clone, Debug)]
pub struct Program {
    /// Which form it has.
    pub form: Form,
    /// Its correct items, in order.
    pub items: Vec<Item>,
    /// What is known of the others, in order.
    pub broken: Vec<Signature>,
}

/// What an item is called with.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Doc comments and attributes, in front of `fn`.
    pub attributes: TokenStream,
    /// How exactly it is computed, if it says so or what it is derived from does.
    pub arithmetic: Option<Arithmetic>,
    /// Whether its squared distances are computed as |x|² − 2 x·y + |y|²: `#[keops(expand)]`, here or at what it is derived from.
    pub expand: bool,
    /// `pub`, `pub(crate)`, … or nothing.
    pub visibility: TokenStream,
    /// The item's name; `formula` in the expression form.
    pub name: Name,
    /// Its float type.
    pub scalar: Scalar,
    /// Its const parameters.
    pub dimensions: Vec<Name>,
    /// Their values for which device code is made.
    pub instances: Vec<Vec<(String, usize)>>,
    /// Its variables, in the order of declaration; of a broken item only those that could be read.
    pub variables: Vec<Variable>,
}

/// How exactly an item is to be computed: `#[keops(precise)]`, `#[keops(fast_math)]`, or neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// Within the documented bounds of functions.
    #[default]
    Default,
    /// No function is replaced by a cheaper form of it: `exp` is that of its argument as rounded.
    Precise,
    /// Formulas may be rearranged, and device code may use approximate functions.
    FastMath,
}

impl Arithmetic {
    /// What an attribute says, with the name it says it by.
    pub const OPTIONS: [(&'static str, Arithmetic); 2] = [
        ("precise", Arithmetic::Precise),
        ("fast_math", Arithmetic::FastMath),
    ];
}

/// The float type of an item.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// The item's type parameter.
    Generic(Name),
}

impl Scalar {
    /// As written.
    pub fn text(&self) -> &str {
        match self {
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
            Scalar::Generic(name) => &name.text,
        }
    }
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name, suffix included.
    pub name: Name,
    /// The index that its name says; `None`: a parameter.
    pub axis: Option<Axis>,
    /// The shape of one row; of complex values the real shape that holds both parts.
    pub shape: Shape,
    /// The shape of its complex values, if they are.
    pub complex: Option<Shape>,
}

impl Variable {
    /// The type of one row.
    pub fn ty(&self) -> Type {
        complex::ty(self.shape, self.complex)
    }
    /// How the numbers of its type are written, given the float type.
    pub fn scalar(&self, float: &str) -> String {
        if self.complex.is_some() {
            format!("Complex<{float}>")
        } else {
            float.to_string()
        }
    }
}

/// A correct item.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it is called with.
    pub signature: Signature,
    /// Where it comes from.
    pub origin: Origin,
    /// Its formula.
    pub graph: Graph,
    /// Its results.
    pub outputs: Vec<NodeId>,
    /// What they are, one for each of `outputs`; known for derivatives before their graph is.
    pub results: Vec<ResultType>,
    /// Whether the formula is a tuple.
    pub is_tuple: bool,
    /// The formula as text, parsed back to the same formula.
    pub formula: String,
    /// Where the user wrote the nodes that the user wrote, for late errors.
    pub regions: BTreeMap<NodeId, Region>,
}

/// Where an item comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user's formula.
    Formula,
    /// The derivative of an earlier item.
    Gradient {
        /// The item, in [`Program::items`].
        of: usize,
        /// The number of its variable.
        wrt: usize,
    },
    /// How an earlier item's result moves with one of its variables.
    Tangent {
        /// The item, in [`Program::items`].
        of: usize,
        /// The number of its variable.
        wrt: usize,
    },
}

/// One result of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultType {
    /// One row.
    pub ty: Type,
    /// One row for each value of this index; `None`: a bare value.
    pub rows: Option<Axis>,
}
