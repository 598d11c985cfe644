//! What an expansion of `keops!` tells the runtime about one function: its inputs, its passes and its outputs.
//!
//! All of it is `'static` data built by the macro. A function is a list of *passes* over *slots*: slots 0.. are the
//! inputs in the order of the signature, each pass appends its outputs as further slots, and `outputs` says which slots
//! the caller receives. A pass reads a slot as outer rows, inner rows or parameters, whichever matches its axes; a slot
//! of indices is read as index bit patterns.
//!
//! Invariants, on which the runtime relies (it panics where they are broken, which only a faulty expansion can do): slots
//! are read after they are written; a slot read as outer or inner rows has one row for that axis; the columns a pass
//! reads and writes are as many as its kernel's constants say.

use crate::cpu::table::Table;
use crate::cuda::launch::Launch;
use crate::shape::Shape;

/// One of the two index ranges of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// i, of M rows
    I,
    /// j, of N rows
    J,
}

impl Axis {
    /// The letter of the index: `'i'` or `'j'`.
    pub const fn letter(self) -> char {
        match self {
            Axis::I => 'i',
            Axis::J => 'j',
        }
    }
}

/// An input of a function.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// The variable's name in the formula.
    pub name: &'static str,
    /// The axis it has one row for, or `None` for a parameter.
    pub axis: Option<Axis>,
    /// Shape of one row.
    pub shape: Shape,
    /// Whether it is the cotangent of this function, for error messages.
    pub cotangent: bool,
}

/// A parameter column group of a pass.
#[derive(Clone, Copy, Debug)]
pub enum Parameter {
    /// All numbers of this slot.
    Slot(usize),
    /// The number of rows of an axis, as a value.
    Extent(Axis),
}

/// An output of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Shape of one row.
    pub shape: Shape,
    /// Whether the columns are indices (bit patterns) rather than values.
    pub index: bool,
    /// The axis it has one row for: the pass's outer axis.
    pub axis: Option<Axis>,
}

/// One fold over all pairs of the outer and the inner axis.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The axis that has one result row each; `None`: one row in all.
    pub outer: Option<Axis>,
    /// The axis folded over; `None`: nothing is folded, the pass only maps outer rows.
    pub inner: Option<Axis>,
    /// Slots read as outer rows, their columns in this order.
    pub outer_slots: &'static [usize],
    /// Slots read as inner rows, their columns in this order.
    pub inner_slots: &'static [usize],
    /// Parameter columns in this order.
    pub parameters: &'static [Parameter],
    /// Outputs, their columns in this order; they become the next slots.
    pub outputs: &'static [Output],
    /// Slots of indices among those above, each of one of the two axes, that list rows of the other one. Pairs that none of them
    /// lists change no state, so an engine may leave them out. Empty: all pairs may matter.
    pub listed: &'static [usize],
    /// The reduction (as the user wrote it) that has no value when the inner axis is empty.
    pub needs_rows: Option<&'static str>,
}

/// One callable function: an item's forward evaluation or one of its derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The item's name, for errors.
    pub name: &'static str,
    /// Its inputs; slots 0..inputs.len().
    pub inputs: &'static [Input],
    /// Its passes, in order.
    pub passes: &'static [Pass],
    /// The slots returned.
    pub outputs: &'static [usize],
    /// PTX of the passes' kernels, or the reason why there is none.
    pub ptx: Result<&'static str, &'static str>,
}

/// A function with its code: what `call` runs.
#[derive(Clone, Copy, Debug)]
pub struct Code<'c, T> {
    /// As the CPU runs it.
    pub cpu: &'static Function,
    /// The kernels of its passes.
    pub tables: &'c [Table<T>],
    /// As a device runs it: another function of the same inputs, and with the same outputs, where that has no device code
    /// of its own. Its passes may be more than its outputs need.
    pub device: &'static Function,
    /// The device's kernels of its passes.
    pub launches: &'c [Launch],
}
