//! Kernel IR in plain f64: one function's statements, and (in [`run_pass`]) what an engine does with a kernel.
//!
//! It tests lowering without a compiler. Invariants: as in `keops-gpu-kernels::reduce`, inner rows arrive in descending
//! order; arrays start as NaN, so that a number nobody stored shows.

use super::{Ix, LoopVar, Operand, Prim, Reducer, Space, Stmt};
use crate::ops::{erf, erfc};
use std::collections::BTreeMap;

mod passes;
pub use passes::{Rows, parameters, run_function, run_pass};

/// What one run of one function reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The parameter columns.
    pub parameters: Vec<f64>,
    /// The outer row's columns.
    pub outer: Vec<f64>,
    /// The inner row's columns.
    pub inner: Vec<f64>,
    /// The outer row's index.
    pub outer_index: usize,
    /// The inner row's index.
    pub inner_index: usize,
    /// A finished state row.
    pub row: Vec<f64>,
    /// Accumulators.
    pub state: Vec<f64>,
    /// Whether every primitive rounds to f32.
    pub single: bool,
    /// Columns written by [`Stmt::Put`].
    pub put: Vec<f64>,
}

/// Runs a function: its statements once, then [`Frame::put`] and [`Frame::state`] hold what they wrote.
///
/// # Panics
/// If the statements break the IR's invariants.
pub fn run(stmts: &[Stmt], frame: &mut Frame) {
    let mut machine = Machine {
        frame,
        registers: BTreeMap::new(),
        arrays: BTreeMap::new(),
        loops: BTreeMap::new(),
    };
    machine.block(stmts);
}

struct Machine<'a> {
    frame: &'a mut Frame,
    registers: BTreeMap<u32, f64>,
    arrays: BTreeMap<u32, Vec<f64>>,
    loops: BTreeMap<LoopVar, usize>,
}

impl Machine<'_> {
    fn ix(&self, ix: &Ix) -> usize {
        ix.base
            + ix.terms
                .iter()
                .map(|(v, stride)| self.loops[v] * stride)
                .sum::<usize>()
    }
    fn get(&self, operand: &Operand) -> f64 {
        match operand {
            Operand::Const(value) => *value,
            Operand::Reg(r) => self.registers[r],
            Operand::Column(Space::Parameter, ix) => self.frame.parameters[self.ix(ix)],
            Operand::Column(Space::Outer, ix) => self.frame.outer[self.ix(ix)],
            Operand::Column(Space::Inner, ix) => self.frame.inner[self.ix(ix)],
            Operand::Element(array, ix) => self.arrays[array][self.ix(ix)],
            Operand::RowIndex(Space::Outer) => self.frame.outer_index as f64,
            Operand::RowIndex(_) => self.frame.inner_index as f64,
        }
    }
    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let(reg, prim, args) => {
                let args: Vec<f64> = args.iter().map(|a| self.get(a)).collect();
                let value = eval(*prim, &args);
                let value = if self.frame.single {
                    f64::from(value as f32)
                } else {
                    value
                };
                self.registers.insert(*reg, value);
            }
            Stmt::Pick(reg, at, [equal, other]) => {
                let is_equal = self.ix(&at[0]) == self.ix(&at[1]);
                let value = self.get(if is_equal { equal } else { other });
                self.registers.insert(*reg, value);
            }
            Stmt::SumValue(reg, ix) => {
                let at = self.ix(ix);
                self.registers
                    .insert(*reg, sum_value(&self.frame.row[at..]));
            }
            Stmt::RowWord(reg, ix) => {
                let at = self.ix(ix);
                self.registers.insert(*reg, self.frame.row[at]);
            }
            Stmt::LogSumExpValue(reg, ix) => {
                let row = &self.frame.row[self.ix(ix)..];
                self.registers
                    .insert(*reg, row[0] + sum_value(&row[1..]).ln());
            }
            Stmt::Mutable(reg, value) | Stmt::Assign(reg, value) => {
                let value = self.get(value);
                self.registers.insert(*reg, value);
            }
            Stmt::Array(array, n) => {
                self.arrays.insert(*array, vec![f64::NAN; *n]);
            }
            Stmt::Store(array, ix, value) => {
                let (at, value) = (self.ix(ix), self.get(value));
                self.arrays
                    .get_mut(array)
                    .expect("an array is declared before use")[at] = value;
            }
            Stmt::Loop(var, n, body) => {
                for k in 0..*n {
                    self.loops.insert(*var, k);
                    self.block(body);
                }
                self.loops.remove(var);
            }
            Stmt::Put(ix, value) => {
                let (at, value) = (self.ix(ix), self.get(value));
                if self.frame.put.len() <= at {
                    self.frame.put.resize(at + 1, f64::NAN);
                }
                self.frame.put[at] = value;
            }
            _ => self.accumulate(stmt),
        }
    }
    fn accumulate(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Sum(ix, value) => {
                let (at, value) = (self.ix(ix), self.get(value));
                self.frame.state[at] += value;
            }
            Stmt::SumMul(ix, a, b) => {
                let (at, value) = (self.ix(ix), self.get(a) * self.get(b));
                self.frame.state[at] += value;
            }
            Stmt::Prod(ix, value) => {
                let (at, value) = (self.ix(ix), self.get(value));
                if value == 0.0 {
                    self.frame.state[at + 1] += 1.0;
                } else {
                    self.frame.state[at] *= value;
                }
            }
            Stmt::Extremum(reducer, ix, value) => {
                let (at, value) = (self.ix(ix), self.get(value));
                let so_far = &mut self.frame.state[at];
                *so_far = if *reducer == Reducer::Min {
                    so_far.min(value)
                } else {
                    so_far.max(value)
                };
            }
            Stmt::KMin(k, ix, value) => {
                let (at, value, index) =
                    (self.ix(ix), self.get(value), self.frame.inner_index as f64);
                let (values, indices) = self.frame.state[at..at + 2 * k].split_at_mut(*k);
                // Descending rows: "less or equal" puts the lower index first.
                if let Some(rank) = values.iter().position(|&kept| value <= kept) {
                    values[rank..].rotate_right(1);
                    indices[rank..].rotate_right(1);
                    (values[rank], indices[rank]) = (value, index);
                }
            }
            Stmt::LogSumExp(shrink, weight, ix, score) => {
                let (at, score) = (self.ix(ix), self.get(score));
                let before = self.frame.state[at];
                let max = before.max(score).min(f64::MAX);
                let factors = ((before - max).exp(), (score - max).exp());
                self.frame.state[at] = max;
                self.frame.state[at + 1] = self.frame.state[at + 1] * factors.0 + factors.1;
                self.registers.insert(*shrink, factors.0);
                self.registers.insert(*weight, factors.1);
            }
            Stmt::Weigh(ix, shrink, weight, value) => {
                let (at, value) = (self.ix(ix), self.get(value));
                let (shrink, weight) = (self.registers[shrink], self.registers[weight]);
                self.frame.state[at] = self.frame.state[at] * shrink + weight * value;
            }
            other => unreachable!("{other:?} does not accumulate"),
        }
    }
}

