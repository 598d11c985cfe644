//! Macro calls with const parameters: one expansion of those at several values, see [`dimensions`](crate::dimensions).
//!
//! Device code is made for the values that an attribute lists. Each is an item of its own to the device back end; the
//! generic expansion chooses among them by the values of the parameters.
//!
//! Invariant: at the values that callers may use, the generic expansion is the one that would be made for them. The samples
//! are large; where a formula changes its form below them, each smaller value is refused (`concat(x_i, y_j)[3]` reads y at
//! D = 3). Places counted downwards, as `v[D - 3]`, meet others at single values: there each value is tried.

use super::compiled::{Allowed, Compiled, Instance};
use super::{compile, device, host, report, too_much, whole};
use crate::budget::Size;
use crate::check::error::CheckError;
use crate::check::{parse_and_check, parse_and_check_at};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::dimensions::{Downwards, Mismatch, Samples, downwards, interpolate};
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
    let (program, diagnostics) = parse_and_check(tokens.clone());
    if !diagnostics.is_empty() {
        return report(&program, &diagnostics);
    }
    let all: Vec<At> = (0..samples.len())
        .map(|k| {
            let (program, _) = parse_and_check_at(tokens.clone(), samples, samples.values(k));
            let items = without_unrolling(|| compile(&program, ""));
            (program, items)
        })
        .collect();
    let excess = excess(&all);
    if !excess.is_empty() {
        return report(&all[0].0, &excess);
    }
    finish(tokens, samples, all)
        .unwrap_or_else(|(span, message)| quote_spanned!(span=> ::core::compile_error!{#message}))
}

/// What takes too much: as much at all values of the parameters, or more the larger they are, since it is written out.
fn excess(all: &[At]) -> Diagnostics {
    let found = all.iter().map(|(program, items)| too_much(program, items));
    let mut found: Vec<Diagnostics> = found.collect();
    let messages =
        |of: &Diagnostics| -> Vec<String> { of.iter().map(Diagnostic::message).collect() };
    if found.iter().all(|of| messages(of) == messages(&found[0])) {
        return found.swap_remove(0);
    }
    let mut errors = Diagnostics::new();
    let some = found.iter().max_by_key(|of| of.len());
    for diagnostic in some.into_iter().flat_map(Diagnostics::iter) {
        errors.push(diagnostic.region, CheckError::WrittenOut);
    }
    errors
}

/// An error and the item that it is about.
type Failure = (Span, String);

fn finish(
    tokens: &TokenStream,
    samples: &Samples,
    mut all: Vec<At>,
) -> Result<TokenStream, Failure> {
    let count = all[0].0.items.len();
    let mut allowed = vec![];
    for number in 0..count {
        allowed.push(allowed_values(tokens, samples, &all, number)?);
    }
    let sizes = sizes(samples, &all)?;
    let instances = instances(tokens, samples, &allowed, &all[0].0)?;
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
    for (k, (_, items)) in all.iter_mut().enumerate() {
        for (number, item) in items.iter_mut().enumerate() {
            item.allowed.clone_from(&allowed[number]);
            item.sizes = sizes[number].iter().map(|of| of[k].clone()).collect();
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
         (where one has {found})\n\
         help: write a number for one of the dimensions"
    )
}

/// The expansion of one item by itself, without device code.
fn alone(item: &Compiled) -> TokenStream {
    without_unrolling(|| host::item(item, &Err(String::new())))
}

/// Most values that are tried one by one.
const TRIED: usize = 128;

/// The values of an item's parameters at which the formula is right (`v[2]` needs 3) and its kernels have the form that they
/// have at the samples.
fn allowed_values(
    tokens: &TokenStream,
    samples: &Samples,
    all: &[At],
    number: usize,
) -> Result<Allowed, Failure> {
    let signature = &all[0].0.items[number].signature;
    let fail = |mismatch| (signature.name.span, no_one_form(mismatch));
    let streams: Vec<TokenStream> = all.iter().map(|(_, items)| alone(&items[number])).collect();
    interpolate(samples, &streams).map_err(fail)?;
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
    let Downwards { names, bound } = downwards(tokens, &signature.name.text);
    let mut corner = samples.values(0).to_vec();
    // For each parameter its number among the samples', and whether something is subtracted from it.
    let mut parameters = vec![];
    for dimension in &signature.dimensions {
        let position = samples.names().iter().position(|n| *n == dimension.text);
        parameters.extend(position.map(|at| (at, names.contains(&dimension.text))));
    }
    let mut allowed = Allowed {
        least: vec![1; parameters.len()],
        except: vec![],
    };
    for (n, &(at, is_subtracted)) in parameters.iter().enumerate() {
        if is_subtracted {
            continue;
        }
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
        allowed.least[n] = right;
    }
    let subtracted = parameters.iter().enumerate().filter(|(_, p)| p.1);
    let subtracted: Vec<(usize, usize)> = subtracted.map(|(n, &(at, _))| (n, at)).collect();
    let small = || fail(Mismatch("another form where all are small".to_owned()));
    if subtracted.is_empty() {
        // Each is the least beside large others; all of them small must do, too.
        return match parameters.len() > 1 && !has_form(corner) {
            true => Err(small()),
            false => Ok(allowed),
        };
    }
    let count = u32::try_from(subtracted.len())
        .ok()
        .and_then(|n| bound.checked_pow(n));
    let Some(count) = count.filter(|&count| count <= TRIED) else {
        return Err((signature.name.span, too_many_to_try(&names)));
    };
    let has_others = subtracted.len() < parameters.len();
    let mut points: Vec<(Vec<usize>, bool)> = vec![];
    for number in 0..count {
        let mut rest = number;
        let point: Vec<usize> = subtracted
            .iter()
            .map(|_| (1 + rest % bound, rest /= bound).0)
            .collect();
        let with = |mut values: Vec<usize>| {
            for (&(_, at), &value) in subtracted.iter().zip(&point) {
                values[at] = value;
            }
            values
        };
        let right = has_form(with(samples.values(0).to_vec()))
            && (!has_others || has_form(with(corner.clone())));
        points.push((point, right));
    }
    for (k, &(n, _)) in subtracted.iter().enumerate() {
        let right = points.iter().filter(|(_, right)| *right);
        let least = right.map(|(point, _)| point[k]).min();
        allowed.least[n] = least.ok_or_else(small)?;
    }
    for (point, right) in points {
        let values = subtracted.iter().map(|&(n, _)| n).zip(point);
        let values: Vec<(usize, usize)> = values.collect();
        if !right && values.iter().all(|&(n, value)| value >= allowed.least[n]) {
            allowed.except.push(values);
        }
    }
    Ok(allowed)
}

fn too_many_to_try(names: &[String]) -> String {
    format!(
        "indices counted from the end, as `v[{} - 3]`, are too large here, or of too many const parameters: \
         each value at which two of them could meet is tried, at most {TRIED}\n\
         help: write a number for a dimension, or smaller numbers",
        names[0]
    )
}

/// For each item the sizes that depend on its parameters, each at all samples and once.
fn sizes(samples: &Samples, all: &[At]) -> Result<Vec<Vec<Vec<Size>>>, Failure> {
    let mut of_items = vec![];
    for number in 0..all[0].1.len() {
        let items: Vec<&Compiled> = all.iter().map(|(_, items)| &items[number]).collect();
        let mut own: Vec<Vec<Size>> = vec![];
        if !items[0].dimensions.is_empty() {
            let at: Vec<Vec<Size>> = items.iter().map(|item| item.all_sizes()).collect();
            for n in 0..at[0].len() {
                let of: Vec<Size> = at.iter().filter_map(|all| all.get(n).cloned()).collect();
                if of.len() < samples.len() || own.contains(&of) {
                    continue;
                }
                if of.iter().any(|size| *size != of[0]) {
                    own.push(of);
                } else if of[0].size > of[0].limit {
                    return Err((
                        items[0].name.span(),
                        format!("`{}`: {}", items[0].name, of[0]),
                    ));
                }
            }
        }
        of_items.push(own);
    }
    Ok(of_items)
}

/// An item's number, values that its attribute lists, and the item there.
type Listed = (usize, Vec<usize>, Rc<Compiled>);

/// The items at the values that their attributes list. The error says which values an item cannot have.
fn instances(
    tokens: &TokenStream,
    samples: &Samples,
    allowed: &[Allowed],
    program: &Program,
) -> Result<Vec<Listed>, Failure> {
    let mut assignments: Vec<&Vec<(String, usize)>> = vec![];
    for (item, allowed) in program.items.iter().zip(allowed) {
        for assignment in &item.signature.instances {
            let item = &item.signature.name;
            for ((name, value), least) in assignment.iter().zip(&allowed.least) {
                if value < least {
                    let message = format!(
                        "`{name}` cannot be {value} in `{}`: it must be at least {least}",
                        item.text
                    );
                    return Err((item.span, message));
                }
            }
            let is = |&(n, value): &(usize, usize)| assignment.get(n).is_some_and(|a| a.1 == value);
            if let Some(values) = allowed.except.iter().find(|values| values.iter().all(is)) {
                let text = values.iter().filter_map(|&(n, value)| {
                    Some(format!("`{}` cannot be {value}", assignment.get(n)?.0))
                });
                let text: Vec<String> = text.collect();
                return Err((
                    item.span,
                    format!("{} in `{}`", text.join(" where "), item.text),
                ));
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
                let too_large = looped.all_sizes().into_iter().find(|s| s.size > s.limit);
                if let Some(too_large) = too_large {
                    let named = samples.names().iter().zip(&values);
                    let own = named.filter(|(n, _)| assignment.iter().any(|(name, _)| name == *n));
                    let place: Vec<String> = own.map(|(n, v)| format!("{n} = {v}")).collect();
                    let message = format!("`{name}` at {}: {too_large}", place.join(", "));
                    return Err((checked.signature.name.span, message));
                }
                // What is bound and what parts are combined from is the generic kernel's; written out it may be too long.
                let fits = unrolled.excess.is_empty() && layouts(&unrolled) == layouts(&looped);
                let item = if fits { unrolled } else { looped };
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

#[cfg(test)]
mod tests {
    /// What the expansion of `fn f<const D: usize>(x_i: [f64; D], y_j: [f64; D]) = …` says of D.
    fn refused(formula: &str) -> Vec<String> {
        let item = format!("fn f<const D: usize>(x_i: [f64; D], y_j: [f64; D]) = sum_j {formula};");
        let text = crate::expand::expand(item.parse().unwrap()).to_string();
        let messages = text.split('"').filter(|m| m.starts_with("f: D "));
        messages.map(|m| m["f: D ".len()..].to_owned()).collect()
    }

    #[test]
    fn only_values_without_a_meaning_or_of_another_form_are_refused() {
        for (formula, least) in [
            ("x_i[1] * y_j", 2),
            ("sum(x_i[1..3]) * y_j", 3),
            ("square(x_i[..3]) * y_j[0..3] * norm2(x_i[..])", 3),
            ("outer(x_i, y_j)", 1),
            ("concat(x_i, y_j)[3]", 4),
            ("x_i[D - 1] * y_j[1..D][0]", 2),
        ] {
            assert_eq!(
                refused(formula),
                [format!("must be at least {least}")],
                "{formula}"
            );
        }
        let met = "grad(square(x_i[2]) * x_i[D - 3], x_i)[D - 3] * y_j";
        assert_eq!(refused(met), ["must be at least 3", "cannot be 5"]);
        // At D = 120, between the samples.
        assert!(refused(&met.replace(['2', '3'], "60")).is_empty());
    }
}
