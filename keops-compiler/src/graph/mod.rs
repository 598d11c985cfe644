//! The typed formula: a hash-consed directed acyclic graph.
//!
//! Invariants: equal subexpressions are one node; arguments have smaller ids than their users; every node's type and
//! index set are right by construction ([`Graph::apply`] asks the operation's own rule). Nodes carry no spans: late
//! errors find theirs in a side table. `apply` only hash-conses and folds nothing: simplification is a pass of its own.

pub mod autodiff;
pub mod batch;
pub mod chosen;
pub mod complex;
pub mod derive;
pub mod expand;
pub mod integer;
pub mod print;
pub mod rebuild;
pub mod relax;
pub mod simplify;

use crate::ops::{self, Op};
use crate::reductions::{self, Reduction};
use crate::types::{Axis, Element, Indices, Shape, Type};
use derive::Derivative;
use integer::Integer;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// An operation, compared by name.
#[derive(Clone, Copy)]
pub struct OpRef(pub &'static Op);
/// A reduction, compared by name.
#[derive(Clone, Copy)]
pub struct ReductionRef(pub &'static Reduction);

macro_rules! by_name {
    ($ty:ty) => {
        impl PartialEq for $ty {
            fn eq(&self, other: &Self) -> bool {
                self.0.name == other.0.name
            }
        }
        impl Eq for $ty {}
        impl PartialOrd for $ty {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $ty {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.name.cmp(other.0.name)
            }
        }
        impl std::fmt::Debug for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.0.name)
            }
        }
    };
}
by_name!(OpRef);
by_name!(ReductionRef);

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The item's variable of this number.
    Variable(usize),
    /// A constant, all its numbers equal: the bits of an `f64`.
    Constant(u64),
    /// An operation with its static parameters (exponents, bounds of slices, …).
    Op(OpRef, Vec<i64>),
    /// A reduction over an axis, with its K (0 where it takes none).
    Reduce(ReductionRef, Axis, usize),
    /// A derivative as the user wrote it, until [`derive::expand`] replaces it: of a value, by a variable.
    Derivative(Derivative),
    /// A complex value as its real and imaginary part, in the checker's graph only.
    Complex,
    /// An integer made of row numbers, in the checker's graph only.
    Integer(Integer),
    /// The index of the current row of an axis.
    Row(Axis),
    /// The number of rows of an axis, as a real number.
    Extent(Axis),
}

/// A node: what it is, of what, with its type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Its arguments.
    pub args: Vec<NodeId>,
    /// Its type.
    pub ty: Type,
    /// The indices it depends on.
    pub indices: Indices,
}

