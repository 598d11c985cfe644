//! One pass as kernel IR: what its rows hold, and its functions.
//!
//! Values are split by what they depend on. What the pair part reads but does not compute per pair becomes a *derived
//! column*: of the parameters (computed once), of outer rows (once each) or of inner rows (once each). Truth values are
//! not columns, so conditions stay in the pair part.
//!
//! Invariant: column numbers here and in the emitted constants agree: raw columns first, in slot order, then derived ones;
//! inner rows as the pair part reads them hold the raw columns it uses, then the derived ones.

use super::bounds::{Conditions, Within};
use super::contract::contract;
use super::listed::lists;
use super::{Ix, Location, Lowerer, Operand, Reducer, Slot, Space, Stmt, flat};
use crate::graph::{Graph, Kind, NodeId};
use crate::ops::{mul, take};
use crate::reductions::Body;
use crate::schedule::{Pass, Schedule};
use crate::types::{Axis, Element, Indices, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// A source of parameter columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parameter {
    /// All numbers of this slot.
    Slot(usize),
    /// The number of rows of an axis.
    Extent(Axis),
}

/// An output of the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputColumns {
    /// Shape of one row.
    pub shape: Shape,
    /// Whether the columns are indices.
    pub index: bool,
}

/// One pass, lowered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelIr {
    /// The axis with one result row each.
    pub outer: Option<Axis>,
    /// The axis folded over.
    pub inner: Option<Axis>,
    /// Parameter columns' sources, in order.
    pub parameters: Vec<Parameter>,
    /// Outer columns' slots, in order.
    pub outer_slots: Vec<usize>,
    /// Inner columns' slots, in order.
    pub inner_slots: Vec<usize>,
    /// Raw parameter columns.
    pub params: usize,
    /// Derived parameter columns.
    pub params_derived: usize,
    /// Raw outer columns.
    pub outer_raw: usize,
    /// Derived outer columns.
    pub outer_derived: usize,
    /// Raw inner columns.
    pub inner_raw: usize,
    /// Inner columns that the pair part reads.
    pub inner_used: usize,
    /// Whether these are the raw ones, in place.
    pub inner_plain: bool,
    /// Whether anything reads the outer row's index.
    pub outer_index: bool,
    /// Whether anything reads the inner row's index.
    pub inner_index: bool,
    /// Which inner rows can matter; `None`: all.
    pub bounds: Option<Within>,
    /// Slots of indices, each of an axis of the pass, that list rows of the other one: no other pairs matter. Empty: all do.
    pub listed: Vec<usize>,
    /// Reducer states.
    pub slots: Vec<Slot>,
    /// Accumulators in registers.
    pub registers: usize,
    /// Words of a state row.
    pub row_words: usize,
    /// Outputs, their columns one after another.
    pub outputs: Vec<OutputColumns>,
    /// Derived parameters, written from column `params` on.
    pub prepare_params: Vec<Stmt>,
    /// Derived outer columns, written from column `outer_raw` on.
    pub prepare_outer: Vec<Stmt>,
    /// The inner columns that the pair part reads.
    pub prepare_inner: Vec<Stmt>,
    /// The pair part.
    pub step: Vec<Stmt>,
    /// The outputs.
    pub finish: Vec<Stmt>,
}

impl KernelIr {
    /// Columns of an output row.
    pub fn out_columns(&self) -> usize {
        self.outputs.iter().map(|o| o.shape.len()).sum()
    }
}

