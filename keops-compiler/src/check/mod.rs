//! Names, types and indices: [`Source`] → [`Program`].
//!
//! Never stops at the first error: every independent mistake is reported once. What failed has no value (`None`), and
//! nothing is said about what is made of it.

mod apply;
mod calculus;
mod complexes;
mod derivative;
pub mod error;
mod formula;
mod integers;
pub mod keops;
mod message;
mod operations;
mod reduction;
mod result;
pub mod scope;
mod signature;
mod subscript;
pub mod suggest;
mod wording;

use crate::diagnostics::Diagnostics;
use crate::dimensions::{self, MOST, Naming, Samples};
use crate::item::{Item, Origin, Program, Signature};
use crate::syntax::{ItemSource, Region, Source, parse};
use error::CheckError;
use proc_macro2::TokenStream;
use std::collections::BTreeMap;

/// Parses and checks a macro call. The program holds what is right, the diagnostics what is wrong.
///
/// Where items have const parameters, this is done for their [`Samples`]; the program is that of the first one, or of the
/// first one that is wrong.
pub fn parse_and_check(tokens: TokenStream) -> (Program, Diagnostics) {
    let samples = Samples::of(&tokens);
    let at = |k: usize| parse_and_check_at(tokens.clone(), &samples, samples.values(k));
    let (program, errors) = at(0);
    if samples.is_empty() {
        return (program, errors);
    }
    let others: Vec<(Program, Diagnostics)> = (1..samples.len()).map(at).collect();
    if !errors.is_empty() {
        let others: Vec<Diagnostics> = others.into_iter().map(|(_, errors)| errors).collect();
        return (program, errors.of_all_samples(&samples, &others));
    }
    for (k, (program, errors)) in (1..).zip(others) {
        if !errors.is_empty() {
            return (program, errors.of_sample(&samples, samples.values(k)));
        }
    }
    (program, errors)
}

/// The same with these numbers in place of the const parameters.
pub fn parse_and_check_at(
    tokens: TokenStream,
    samples: &Samples,
    values: &[usize],
) -> (Program, Diagnostics) {
    let mut errors = Diagnostics::new();
    errors.name(Naming::new(samples, values));
    for name in dimensions::unused(&tokens) {
        let error = CheckError::UnusedDimension {
            name: name.to_string(),
        };
        errors.push(Region::of(name.span()), error);
    }
    let names = samples.names().iter().cloned();
    let mut values: BTreeMap<String, usize> = names.zip(values.iter().copied()).collect();
    for name in dimensions::declared(&tokens) {
        // Beyond the most, which is reported below.
        values.entry(name).or_insert(1);
    }
    let source = parse::parse(dimensions::substitute(tokens, &values), &mut errors);
    let mut all: Vec<&str> = vec![];
    for name in source.items.iter().flat_map(|item| &item.dimensions) {
        if !all.contains(&name.text.as_str()) {
            all.push(&name.text);
            if all.len() > MOST {
                errors.push(name.region(), CheckError::TooManyDimensionNames);
            }
        }
    }
    let program = check(&source, &mut errors);
    (program, errors)
}

/// Checks a parsed macro call.
pub fn check(source: &Source, errors: &mut Diagnostics) -> Program {
    let mut program = Program {
        form: source.form,
        items: vec![],
        broken: vec![],
    };
    for (number, item) in source.items.iter().enumerate() {
        let earlier = source.items.iter().take(number);
        if earlier.clone().any(|e| e.name.text == item.name.text) {
            let error = CheckError::Duplicate {
                name: item.name.text.clone(),
                what: "formula",
            };
            errors.push(item.name.region(), error);
        }
        if let Some(why) = scope::reserved(&item.name.text) {
            errors.push(
                item.name.region(),
                CheckError::Reserved {
                    name: item.name.text.clone(),
                    why,
                },
            );
        }
        let later: Vec<&str> = source
            .items
            .iter()
            .skip(number)
            .map(|i| i.name.text.as_str())
            .collect();
        match check_item(item, &program, &later, errors) {
            Ok(item) => program.items.push(item),
            Err(signature) => program.broken.push(*signature),
        }
    }
    program
}

fn check_item(
    source: &ItemSource,
    program: &Program,
    later: &[&str],
    errors: &mut Diagnostics,
) -> Result<Item, Box<Signature>> {
    let before = errors.len();
    let signature = signature::check(source, errors);
    let Some(body) = &source.body else {
        return Err(Box::new(signature));
    };
    if source.parameters.is_none() {
        return derivative::check(signature, source, body, program, later, errors);
    }
    let earlier = program.items.iter().map(|item| &item.signature);
    let mut items: Vec<&str> = earlier
        .chain(&program.broken)
        .map(|signature| signature.name.text.as_str())
        .collect();
    items.extend(later);
    let checked = formula::check(&signature, source, body, &items, errors);
    match checked {
        Some(formula) if errors.len() == before => Ok(Item {
            signature,
            origin: Origin::Formula,
            graph: formula.graph,
            outputs: formula.outputs,
            results: formula.results,
            is_tuple: formula.is_tuple,
            formula: body.to_string(),
            regions: formula.regions,
        }),
        _ => Err(Box::new(signature)),
    }
}
