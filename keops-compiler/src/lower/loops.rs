//! Loops that count through what a device would keep in registers.
//!
//! Registers have no numbers: such a loop has to be written out, and one that is too long for that must find its columns, arrays
//! and accumulators in memory (`Kernel::LOOPED`).

use super::cost::Cost;
use super::kernel::KernelIr;
use super::{ArrayId, Ix, LoopVar, Operand, Prim, Space, Stmt};

/// Most columns, accumulators or elements of an array in registers (`keops_gpu_kernels::abi`).
const HELD: usize = 16;
/// Most instructions of a loop that is written out (the child compiler's options).
const LONGEST: usize = 600;
/// Instructions of a long function, roughly, and of an exponential at f64.
const FUNCTION: usize = 40;

/// What is to be said of a kernel's loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopPlan {
    /// Whether some loop counts through registers and is too long to be written out: nothing may be in registers then.
    pub looped: bool,
    /// The short loops within or around others that need not be written out because all they count through is in memory, in
    /// `prepare_params`, `prepare_outer`, `prepare_inner`, `step` and `finish`. Written out, they fill the registers with loads.
    pub stay: [Vec<LoopVar>; 5],
}

impl LoopPlan {
    /// That of a kernel; `double`: whether it is for f64 too.
    pub fn of(ir: &KernelIr, double: bool) -> LoopPlan {
        let functions = [
            (&ir.prepare_params, ir.params + ir.params_derived),
            (&ir.prepare_outer, ir.outer_raw + ir.outer_derived),
            // The tile and outputs are in memory.
            (&ir.prepare_inner, usize::MAX),
            (&ir.step, usize::MAX),
            (&ir.finish, usize::MAX),
        ];
        let mut loops = functions.map(|(stmts, written)| Loops {
            ir,
            held: HELD,
            arrays: short_arrays(stmts),
            written,
            // As many as a register tile has at most.
            pairs: if Cost::of(ir).long > 0 { 2 } else { 4 },
            exponential: if double { FUNCTION } else { 4 },
        });
        let mut all = loops.iter().zip(&functions);
        let looped = all.any(|(loops, (stmts, _))| loops.any_long(stmts));
        let mut stay = [const { vec![] }; 5];
        for ((loops, (stmts, _)), stay) in loops.iter_mut().zip(&functions).zip(&mut stay) {
            if looped {
                loops.held = 0;
                loops.arrays.clear();
            }
            loops.staying(stmts, false, stay);
        }
        LoopPlan { looped, stay }
    }
}

/// The arrays of a function that may become registers.
fn short_arrays(stmts: &[Stmt]) -> Vec<ArrayId> {
    let short = stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Array(id, n) if *n <= HELD => Some(*id),
        _ => None,
    });
    short.collect()
}

struct Loops<'a> {
    ir: &'a KernelIr,
    /// Most columns or accumulators in registers.
    held: usize,
    arrays: Vec<ArrayId>,
    /// Columns of the row that the function writes.
    written: usize,
    pairs: usize,
    /// Instructions of an exponential.
    exponential: usize,
}

impl Loops<'_> {
    fn any_long(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| match stmt {
            Stmt::Loop(var, n, body) => {
                let through_registers = *n <= HELD && self.counts(*var, body);
                (through_registers && n * self.length(body) > LONGEST) || self.any_long(body)
            }
            _ => false,
        })
    }

    /// Adds the short loops within or around others that count through memory only; all, where nothing is in registers.
    fn staying(&self, stmts: &[Stmt], within: bool, stay: &mut Vec<LoopVar>) {
        for stmt in stmts {
            if let Stmt::Loop(var, n, body) = stmt {
                let nested = within || body.iter().any(|stmt| matches!(stmt, Stmt::Loop(..)));
                if (nested || self.held == 0) && *n <= HELD && !self.counts(*var, body) {
                    stay.push(*var);
                }
                self.staying(body, true, stay);
            }
        }
    }

    /// Instructions of statements, loops written out that can be.
    fn length(&self, stmts: &[Stmt]) -> usize {
        let of = |stmt: &Stmt| match stmt {
            Stmt::Loop(_, n, body) => self.length(body) * if *n <= HELD { *n } else { 1 },
            Stmt::Let(_, prim, args) => {
                let loads = args.iter().filter(|a| matches!(a, Operand::Column(..)));
                self.pairs * self.instructions(*prim) + loads.count()
            }
            Stmt::Mutable(..) | Stmt::Assign(..) | Stmt::Array(..) => 0,
            Stmt::LogSumExp(..) => self.pairs * self.exponential,
            _ => self.pairs,
        };
        stmts.iter().map(of).sum()
    }

    fn instructions(&self, prim: Prim) -> usize {
        match Cost::of_prim(prim) {
            Cost { long: 1.., .. } => FUNCTION,
            Cost { special: 1.., .. } => self.exponential,
            _ => 1,
        }
    }

    /// Whether a loop variable is part of the place of something in registers.
    fn counts(&self, var: LoopVar, stmts: &[Stmt]) -> bool {
        let by = |ix: &Ix| ix.terms.iter().any(|(v, _)| *v == var);
        let operand = |operand: &Operand| match operand {
            Operand::Column(space, ix) => self.columns(*space) <= self.held && by(ix),
            Operand::Element(array, ix) => self.arrays.contains(array) && by(ix),
            _ => false,
        };
        stmts.iter().any(|stmt| match stmt {
            Stmt::Let(_, _, args) => args.iter().any(operand),
            Stmt::Pick(_, _, numbers) => numbers.iter().any(operand),
            Stmt::Mutable(_, value) | Stmt::Assign(_, value) => operand(value),
            Stmt::Store(array, ix, value) => {
                self.arrays.contains(array) && by(ix) || operand(value)
            }
            Stmt::Put(ix, value) => self.written <= self.held && by(ix) || operand(value),
            Stmt::Loop(_, _, body) => self.counts(var, body),
            Stmt::SumValue(_, ix) | Stmt::RowWord(_, ix) | Stmt::LogSumExpValue(_, ix) => {
                self.ir.row_words <= self.held && by(ix)
            }
            Stmt::Sum(ix, a)
            | Stmt::Prod(ix, a)
            | Stmt::Extremum(_, ix, a)
            | Stmt::KMin(_, ix, a)
            | Stmt::LogSumExp(_, _, ix, a)
            | Stmt::Weigh(ix, _, _, a) => self.ir.registers <= self.held && by(ix) || operand(a),
            Stmt::SumMul(ix, a, b) => {
                self.ir.registers <= self.held && by(ix) || operand(a) || operand(b)
            }
            Stmt::Array(..) => false,
        })
    }

    fn columns(&self, space: Space) -> usize {
        match space {
            Space::Parameter => self.ir.params + self.ir.params_derived,
            Space::Outer => self.ir.outer_raw + self.ir.outer_derived,
            Space::Inner => self.ir.inner_used,
        }
    }
}
