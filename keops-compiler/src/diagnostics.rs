//! Errors with their places: collected, never returned at the first, and rendered as `compile_error!` tokens.

use crate::check::error::CheckError;
use crate::dimensions::{Naming, Samples, wording};
use crate::syntax::{Form, Region};
use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use std::rc::Rc;

/// An error and what it points at.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// What to underline.
    pub region: Region,
    /// What is wrong.
    pub error: CheckError,
    /// Names for the numbers that stand for const parameters.
    naming: Rc<Naming>,
    /// The message for all values of const parameters, if it is known.
    wording: Option<String>,
}

/// The errors found so far, in the order of their discovery.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    naming: Rc<Naming>,
}

impl Diagnostics {
    /// None yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }
    /// Sets what numbers are called in the messages of errors that follow.
    pub fn name(&mut self, naming: Naming) {
        self.naming = Rc::new(naming);
    }
    /// Adds one.
    pub fn push(&mut self, region: Region, error: CheckError) {
        let naming = self.naming.clone();
        self.list.push(Diagnostic {
            region,
            error,
            naming,
            wording: None,
        });
    }
    /// The same errors worded for all values of const parameters, given those of the other samples; what is not the same there is
    /// said of the first sample, by its values.
    pub fn of_all_samples(mut self, samples: &Samples, others: &[Diagnostics]) -> Diagnostics {
        for (n, diagnostic) in self.list.iter_mut().enumerate() {
            let elsewhere = others
                .iter()
                .map(|all| Some(all.list.get(n)?.error.message()));
            let own = std::iter::once(Some(diagnostic.error.message()));
            let messages: Option<Vec<String>> = own.chain(elsewhere).collect();
            diagnostic.wording = messages.and_then(|m| wording(samples, &m));
        }
        self.of_sample(samples, samples.values(0))
    }
    /// The same errors, those that are not worded for all values said of these.
    pub fn of_sample(mut self, samples: &Samples, values: &[usize]) -> Diagnostics {
        for diagnostic in &mut self.list {
            let message = diagnostic.error.message();
            let place = samples.place(values);
            diagnostic
                .wording
                .get_or_insert_with(|| format!("at {place}: {message}"));
        }
        self
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// One `::core::compile_error! { "…" }` per error, each with the region's ends as the spans of its ends, so that
    /// rustc underlines the whole region. In the expression form they stand in a block whose tail is the last one: with
    /// a semicolon rustc would add a type error.
    pub fn to_tokens(&self, form: Form) -> TokenStream {
        let errors: TokenStream = self.list.iter().flat_map(Diagnostic::to_tokens).collect();
        match form {
            Form::Items => errors,
            Form::Expression if self.list.is_empty() => errors,
            Form::Expression => TokenTree::from(Group::new(Delimiter::Brace, errors)).into(),
        }
    }
}

impl Diagnostic {
    /// The message, several lines.
    pub fn message(&self) -> String {
        match &self.wording {
            Some(wording) => wording.clone(),
            None => self.naming.apply(&self.error.message()),
        }
    }

    fn to_tokens(&self) -> TokenStream {
        let Region { first, last } = self.region;
        let mut message = Literal::string(&self.message());
        message.set_span(last);
        let mut braces = Group::new(Delimiter::Brace, TokenTree::from(message).into());
        braces.set_span(last);
        let punct = |c, spacing| spanned(Punct::new(c, spacing), first);
        [
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            Ident::new("core", first).into(),
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            Ident::new("compile_error", first).into(),
            punct('!', Spacing::Alone),
            braces.into(),
        ]
        .into_iter()
        .collect()
    }
}

fn spanned(mut punct: Punct, span: Span) -> TokenTree {
    punct.set_span(span);
    punct.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostics() -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        let region = Region::of(Span::call_site());
        diagnostics.push(region, CheckError::NoFormula);
        diagnostics.push(region, CheckError::MissingSemicolon);
        diagnostics
    }

    #[test]
    fn items_become_items() {
        let text = diagnostics().to_tokens(Form::Items).to_string();
        assert!(text.starts_with(":: core :: compile_error ! {"), "{text}");
        assert_eq!(text.matches("compile_error").count(), 2);
    }

    #[test]
    fn an_expression_becomes_a_block_without_semicolons() {
        let text = diagnostics().to_tokens(Form::Expression).to_string();
        assert!(text.starts_with('{') && text.ends_with('}'), "{text}");
        assert!(!text.contains(';') || text.matches(';').count() == text.matches("`;`").count());
        assert!(Diagnostics::new().to_tokens(Form::Expression).is_empty());
    }
}