fn sum_value(row: &[f64]) -> f64 {
    if row[1].is_nan() {
        row[0]
    } else {
        row[0] + row[1]
    }
}

fn eval(prim: Prim, a: &[f64]) -> f64 {
    match prim {
        Prim::Add => a[0] + a[1],
        Prim::Sub => a[0] - a[1],
        Prim::Mul => a[0] * a[1],
        Prim::Div => a[0] / a[1],
        Prim::Fma => a[0] * a[1] + a[2],
        Prim::Fnma => a[2] - a[0] * a[1],
        Prim::Square => a[0] * a[0],
        Prim::SqdiffAdd => (a[0] - a[1]) * (a[0] - a[1]) + a[2],
        Prim::Neg => -a[0],
        Prim::Abs => a[0].abs(),
        Prim::XorSign => {
            if a[1].is_sign_negative() {
                -a[0]
            } else {
                a[0]
            }
        }
        Prim::Sqrt => a[0].sqrt(),
        Prim::Rsqrt => 1.0 / a[0].sqrt(),
        Prim::Rint => a[0].round_ties_even(),
        Prim::PickMin => {
            if a[0] < a[1] {
                a[0]
            } else {
                a[1]
            }
        }
        Prim::PickMax => {
            if a[0] > a[1] {
                a[0]
            } else {
                a[1]
            }
        }
        Prim::Exp => a[0].exp(),
        Prim::Exp2Sum => a[0].exp2(),
        Prim::Exp2SumNonpositive => (a[0] * a[1]).exp2(),
        Prim::Log => a[0].ln(),
        Prim::Sin => a[0].sin(),
        Prim::Cos => a[0].cos(),
        Prim::Tanh => a[0].tanh(),
        Prim::Exp2 => a[0].exp2(),
        Prim::Expm1 => a[0].exp_m1(),
        Prim::Log2 => a[0].log2(),
        Prim::Log1p => a[0].ln_1p(),
        Prim::Tan => a[0].tan(),
        Prim::Asin => a[0].asin(),
        Prim::Acos => a[0].acos(),
        Prim::Atan2 => a[0].atan2(a[1]),
        Prim::Sinh => a[0].sinh(),
        Prim::Cosh => a[0].cosh(),
        Prim::Erf => erf::reference(a[0]),
        Prim::Erfc => erfc::reference(a[0]),
        Prim::Powf => a[0].powf(a[1]),
        Prim::Select => {
            if a[0] != 0.0 {
                a[1]
            } else {
                a[2]
            }
        }
        Prim::IndexLow => a[0] % 65536.0,
        Prim::IndexHigh => (a[0] / 65536.0).floor(),
        Prim::Lt | Prim::IndexLt => f64::from(a[0] < a[1]),
        Prim::Le => f64::from(a[0] <= a[1]),
        Prim::Eq | Prim::IndexEq => f64::from(a[0] == a[1]),
        Prim::And => a[0] * a[1],
        Prim::Or => a[0].max(a[1]),
        Prim::Not => 1.0 - a[0],
    }
}
