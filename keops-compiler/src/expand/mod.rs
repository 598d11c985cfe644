//! From the macro's tokens to its expansion: glue between the front end, the compiler and both back ends.
//!
//! Invariants: this directory is the only place that names `::keops::__private`; an error never hides another: everything
//! that can be reported is; the expansion is a function of the tokens (and of `KEOPS_PTX`, see [`ptx`](crate::ptx)).

mod bare;
mod compiled;
mod derivatives;
mod device;
mod generic;
mod host;
mod names;
mod parameters;
mod plan;
mod stub;

use crate::check::error::CheckError;
use crate::check::parse_and_check;
use crate::diagnostics::Diagnostics;
use crate::dimensions::Samples;
use crate::emit::ValueTypes;
use crate::function::{Formula, Input};
use crate::graph::Kind;
use crate::graph::complex::shape_of;
use crate::item::{Item, Origin, Program, Scalar};
use crate::syntax::Form;
use compiled::Compiled;
pub use compiled::Role;
pub use device::DeviceCode;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

/// Expands one call of `keops!`.
pub fn expand(tokens: TokenStream) -> TokenStream {
    let samples = Samples::of(&tokens);
    if !samples.is_empty() {
        return generic::expand(&tokens, &samples);
    }
    let (program, diagnostics) = parse_and_check(tokens);
    if !diagnostics.is_empty() {
        return report(&program, &diagnostics);
    }
    let items = compile(&program, "");
    let excess = too_much(&program, &items);
    if !excess.is_empty() {
        return report(&program, &excess);
    }
    match device::modules(&items.iter().collect::<Vec<_>>()) {
        Ok(modules) => whole(&program, &items, &modules),
        Err(message) => quote_spanned!(Span::call_site()=> ::core::compile_error!{#message}),
    }
}

/// The expansion of a program with errors.
fn report(program: &Program, diagnostics: &Diagnostics) -> TokenStream {
    let errors = diagnostics.to_tokens(program.form);
    match program.form {
        Form::Items => stub::stubs(program, &errors),
        Form::Expression => errors,
    }
}

/// The expansion of a correct program, given its items and for each its PTX.
fn whole(program: &Program, items: &[Compiled], modules: &[Result<String, String>]) -> TokenStream {
    let expanded: TokenStream = items
        .iter()
        .zip(modules)
        .map(|(item, ptx)| host::item(item, ptx))
        .collect();
    match program.form {
        Form::Items => expanded,
        Form::Expression => {
            let calls = items.iter().zip(&program.items).map(|(item, checked)| {
                let name = &item.name;
                let variables = &checked.signature.variables;
                let arguments = variables
                    .iter()
                    .map(|v| Ident::new(&v.name.text, v.name.span));
                quote!(#name(#(&#arguments),*))
            });
            quote!({ #expanded #(#calls)* })
        }
    }
}

/// The formulas of all items, derivatives of earlier items included.
pub fn formulas(program: &Program) -> Vec<Formula> {
    let mut formulas: Vec<Formula> = vec![];
    for item in &program.items {
        let mut formula = match item.origin {
            Origin::Formula => {
                let complex = item.results.iter().map(|r| shape_of(r.ty));
                Formula::new(inputs(item), &item.graph, &item.outputs)
                    .with_complex(complex.collect())
            }
            Origin::Gradient { of, wrt } => formulas[of].vjp(&[wrt]),
            Origin::Tangent { of, wrt } => formulas[of]
                .jvp_along(&[wrt])
                .expect("internal error in keops: the checker refuses tangents of indices"),
        };
        formula.arithmetic = item.signature.arithmetic.unwrap_or_default();
        formula.expand = item.signature.expand;
        formulas.push(formula);
    }
    formulas
}

/// The first thing that each item takes too much of, at the derivative that it comes from, if there is one.
fn too_much(program: &Program, items: &[Compiled]) -> Diagnostics {
    let mut errors = Diagnostics::new();
    for (item, compiled) in program.items.iter().zip(items) {
        let Some((what, excess)) = compiled.excess.first() else {
            continue;
        };
        let derivatives = item
            .graph
            .reachable(&item.outputs)
            .into_iter()
            .filter(|&id| matches!(item.graph.node(id).kind, Kind::Derivative(_)));
        let places = derivatives.rev().chain(item.outputs.iter().copied());
        let region = places.filter_map(|id| item.regions.get(&id)).next();
        let error = CheckError::TooMuch {
            what: what.clone(),
            excess: *excess,
        };
        errors.push(
            region.copied().unwrap_or(item.signature.name.region()),
            error,
        );
    }
    errors
}

/// The errors of a correct program that takes too much of something.
pub fn excess(program: &Program) -> Diagnostics {
    too_much(program, &compile(program, ""))
}

/// The kernels of those functions of a program's items that are wanted, and what the runtime is told of them, without call types,
/// see [`bare`]; `ptx` holds a module for each item, or the reason why there is none.
pub fn bare(
    program: &Program,
    wanted: &dyn Fn(usize, Role) -> bool,
    ptx: &[Result<String, String>],
) -> TokenStream {
    let items = compile_wanted(program, "", wanted);
    items
        .into_iter()
        .zip(ptx)
        .map(|(item, ptx)| bare::module(item, ptx))
        .collect()
}

/// The device code of [`bare`].
pub fn bare_device_code(program: &Program, wanted: &dyn Fn(usize, Role) -> bool) -> DeviceCode {
    let items = compile_wanted(program, "", wanted);
    device::code(&items.iter().collect::<Vec<_>>())
}

/// The device code of a checked macro call.
pub fn device_code(program: &Program) -> DeviceCode {
    device::code(&compile(program, "").iter().collect::<Vec<_>>())
}

fn inputs(item: &Item) -> Vec<Input> {
    let variables = item.signature.variables.iter();
    variables
        .map(|v| Input {
            name: v.name.text.clone(),
            axis: v.axis,
            shape: v.shape,
            complex: v.complex,
            cotangent: false,
        })
        .collect()
}

/// Compiles all items; `suffix` is appended to their names.
fn compile(program: &Program, suffix: &str) -> Vec<Compiled> {
    compile_wanted(program, suffix, &|_, _| true)
}

/// The same, of each item (by its number) only those functions that are wanted.
fn compile_wanted(
    program: &Program,
    suffix: &str,
    wanted: &dyn Fn(usize, Role) -> bool,
) -> Vec<Compiled> {
    let items = program.items.iter().zip(formulas(program)).enumerate();
    items
        .map(|(number, (item, formula))| {
            let signature = &item.signature;
            Compiled::new(
                Ident::new(
                    &format!("{}{suffix}", signature.name.text),
                    signature.name.span,
                ),
                signature.attributes.clone(),
                signature.visibility.clone(),
                item.formula.clone(),
                match signature.scalar {
                    Scalar::F32 => ValueTypes::F32,
                    Scalar::F64 => ValueTypes::F64,
                    Scalar::Generic(_) => ValueTypes::Generic,
                },
                signature
                    .dimensions
                    .iter()
                    .map(|d| d.text.clone())
                    .collect(),
                item.is_tuple,
                formula,
                &|role| wanted(number, role),
            )
        })
        .collect()
}
