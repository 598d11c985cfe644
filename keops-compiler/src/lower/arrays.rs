//! What operations need beyond element functions: arrays filled in parts, and folds other than sums.
//!
//! Invariant: an array is filled once, in the function itself and in order, before anything that reads it.

use super::{ArrayId, Ix, Lowerer, Operand, Stmt, UNROLL};
use crate::graph::Node;

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
        if n <= UNROLL {
            return (0..n).fold(start, |so_far, k| step(self, so_far, &Ix::at(k)));
        }
        let home = self.home;
        let acc = self.fresh(home);
        self.scopes[home].stmts.push(Stmt::Mutable(acc, start));
        // Inside the loop the number changes with it: what is computed from it must not move out.
        self.depths[acc as usize] = home + 1;
        self.repeat(n, &mut |l, k| {
            let next = step(l, Operand::Reg(acc), &k);
            l.effect(Stmt::Assign(acc, next));
        });
        self.depths[acc as usize] = home;
        Operand::Reg(acc)
    }
}
