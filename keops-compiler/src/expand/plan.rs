//! What an expansion tells the runtime about a function: its inputs, passes and outputs, and the kernels of both back ends.

use super::compiled::{Compiled, NamedFunction, Role};
use super::host::ident;
use super::parameters::{constant, dimensions, reference, value};
use crate::lower::kernel::{KernelIr, Parameter};
use crate::types::{Axis, Shape};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

pub(super) fn tables(item: &Compiled, function: &NamedFunction) -> TokenStream {
    let kernels = function.kernels.iter().map(|&n| {
        let kernel = kernel(item, n);
        quote!(k::table::<T, #kernel>())
    });
    quote!(const { &[#(#kernels),*] })
}

/// The type of a kernel.
fn kernel(item: &Compiled, number: usize) -> TokenStream {
    let kernel = ident(&item.kernel_type(number));
    if item.dimensions.is_empty() {
        return quote!(#kernel);
    }
    let (_, used) = dimensions(item);
    quote!(#kernel<#used>)
}

/// The device's kernels of a function.
pub(super) fn launches(item: &Compiled, function: &NamedFunction) -> TokenStream {
    let launches = function.kernels.iter().enumerate().map(|(pass, &n)| {
        let kernel = kernel(item, n);
        if item.dimensions.is_empty() {
            let [f32, f64] = item.entries(n);
            return quote!(k::launch::<T, #kernel>([#f32, #f64]));
        }
        let dimensions: Vec<Ident> = item.dimensions.iter().map(|d| ident(d)).collect();
        let listed = item.instances.iter().filter_map(|instance| {
            let functions = &instance.item.functions;
            let there = functions.iter().find(|f| f.role == function.role)?;
            let number = *there.kernels.get(pass)?;
            let kernel = ident(&instance.item.kernel_type(number));
            let [f32, f64] = instance.item.entries(number);
            let values = &instance.values;
            // Made for numbers, the device's kernel may need another launch than this one.
            Some(quote!((#(#values,)*) => k::launch::<T, #kernel>([#f32, #f64]),))
        });
        // Without an entry: there is no PTX then.
        quote!(match (#(#dimensions,)*) { #(#listed)* _ => k::launch::<T, #kernel>(["", ""]) })
    });
    quote!(const { &[#(#launches),*] })
}

/// A function with its kernels. A derivative with respect to one input has no device code of its own: a device runs those
/// passes of the fused one that it needs.
pub(super) fn code(item: &Compiled, function: &NamedFunction, name: &str) -> TokenStream {
    let (whole, tables) = (reference(item, name), tables(item, function));
    let fused = item.functions.iter().find(|f| f.role == Role::Vjp);
    match (function.role, fused) {
        (Role::Grad(n), Some(fused)) => {
            let launches = launches(item, fused);
            let output = fused.function.outputs[n];
            let (cpu, passes) = (value(item, name), value(item, "VJP_PASSES"));
            let device = constant(
                item,
                "DEVICE",
                &quote!(k::Function),
                &quote!(k::Function { passes: #passes, outputs: &[#output], ..#cpu }),
            );
            let reference = reference(item, "DEVICE");
            quote! {
                k::Code {
                    cpu: #whole,
                    tables: #tables,
                    device: {
                        #device
                        #reference
                    },
                    launches: #launches,
                }
            }
        }
        _ => {
            let launches = launches(item, function);
            quote!(k::Code { cpu: #whole, tables: #tables, device: #whole, launches: #launches })
        }
    }
}

/// What the runtime is told about a function, as a static of this name.
pub(super) fn function_static(
    item: &Compiled,
    function: &NamedFunction,
    variable: &str,
) -> TokenStream {
    let name = item.name.to_string();
    let own = item.formula.inputs.len();
    let inputs = function
        .function
        .inputs
        .iter()
        .enumerate()
        .map(|(n, input)| {
            let (name, axis, shape) = (&input.name, axis(input.axis), shape(input.shape));
            let cotangent = n >= own;
            quote!(k::Input { name: #name, axis: #axis, shape: #shape, cotangent: #cotangent })
        });
    let passes = match function.role {
        Role::Vjp => value(item, "VJP_PASSES"),
        _ => passes(function),
    };
    let outputs = &function.function.outputs;
    let ptx = value(item, "PTX");
    let function = quote! {
        k::Function {
            name: #name,
            inputs: &[#(#inputs),*],
            passes: #passes,
            outputs: &[#(#outputs),*],
            ptx: #ptx,
        }
    };
    constant(item, variable, &quote!(k::Function), &function)
}

/// The passes of a function.
pub(super) fn passes(function: &NamedFunction) -> TokenStream {
    let function = &function.function;
    let passes = function
        .passes
        .iter()
        .zip(&function.needs_rows)
        .map(|(ir, rows)| pass(ir, rows));
    quote!(&[#(#passes),*])
}

fn pass(ir: &KernelIr, needs_rows: &Option<String>) -> TokenStream {
    let (outer, inner) = (axis(ir.outer), axis(ir.inner));
    let (outer_slots, inner_slots) = (&ir.outer_slots, &ir.inner_slots);
    let parameters = ir.parameters.iter().map(|p| match p {
        Parameter::Slot(slot) => quote!(k::Parameter::Slot(#slot)),
        Parameter::Extent(a) => {
            let letter = axis_name(*a);
            quote!(k::Parameter::Extent(#letter))
        }
    });
    let outputs = ir.outputs.iter().map(|o| {
        let (shape, index) = (shape(o.shape), o.index);
        quote!(k::Output { shape: #shape, index: #index, axis: #outer })
    });
    let listed = &ir.listed;
    let needs_rows = match needs_rows {
        Some(name) => quote!(Some(#name)),
        None => quote!(None),
    };
    quote! {
        k::Pass {
            outer: #outer,
            inner: #inner,
            outer_slots: &[#(#outer_slots),*],
            inner_slots: &[#(#inner_slots),*],
            parameters: &[#(#parameters),*],
            outputs: &[#(#outputs),*],
            listed: &[#(#listed),*],
            needs_rows: #needs_rows,
        }
    }
}

fn axis_name(axis: Axis) -> TokenStream {
    match axis {
        Axis::I => quote!(k::Axis::I),
        Axis::J => quote!(k::Axis::J),
    }
}

fn axis(axis: Option<Axis>) -> TokenStream {
    axis.map_or(quote!(None), |a| {
        let name = axis_name(a);
        quote!(Some(#name))
    })
}

fn shape(shape: Shape) -> TokenStream {
    match shape {
        Shape::Scalar => quote!(k::Shape::Scalar),
        Shape::Vector(n) => quote!(k::Shape::Vector(#n)),
        Shape::Matrix(r, c) => quote!(k::Shape::Matrix(#r, #c)),
    }
}
