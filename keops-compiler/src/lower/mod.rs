//! From graph to kernel IR: [`Lowerer`] asks each operation for the numbers of its value.
//!
//! Vector and matrix values are *element functions*: `number(node, index)` emits the primitives for one number, at a constant
//! index or at a loop variable. So element-wise chains fuse into the loop of whatever consumes them, no value larger than a
//! number is ever held, and the code for D = 1000 is as long as for D = 10. Only costly results (sums of products, special
//! functions) that a loop would compute again are kept in a local array.
//!
//! Invariants: a number is emitted once per loop nest (memoised), in the outermost loop that has its index's variables.

mod arrays;
pub mod bounds;
mod contract;
pub mod cost;
pub mod interpret;
mod ir;
pub mod kernel;
pub mod listed;
pub mod loops;
pub use ir::*;

use crate::graph::{Graph, Kind, Node, NodeId};
use crate::ops::Body;
use crate::reductions;
use crate::types::{Axis, Shape};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Loops of at most this many iterations become straight-line code.
pub const UNROLL: usize = 8;

/// Most numbers of a matrix that become straight-line code; a larger one is two loops, however short.
const WRITTEN_OUT: usize = 4 * UNROLL;

thread_local! {
    static LIMIT: Cell<usize> = const { Cell::new(UNROLL) };
}

/// [`UNROLL`], or 0 within [`without_unrolling`].
pub fn unroll() -> usize {
    LIMIT.get()
}

/// Whether code is to have the same form at all dimensions, within [`without_unrolling`].
pub fn keeps_form() -> bool {
    unroll() == 0
}

/// Whether a loop of so many iterations becomes straight-line code: where code keeps its form, not even one of none.
pub(crate) fn unrolls(n: usize) -> bool {
    n <= unroll() && !keeps_form()
}

/// Runs `f` with every loop left a loop, so that lowered code has the same form at all dimensions.
pub fn without_unrolling<R>(f: impl FnOnce() -> R) -> R {
    struct Restore(usize);
    impl Drop for Restore {
        fn drop(&mut self) {
            LIMIT.set(self.0);
        }
    }
    let _restore = Restore(LIMIT.replace(0));
    f()
}

/// Where a node that a function does not compute itself is read from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Location {
    /// Columns of a row from this one on.
    Columns(Space, usize),
    /// A reducer's state, through its reduction's `finish`.
    Reduced(Slot),
}

struct Scope {
    /// The loop's variable; `None` for the function itself.
    var: Option<LoopVar>,
    stmts: Vec<Stmt>,
    memo: BTreeMap<(NodeId, Vec<Ix>), Operand>,
}

/// Emits the numbers of graph nodes into one function of a kernel.
pub struct Lowerer<'g> {
    /// The graph.
    pub graph: &'g Graph,
    locations: &'g BTreeMap<NodeId, Location>,
    /// The axis of the outer rows, to tell which row index is meant.
    outer: Option<Axis>,
    scopes: Vec<Scope>,
    /// Loop depth of each register's definition.
    depths: Vec<usize>,
    arrays: BTreeMap<NodeId, ArrayId>,
    /// Arrays of values that are read from there wherever they are needed, see [`Lowerer::keep`].
    kept: BTreeMap<NodeId, ArrayId>,
    /// Whether this is only to see what something takes.
    is_trial: bool,
    array_depth: Vec<usize>,
    next_var: LoopVar,
    /// Depth at which the node being lowered belongs.
    home: usize,
}

impl<'g> Lowerer<'g> {
    /// Starts a function whose leaves are at these locations.
    pub fn new(
        graph: &'g Graph,
        locations: &'g BTreeMap<NodeId, Location>,
        outer: Option<Axis>,
    ) -> Self {
        Lowerer {
            graph,
            locations,
            outer,
            scopes: vec![Scope {
                var: None,
                stmts: vec![],
                memo: BTreeMap::new(),
            }],
            depths: vec![],
            arrays: BTreeMap::new(),
            kept: BTreeMap::new(),
            is_trial: false,
            array_depth: vec![],
            next_var: 0,
            home: 0,
        }
    }
    /// The finished function's statements.
    pub fn finish(mut self) -> Vec<Stmt> {
        std::mem::take(&mut self.scopes[0].stmts)
    }

