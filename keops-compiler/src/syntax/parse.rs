//! Parsing of a whole macro call: items, or an expression with its variables.
//!
//! A broken item does not hide the errors of the next: parsing goes on behind its `;`.

use super::cursor::{Failed, Parsed, Parser};
use super::token::{self, Token};
use super::{Expr, Form, Integer, ItemSource, Name, Region, Source};
use crate::check::error::CheckError;
use crate::check::{scope, suggest};
use crate::diagnostics::Diagnostics;
use crate::item::Arithmetic;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// Parses a macro call.
pub fn parse(stream: TokenStream, errors: &mut Diagnostics) -> Source {
    let call_site = Region::of(Span::call_site());
    let tokens = match token::read(stream) {
        Ok(tokens) => tokens,
        Err(limit) => {
            let (region, error) = *limit;
            errors.push(region, error);
            Vec::new()
        }
    };
    let starts_item = |t: &Token| t.is_punct("#") || t.is_ident("pub") || t.is_ident("fn");
    let form = if tokens.first().is_some_and(starts_item) {
        Form::Items
    } else {
        Form::Expression
    };
    let end = tokens.last().map_or(call_site, Token::region);
    if tokens.is_empty() {
        if errors.is_empty() {
            errors.push(call_site, CheckError::Empty);
        }
        return Source {
            form,
            items: vec![],
        };
    }
    let mut parser = Parser::new(&tokens, end, errors);
    let mut items = Vec::new();
    match form {
        Form::Expression => items.extend(parser.expression_form()),
        Form::Items => {
            while parser.peek().is_some() {
                match parser.item() {
                    Ok(item) => items.push(item),
                    Err(Failed) => parser.skip_item(),
                }
            }
        }
    }
    Source { form, items }
}

impl Parser<'_, '_> {
    fn expression_form(&mut self) -> Option<ItemSource> {
        let body = self.body();
        let body = match body {
            Ok(body) if self.peek().is_none() || self.at_ident("where") => Some(body),
            Ok(_) => {
                let _: Parsed<()> = self.unexpected("an operator or `where`");
                None
            }
            Err(Failed) => None,
        };
        while self.peek().is_some() && !self.at_ident("where") {
            self.bump();
        }
        if self.eat_ident("where").is_none() {
            if let Some(body) = &body {
                self.errors.push(body.region, CheckError::MissingWhere);
            }
            return None;
        }
        let parameters = self.parameters().ok()?;
        let body = if reserved(&parameters) { None } else { body };
        Some(ItemSource {
            attributes: TokenStream::new(),
            arithmetic: None,
            expand: false,
            device: vec![],
            visibility: TokenStream::new(),
            name: Name {
                text: "formula".into(),
                span: Span::call_site(),
            },
            generic: None,
            dimensions: vec![],
            parameters: Some(parameters),
            body,
            ids: self.ids,
        })
    }

    fn item(&mut self) -> Parsed<ItemSource> {
        self.ids = 0;
        let (attributes, options) = self.attributes()?;
        let visibility = self.visibility();
        if self.eat_ident("fn").is_none() {
            return self.unexpected("`fn`");
        }
        let name = self.name("the name of the formula")?;
        let mut item = ItemSource {
            attributes,
            arithmetic: options.arithmetic.map(|(arithmetic, _)| arithmetic),
            expand: options.expand,
            device: options.device,
            visibility,
            name,
            generic: None,
            dimensions: vec![],
            parameters: None,
            body: None,
            ids: 0,
        };
        // From here on the name is known, so that errors below do not make it unknown to later items.
        if self.definition(&mut item).is_err() {
            item.body = None;
            self.skip_item();
        }
        item.ids = self.ids;
        Ok(item)
    }

    /// What follows an item's name.
    fn definition(&mut self, item: &mut ItemSource) -> Parsed<()> {
        (item.generic, item.dimensions) = self.generics()?;
        if let Some(group) = self.eat_group(Delimiter::Parenthesis) {
            item.parameters = Some(self.inside(group, |p| p.parameters())?);
        }
        if self.eat_punct("=").is_none() {
            if self.at_group(Delimiter::Brace) {
                return self.fail(Region::of(self.here().first), CheckError::MissingEquals);
            }
            return self.unexpected(if item.parameters.is_some() {
                "`=`"
            } else {
                "`(` or `=`"
            });
        }
        if item.parameters.as_ref().is_some_and(|p| reserved(p)) {
            self.skip_item();
            return Ok(());
        }
        let body = self.body()?;
        if self.eat_punct(";").is_none() {
            let at_item = |t: &Token| t.is_ident("pub") || t.is_ident("fn") || t.is_punct("#");
            if !self.peek().is_none_or(at_item) {
                return self.unexpected("an operator or `;`");
            }
            self.errors.push(
                Region::of(self.previous().last),
                CheckError::MissingSemicolon,
            );
        }
        item.body = Some(body);
        Ok(())
    }

    fn body(&mut self) -> Parsed<Expr> {
        match self.peek() {
            None => self.fail(self.here(), CheckError::NoFormula),
            Some(token) if token.is_punct(";") || token.is_ident("where") => {
                self.fail(self.here(), CheckError::NoFormula)
            }
            Some(_) => self.expr(),
        }
    }

