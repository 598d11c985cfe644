//! What one pair costs: the primitives of a kernel's pair part, counted, loops included.

use super::contract::visit;
use super::kernel::KernelIr;
use super::{Operand, Prim, Reducer, Reg, Space, Stmt};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Cost of one pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Additions, multiplications, comparisons, blends; a fused multiply-add counts two.
    pub flops: usize,
    /// Divisions and square roots.
    pub divisions: usize,
    /// Special functions.
    pub special: usize,
    /// Those of them that are longer than an exponential.
    pub long: usize,
    /// Numbers of the inner row that are read.
    pub inner_reads: usize,
    /// Accumulators in registers.
    pub registers: usize,
}

impl Cost {
    /// The cost of a kernel's pair part.
    pub fn of(ir: &KernelIr) -> Cost {
        let mut cost = Cost {
            registers: ir.registers,
            inner_reads: ir.inner_used,
            ..Cost::default()
        };
        cost.block(&ir.step, 1);
        cost
    }

    /// The cost of statements, without what they read.
    pub(super) fn of_statements(stmts: &[Stmt]) -> Cost {
        let mut cost = Cost::default();
        cost.block(stmts, 1);
        cost
    }

    /// The cost of one primitive.
    pub fn of_prim(prim: Prim) -> Cost {
        let mut cost = Cost::default();
        cost.prim(prim, 1);
        cost
    }

    fn block(&mut self, stmts: &[Stmt], times: usize) {
        for stmt in stmts {
            match stmt {
                Stmt::Let(_, prim, _) => self.prim(*prim, times),
                Stmt::Loop(_, n, body) => self.block(body, times * n),
                Stmt::Pick(..) | Stmt::Sum(..) | Stmt::Extremum(..) => self.flops += times,
                Stmt::SumMul(..) => self.flops += 2 * times,
                Stmt::Prod(..) => self.flops += 4 * times,
                Stmt::KMin(k, ..) => self.flops += times * if *k == 1 { 3 } else { 1 },
                Stmt::LogSumExp(..) => {
                    self.flops += 4 * times;
                    self.special += times;
                }
                Stmt::Weigh(..) => self.flops += 2 * times,
                _ => {}
            }
        }
    }

    fn prim(&mut self, prim: Prim, times: usize) {
        match prim {
            Prim::Fma | Prim::Fnma => self.flops += 2 * times,
            Prim::SqdiffAdd => self.flops += 3 * times,
            Prim::Div | Prim::Sqrt | Prim::Rsqrt => self.divisions += times,
            Prim::Exp | Prim::Exp2Sum => self.special += times,
            Prim::Exp2SumNonpositive => {
                self.flops += times;
                self.special += times;
            }
            Prim::Log
            | Prim::Sin
            | Prim::Cos
            | Prim::Tanh
            | Prim::Powf
            | Prim::Exp2
            | Prim::Expm1
            | Prim::Log2
            | Prim::Log1p
            | Prim::Tan
            | Prim::Asin
            | Prim::Acos
            | Prim::Atan2
            | Prim::Sinh
            | Prim::Cosh
            | Prim::Erf
            | Prim::Erfc => {
                self.special += times;
                self.long += times;
            }
            _ => self.flops += times,
        }
    }
}

/// Statements of a pair part beyond which it is long.
const LONG: usize = 48;

/// Whether a pair part is long as text, loops counted once: see `Kernel::LONG`.
pub fn is_long(stmts: &[Stmt]) -> bool {
    fn length(stmts: &[Stmt]) -> usize {
        let of = |stmt: &Stmt| match stmt {
            Stmt::Loop(_, _, body) => 1 + length(body),
            _ => 1,
        };
        stmts.iter().map(of).sum()
    }
    length(stmts) > LONG
}

/// Places with elementary functions beyond which they are called.
const FUNCTIONS: usize = 12;

/// Whether a pair part has elementary functions in many places, loops counted once: see `Kernel::CALLS`.
pub fn has_many_functions(stmts: &[Stmt]) -> bool {
    fn places(stmts: &[Stmt]) -> usize {
        let of = |stmt: &Stmt| match stmt {
            Stmt::Loop(_, _, body) => places(body),
            Stmt::Let(_, prim, _) => Cost::of_prim(*prim).special,
            _ => 0,
        };
        stmts.iter().map(of).sum()
    }
    places(stmts) > FUNCTIONS
}

/// Values that are alive at once in a pair part, each of which a register tile has for every pair; see `Kernel::LIVE`.
pub fn live(stmts: &[Stmt]) -> usize {
    let mut last: BTreeMap<Reg, usize> = BTreeMap::new();
    for (at, stmt) in stmts.iter().enumerate() {
        visit(stmt, &mut |reg| {
            last.insert(reg, at);
        });
    }
    let (mut alive, mut most) = (BTreeSet::new(), 0);
    for (at, stmt) in stmts.iter().enumerate() {
        let inside = match stmt {
            Stmt::Loop(_, _, body) => live(body),
            _ => 0,
        };
        most = most.max(alive.len() + inside);
        alive.retain(|reg| last.get(reg) > Some(&at));
        let made = match *stmt {
            Stmt::Let(r, ..)
            | Stmt::Pick(r, ..)
            | Stmt::SumValue(r, _)
            | Stmt::RowWord(r, _)
            | Stmt::LogSumExpValue(r, _)
            | Stmt::Mutable(r, _) => [Some(r), None],
            Stmt::LogSumExp(a, b, ..) => [Some(a), Some(b)],
            _ => [None, None],
        };
        alive.extend(
            made.into_iter()
                .flatten()
                .filter(|reg| last.get(reg) > Some(&at)),
        );
        most = most.max(alive.len());
    }
    most
}