    fn fresh(&mut self, depth: usize) -> Reg {
        self.depths.push(depth);
        (self.depths.len() - 1) as Reg
    }
    fn ix_depth(&self, ix: &Ix) -> usize {
        ix.terms
            .iter()
            .map(|&(v, _)| {
                self.scopes
                    .iter()
                    .position(|s| s.var == Some(v))
                    .unwrap_or(0)
            })
            .max()
            .unwrap_or(0)
    }
    fn depth(&self, operand: &Operand) -> usize {
        match operand {
            Operand::Const(_) | Operand::RowIndex(_) => 0,
            Operand::Reg(r) => self.depths[*r as usize],
            Operand::Column(_, ix) => self.ix_depth(ix),
            Operand::Element(a, ix) => self.ix_depth(ix).max(self.array_depth[*a as usize]),
        }
    }

    /// prim(args), in the outermost loop that has its arguments.
    pub fn prim(&mut self, prim: Prim, args: &[Operand]) -> Operand {
        let depth = args.iter().map(|a| self.depth(a)).max().unwrap_or(0);
        let reg = self.fresh(depth);
        self.scopes[depth]
            .stmts
            .push(Stmt::Let(reg, prim, args.to_vec()));
        Operand::Reg(reg)
    }
    /// A number where two indices are equal, else another one.
    pub fn where_equal(&mut self, at: [&Ix; 2], equal: Operand, other: Operand) -> Operand {
        let always = match at.map(Ix::constant) {
            [Some(a), Some(b)] => Some(a == b),
            _ => (at[0] == at[1]).then_some(true),
        };
        match always {
            Some(true) => return equal,
            Some(false) => return other,
            None => {}
        }
        let depths = at.map(|ix| self.ix_depth(ix));
        let depth = [depths[0], depths[1], self.depth(&equal), self.depth(&other)];
        let depth = depth.into_iter().max().unwrap_or(0);
        let reg = self.fresh(depth);
        self.scopes[depth]
            .stmts
            .push(Stmt::Pick(reg, at.map(Ix::clone), [equal, other]));
        Operand::Reg(reg)
    }
    /// The finished sum number `at` of a slot.
    pub fn sum_value(&mut self, slot: Slot, at: &Ix) -> Operand {
        self.row_stmt(
            Stmt::SumValue,
            at.times(slot.reducer.row_words()).plus(slot.row),
        )
    }
    /// A word of a slot's state row.
    pub fn row_word(&mut self, slot: Slot, at: &Ix) -> Operand {
        self.row_stmt(Stmt::RowWord, at.plus(slot.row))
    }
    /// The finished log Σ exp number `at` of a slot without weighted sums.
    pub fn logsumexp_value(&mut self, slot: Slot, at: &Ix) -> Operand {
        self.row_stmt(
            Stmt::LogSumExpValue,
            at.times(slot.reducer.row_words()).plus(slot.row),
        )
    }
    /// Σ exp relative to the running maximum (`at` 0), or weighted sum `at − 1` beside it, of a log Σ exp slot.
    pub fn relative_sum(&mut self, slot: Slot, at: &Ix) -> Operand {
        self.row_stmt(Stmt::SumValue, at.times(2).plus(slot.row + 1))
    }
    fn row_stmt(&mut self, stmt: fn(Reg, Ix) -> Stmt, ix: Ix) -> Operand {
        let depth = self.ix_depth(&ix);
        let reg = self.fresh(depth);
        self.scopes[depth].stmts.push(stmt(reg, ix));
        Operand::Reg(reg)
    }

    /// The number of `node` at an index with as many entries as its rank.
    pub fn number(&mut self, node: NodeId, ix: &[Ix]) -> Operand {
        let graph = self.graph;
        let data = graph.node(node);
        if let Some(value) = graph.as_constant(node) {
            return Operand::Const(value);
        }
        if let Some(Location::Columns(space, first)) = self.locations.get(&node) {
            return Operand::Column(*space, flat(data.ty.shape, ix).plus(*first));
        }
        if let Some(&array) = self.kept.get(&node) {
            return Operand::Element(array, flat(data.ty.shape, ix));
        }
        if let Kind::Row(axis) = data.kind {
            return Operand::RowIndex(if Some(axis) == self.outer {
                Space::Outer
            } else {
                Space::Inner
            });
        }
        let depth = ix.iter().map(|k| self.ix_depth(k)).max().unwrap_or(0);
        let key = (node, ix.to_vec());
        if let Some(found) = self.scopes.iter().find_map(|s| s.memo.get(&key)) {
            return found.clone();
        }
        let saved = std::mem::replace(&mut self.home, depth);
        let result = self.compute(node, data, ix);
        self.home = saved;
        // An array element belongs to the loops of its index, whatever loop computed the array.
        self.scopes[depth].memo.insert(key, result.clone());
        result
    }

