//! What one pair costs: the primitives of a kernel's pair part, counted, loops included.

use super::kernel::KernelIr;
use super::{Operand, Prim, Stmt};
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

    fn block(&mut self, stmts: &[Stmt], times: usize) {
        for stmt in stmts {
            match stmt {
                Stmt::Let(_, prim, _) => self.prim(*prim, times),
                Stmt::Loop(_, n, body) => self.block(body, times * n),
                Stmt::Sum(..) | Stmt::Extremum(..) => self.flops += times,
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
            Prim::Exp | Prim::Exp2Sum | Prim::Exp2SumNonpositive => self.special += times,
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
