//! Parsing of variable lists and their types.

use super::cursor::{Failed, Parsed, Parser};
use super::token::Token;
use super::{Integer, Name, Parameter, TypeSource, number};
use crate::check::error::CheckError;
use proc_macro2::Delimiter;

impl Parser<'_, '_> {
    /// `(name: type),*` up to the end of the bracket.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        while self.peek().is_some() {
            parameters.push(self.parameter()?);
            if self.eat_punct(",").is_none() {
                self.expect_end("`,`")?;
            }
        }
        Ok(parameters)
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let name = self.name("a variable such as `x_i`")?;
        if self.eat_punct(":").is_none() {
            if self.peek().is_some_and(|t| !t.is_punct(",")) {
                return self.unexpected("`:` and a type");
            }
            let error = CheckError::MissingType {
                name: name.text.clone(),
            };
            self.errors.push(name.region(), error);
            return Ok(Parameter { name, ty: None });
        }
        let ty = self.ty().ok();
        if ty.is_none() {
            // Reported; the other variables can still be read.
            while self.peek().is_some_and(|t| !t.is_punct(",")) {
                self.bump();
            }
        }
        Ok(Parameter { name, ty })
    }

    fn ty(&mut self) -> Parsed<TypeSource> {
        if let Some(group) = self.eat_group(Delimiter::None) {
            return self.inside(group, |p| {
                let ty = p.ty()?;
                p.expect_end("the end of the type")?;
                Ok(ty)
            });
        }
        if let Some(group) = self.eat_group(Delimiter::Bracket) {
            return self.inside(group, |p| {
                let element = p.deeper(Parser::ty)?;
                if p.peek().is_none() {
                    return p.fail(
                        group.region,
                        CheckError::MissingDimension {
                            element: element.text(),
                        },
                    );
                }
                p.expect_punct(";")?;
                let dimension = p.dimension()?;
                let mut dimensions = vec![dimension];
                dimensions.extend(element.dimensions);
                Ok(TypeSource {
                    scalar: element.scalar,
                    complex: element.complex,
                    dimensions,
                    region: group.region,
                })
            });
        }
        match self.peek() {
            Some(Token::Ident(..)) => {
                let scalar = self.name("a type")?;
                let region = scalar.region();
                if scalar.text == "Complex" && self.eat_punct("<").is_some() {
                    let scalar = self.name("`f32`, `f64` or the type parameter")?;
                    let end = self.expect_punct(">")?;
                    return Ok(TypeSource {
                        scalar,
                        complex: true,
                        dimensions: vec![],
                        region: region.to(end),
                    });
                }
                if self.at_punct("<") || self.at_punct("::") {
                    return self.fail(
                        region,
                        CheckError::UnknownType {
                            name: scalar.text,
                            float: None,
                        },
                    );
                }
                Ok(TypeSource {
                    scalar,
                    complex: false,
                    dimensions: vec![],
                    region,
                })
            }
            Some(token) if token.is_punct("&") => {
                let region = token.region();
                self.fail(region, CheckError::BorrowedType)
            }
            _ => self.unexpected("a type such as `f32` or `[f32; 3]`"),
        }
    }

    /// An integer literal and the end of the bracket.
    fn dimension(&mut self) -> Parsed<Integer> {
        if self.peek().is_none() {
            return self.unexpected("a dimension such as `3`");
        }
        let start = self.here();
        if let Some(integer) = self.integer()
            && self.peek().is_none()
        {
            return Ok(integer);
        }
        while self.bump().is_some() {}
        let region = start.to(self.previous());
        self.fail(region, CheckError::DimensionNotLiteral)
    }

    /// Takes an integer literal without a sign.
    pub(super) fn integer(&mut self) -> Option<Integer> {
        let Some(Token::Literal(text, _)) = self.peek() else {
            return None;
        };
        let value = number::read(text)
            .filter(|n| n.suffix.is_empty() || n.suffix == "usize")?
            .integer?;
        let region = self.bump()?.region();
        Some(Integer { value, region })
    }

    /// Takes sums and products of integer literals: `2`, `3 - 1`, `2 * (3 + 1)`. What is no such thing, or too large, is left
    /// behind its first part.
    pub(super) fn integers(&mut self) -> Option<Integer> {
        let mut sum = self.integer_product()?;
        loop {
            let add = if self.eat_punct("+").is_some() {
                i64::checked_add
            } else if self.eat_punct("-").is_some() {
                i64::checked_sub
            } else {
                return Some(sum);
            };
            sum = sum.with(self.integer_product()?, add)?;
        }
    }

    fn integer_product(&mut self) -> Option<Integer> {
        let mut product = self.integer_factor()?;
        while self.eat_punct("*").is_some() {
            product = product.with(self.integer_factor()?, i64::checked_mul)?;
        }
        Some(product)
    }

    fn integer_factor(&mut self) -> Option<Integer> {
        let brackets = [Delimiter::Parenthesis, Delimiter::Brace, Delimiter::None];
        match brackets.into_iter().find_map(|d| self.eat_group(d)) {
            Some(group) => {
                let value = self.inside(group, |p| {
                    let inner = p.deeper(|p| p.integers().ok_or(Failed)).ok()?;
                    p.peek().is_none().then_some(inner.value)
                })?;
                let region = group.region;
                Some(Integer { value, region })
            }
            None => self.integer(),
        }
    }

    /// `<T, const D: usize>` after an item's name: the type parameter and the const parameters.
    pub(super) fn generics(&mut self) -> Parsed<(Option<Name>, Vec<Name>)> {
        let (mut generic, mut dimensions): (Option<Name>, Vec<Name>) = (None, vec![]);
        if self.eat_punct("<").is_none() {
            return Ok((generic, dimensions));
        }
        let start = self.here();
        loop {
            if self.eat_ident("const").is_some() {
                let name = self.name("a const parameter such as `D`")?;
                self.expect_punct(":")?;
                if self.eat_ident("usize").is_none() {
                    return self.unexpected("`usize`: const parameters are dimensions");
                }
                dimensions.push(name);
            } else {
                match self.peek() {
                    Some(Token::Ident(text, span)) if generic.is_none() => {
                        self.bump();
                        generic = Some(Name {
                            text: text.clone(),
                            span: *span,
                        });
                    }
                    _ => return self.bad_generics(start),
                }
            }
            let more = self.eat_punct(",").is_some();
            if self.eat_punct(">").is_some() {
                return Ok((generic, dimensions));
            }
            if !more {
                return self.bad_generics(start);
            }
        }
    }

    fn bad_generics<T>(&mut self, start: super::Region) -> Parsed<T> {
        let mut end = start;
        while let Some(token) = self.peek()
            && !token.is_punct(">")
            && token.group(Delimiter::Parenthesis).is_none()
        {
            end = token.region();
            self.bump();
        }
        self.fail(start.to(end), CheckError::Generics)
    }
}

impl Integer {
    fn with(self, other: Integer, f: fn(i64, i64) -> Option<i64>) -> Option<Integer> {
        Some(Integer {
            value: f(self.value, other.value)?,
            region: self.region.to(other.region),
        })
    }
}

impl TypeSource {
    /// The type of its numbers, as written.
    fn numbers(&self) -> String {
        if self.complex {
            format!("Complex<{}>", self.scalar.text)
        } else {
            self.scalar.text.clone()
        }
    }
    /// As written, without spaces inside names.
    pub fn text(&self) -> String {
        self.dimensions
            .iter()
            .rev()
            .fold(self.numbers(), |text, d| format!("[{text}; {}]", d.value))
    }
}