    fn compute(&mut self, node: NodeId, data: &'g Node, ix: &[Ix]) -> Operand {
        match &data.kind {
            Kind::Op(op, params) => match &op.0.body {
                Body::Elementwise { lower, .. } => {
                    let operands: Vec<Operand> = data
                        .args
                        .iter()
                        .map(|&a| {
                            let scalar = self.graph.shape(a) == Shape::Scalar;
                            self.number(a, if scalar { &[] } else { ix })
                        })
                        .collect();
                    lower(self, &operands, params)
                }
                Body::Indexed { lower, costly, .. } => {
                    let in_loop = ix.iter().any(|k| k.constant().is_none());
                    if data.ty.shape != Shape::Scalar
                        && *costly
                        && (in_loop || data.ty.shape.len() > unroll() * unroll())
                    {
                        let array = self.materialise(node, data, *lower);
                        return Operand::Element(array, flat(data.ty.shape, ix));
                    }
                    lower(self, data, ix)
                }
                Body::Composite(_) => {
                    unreachable!("internal error in keops: {:?} was not decomposed", op)
                }
            },
            Kind::Reduce(reduction, axis, _) => match self.locations.get(&node) {
                Some(Location::Reduced(slot)) => match &reduction.0.body {
                    reductions::Body::Primitive { finish, .. } => finish(self, data, *slot, ix),
                    reductions::Body::Composite(_) => {
                        unreachable!("internal error in keops: {reduction:?} was not decomposed")
                    }
                },
                _ => unreachable!(
                    "internal error in keops: {reduction:?} over {axis:?} is not available here"
                ),
            },
            other => unreachable!("internal error in keops: {other:?} has no location"),
        }
    }

