//! PTX of all items of a macro call, from one child compiler.

use super::compiled::{Compiled, Role};
use crate::emit::{self, Dialect, ValueTypes};
use crate::item::Arithmetic;
use crate::lower::kernel::KernelIr;
use crate::ptx::{self, Outcome};
use crate::types::Shape;
use keops_gpu_kernels::abi::{MOST_TILE_ROWS, SHARED_BYTES, listed_words};
use keops_gpu_kernels::device::{self, Entry, Input, Output, ValueType};
use std::collections::BTreeSet;

/// The device code of a macro call.
#[derive(Debug)]
pub struct DeviceCode {
    /// The device crate, for [`ptx::compile_with`].
    pub source: String,
    /// For each item, in order, its name and its entry points: none where there is a reason against it.
    pub items: Vec<(String, Vec<Entry>)>,
    /// For each item why it has no device code, if so.
    pub reasons: Vec<Option<String>>,
}

/// The device code of some items.
pub(super) fn code(items: &[&Compiled]) -> DeviceCode {
    let mut kernels = String::new();
    let mut entries = vec![];
    let mut names = vec![];
    let mut reasons = vec![];
    for item in items {
        let first = entries.len();
        let numbers = device_kernels(item);
        let reason = numbers
            .iter()
            .find_map(|&number| too_long(&item.kernels[number].1, item.types));
        let numbers = if reason.is_none() {
            numbers
        } else {
            BTreeSet::new()
        };
        reasons.push(reason);
        for number in numbers {
            let ir = &item.kernels[number].1;
            let [single, double] = item.entries(number);
            let ty = item.kernel_type(number);
            kernels.push_str(&emit::kernel(
                ir,
                &ty,
                item.types,
                Dialect {
                    kernels: "::keops_gpu_kernels",
                    copy: "impl Copy for NAME {}",
                    dimensions: &[],
                },
            ));
            match item.types {
                ValueTypes::F32 => entries.push(entry(item, single, &ty, ValueType::F32, ir)),
                ValueTypes::F64 => entries.push(entry(item, double, &ty, ValueType::F64, ir)),
                ValueTypes::Generic => {
                    entries.push(entry(item, single, &ty, ValueType::F32, ir));
                    entries.push(entry(item, double, &ty, ValueType::F64, ir));
                }
            }
        }
        names.push((item.name.to_string(), entries[first..].to_vec()));
    }
    DeviceCode {
        source: device::source(&kernels, &entries),
        items: names,
        reasons,
    }
}

impl DeviceCode {
    /// The PTX of the whole crate as one module per item.
    pub fn split(&self, ptx: &str) -> Vec<String> {
        let names = self.items.iter().map(|(_, entries)| entries);
        let names: Vec<Vec<&str>> = names
            .map(|entries| entries.iter().map(|e| e.name.as_str()).collect())
            .collect();
        ptx::split(ptx, &names)
    }
}

/// For each item its PTX module, or the reason why there is none; or a message for a compile error.
pub(super) fn modules(items: &[&Compiled]) -> Result<Vec<Result<String, String>>, String> {
    let code = code(items);
    let reasons = || code.reasons.iter().cloned();
    if code.reasons.iter().all(Option::is_some) {
        return Ok(reasons()
            .map(|reason| Err(reason.unwrap_or_default()))
            .collect());
    }
    match ptx::compile(&code.source)? {
        Outcome::Ptx(text) => {
            let modules = code.split(&text);
            let results = modules.into_iter().zip(reasons());
            let results: Vec<Result<String, String>> = results
                .map(|(module, reason)| reason.map_or(Ok(module), Err))
                .collect();
            for (item, module) in items.iter().zip(&results) {
                if let Ok(module) = module {
                    ptx::export(&item.name.to_string(), module)?;
                }
            }
            Ok(results)
        }
        Outcome::Unavailable(reason) => Ok(reasons()
            .map(|own| Err(own.unwrap_or_else(|| reason.clone())))
            .collect()),
    }
}

/// Why a kernel has no device code: a block's shared memory does not hold an inner row.
fn too_long(ir: &KernelIr, types: ValueTypes) -> Option<String> {
    let (size, name) = match types {
        ValueTypes::F32 => (4, "f32"),
        ValueTypes::F64 | ValueTypes::Generic => (8, "f64"),
    };
    let words = if ir.listed.is_empty() {
        0
    } else {
        listed_words(MOST_TILE_ROWS)
    };
    let (most, used) = ((SHARED_BYTES - 4 * words) / size, ir.inner_used);
    (used > most).then(|| {
        format!(
            "a pair needs {used} numbers of its inner row, and a GPU's block has room for {most} of type {name}"
        )
    })
}

/// The kernels that get device code: those of the formula, of the fused derivative, of both in one and of the derivative
/// along tangents. A
/// device computes the derivative with respect to one input by those passes of the fused one that it needs: entries of its
/// own would only make the module and the build longer.
fn device_kernels(item: &Compiled) -> BTreeSet<usize> {
    let functions = item
        .functions
        .iter()
        .filter(|f| !matches!(f.role, Role::Grad(_)));
    functions.flat_map(|f| f.kernels.iter().copied()).collect()
}

/// The entry point of a kernel at one value type.
fn entry(
    item: &Compiled,
    name: String,
    kernel: &str,
    value_type: ValueType,
    ir: &KernelIr,
) -> Entry {
    let variables = |slots: &[usize]| slots.iter().map(|&s| variable(item, ir, s)).collect();
    Entry {
        name,
        kernel: kernel.to_owned(),
        value_type,
        fast_math: item.formula.arithmetic == Arithmetic::FastMath,
        outer: variables(&ir.outer_slots),
        inner: variables(&ir.inner_slots),
        outputs: ir
            .outputs
            .iter()
            .map(|o| Output {
                columns: o.shape.len(),
                is_index: o.index,
            })
            .collect(),
    }
}

/// A slot of the function that the kernel belongs to.
fn variable(item: &Compiled, ir: &KernelIr, slot: usize) -> Input {
    let owner = item
        .functions
        .iter()
        .find(|f| f.function.passes.contains(ir));
    let found = owner.and_then(|f| {
        let outputs = f.function.passes.iter().flat_map(|p| &p.outputs);
        let made = outputs.map(|o| (o.shape, o.index));
        let inputs = f.function.inputs.iter().map(|i| (i.shape, false));
        inputs.chain(made).nth(slot)
    });
    let (shape, is_index) = found.unwrap_or((Shape::Scalar, false));
    Input {
        columns: shape.len(),
        is_index,
        lists: ir.listed.contains(&slot),
    }
}
