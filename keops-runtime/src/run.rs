//! [`run`]: checks the inputs of a function, then executes its passes over slots.
use keops_gpu_kernels::real::Real;

use crate::choose::{self, Choice};
use crate::cpu::engine::Job;
use crate::cpu::isa;
use crate::cpu::listed::{self, List};
use crate::cpu::pack::Source;
use crate::cpu::scratch::Scratch;
use crate::cpu::table::Table;
use crate::cuda::{self, driver::Failure, launch::Launch};
use crate::error::Error;
use crate::float::Float;
use crate::input::Rows;
use crate::options::{Accumulate, Options};
use crate::output::{Data, Value};
use crate::plan::{Axis, Code, Function, Input, Parameter, Pass};

/// Runs `function`, whose passes have the kernels of `tables`, on `inputs`, which are in the order of its signature. It
/// has no kernels on a device here; expansions run [`Code`].
///
/// Everything is checked first: the shape of each input, equal numbers of rows along each axis, the backend. Then the
/// passes run in order, and the outputs of the function are returned.
///
/// # Errors
/// See [`Error`]. Nothing has been computed then, except when memory runs out between two passes.
///
/// # Panics
/// When `function`, `tables` and `inputs` do not belong together, which an expansion of `keops!` never does.
pub fn run<T: Float>(
    function: &'static Function,
    tables: &[Table<T>],
    inputs: &[&Rows<'_, T>],
    options: &Options,
) -> Result<Vec<Value<T>>, Error> {
    let code = Code {
        cpu: function,
        tables,
        device: function,
        launches: &[],
    };
    T::run(&code, inputs, options)
}

/// Rows of the two axes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Extents {
    i: Option<usize>,
    j: Option<usize>,
}

impl Extents {
    pub(crate) fn get(&self, axis: Axis) -> usize {
        let rows = match axis {
            Axis::I => self.i,
            Axis::J => self.j,
        };
        rows.expect("an axis that a formula uses has a variable")
    }
}

/// What a slot holds.
enum Slot<'s, 'a, T> {
    Input(&'s Rows<'a, T>),
    Made(Value<T>),
}

impl<T: Float> Slot<'_, '_, T> {
    /// The pairs that it lists.
    fn list(&self, is_outer: bool) -> List<'_> {
        match self {
            Slot::Made(Value {
                shape,
                data: Data::Indices(indices),
                ..
            }) => List {
                indices,
                columns: shape.len(),
                is_outer,
            },
            _ => unreachable!("pairs are listed by indices, which passes make"),
        }
    }
    fn source(&self) -> Source<'_, T> {
        match self {
            Slot::Input(rows) => rows.source(),
            Slot::Made(Value { rows, shape, data }) => {
                let rows = rows.unwrap_or(1);
                match data {
                    Data::Values(values) => Source::contiguous(values, rows, 1, shape.len()),
                    Data::Indices(indices) => Source::indices(indices, rows, shape.len()),
                    Data::Device(..) => unreachable!("the CPU makes no slots on a device"),
                }
            }
        }
    }
}