/// A hash-consed graph of nodes.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    ids: BTreeMap<Node, NodeId>,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Graph {
        Graph::default()
    }
    /// The node of an id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
    /// The id of a node of this graph.
    pub fn id_of(&self, node: &Node) -> Option<NodeId> {
        self.ids.get(node).copied()
    }
    /// All ids, arguments before users.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }
    /// The type of a node.
    pub fn ty(&self, id: NodeId) -> Type {
        self.node(id).ty
    }
    /// The shape of a node.
    pub fn shape(&self, id: NodeId) -> Shape {
        self.node(id).ty.shape
    }
    /// The indices a node depends on.
    pub fn indices(&self, id: NodeId) -> Indices {
        self.node(id).indices
    }

    fn insert(&mut self, node: Node) -> NodeId {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.ids.insert(node.clone(), id);
        self.nodes.push(node);
        id
    }
    /// Variable `number` of the item.
    pub fn variable(&mut self, number: usize, ty: Type, axis: Option<Axis>) -> NodeId {
        self.insert(Node {
            kind: Kind::Variable(number),
            args: vec![],
            ty,
            indices: Indices::of(axis),
        })
    }
    /// A node that no rule describes.
    fn leaf(&mut self, kind: Kind, args: Vec<NodeId>, ty: Type, indices: Indices) -> NodeId {
        self.insert(Node {
            kind,
            args,
            ty,
            indices,
        })
    }
    /// A variable that is no input, with the rows of a value that it stands for.
    pub(crate) fn placeholder(&mut self, ty: Type, indices: Indices) -> NodeId {
        self.insert(Node {
            kind: Kind::Variable(usize::MAX),
            args: vec![],
            ty,
            indices,
        })
    }
    /// A constant of any shape, all its numbers equal.
    pub fn constant(&mut self, value: f64, shape: Shape) -> NodeId {
        self.insert(Node {
            kind: Kind::Constant(value.to_bits()),
            args: vec![],
            ty: Type::real(shape),
            indices: Indices::NONE,
        })
    }
    /// A scalar constant.
    pub fn literal(&mut self, value: f64) -> NodeId {
        self.constant(value, Shape::Scalar)
    }
    /// The value of a constant node.
    pub fn as_constant(&self, id: NodeId) -> Option<f64> {
        match self.node(id).kind {
            Kind::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
    /// The arguments of a node if it is this operation.
    pub fn as_op(&self, id: NodeId, op: &'static Op) -> Option<&[NodeId]> {
        match self.node(id).kind {
            Kind::Op(OpRef(found), _) if found.name == op.name => Some(&self.node(id).args),
            _ => None,
        }
    }
    /// The index of the current row of an axis.
    pub fn row(&mut self, axis: Axis) -> NodeId {
        let ty = Type {
            element: Element::Index,
            shape: Shape::Scalar,
        };
        self.insert(Node {
            kind: Kind::Row(axis),
            args: vec![],
            ty,
            indices: Indices::of(Some(axis)),
        })
    }
    /// The number of rows of an axis.
    pub fn extent(&mut self, axis: Axis) -> NodeId {
        self.insert(Node {
            kind: Kind::Extent(axis),
            args: vec![],
            ty: Type::SCALAR,
            indices: Indices::NONE,
        })
    }
    /// An operation without static parameters whose arguments are known to fit.
    pub fn apply(&mut self, op: &'static Op, args: &[NodeId]) -> NodeId {
        self.apply_with(op, args, &[])
    }
    /// An operation whose arguments are known to fit.
    ///
    /// # Panics
    /// If they do not: user input is checked with [`Graph::try_apply`] first.
    pub fn apply_with(&mut self, op: &'static Op, args: &[NodeId], params: &[i64]) -> NodeId {
        match self.try_apply(op, args, params) {
            Ok(id) => id,
            Err(e) => panic!(
                "internal error in keops: {} {:?}: {e:?}",
                op.name,
                self.types(args)
            ),
        }
    }
    /// An operation, after asking its rule whether the arguments fit.
    pub fn try_apply(
        &mut self,
        op: &'static Op,
        args: &[NodeId],
        params: &[i64],
    ) -> Result<NodeId, ops::TypeError> {
        let ty = (op.infer)(&self.types(args), params)?;
        let indices = self.union_of(args);
        Ok(self.insert(Node {
            kind: Kind::Op(OpRef(op), params.to_vec()),
            args: args.to_vec(),
            ty,
            indices,
        }))
    }
    /// A derivative, after asking its rule whether the arguments fit; the second is a variable.
    pub fn try_derivative(
        &mut self,
        kind: Derivative,
        args: &[NodeId],
    ) -> Result<NodeId, ops::TypeError> {
        let ty = kind.infer(&self.types(args))?;
        let indices = kind.indices(self, args);
        Ok(self.insert(Node {
            kind: Kind::Derivative(kind),
            args: args.to_vec(),
            ty,
            indices,
        }))
    }
    /// A reduction over an axis, after asking its rule whether the arguments fit.
    pub fn try_reduce(
        &mut self,
        reduction: &'static Reduction,
        axis: Axis,
        args: &[NodeId],
        k: usize,
    ) -> Result<NodeId, ops::TypeError> {
        let ty = (reduction.infer)(&self.types(args), k)?;
        let indices = self.union_of(args).without(axis);
        Ok(self.insert(Node {
            kind: Kind::Reduce(ReductionRef(reduction), axis, k),
            args: args.to_vec(),
            ty,
            indices,
        }))
    }
    /// A reduction whose arguments are known to fit.
    ///
    /// # Panics
    /// If they do not.
    pub fn reduce(
        &mut self,
        reduction: &'static Reduction,
        axis: Axis,
        args: &[NodeId],
        k: usize,
    ) -> NodeId {
        match self.try_reduce(reduction, axis, args, k) {
            Ok(id) => id,
            Err(e) => panic!(
                "internal error in keops: {} {:?}: {e:?}",
                reduction.name,
                self.types(args)
            ),
        }
    }
    /// Σ over an axis.
    pub fn sum_over(&mut self, axis: Axis, value: NodeId) -> NodeId {
        self.reduce(&reductions::sum::REDUCTION, axis, &[value], 0)
    }

    fn types(&self, args: &[NodeId]) -> Vec<Type> {
        args.iter().map(|&a| self.ty(a)).collect()
    }
    fn union_of(&self, args: &[NodeId]) -> Indices {
        args.iter()
            .fold(Indices::NONE, |set, &a| set.union(self.indices(a)))
    }

    /// The nodes that `roots` need, ascending (arguments first), roots included.
    pub fn reachable(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let mut needed = vec![false; self.nodes.len()];
        let mut stack = roots.to_vec();
        while let Some(id) = stack.pop() {
            if !std::mem::replace(&mut needed[id.0 as usize], true) {
                stack.extend(&self.node(id).args);
            }
        }
        self.ids().filter(|id| needed[id.0 as usize]).collect()
    }
}