    /// Attributes, and what those named `keops` say.
    fn attributes(&mut self) -> Parsed<(TokenStream, Options)> {
        let mut attributes = Vec::new();
        let mut options = Options::default();
        while let Some(region) = self.eat_punct("#") {
            if self.at_punct("!") {
                return self.fail(self.here(), CheckError::InnerAttribute);
            }
            let Some(group) = self.eat_group(Delimiter::Bracket) else {
                return self.unexpected("`[`");
            };
            // A `meta` fragment of a `macro_rules!` comes in a group without brackets.
            let inner = match group.tokens.as_slice() {
                [Token::Group(inner)] if inner.delimiter == Delimiter::None => inner,
                _ => group,
            };
            if inner.tokens.first().is_some_and(|t| t.is_ident("keops")) {
                self.inside(inner, |p| p.options(&mut options))?;
                continue;
            }
            let mut hash = proc_macro2::Punct::new('#', proc_macro2::Spacing::Alone);
            hash.set_span(region.first);
            attributes.extend([TokenTree::from(hash), group.raw.clone()]);
        }
        Ok((attributes.into_iter().collect(), options))
    }

    /// `keops(option, …)`
    fn options(&mut self, options: &mut Options) -> Parsed<()> {
        self.bump();
        let Some(group) = self.eat_group(Delimiter::Parenthesis) else {
            let error = CheckError::Unexpected {
                expected: "`(`".into(),
                found: self.peek().map_or("the end".into(), Token::describe),
                help: Some(
                    "write `#[keops(precise)]`, `#[keops(fast_math)]`, `#[keops(expand)]` or `#[keops(D = 3)]`"
                        .into(),
                ),
            };
            return self.fail(self.here(), error);
        };
        if self.peek().is_some() {
            return self.unexpected("`]`");
        }
        self.inside(group, |p| {
            while p.peek().is_some() {
                let option = p.name("`precise`, `fast_math` or `expand`")?;
                if p.eat_punct("=").is_some() {
                    let values = p.values()?;
                    options.device.push((option, values));
                    p.separator()?;
                    continue;
                }
                if option.text == EXPAND {
                    options.expand = true;
                    p.separator()?;
                    continue;
                }
                let known = Arithmetic::OPTIONS
                    .iter()
                    .find(|(name, _)| *name == option.text);
                let Some(&(name, meaning)) = known else {
                    let names = Arithmetic::OPTIONS.iter().map(|(name, _)| *name);
                    let names = names.chain([EXPAND]);
                    let suggestion = suggest::nearest(&option.text, names);
                    let error = CheckError::UnknownOption {
                        name: option.text.clone(),
                        suggestion: suggestion.map(|s| s.name),
                    };
                    return p.fail(option.region(), error);
                };
                match options.arithmetic {
                    Some((_, first)) if first != name => {
                        return p.fail(option.region(), CheckError::ContradictoryOptions);
                    }
                    _ => options.arithmetic = Some((meaning, name)),
                }
                p.separator()?;
            }
            Ok(())
        })
    }

    /// A comma, or the end.
    fn separator(&mut self) -> Parsed<()> {
        if self.peek().is_some() && self.eat_punct(",").is_none() {
            return self.unexpected("`,`");
        }
        Ok(())
    }

    /// `3` or `[2, 3]`
    fn values(&mut self) -> Parsed<Vec<Integer>> {
        let list = |p: &mut Parser<'_, '_>| {
            let mut values = vec![];
            while p.peek().is_some() {
                match p.integer() {
                    Some(value) => values.push(value),
                    None => return p.unexpected("an integer"),
                }
                p.separator()?;
            }
            Ok(values)
        };
        match self.eat_group(Delimiter::Bracket) {
            Some(group) => self.inside(group, list),
            None => match self.integer() {
                Some(value) => Ok(vec![value]),
                None => self.unexpected("an integer or a list such as `[2, 3]`"),
            },
        }
    }

    fn visibility(&mut self) -> TokenStream {
        let mut visibility = Vec::new();
        if let Some(region) = self.eat_ident("pub") {
            visibility.push(TokenTree::from(proc_macro2::Ident::new(
                "pub",
                region.first,
            )));
            if let Some(group) = self.eat_group(Delimiter::Parenthesis) {
                visibility.push(group.raw.clone());
            }
        }
        visibility.into_iter().collect()
    }
}

/// The option for expanded squares.
const EXPAND: &str = "expand";

/// What attributes named `keops` say.
#[derive(Default)]
struct Options {
    /// How exactly, and as written.
    arithmetic: Option<(Arithmetic, &'static str)>,
    /// Whether squared distances are expanded.
    expand: bool,
    /// Names with values, `D = [2, 3]`.
    device: Vec<(Name, Vec<Integer>)>,
}

/// Whether a variable has a name that would make the formula unreadable to the parser; reported by the checker.
fn reserved(parameters: &[super::Parameter]) -> bool {
    parameters
        .iter()
        .any(|p| scope::reserved(&p.name.text).is_some())
}
