//! Whole passes and functions: gathers columns, folds all pairs of each outer row, finishes.
//!
//! Invariant: slots hold one row per index of their axis, or a single one, exactly as the schedule numbers them.

use super::{Frame, run};
use crate::function::Function;
use crate::lower::kernel::{KernelIr, Parameter};
use crate::lower::{Reducer, Slot, Stmt};
use crate::types::Axis;

/// The accumulators of no rows.
fn neutral(ir: &KernelIr) -> Vec<f64> {
    let mut state = vec![f64::NAN; ir.registers];
    for slot in &ir.slots {
        for element in 0..slot.count {
            let at = slot.register + element * slot.reducer.registers();
            match slot.reducer {
                Reducer::Sum => state[at] = 0.0,
                Reducer::Prod => state[at..at + 2].copy_from_slice(&[1.0, 0.0]),
                Reducer::Min => state[at] = f64::INFINITY,
                Reducer::Max => state[at] = f64::NEG_INFINITY,
                Reducer::KMin(k) => {
                    state[at..at + k].fill(f64::INFINITY);
                    state[at + k..at + 2 * k].fill(f64::from(u32::MAX));
                }
                Reducer::LogSumExp(sums) => {
                    state[at] = -f64::MAX;
                    state[at + 1..at + 2 + sums].fill(0.0);
                }
            }
        }
    }
    state
}

/// Accumulators as a finished state row.
fn flush(slots: &[Slot], words: usize, state: &[f64]) -> Vec<f64> {
    let mut row = vec![f64::NAN; words];
    for slot in slots {
        for element in 0..slot.count {
            let from = &state[slot.register + element * slot.reducer.registers()..];
            let to = &mut row[slot.row + element * slot.reducer.row_words()..];
            match slot.reducer {
                Reducer::Sum => to[..2].copy_from_slice(&[from[0], 0.0]),
                Reducer::Min | Reducer::Max => to[0] = from[0],
                Reducer::Prod => to[..2].copy_from_slice(&from[..2]),
                Reducer::KMin(k) => to[..2 * k].copy_from_slice(&from[..2 * k]),
                Reducer::LogSumExp(sums) => {
                    to[0] = from[0];
                    for s in 0..=sums {
                        to[1 + 2 * s..3 + 2 * s].copy_from_slice(&[from[1 + s], 0.0]);
                    }
                }
            }
        }
    }
    row
}

/// The rows of a slot: one per index of its axis, or a single one.
pub type Rows = Vec<Vec<f64>>;

fn derived(stmts: &[Stmt], frame: &Frame) -> Vec<f64> {
    let mut frame = Frame {
        put: vec![],
        ..frame.clone()
    };
    run(stmts, &mut frame);
    frame.put
}

/// The parameter columns of a pass, raw and derived.
pub fn parameters(ir: &KernelIr, slots: &[Rows], m: usize, n: usize) -> Vec<f64> {
    let mut base = Frame::default();
    for parameter in &ir.parameters {
        match parameter {
            Parameter::Slot(s) => base.parameters.extend(&slots[*s][0]),
            Parameter::Extent(Axis::I) => base.parameters.push(m as f64),
            Parameter::Extent(Axis::J) => base.parameters.push(n as f64),
        }
    }
    let put = derived(&ir.prepare_params, &base);
    extend(&mut base.parameters, &put, ir.params);
    base.parameters
}

/// Runs one pass: the rows of each of its outputs.
pub fn run_pass(ir: &KernelIr, slots: &[Rows], m: usize, n: usize) -> Vec<Rows> {
    let rows = |axis: Option<Axis>| axis.map_or(1, |a| if a == Axis::I { m } else { n });
    let gather = |numbers: &[usize], row: usize| -> Vec<f64> {
        numbers
            .iter()
            .flat_map(|&s| slots[s][row.min(slots[s].len() - 1)].clone())
            .collect()
    };
    let base = Frame {
        parameters: parameters(ir, slots, m, n),
        ..Frame::default()
    };

    let mut outputs: Vec<Rows> = vec![vec![]; ir.outputs.len()];
    for outer_index in 0..rows(ir.outer) {
        let mut frame = Frame {
            outer: gather(&ir.outer_slots, outer_index),
            outer_index,
            ..base.clone()
        };
        let put = derived(&ir.prepare_outer, &frame);
        extend(&mut frame.outer, &put, ir.outer_raw);
        frame.state = neutral(ir);
        let n = ir.inner.map_or(0, |a| rows(Some(a)));
        // As an engine that takes three outer rows at a time.
        let (begin, end) = match &ir.bounds {
            None => (0, n),
            Some(bounds) => {
                let first = outer_index - outer_index % 3;
                let last = (first + 2).min(rows(ir.outer) - 1);
                let parameter = |column: usize| base.parameters[column];
                let (begin, end) = bounds.rows(first as i64, last as i64, n as i64, &parameter);
                (begin as usize, end as usize)
            }
        };
        for inner_index in (begin..end.max(begin)).rev() {
            if !is_listed(ir, slots, outer_index, inner_index) {
                continue;
            }
            let raw = gather(&ir.inner_slots, inner_index);
            (frame.inner, frame.inner_index) = (raw, inner_index);
            if !ir.inner_plain {
                frame.inner = derived(
                    &ir.prepare_inner,
                    &Frame {
                        outer: vec![],
                        ..frame.clone()
                    },
                );
            }
            run(&ir.step, &mut frame);
        }
        frame.row = flush(&ir.slots, ir.row_words, &frame.state);
        let put = derived(&ir.finish, &frame);
        let mut at = 0;
        for (output, columns) in outputs.iter_mut().zip(&ir.outputs) {
            output.push(put[at..at + columns.shape.len()].to_vec());
            at += columns.shape.len();
        }
    }
    outputs
}

/// Whether a pair can matter, by the slots that list pairs.
fn is_listed(ir: &KernelIr, slots: &[Rows], outer: usize, inner: usize) -> bool {
    let has = |slot: &usize| {
        let (row, other) = if ir.outer_slots.contains(slot) {
            (outer, inner)
        } else {
            (inner, outer)
        };
        slots[*slot][row].contains(&(other as f64))
    };
    ir.listed.is_empty() || ir.listed.iter().any(has)
}

/// Appends derived columns, written from column `first` on.
fn extend(columns: &mut Vec<f64>, put: &[f64], first: usize) {
    if put.len() > first {
        columns.extend(&put[first..]);
    }
}

/// Runs all passes of a function: the rows of each result.
pub fn run_function(function: &Function, inputs: &[Rows], m: usize, n: usize) -> Vec<Rows> {
    let mut slots = inputs.to_vec();
    for pass in &function.passes {
        let outputs = run_pass(pass, &slots, m, n);
        slots.extend(outputs);
    }
    function.outputs.iter().map(|&o| slots[o].clone()).collect()
}