    /// Computes all numbers of a node into a local array of the function itself, once.
    pub fn materialise(
        &mut self,
        node: NodeId,
        data: &'g Node,
        lower: fn(&mut Lowerer<'_>, &Node, &[Ix]) -> Operand,
    ) -> ArrayId {
        if let Some(&array) = self.arrays.get(&node) {
            return array;
        }
        let array = self.array_depth.len() as ArrayId;
        self.array_depth.push(0);
        self.arrays.insert(node, array);
        let shape = data.ty.shape;
        self.scopes[0].stmts.push(Stmt::Array(array, shape.len()));
        let saved = std::mem::replace(&mut self.home, 0);
        self.for_each(shape, &mut |l, ix| {
            let value = lower(l, data, ix);
            let at = flat(shape, ix);
            let home = l.home;
            l.scopes[home].stmts.push(Stmt::Store(array, at, value));
        });
        self.home = saved;
        array
    }

    /// Runs `body` for every index of a shape, as straight-line code or loops in the loop that is `home`.
    pub fn for_each(&mut self, shape: Shape, body: &mut dyn FnMut(&mut Self, &[Ix])) {
        match shape {
            Shape::Scalar => body(self, &[]),
            Shape::Vector(n) => self.repeat(n, &mut |l, k| body(l, &[k])),
            Shape::Matrix(r, c) => {
                // Two short axes may be long code.
                let written_out = if r * c > WRITTEN_OUT {
                    unroll().min(1)
                } else {
                    unroll()
                };
                self.repeat_beyond(written_out, r, &mut |l, k| {
                    l.repeat_beyond(written_out, c, &mut |l, m| body(l, &[k.clone(), m]))
                });
            }
        }
    }

    /// Runs `body` for 0..n, as straight-line code or one loop inside the loop that is `home`; inside it, `home` is the new
    /// loop.
    pub fn repeat(&mut self, n: usize, body: &mut dyn FnMut(&mut Self, Ix)) {
        self.repeat_beyond(unroll(), n, body);
    }

    /// The same, as straight-line code up to this n.
    pub fn repeat_beyond(
        &mut self,
        written_out: usize,
        n: usize,
        body: &mut dyn FnMut(&mut Self, Ix),
    ) {
        if n <= written_out && !keeps_form() {
            for k in 0..n {
                body(self, Ix::at(k));
            }
            return;
        }
        let (var, outside) = self.open_loop();
        body(self, Ix::var(var));
        self.close_loop(var, n, outside);
    }

    fn open_loop(&mut self) -> (LoopVar, Vec<Scope>) {
        // Loops deeper than home are unfinished: the new loop is written before them.
        let outside = self.scopes.split_off(self.home + 1);
        let var = self.next_var;
        self.next_var += 1;
        self.scopes.push(Scope {
            var: Some(var),
            stmts: vec![],
            memo: BTreeMap::new(),
        });
        self.home += 1;
        (var, outside)
    }
    fn close_loop(&mut self, var: LoopVar, n: usize, outside: Vec<Scope>) {
        if let Some(scope) = self.scopes.pop() {
            self.home -= 1;
            self.scopes[self.home]
                .stmts
                .push(Stmt::Loop(var, n, scope.stmts));
        }
        self.scopes.extend(outside);
    }

    /// Σ over k of a term, products fused into the sum.
    pub fn sum(&mut self, n: usize, term: &mut dyn FnMut(&mut Self, &Ix) -> Term) -> Operand {
        self.sum_beyond(unroll(), n, term)
    }

    /// The same, as straight-line code up to this n.
    pub fn sum_beyond(
        &mut self,
        written_out: usize,
        n: usize,
        term: &mut dyn FnMut(&mut Self, &Ix) -> Term,
    ) -> Operand {
        if n <= written_out && !keeps_form() {
            let mut acc = None;
            for k in 0..n {
                let next = term(self, &Ix::at(k));
                acc = Some(self.add_term(acc, next));
            }
            return acc.unwrap_or(Operand::Const(0.0));
        }
        let home = self.home;
        let acc = self.fresh(home);
        self.scopes[home]
            .stmts
            .push(Stmt::Mutable(acc, Operand::Const(0.0)));
        self.repeat_beyond(written_out, n, &mut |l, k| {
            let next = term(l, &k);
            let depth = l.home;
            let total = l.fresh(depth);
            let stmt = match next {
                Term::Value(v) => Stmt::Let(total, Prim::Add, vec![Operand::Reg(acc), v]),
                Term::Product(a, b) => Stmt::Let(total, Prim::Fma, vec![a, b, Operand::Reg(acc)]),
            };
            l.scopes[depth].stmts.push(stmt);
            l.scopes[depth]
                .stmts
                .push(Stmt::Assign(acc, Operand::Reg(total)));
        });
        Operand::Reg(acc)
    }
    fn add_term(&mut self, acc: Option<Operand>, term: Term) -> Operand {
        match (acc, term) {
            (None, Term::Value(v)) => v,
            (None, Term::Product(a, b)) => self.prim(Prim::Mul, &[a, b]),
            (Some(acc), Term::Value(v)) => self.prim(Prim::Add, &[acc, v]),
            (Some(acc), Term::Product(a, b)) => self.prim(Prim::Fma, &[a, b, acc]),
        }
    }

    /// Adds a statement with an effect (a put, an accumulation) to the loop that is `home`.
    pub fn effect(&mut self, stmt: Stmt) {
        let home = self.home;
        self.scopes[home].stmts.push(stmt);
    }
    /// A new register for a statement that defines one, in the loop that is `home`.
    pub fn register(&mut self) -> Reg {
        let home = self.home;
        self.fresh(home)
    }
}

/// One term of [`Lowerer::sum`].
pub enum Term {
    /// A value.
    Value(Operand),
    /// A product, fused into the sum.
    Product(Operand, Operand),
}

/// The row-major number of an index.
pub fn flat(shape: Shape, ix: &[Ix]) -> Ix {
    match (shape, ix) {
        (Shape::Vector(_), [k]) => k.clone(),
        (Shape::Matrix(_, c), [r, k]) => r.times(c).add(k),
        _ => Ix::at(0),
    }
}
