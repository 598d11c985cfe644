//! Macro calls with const parameters: one expansion of those at several values, see [`dimensions`](crate::dimensions).
//!
//! Device code is made for the values that an attribute lists. Each is an item of its own to the device back end; the
//! generic expansion chooses among them by the values of the parameters.
//!
//! Invariant: at the values that callers may use, the generic expansion is the one that would be made for them. The samples
//! are large; small values are tried one by one, because formulas of pieces (`concat`, slices) may change their form there.

use super::compiled::{Compiled, Instance};
use super::{compile, device, host, report, too_much, whole};
use crate::check::parse_and_check_at;
use crate::dimensions::{Mismatch, Samples, interpolate};
use crate::item::Program;
use crate::lower::kernel::KernelIr;
use crate::lower::without_unrolling;
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use std::rc::Rc;

/// A program and its items, at some values of the parameters.
type At = (Program, Vec<Compiled>);

/// Expands a macro call with const parameters.
pub(super) fn expand(tokens: &TokenStream, samples: &Samples) -> TokenStream {
    let mut all: Vec<At> = vec![];
    for k in 0..samples.len() {
        let (program, diagnostics) = parse_and_check_at(tokens.clone(), samples, samples.values(k));
        if !diagnostics.is_empty() {
            return report(&program, &diagnostics);
        }
        let items = without_unrolling(|| compile(&program, ""));
        let excess = too_much(&program, &items);
        if !excess.is_empty() {
            return report(&program, &excess);
        }
        all.push((program, items));
    }
    finish(tokens, samples, all)
        .unwrap_or_else(|(span, message)| quote_spanned!(span=> ::core::compile_error!{#message}))
}

/// An error and the item that it is about.
type Failure = (Span, String);

fn finish(
    tokens: &TokenStream,
    samples: &Samples,
    mut all: Vec<At>,
) -> Result<TokenStream, Failure> {
    let count = all[0].0.items.len();
    let mut least = vec![];
    for number in 0..count {
        least.push(least_values(tokens, samples, &all, number)?);
    }
    let instances = instances(tokens, samples, &least, &all[0].0)?;
    // Items without const parameters are the same in every sample.
    let is_plain = |item: &&Compiled| item.dimensions.is_empty();
    let plain: Vec<&Compiled> = all[0].1.iter().filter(is_plain).collect();
    let listed = instances.iter().map(|(_, _, item)| &**item);
    let of_device: Vec<&Compiled> = plain.iter().copied().chain(listed).collect();
    let modules = device::modules(&of_device).map_err(|message| (Span::call_site(), message))?;
    let (plain_modules, listed_modules) = modules.split_at(plain.len());
    let mut plain_modules = plain_modules.iter().cloned();
    let item_modules: Vec<Result<String, String>> = all[0]
        .1
        .iter()
        .map(|item| {
            let own = item.dimensions.is_empty().then(|| plain_modules.next());
            own.flatten().unwrap_or_else(|| Err(String::new()))
        })
        .collect();
    for (_, items) in &mut all {
        for (number, item) in items.iter_mut().enumerate() {
            item.least.clone_from(&least[number]);
            let listed = instances.iter().zip(listed_modules);
            item.instances = listed
                .filter(|((of, ..), _)| *of == number)
                .map(|((_, values, item), ptx)| Instance {
                    values: values.clone(),
                    item: item.clone(),
                    ptx: ptx.clone(),
                })
                .collect();
        }
    }
    let streams: Vec<TokenStream> = all
        .iter()
        .map(|(program, items)| without_unrolling(|| whole(program, items, &item_modules)))
        .collect();
    interpolate(samples, &streams)
        .map_err(|mismatch| (all[0].0.items[0].signature.name.span, no_one_form(mismatch)))
}

fn no_one_form(Mismatch(found): Mismatch) -> String {
    format!(
        "the kernels of this formula have no one form for all values of its const parameters \
         (something in them is {found})\n\
         help: write a number for one of the dimensions"
    )
}

/// The expansion of one item by itself, without device code.
fn alone(item: &Compiled) -> TokenStream {
    without_unrolling(|| host::item(item, &Err(String::new())))
}

/// For each parameter of an item the least value from which on the formula is right (`v[2]` needs 3) and its kernels have
/// the form that they have at the samples.
fn least_values(
    tokens: &TokenStream,
    samples: &Samples,
    all: &[At],
    number: usize,
) -> Result<Vec<usize>, Failure> {
    let signature = &all[0].0.items[number].signature;
    let streams: Vec<TokenStream> = all.iter().map(|(_, items)| alone(&items[number])).collect();
    interpolate(samples, &streams)
        .map_err(|mismatch| (signature.name.span, no_one_form(mismatch)))?;
    let has_form = |values: Vec<usize>| {
        let (program, _) = parse_and_check_at(tokens.clone(), samples, &values);
        let mut items = program.items.iter();
        let at = items.position(|i| i.signature.name.text == signature.name.text);
        at.is_some_and(|at| {
            let item = without_unrolling(|| compile(&program, "")).swap_remove(at);
            let mut streams = streams.clone();
            streams.push(alone(&item));
            interpolate(&samples.with(values), &streams).is_ok()
        })
    };
    let mut corner = samples.values(0).to_vec();
    let mut least = vec![];
    for dimension in &signature.dimensions {
        let position = samples.names().iter().position(|n| *n == dimension.text);
        let Some(at) = position else { continue };
        let with = |value: usize| {
            let mut values = samples.values(0).to_vec();
            values[at] = value;
            values
        };
        let (mut wrong, mut right) = (0, samples.values(0)[at]);
        if has_form(with(1)) {
            right = 1;
        }
        while right - wrong > 1 {
            let middle = usize::midpoint(wrong, right);
            if has_form(with(middle)) {
                right = middle;
            } else {
                wrong = middle;
            }
        }
        corner[at] = right;
        least.push(right);
    }
    // Each is the least beside large others; all of them small must do, too.
    if least.len() > 1 && !has_form(corner) {
        let span = signature.name.span;
        return Err((
            span,
            no_one_form(Mismatch("different where all are small".to_owned())),
        ));
    }
    Ok(least)
}

/// An item's number, values that its attribute lists, and the item there.
type Listed = (usize, Vec<usize>, Rc<Compiled>);

/// The items at the values that their attributes list. The error says which values an item cannot have.
fn instances(
    tokens: &TokenStream,
    samples: &Samples,
    least: &[Vec<usize>],
    program: &Program,
) -> Result<Vec<Listed>, Failure> {
    let mut assignments: Vec<&Vec<(String, usize)>> = vec![];
    for (item, least) in program.items.iter().zip(least) {
        for assignment in &item.signature.instances {
            for ((name, value), least) in assignment.iter().zip(least) {
                if value < least {
                    let item = &item.signature.name;
                    let message = format!(
                        "`{name}` cannot be {value} in `{}`: it must be at least {least}",
                        item.text
                    );
                    return Err((item.span, message));
                }
            }
            if !assignments.contains(&assignment) {
                assignments.push(assignment);
            }
        }
    }
    let mut instances: Vec<Listed> = vec![];
    for assignment in assignments {
        let mut values = samples.values(0).to_vec();
        for (name, value) in assignment {
            if let Some(at) = samples.names().iter().position(|n| n == name) {
                values[at] = *value;
            }
        }
        // Items that are not right at these values have not listed them.
        let (at, _) = parse_and_check_at(tokens.clone(), samples, &values);
        let suffix: String = assignment.iter().map(|(n, v)| format!("_{n}{v}")).collect();
        let unrolled = compile(&at, &suffix);
        let looped = without_unrolling(|| compile(&at, &suffix));
        for ((checked, unrolled), looped) in at.items.iter().zip(unrolled).zip(looped) {
            let name = &checked.signature.name.text;
            let mut all = program.items.iter().enumerate();
            let known = all.find(|(_, i)| i.signature.name.text == *name);
            if let Some((number, known)) = known
                && known.signature.instances.contains(assignment)
            {
                let values = assignment.iter().map(|(_, value)| *value).collect();
                // What is bound and what parts are combined from is the generic kernel's.
                let item = if layouts(&unrolled) == layouts(&looped) {
                    unrolled
                } else {
                    looped
                };
                instances.push((number, values, Rc::new(item)));
            }
        }
    }
    Ok(instances)
}

/// The columns and words of an item's kernels.
fn layouts(item: &Compiled) -> Vec<[usize; 8]> {
    let layout = |ir: &KernelIr| {
        [
            ir.params,
            ir.params_derived,
            ir.outer_raw,
            ir.outer_derived,
            ir.inner_raw,
            ir.inner_used,
            ir.row_words,
            ir.registers,
        ]
    };
    item.kernels.iter().map(|(_, ir)| layout(ir)).collect()
}