/// Lowers one pass of a schedule. Adds the nodes that reducers are fed with to the graph.
pub fn lower_pass(g: &mut Graph, schedule: &Schedule, pass: &Pass) -> KernelIr {
    let mut feeds = vec![];
    for &r in &pass.reduces {
        let node = g.node(r).clone();
        if let Kind::Reduce(reduction, _, k) = &node.kind
            && let Body::Primitive { feed, .. } = &reduction.0.body
        {
            feeds.push((r, feed(g, &node.args, *k)));
        }
    }
    let mut plan = Plan::new(g, schedule, pass);
    let fed: Vec<NodeId> = feeds.iter().flat_map(|(_, f)| f.nodes.clone()).collect();
    plan.split(&fed);
    plan.finish_leaves(&pass.outputs);
    let mut ir = plan.columns();
    plan.reducers(&mut ir, &feeds);

    ir.bounds = plan.bounds(&feeds);
    ir.listed = lists(g, &feeds, pass.outer, pass.inner)
        .iter()
        .filter_map(|&rows| plan.slot_of(rows))
        .collect();
    ir.prepare_params = plan.derive(
        Space::Parameter,
        plan.params_base(&ir),
        &plan.derived[&Space::Parameter],
    );
    ir.prepare_outer = plan.derive(Space::Outer, ir.outer_raw, &plan.derived[&Space::Outer]);
    ir.prepare_inner = plan.prepare_inner();
    ir.step = plan.step(&ir, &feeds);
    ir.finish = plan.finish();
    for f in [
        &mut ir.prepare_params,
        &mut ir.prepare_outer,
        &mut ir.prepare_inner,
        &mut ir.step,
        &mut ir.finish,
    ] {
        contract(f);
    }
    let all = [
        &ir.prepare_params,
        &ir.prepare_outer,
        &ir.prepare_inner,
        &ir.step,
        &ir.finish,
    ];
    ir.outer_index = all.iter().any(|f| mentions_index(f, Space::Outer));
    ir.inner_index = all.iter().any(|f| mentions_index(f, Space::Inner));
    ir
}

struct Plan<'a> {
    g: &'a Graph,
    schedule: &'a Schedule,
    pass: &'a Pass,
    /// Leaves (variables, earlier results, extents) per space.
    leaves: BTreeMap<Space, BTreeSet<NodeId>>,
    /// Derived columns per space, in order.
    derived: BTreeMap<Space, BTreeSet<NodeId>>,
    /// Inner leaves that the pair part reads itself.
    inner_direct: BTreeSet<NodeId>,
    /// Where the pair part and `finish` find leaves and derived values.
    locations: BTreeMap<NodeId, Location>,
    /// The same for `prepare_inner`, which reads raw inner rows.
    raw_inner: BTreeMap<NodeId, Location>,
}