/// [`run`] at one value type; called through [`Float::run`] only.
pub(crate) fn run_code<T: Float>(
    code: &Code<'_, T>,
    inputs: &[&Rows<'_, T>],
    options: &Options,
) -> Result<Vec<Value<T>>, Error> {
    let function = code.cpu;
    assert_eq!(
        function.passes.len(),
        code.tables.len(),
        "one table for each pass"
    );
    assert_eq!(
        function.inputs.len(),
        inputs.len(),
        "one array for each input"
    );
    let extents = check(function, inputs)?;
    let settled = choose::settle(code.device, code.launches, inputs, extents, options)?;
    if let Some(gpus) = &settled.gpus {
        let call = cuda::run::Call {
            function: code.device,
            ptx: code.device.ptx.unwrap_or_default(),
            launches: code.launches,
            inputs,
            extents: [extents.i.unwrap_or(0), extents.j.unwrap_or(0)],
            each_row: options.accumulate != Accumulate::Block,
            stays: options.stays,
        };
        match cuda::run::run(&call, gpus) {
            // Nobody asked for the device, and the CPU needs less memory.
            Err(Failure::Memory { .. }) if settled.is_free => {}
            result => return result.map_err(|failure| failure.of(function.name)),
        }
    }
    let mut slots: Vec<Slot<'_, '_, T>> = inputs.iter().map(|rows| Slot::Input(rows)).collect();
    for (pass, table) in function.passes.iter().zip(code.tables) {
        let made = run_pass(function, pass, table, &slots, extents, options)?;
        slots.extend(made.into_iter().map(Slot::Made));
    }
    collect(function, slots)
}

/// Where `function` would run on `inputs`; called through [`Float::choose`] only.
pub(crate) fn choose<T: Float>(
    function: &'static Function,
    launches: &[Launch],
    inputs: &[&Rows<'_, T>],
    options: &Options,
) -> Result<Choice, Error> {
    let extents = check(function, inputs)?;
    Ok(choose::settle(function, launches, inputs, extents, options)?.choice)
}

/// How many passes of a function the CPU engine runs over listed pairs only, of inputs that fit it: for programs that test it.
///
/// # Errors
/// As [`run`].
pub fn listed_passes<T: Float>(
    code: &Code<'_, T>,
    inputs: &[&Rows<'_, T>],
    options: &Options,
) -> Result<usize, Error> {
    let function = code.cpu;
    let extents = check(function, inputs)?;
    let rows = |axis: Option<Axis>| axis.map_or(1, |axis| extents.get(axis));
    let made: Vec<_> = function.passes.iter().flat_map(|p| p.outputs).collect();
    let runs_listed = |(pass, table): &(&Pass, &Table<T>)| {
        let entry = table.entry(options.level.unwrap_or_else(isa::level));
        let pairs = pass.listed.iter().map(|slot| {
            let output = made[slot - function.inputs.len()];
            rows(output.axis) * output.shape.len()
        });
        let groups = rows(pass.outer).div_ceil(entry.lanes * entry.r);
        !pass.listed.is_empty() && listed::pays(pairs.sum(), groups, rows(pass.inner))
    };
    let passes = function.passes.iter().zip(code.tables);
    Ok(passes.filter(runs_listed).count())
}

/// Checks all inputs and returns the numbers of rows.
fn check<T: Float>(function: &'static Function, inputs: &[&Rows<'_, T>]) -> Result<Extents, Error> {
    let mut extents = Extents::default();
    let mut firsts = [""; 2];
    for (input, rows) in function.inputs.iter().zip(inputs) {
        let rows = rows.check(function.name, input)?;
        let (extent, first) = match input.axis {
            None => continue,
            Some(Axis::I) => (&mut extents.i, &mut firsts[0]),
            Some(Axis::J) => (&mut extents.j, &mut firsts[1]),
        };
        match *extent {
            None => (*extent, *first) = (Some(rows), input.name),
            Some(first_rows) if first_rows != rows => {
                return Err(Error::Rows {
                    function: function.name,
                    first,
                    first_rows,
                    second: input.name,
                    second_rows: rows,
                    axis: input.axis.unwrap_or(Axis::I).letter(),
                });
            }
            Some(_) => {}
        }
    }
    for pass in function.passes {
        if let (Some(reduction), Some(inner)) = (pass.needs_rows, pass.inner) {
            let empty = pass.outer.is_some_and(|outer| extents.get(outer) == 0);
            if extents.get(inner) == 0 && !empty {
                let variable = if inner == Axis::I {
                    firsts[0]
                } else {
                    firsts[1]
                };
                let axis = inner.letter();
                return Err(Error::EmptyReduction {
                    function: function.name,
                    reduction,
                    variable,
                    axis,
                });
            }
        }
    }
    Ok(extents)
}

/// Runs one pass and returns its outputs.
fn run_pass<T: Float>(
    function: &'static Function,
    pass: &'static Pass,
    table: &Table<T>,
    slots: &[Slot<'_, '_, T>],
    extents: Extents,
    options: &Options,
) -> Result<Vec<Value<T>>, Error> {
    let out_of_memory = |purpose, bytes| Error::OutOfMemory {
        function: function.name,
        purpose,
        bytes,
    };
    let outer: Vec<Source<'_, T>> = pass
        .outer_slots
        .iter()
        .map(|&slot| slots[slot].source())
        .collect();
    let inner: Vec<Source<'_, T>> = pass
        .inner_slots
        .iter()
        .map(|&slot| slots[slot].source())
        .collect();

    let lengths = [table.sizes.params, table.sizes.state];
    let mut scratch =
        Scratch::new::<T>(&lengths).map_err(|bytes| out_of_memory("of working memory", bytes))?;
    let [params, neutral] = scratch.split(lengths);
    let mut at = 0;
    for parameter in pass.parameters {
        match *parameter {
            Parameter::Slot(slot) => {
                let source = slots[slot].source();
                source.copy_row(&mut params[at..]);
                at += source.columns();
            }
            Parameter::Extent(axis) => {
                params[at] = <T as Real>::of(extents.get(axis) as f64);
                at += 1;
            }
        }
    }
    assert_eq!(
        at, table.sizes.params_raw,
        "parameter columns of the kernel"
    );
    params[at..].fill(T::default());
    neutral.fill(T::default());
    table.prepare(params, neutral);

    let listed: Vec<List<'_>> = pass
        .listed
        .iter()
        .map(|slot| slots[*slot].list(pass.outer_slots.contains(slot)))
        .collect();
    let job = Job {
        table,
        entry: table.entry(options.level.unwrap_or_else(isa::level)),
        outer: &outer,
        inner: &inner,
        params,
        neutral,
        m: pass.outer.map_or(1, |axis| extents.get(axis)),
        n: pass.inner.map_or(0, |axis| extents.get(axis)),
        numbers: None,
        listed: &listed,
        each_row: options.accumulate != Accumulate::Block,
    };
    let shapes: Vec<(usize, bool)> = pass
        .outputs
        .iter()
        .map(|output| (output.shape.len(), output.index))
        .collect();
    let made = job
        .run(&shapes)
        .map_err(|error| out_of_memory(error.purpose, error.bytes))?;
    Ok(made
        .into_iter()
        .zip(pass.outputs)
        .map(|(data, output)| Value {
            rows: output.axis.map(|axis| extents.get(axis)),
            shape: output.shape,
            data,
        })
        .collect())
}

/// Takes the outputs out of the slots.
fn collect<T: Float>(
    function: &'static Function,
    slots: Vec<Slot<'_, '_, T>>,
) -> Result<Vec<Value<T>>, Error> {
    let mut slots: Vec<Option<Slot<'_, '_, T>>> = slots.into_iter().map(Some).collect();
    let mut values = Vec::with_capacity(function.outputs.len());
    for (k, &slot) in function.outputs.iter().enumerate() {
        let again = function.outputs[k + 1..].contains(&slot);
        values.push(match &slots[slot] {
            Some(Slot::Made(_)) if !again => match slots[slot].take() {
                Some(Slot::Made(value)) => value,
                _ => unreachable!("just seen"),
            },
            Some(other) => {
                copy(other, function.inputs.get(slot)).map_err(|bytes| Error::OutOfMemory {
                    function: function.name,
                    purpose: "of output",
                    bytes,
                })?
            }
            None => unreachable!("a slot is taken at its last use"),
        });
    }
    Ok(values)
}

/// A copy of a slot that is an input or is returned more than once. The error is the number of bytes asked for.
fn copy<T: Float>(slot: &Slot<'_, '_, T>, input: Option<&Input>) -> Result<Value<T>, usize> {
    match (slot, input) {
        (Slot::Input(rows), Some(input)) => {
            let source = rows.source();
            let rows = input.axis.map(|_| source.dim().0);
            Ok(Value {
                rows,
                shape: input.shape,
                data: Data::Values(source.to_vec()?),
            })
        }
        (Slot::Made(value), _) => value.try_clone(),
        (Slot::Input(_), None) => unreachable!("inputs have descriptions"),
    }
}