/// Which raw columns are subtracted from one another across the axes, outer and inner, as bits; and whether the terms of sums
/// may vanish for many pairs. Nothing where that is of no use, or not known: where inner rows are not read as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nearness {
    /// Outer columns.
    pub outer: u64,
    /// Inner columns.
    pub inner: u64,
    /// Whether all reducers are sums whose terms may vanish.
    pub vanishes: bool,
}

impl Nearness {
    /// That of a kernel.
    pub fn of(ir: &KernelIr) -> Nearness {
        let sums = ir.slots.iter().all(|slot| slot.reducer == Reducer::Sum);
        let extrema = |reducer| matches!(reducer, Reducer::Min | Reducer::Max | Reducer::KMin(_));
        let useful = sums || ir.slots.iter().all(|slot| extrema(slot.reducer));
        if !ir.inner_plain || ir.slots.is_empty() || !useful {
            return Nearness::default();
        }
        let mut near = Nearness {
            vanishes: sums && ir.bounds.is_none() && may_vanish(&ir.step),
            ..Nearness::default()
        };
        near.block(&ir.step, ir);
        // As many as a curve can go through, or sums are not asked.
        near.vanishes &= [near.outer, near.inner]
            .iter()
            .all(|mask| (1..=4).contains(&mask.count_ones()));
        near
    }

    fn block(&mut self, stmts: &[Stmt], ir: &KernelIr) {
        for stmt in stmts {
            match stmt {
                Stmt::Let(_, Prim::Sub | Prim::SqdiffAdd, args) => {
                    let column = |operand: &Operand| match operand {
                        Operand::Column(space, ix) => Some((*space, ix.constant()?)),
                        _ => None,
                    };
                    let (Some(a), Some(b)) = (column(&args[0]), column(&args[1])) else {
                        continue;
                    };
                    let (outer, inner) = match (a, b) {
                        ((Space::Outer, x), (Space::Inner, y))
                        | ((Space::Inner, y), (Space::Outer, x)) => (x, y),
                        _ => continue,
                    };
                    if outer < ir.outer_raw.min(64) && inner < ir.inner_raw.min(64) {
                        self.outer |= 1 << outer;
                        self.inner |= 1 << inner;
                    }
                }
                Stmt::Loop(_, _, body) => self.block(body, ir),
                _ => {}
            }
        }
    }
}

/// Whether some factor may be exactly 0 for many pairs.
fn may_vanish(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Let(_, prim, _) => matches!(
            prim,
            Prim::Exp
                | Prim::Exp2Sum
                | Prim::Exp2SumNonpositive
                | Prim::PickMin
                | Prim::PickMax
                | Prim::Select
        ),
        Stmt::Loop(_, _, body) => may_vanish(body),
        _ => false,
    })
}

/// Whether there are loops, and each is a chain of single fused operations: the loop's accumulator is the only number per
/// pair that lives through it.
pub fn has_fused_loops(stmts: &[Stmt]) -> bool {
    let mut loops = stmts
        .iter()
        .filter_map(|stmt| match stmt {
            Stmt::Loop(_, _, body) => Some(body.as_slice()),
            _ => None,
        })
        .peekable();
    let fused = |body: &[Stmt]| {
        matches!(
            body,
            [Stmt::Let(r, Prim::SqdiffAdd | Prim::Fma | Prim::Fnma, args), Stmt::Assign(_, Operand::Reg(from))]
                if r == from && args[..2].iter().all(|a| matches!(a, Operand::Column(..)))
        )
    };
    loops.peek().is_some() && loops.all(fused)
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} flops, {} divisions or roots, {} special functions, {} numbers read, {} accumulators",
            self.flops, self.divisions, self.special, self.inner_reads, self.registers
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::Ix;

    #[test]
    fn values_are_alive_until_their_last_use() {
        let column = |c| Operand::Column(Space::Outer, Ix::at(c));
        let let_ = |r, a, b| Stmt::Let(r, Prim::Add, vec![a, b]);
        let stmts = [
            let_(0, column(0), column(1)),
            let_(1, column(2), column(3)),
            let_(2, Operand::Reg(0), column(4)),
            // 0 is not used any more, 1 is needed in the loop, 2 behind it.
            Stmt::Loop(
                0,
                5,
                vec![
                    let_(3, Operand::Reg(1), column(5)),
                    Stmt::Put(Ix::at(0), Operand::Reg(3)),
                ],
            ),
            Stmt::Put(Ix::at(1), Operand::Reg(2)),
            let_(4, column(6), column(7)),
        ];
        assert_eq!(live(&stmts), 3);
        assert_eq!(live(&stmts[..2]), 0);
    }
}