impl<'a> Plan<'a> {
    fn new(g: &'a Graph, schedule: &'a Schedule, pass: &'a Pass) -> Plan<'a> {
        let spaces = || {
            [Space::Parameter, Space::Outer, Space::Inner]
                .into_iter()
                .map(|s| (s, BTreeSet::new()))
                .collect()
        };
        Plan {
            g,
            schedule,
            pass,
            leaves: spaces(),
            derived: spaces(),
            inner_direct: BTreeSet::new(),
            locations: BTreeMap::new(),
            raw_inner: BTreeMap::new(),
        }
    }

    /// The space whose rows a value belongs to; `None` for values of a pair.
    fn space(&self, id: NodeId) -> Option<Space> {
        let Indices { i, j } = self.g.indices(id);
        let on = |axis: Option<Axis>| match axis {
            Some(Axis::I) => i,
            Some(Axis::J) => j,
            None => false,
        };
        match (on(self.pass.outer), on(self.pass.inner)) {
            (false, false) => Some(Space::Parameter),
            (true, false) => Some(Space::Outer),
            (false, true) => Some(Space::Inner),
            (true, true) => None,
        }
    }
    fn is_leaf(&self, id: NodeId) -> bool {
        match self.g.node(id).kind {
            Kind::Variable(_) | Kind::Extent(_) => true,
            Kind::Reduce(..) => !self.pass.reduces.contains(&id),
            _ => false,
        }
    }
    fn is_free(&self, id: NodeId) -> bool {
        matches!(self.g.node(id).kind, Kind::Constant(_) | Kind::Row(_))
    }

    /// Finds leaves and derived columns of the pair part.
    fn split(&mut self, fed: &[NodeId]) {
        let mut seen = BTreeSet::new();
        let mut stack: Vec<(NodeId, Option<Space>)> = fed.iter().map(|&n| (n, None)).collect();
        // `within`: the space whose derived column is being computed, or none in the pair part.
        while let Some((id, within)) = stack.pop() {
            if self.is_free(id) || !seen.insert((id, within)) {
                continue;
            }
            let space = self.space(id);
            if self.is_leaf(id) {
                let space = space.unwrap_or(Space::Parameter);
                self.leaves.entry(space).or_default().insert(id);
                if space == Space::Inner && within.is_none() {
                    self.inner_direct.insert(id);
                }
                continue;
            }
            let column = self.g.ty(id).element != Element::Bool;
            // A part of a row that is at hand anyway needs no columns of its own.
            let part = space != Some(Space::Inner) && self.g.as_op(id, &take::OP).is_some();
            let next = match space {
                Some(space) if column && within != Some(space) && !part => {
                    self.derived.entry(space).or_default().insert(id);
                    Some(space)
                }
                _ => within,
            };
            stack.extend(self.g.node(id).args.iter().map(|&a| (a, next)));
        }
    }

    /// Finds leaves of the outputs; what depends on parameters only is derived once.
    fn finish_leaves(&mut self, outputs: &[NodeId]) {
        let mut seen = BTreeSet::new();
        let mut stack: Vec<(NodeId, bool)> = outputs.iter().map(|&n| (n, false)).collect();
        while let Some((id, in_params)) = stack.pop() {
            if self.is_free(id) || !seen.insert((id, in_params)) || self.pass.reduces.contains(&id)
            {
                continue;
            }
            let space = self.space(id).unwrap_or(Space::Parameter);
            if self.is_leaf(id) {
                self.leaves.entry(space).or_default().insert(id);
                continue;
            }
            let only_params = space == Space::Parameter
                && self.g.ty(id).element != Element::Bool
                && needs_no_reduce(self.g, id, &self.pass.reduces);
            if only_params && !in_params && self.pass.outer.is_some() {
                self.derived.entry(Space::Parameter).or_default().insert(id);
            }
            stack.extend(
                self.g
                    .node(id)
                    .args
                    .iter()
                    .map(|&a| (a, in_params || only_params)),
            );
        }
    }

    fn slot_of(&self, leaf: NodeId) -> Option<usize> {
        match self.g.node(leaf).kind {
            Kind::Variable(n) => Some(n),
            _ => self.schedule.slots.get(&leaf).copied(),
        }
    }
    /// Leaves of a space in slot order, extents last.
    fn ordered(&self, space: Space) -> Vec<NodeId> {
        let mut leaves: Vec<NodeId> = self.leaves[&space].iter().copied().collect();
        leaves.sort_by_key(|&l| (self.slot_of(l).unwrap_or(usize::MAX), l));
        leaves
    }

    /// Numbers the columns and fills in the locations.
    fn columns(&mut self) -> KernelIr {
        let mut ir = KernelIr {
            outer: self.pass.outer,
            inner: self.pass.inner,
            inner_plain: true,
            ..KernelIr::default()
        };
        let mut locations = BTreeMap::new();
        let g = self.g;
        let place =
            |space: Space, ids: &[NodeId], first: usize, into: &mut BTreeMap<NodeId, Location>| {
                let mut at = first;
                for &id in ids {
                    into.insert(id, Location::Columns(space, at));
                    at += g.shape(id).len();
                }
                at
            };
        let params = self.ordered(Space::Parameter);
        ir.params = place(Space::Parameter, &params, 0, &mut locations);
        ir.parameters = params
            .iter()
            .filter_map(|&l| match g.node(l).kind {
                Kind::Extent(axis) => Some(Parameter::Extent(axis)),
                _ => self.slot_of(l).map(Parameter::Slot),
            })
            .collect();
        let derived = |space: Space| self.derived[&space].iter().copied().collect::<Vec<_>>();
        ir.params_derived = place(
            Space::Parameter,
            &derived(Space::Parameter),
            ir.params,
            &mut locations,
        ) - ir.params;

        let outer = self.ordered(Space::Outer);
        ir.outer_raw = place(Space::Outer, &outer, 0, &mut locations);
        ir.outer_slots = outer.iter().filter_map(|&l| self.slot_of(l)).collect();
        ir.outer_derived = place(
            Space::Outer,
            &derived(Space::Outer),
            ir.outer_raw,
            &mut locations,
        ) - ir.outer_raw;

        let inner = self.ordered(Space::Inner);
        let mut raw_inner = locations.clone();
        ir.inner_raw = place(Space::Inner, &inner, 0, &mut raw_inner);
        ir.inner_slots = inner.iter().filter_map(|&l| self.slot_of(l)).collect();
        let direct: Vec<NodeId> = inner
            .iter()
            .copied()
            .filter(|l| self.inner_direct.contains(l))
            .collect();
        let used = place(Space::Inner, &direct, 0, &mut locations);
        ir.inner_used = place(Space::Inner, &derived(Space::Inner), used, &mut locations);
        ir.inner_plain = direct == inner && ir.inner_used == used;
        self.locations = locations;
        self.raw_inner = raw_inner;
        ir
    }

    /// The inner rows that matter to any of the reducers.
    fn bounds(&self, feeds: &[(NodeId, crate::reductions::Feed)]) -> Option<Within> {
        let conditions = Conditions {
            g: self.g,
            outer: self.pass.outer,
            locations: &self.locations,
        };
        let all = feeds
            .iter()
            .map(|(_, feed)| conditions.of_feed(feed.reducer, feed.nodes[0]));
        all.reduce(Within::either).filter(|w| *w != Within::All)
    }

    fn params_base(&self, ir: &KernelIr) -> usize {
        ir.params
    }

    /// Assigns reducer states; equal reducers of equal values share one.
    fn reducers(&mut self, ir: &mut KernelIr, feeds: &[(NodeId, crate::reductions::Feed)]) {
        let mut shared: BTreeMap<(Reducer, Vec<NodeId>), Slot> = BTreeMap::new();
        for (reduce, feed) in feeds {
            let key = (feed.reducer, feed.nodes.clone());
            let slot = *shared.entry(key).or_insert_with(|| {
                let count = match feed.reducer {
                    Reducer::LogSumExp(1..) => 1,
                    _ => self.g.shape(feed.nodes[0]).len(),
                };
                let slot = Slot {
                    reducer: feed.reducer,
                    count,
                    register: ir.registers,
                    row: ir.row_words,
                };
                ir.registers += count * feed.reducer.registers();
                ir.row_words += count * feed.reducer.row_words();
                ir.slots.push(slot);
                slot
            });
            self.locations.insert(*reduce, Location::Reduced(slot));
        }
        for &output in &self.pass.outputs {
            let ty = self.g.ty(output);
            ir.outputs.push(OutputColumns {
                shape: ty.shape,
                index: ty.element == Element::Index,
            });
        }
    }

    /// Writes values to consecutive columns.
    fn derive(&self, space: Space, first: usize, values: &BTreeSet<NodeId>) -> Vec<Stmt> {
        // A derived value must be computed here, not read from its own column; those of other spaces are there already.
        let locations: BTreeMap<NodeId, Location> = self
            .locations
            .iter()
            .filter(|(id, _)| !(values.contains(id) && space != Space::Inner))
            .map(|(&k, &v)| (k, v))
            .collect();
        put_all(
            self.g,
            &locations,
            self.pass.outer,
            first,
            &values.iter().copied().collect::<Vec<_>>(),
        )
    }

    fn prepare_inner(&self) -> Vec<Stmt> {
        let mut values: Vec<NodeId> = self
            .ordered(Space::Inner)
            .into_iter()
            .filter(|l| self.inner_direct.contains(l))
            .collect();
        values.extend(&self.derived[&Space::Inner]);
        put_all(self.g, &self.raw_inner, self.pass.outer, 0, &values)
    }

    fn step(&self, ir: &KernelIr, feeds: &[(NodeId, crate::reductions::Feed)]) -> Vec<Stmt> {
        let mut l = Lowerer::new(self.g, &self.locations, self.pass.outer);
        let fed: Vec<NodeId> = feeds.iter().flat_map(|(_, f)| f.nodes.clone()).collect();
        let uses = self.uses(&fed);
        let mut done = BTreeSet::new();
        for (reduce, feed) in feeds {
            let Some(Location::Reduced(slot)) = self.locations.get(reduce) else {
                continue;
            };
            if !done.insert(slot.register) {
                continue;
            }
            debug_assert!(ir.slots.contains(slot));
            self.accumulate(&mut l, *slot, &feed.nodes, &uses);
        }
        l.finish()
    }

    fn accumulate(
        &self,
        l: &mut Lowerer<'_>,
        slot: Slot,
        nodes: &[NodeId],
        uses: &BTreeMap<NodeId, usize>,
    ) {
        let value = nodes[0];
        let shape = self.g.shape(value);
        let words = slot.reducer.registers();
        if let Reducer::LogSumExp(1..) = slot.reducer {
            let score = l.number(value, &[]);
            let (shrink, weight) = (l.register(), l.register());
            l.effect(Stmt::LogSumExp(
                shrink,
                weight,
                Ix::at(slot.register),
                score,
            ));
            if let Some(&weighted) = nodes.get(1) {
                let shape = self.g.shape(weighted);
                l.for_each(shape, &mut |l, ix| {
                    let v = l.number(weighted, ix);
                    l.effect(Stmt::Weigh(
                        flat(shape, ix).plus(slot.register + 2),
                        shrink,
                        weight,
                        v,
                    ));
                });
            }
            return;
        }
        // A product that only the sum uses is fused into it.
        let product = match self.g.as_op(value, &mul::OP) {
            Some(&[a, b])
                if slot.reducer == Reducer::Sum
                    && uses.get(&value) == Some(&1)
                    && !self.locations.contains_key(&value) =>
            {
                Some((a, b))
            }
            _ => None,
        };
        l.for_each(shape, &mut |l, ix| {
            let at = flat(shape, ix).times(words).plus(slot.register);
            let number = |l: &mut Lowerer<'_>, id: NodeId| {
                let scalar = l.graph.shape(id) == Shape::Scalar;
                l.number(id, if scalar { &[] } else { ix })
            };
            let stmt = match (slot.reducer, product) {
                (Reducer::Sum, Some((a, b))) => Stmt::SumMul(at, number(l, a), number(l, b)),
                (Reducer::Sum, None) => Stmt::Sum(at, number(l, value)),
                (Reducer::KMin(k), _) => Stmt::KMin(k, at, number(l, value)),
                (Reducer::Prod, _) => Stmt::Prod(at, number(l, value)),
                (Reducer::LogSumExp(_), _) => {
                    let score = number(l, value);
                    Stmt::LogSumExp(l.register(), l.register(), at, score)
                }
                (reducer, _) => Stmt::Extremum(reducer, at, number(l, value)),
            };
            l.effect(stmt);
        });
    }

