//! PTX of all items of a macro call, from one child compiler.

use super::compiled::{Compiled, Role};
use crate::emit::{self, ValueTypes};
use crate::lower::kernel::KernelIr;
use crate::ptx::{self, Outcome};
use crate::types::Shape;
use keops_gpu_kernels::device::{self, Entry, Output, ValueType};
use std::collections::BTreeSet;

/// For each item its PTX module, or the reason why there is none; or a message for a compile error.
pub(super) fn modules(items: &[Compiled]) -> Result<Vec<Result<String, String>>, String> {
    let mut kernels = String::new();
    let mut entries = vec![];
    let mut names = vec![];
    for item in items {
        let first = entries.len();
        for number in device_kernels(item) {
            let (name, ir) = &item.kernels[number];
            let ty = item.kernel_type(number);
            kernels.push_str(&emit::kernel(
                ir,
                &ty,
                item.types,
                "::keops_gpu_kernels",
                "impl Copy for NAME {}",
            ));
            match item.types {
                ValueTypes::F32 => entries.push(entry(item, name.clone(), &ty, ValueType::F32, ir)),
                ValueTypes::F64 => entries.push(entry(item, name.clone(), &ty, ValueType::F64, ir)),
                ValueTypes::Generic => {
                    entries.push(entry(item, format!("{name}_f32"), &ty, ValueType::F32, ir));
                    entries.push(entry(item, format!("{name}_f64"), &ty, ValueType::F64, ir));
                }
            }
        }
        names.push(
            entries[first..]
                .iter()
                .map(|e| e.name.clone())
                .collect::<Vec<_>>(),
        );
    }
    let outcome = ptx::compile(&device::source(&kernels, &entries))?;
    match outcome {
        Outcome::Ptx(text) => {
            let modules = ptx::split(&text, &names);
            for (item, module) in items.iter().zip(&modules) {
                ptx::export(&item.name.to_string(), module)?;
            }
            Ok(modules.into_iter().map(Ok).collect())
        }
        Outcome::Unavailable(reason) => Ok(items.iter().map(|_| Err(reason.clone())).collect()),
    }
}

/// The kernels that get device code: those of the formula and of the fused derivative. The derivative with respect to one
/// input is one of these where no other input has the same rows, and otherwise part of one: entries of its own would only
/// make the module and the build longer.
fn device_kernels(item: &Compiled) -> BTreeSet<usize> {
    let functions = item
        .functions
        .iter()
        .filter(|f| matches!(f.role, Role::Eval | Role::Vjp));
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
    let columns = |slots: &[usize]| {
        slots
            .iter()
            .map(|&s| slot_shape(item, ir, s).len())
            .collect()
    };
    Entry {
        name,
        kernel: kernel.to_owned(),
        value_type,
        outer: columns(&ir.outer_slots),
        inner: columns(&ir.inner_slots),
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

/// The shape of a slot of the function that the kernel belongs to.
fn slot_shape(item: &Compiled, ir: &KernelIr, slot: usize) -> Shape {
    let owner = item
        .functions
        .iter()
        .find(|f| f.function.passes.contains(ir));
    owner.map_or(Shape::Scalar, |f| {
        let made = f
            .function
            .passes
            .iter()
            .flat_map(|p| p.outputs.iter().map(|o| o.shape));
        f.function
            .inputs
            .iter()
            .map(|i| i.shape)
            .chain(made)
            .nth(slot)
            .unwrap_or(Shape::Scalar)
    })
}
