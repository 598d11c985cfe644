//! What operations need beyond element functions: arrays filled in parts, and folds other than sums.
//!
//! Invariant: an array is filled once, in the function itself and in order, before anything that reads it.

use super::cost::Cost;
use super::{ArrayId, Ix, Location, Lowerer, Operand, Prim, Reg, Stmt, flat, keeps_form, unrolls};
use crate::budget::MOST_NUMBERS;
use crate::graph::{Kind, Node, NodeId};
use crate::ops::Body;
use crate::types::Shape;

/// Most numbers of a pair in arrays for a further value to be kept in one: half of what there may be.
const MOST_KEPT: usize = MOST_NUMBERS / 2;
/// Most operations that are not worth a place in memory.
const FEW: usize = 4;

/// One step of a fold into several numbers: from the numbers so far and the place to the next ones.
type Step<'s, L> = dyn FnMut(&mut L, &[Operand], &Ix) -> Vec<Operand> + 's;
/// The same, given the place as a number too.
type Counted<'s, L> = dyn FnMut(&mut L, &[Operand], &Ix, &Operand) -> Vec<Operand> + 's;

impl Lowerer<'_> {
    /// The array of all numbers of a node, row-major, filled by `fill` with [`Lowerer::store`] at the first use.
    pub fn filled(&mut self, node: &Node, fill: &mut dyn FnMut(&mut Self, ArrayId)) -> ArrayId {
        let id = self.graph.id_of(node);
        if let Some(&array) = id.and_then(|id| self.arrays.get(&id)) {
            return array;
        }
        let array = self.array_depth.len() as ArrayId;
        self.array_depth.push(0);
        self.scopes[0]
            .stmts
            .push(Stmt::Array(array, node.ty.shape.len()));
        let saved = std::mem::replace(&mut self.home, 0);
        fill(self, array);
        self.home = saved;
        if let Some(id) = id {
            self.arrays.insert(id, array);
        }
        array
    }

    /// Computes all numbers of a value once, into an array that they are read from since, if loops that read each of them again and
    /// again would take much time with them. Not where code has to have one form at all dimensions.
    pub fn keep(&mut self, node: NodeId) {
        let shape = self.graph.shape(node);
        let lengths = self.scopes[0].stmts.iter().map(|stmt| match stmt {
            Stmt::Array(_, n) => *n,
            _ => 0,
        });
        let room = MOST_KEPT.saturating_sub(lengths.sum());
        if keeps_form() || shape.len() > room || self.kept.contains_key(&node) {
            return;
        }
        if !self.is_worth_keeping(node) {
            return;
        }
        let data = self.graph.node(node);
        let array = self.filled(data, &mut |l, array| {
            l.for_each(shape, &mut |l, ix| {
                let value = l.number(node, ix);
                l.store(array, flat(shape, ix), value);
            });
        });
        self.kept.insert(node, array);
    }

    /// Whether a number of this value takes a division, a special function, or more than a few operations.
    fn is_worth_keeping(&self, node: NodeId) -> bool {
        let data = self.graph.node(node);
        let is_array = match &data.kind {
            Kind::Op(op, _) => matches!(op.0.body, Body::Indexed { costly: true, .. }),
            _ => false,
        };
        let is_column = matches!(self.locations.get(&node), Some(Location::Columns(..)));
        if is_array || is_column || self.is_trial || self.arrays.contains_key(&node) {
            return false;
        }
        let mut trial = Lowerer::new(self.graph, self.locations, self.outer);
        trial.is_trial = true;
        let rank = match data.ty.shape {
            Shape::Scalar => 0,
            Shape::Vector(_) => 1,
            Shape::Matrix(..) => 2,
        };
        trial.number(node, &vec![Ix::at(0); rank]);
        // What is in loops is in an array already.
        let mut stmts = trial.finish();
        stmts.retain(|stmt| !matches!(stmt, Stmt::Loop(..)));
        let cost = Cost::of_statements(&stmts);
        cost.special + cost.divisions > 0 || cost.flops > FEW
    }

    /// `array[at] = value`, in the loop that is `home`.
    pub fn store(&mut self, array: ArrayId, at: Ix, value: Operand) {
        self.effect(Stmt::Store(array, at, value));
    }

    /// Folds 0..n into one number: `step` is given the number so far.
    pub fn fold(
        &mut self,
        n: usize,
        start: Operand,
        step: &mut dyn FnMut(&mut Self, Operand, &Ix) -> Operand,
    ) -> Operand {
        let mut numbers = self.states(n, &[start], &mut |l, state, k| {
            vec![step(l, state[0].clone(), k)]
        });
        numbers.swap_remove(0)
    }

    /// Folds 0..n into several numbers: `step` is given the numbers so far, the place and, as a number, its own count. What it
    /// returns must be new numbers or stay in its place.
    pub fn iterate(
        &mut self,
        n: usize,
        start: &[Operand],
        step: &mut Counted<'_, Self>,
    ) -> Vec<Operand> {
        let mut start = start.to_vec();
        start.push(Operand::Const(0.0));
        let mut numbers = self.states(n, &start, &mut |l, state, k| {
            let (count, state) = match state.split_last() {
                Some(split) => split,
                None => unreachable!("internal error in keops: the count is a state"),
            };
            let mut next = step(l, state, k, count);
            next.push(match (count, k.constant()) {
                (Operand::Const(_), Some(k)) => Operand::Const((k + 1) as f64),
                _ => l.prim(Prim::Add, &[count.clone(), Operand::Const(1.0)]),
            });
            next
        });
        numbers.pop();
        numbers
    }

    fn states(&mut self, n: usize, start: &[Operand], step: &mut Step<'_, Self>) -> Vec<Operand> {
        if unrolls(n) {
            return (0..n).fold(start.to_vec(), |so_far, k| step(self, &so_far, &Ix::at(k)));
        }
        let home = self.home;
        let registers: Vec<Reg> = start
            .iter()
            .map(|first| {
                let register = self.fresh(home);
                self.scopes[home]
                    .stmts
                    .push(Stmt::Mutable(register, first.clone()));
                register
            })
            .collect();
        let state: Vec<Operand> = registers.iter().map(|&r| Operand::Reg(r)).collect();
        // Inside the loop the numbers change with it: what is computed from them must not move out.
        for &register in &registers {
            self.depths[register as usize] = home + 1;
        }
        self.repeat(n, &mut |l, k| {
            let next = step(l, &state, &k);
            for (&register, next) in registers.iter().zip(next) {
                if next != Operand::Reg(register) {
                    l.effect(Stmt::Assign(register, next));
                }
            }
        });
        for &register in &registers {
            self.depths[register as usize] = home;
        }
        state
    }
}