    /// How often each value of the pair part is used.
    fn uses(&self, fed: &[NodeId]) -> BTreeMap<NodeId, usize> {
        let mut uses: BTreeMap<NodeId, usize> = BTreeMap::new();
        for &f in fed {
            *uses.entry(f).or_insert(0) += 1;
        }
        for id in self.g.reachable(fed) {
            if !self.locations.contains_key(&id) {
                for &a in &self.g.node(id).args {
                    *uses.entry(a).or_insert(0) += 1;
                }
            }
        }
        uses
    }

    fn finish(&self) -> Vec<Stmt> {
        put_all(
            self.g,
            &self.locations,
            self.pass.outer,
            0,
            &self.pass.outputs,
        )
    }
}

/// Writes all numbers of some values to consecutive columns.
fn put_all(
    g: &Graph,
    locations: &BTreeMap<NodeId, Location>,
    outer: Option<Axis>,
    first: usize,
    values: &[NodeId],
) -> Vec<Stmt> {
    let mut l = Lowerer::new(g, locations, outer);
    let mut at = first;
    for &value in values {
        let shape = g.shape(value);
        l.for_each(shape, &mut |l, ix| {
            let number = l.number(value, ix);
            l.effect(Stmt::Put(flat(shape, ix).plus(at), number));
        });
        at += shape.len();
    }
    l.finish()
}

fn needs_no_reduce(g: &Graph, id: NodeId, reduces: &[NodeId]) -> bool {
    let needed = crate::schedule::needed_reduces(g, &[id]);
    reduces.iter().all(|r| !needed.contains(r))
}

fn mentions_index(stmts: &[Stmt], space: Space) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Let(_, _, args) => args.contains(&Operand::RowIndex(space)),
        Stmt::Pick(_, _, numbers) => numbers.contains(&Operand::RowIndex(space)),
        Stmt::Put(_, v) | Stmt::Store(_, _, v) => *v == Operand::RowIndex(space),
        Stmt::KMin(..) => space == Space::Inner,
        Stmt::Loop(_, _, body) => mentions_index(body, space),
        _ => false,
    })
}
