//! From the text of the kernels to the outputs of a launch: the module, and [`run_as`].
use std::path::PathBuf;
use std::sync::OnceLock;

use keops_compiler::ptx;
use keops_gpu_kernels::abi;
use keops_gpu_kernels::device::{Entry, Output, ValueType, source};
use keops_sim::{Error, Memory, Module, Options};

use crate::cases::{CASES, Case};

pub(crate) fn rustc() -> PathBuf {
    std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from)
}

/// The text of all entries, at both value types.
pub(crate) fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let entry = |case: &Case, value_type: ValueType| Entry {
            name: format!("{}_{}", case.name, value_type.name()),
            kernel: case.kernel.to_owned(),
            value_type,
            fast_math: false,
            outer: case.outer.iter().map(|&c| c.into()).collect(),
            inner: case.inner.iter().map(|&c| c.into()).collect(),
            outputs: case
                .outputs
                .iter()
                .map(|&(columns, is_index)| Output { columns, is_index })
                .collect(),
        };
        let entries: Vec<Entry> = CASES
            .iter()
            .flat_map(|case| [entry(case, ValueType::F32), entry(case, ValueType::F64)])
            .collect();
        let source = source(
            include_str!("../../../keops-compiler/tests/ptx/kernels.rs"),
            &entries,
        );
        ptx::compile_with(&rustc(), &source).unwrap_or_else(|reason| panic!("{reason}"))
    })
}

pub(crate) fn module() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| Module::parse(text()).unwrap_or_else(|error| panic!("{error}")))
}

pub(crate) fn bytes(values: &[f64], double: bool) -> Vec<u8> {
    if double {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    } else {
        values
            .iter()
            .flat_map(|value| (*value as f32).to_le_bytes())
            .collect()
    }
}

/// How an entry is launched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Into how many parts the inner rows are split; 0 for the phase that folds and finishes.
    pub(crate) parts: u32,
    /// Inner rows between merges; 0 for the default.
    pub(crate) flush: u32,
    /// The outer rows are split into launches of at most this many.
    pub(crate) rows: usize,
}

pub(crate) const WHOLE: Plan = Plan {
    parts: 0,
    flush: 0,
    rows: usize::MAX,
};

/// Runs an entry of `module` on m × n rows and returns the outputs, row by row, indices as numbers.
pub(crate) fn run(
    module: &Module,
    case: &Case,
    double: bool,
    m: usize,
    n: usize,
    options: &Options,
) -> Result<Vec<Vec<f64>>, Error> {
    run_as(WHOLE, module, case, double, m, n, options)
}

pub(crate) fn run_as(
    plan: Plan,
    module: &Module,
    case: &Case,
    double: bool,
    m: usize,
    n: usize,
    options: &Options,
) -> Result<Vec<Vec<f64>>, Error> {
    let mut rows = Vec::new();
    for first in (0..m).step_by(plan.rows.min(m.max(1))) {
        let count = plan.rows.min(m - first);
        rows.extend(launch(
            plan, module, case, double, first, count, m, n, options,
        )?);
    }
    Ok(rows)
}

/// Runs an entry on the outer rows `first .. first + m` of `all`.
#[allow(clippy::too_many_arguments, reason = "a launch has many")]
pub(crate) fn launch(
    plan: Plan,
    module: &Module,
    case: &Case,
    double: bool,
    first: usize,
    m: usize,
    all: usize,
    n: usize,
    options: &Options,
) -> Result<Vec<Vec<f64>>, Error> {
    let mut memory = Memory::new(1 << 30);
    let put = |memory: &mut Memory, values: &[f64]| {
        let bytes = bytes(values, double);
        let address = memory.allocate(bytes.len()).unwrap();
        memory.write(address, &bytes).unwrap();
        address
    };
    let value = if double { 8 } else { 4 };
    let about = &case.launch[usize::from(double)];
    // One part may be folded and combined too.
    let parts = if plan.parts == 0 {
        1
    } else {
        plan.parts.max(2)
    };
    let scratch = match (about.scratch_len)(m as u32, parts) as usize * value {
        0 => 0,
        bytes => memory.allocate(bytes).unwrap(),
    };
    let params = put(&mut memory, &(case.values)(case.params, 9));
    let mut pointers = vec![scratch, params];
    for (v, columns) in case.outer.iter().enumerate() {
        let values = &(case.values)(all * columns, 1 + v)[first * columns..(first + m) * columns];
        pointers.push(put(&mut memory, values));
    }
    for (v, columns) in case.inner.iter().enumerate() {
        pointers.push(put(&mut memory, &(case.values)(n * columns, 5 + v)));
    }
    let mut places = Vec::new();
    for (columns, is_index) in case.outputs {
        let size = if *is_index { 4 } else { value };
        let address = memory.allocate(m * columns * size).unwrap();
        pointers.push(address);
        places.push((address, size));
    }
    let name = format!("{}_{}", case.name, if double { "f64" } else { "f32" });
    let grid = (about.grid)(m as u32);
    let phases: &[(u32, u32)] = match plan.parts {
        0 => &[(abi::WHOLE, 1)],
        parts => &[(abi::FOLD, parts), (abi::COMBINE, 1)],
    };
    for (phase, parts) in phases.iter().copied().filter(|_| grid > 0) {
        let numbers = [
            m as u32,
            n as u32,
            first as u32,
            phase,
            plan.parts.max(1),
            plan.flush,
        ];
        let mut arguments: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        arguments.extend(pointers.iter().flat_map(|pointer| pointer.to_le_bytes()));
        module.launch(
            &mut memory,
            &name,
            [grid, parts, 1],
            [abi::BLOCK, 1, 1],
            0,
            &arguments,
            options,
        )?;
    }
    let mut rows = vec![Vec::new(); m];
    for ((columns, is_index), (address, size)) in case.outputs.iter().zip(places) {
        // Reading what the kernel did not write is an error as well.
        let mut bytes = vec![0; m * columns * size];
        memory.read(address, &mut bytes)?;
        for (i, row) in bytes.chunks_exact(columns * size).enumerate() {
            rows[i].extend(
                row.chunks_exact(size)
                    .map(|cell| match (*is_index, double) {
                        (true, _) => f64::from(u32::from_le_bytes(cell.try_into().unwrap())),
                        (_, true) => f64::from_le_bytes(cell.try_into().unwrap()),
                        (_, false) => f64::from(f32::from_le_bytes(cell.try_into().unwrap())),
                    }),
            );
        }
    }
    Ok(rows)
}
