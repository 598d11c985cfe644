//! [`Parser`]: a place in the tokens of one bracket, and the errors found so far.
//!
//! A function that fails has reported why, and returns [`Failed`]. Errors inside a bracketed group stay inside: the
//! group becomes [`ExprKind::Error`](super::ExprKind::Error) and parsing goes on behind it.

use super::token::{Group, NESTING, Token};
use super::{Name, Region};
use crate::check::error::CheckError;
use crate::diagnostics::Diagnostics;
use proc_macro2::Delimiter;

/// An error has been reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed;

/// The result of a parsing function.
pub(super) type Parsed<T> = Result<T, Failed>;

/// The tokens of one bracket and a place in them.
pub(super) struct Parser<'t, 'd> {
    tokens: &'t [Token],
    at: usize,
    /// What to point at when something is missing at the end: the closing bracket.
    end: Region,
    /// How messages name that place.
    end_text: &'static str,
    pub(super) errors: &'d mut Diagnostics,
    pub(super) depth: usize,
    pub(super) ids: usize,
}

impl<'t, 'd> Parser<'t, 'd> {
    /// At the start of a macro call's tokens.
    pub(super) fn new(
        tokens: &'t [Token],
        end: Region,
        errors: &'d mut Diagnostics,
    ) -> Parser<'t, 'd> {
        Parser {
            tokens,
            at: 0,
            end,
            end_text: "the end",
            errors,
            depth: 0,
            ids: 0,
        }
    }
    /// The next token.
    pub(super) fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }
    /// Takes the next token.
    pub(super) fn bump(&mut self) -> Option<&'t Token> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }
    /// Whether the next token is this operator or separator.
    pub(super) fn at_punct(&self, punct: &str) -> bool {
        self.peek().is_some_and(|t| t.is_punct(punct))
    }
    /// Whether the next token is this keyword.
    pub(super) fn at_ident(&self, ident: &str) -> bool {
        self.peek().is_some_and(|t| t.is_ident(ident))
    }
    /// Whether the next token is a group with these brackets.
    pub(super) fn at_group(&self, delimiter: Delimiter) -> bool {
        self.peek().is_some_and(|t| t.group(delimiter).is_some())
    }
    /// Takes the next token if it is this operator or separator.
    pub(super) fn eat_punct(&mut self, punct: &str) -> Option<Region> {
        if self.at_punct(punct) {
            self.bump().map(Token::region)
        } else {
            None
        }
    }
    /// Takes the next token if it is this keyword.
    pub(super) fn eat_ident(&mut self, ident: &str) -> Option<Region> {
        if self.at_ident(ident) {
            self.bump().map(Token::region)
        } else {
            None
        }
    }
    /// Takes the next token if it is a group with these brackets.
    pub(super) fn eat_group(&mut self, delimiter: Delimiter) -> Option<&'t Group> {
        let group = self.peek()?.group(delimiter)?;
        self.at += 1;
        Some(group)
    }
    /// The token before the next.
    pub(super) fn previous(&self) -> Region {
        self.at
            .checked_sub(1)
            .and_then(|k| self.tokens.get(k))
            .map_or(self.end, Token::region)
    }
    /// The place of the next token, or the closing bracket.
    pub(super) fn here(&self) -> Region {
        self.peek().map_or(self.end, Token::region)
    }

    /// Reports an error.
    pub(super) fn fail<T>(&mut self, region: Region, error: CheckError) -> Parsed<T> {
        // Too deep is too deep everywhere around: once is enough.
        let is_depth = |e: &CheckError| matches!(e, CheckError::TooDeep { .. });
        if !is_depth(&error) || !self.errors.iter().any(|d| is_depth(&d.error)) {
            self.errors.push(region, error);
        }
        Err(Failed)
    }
    /// Reports that the next token is not what should be there.
    pub(super) fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let found = self
            .peek()
            .map_or(self.end_text.to_string(), Token::describe);
        let help = self.peek().and_then(help_for);
        self.fail(
            self.here(),
            CheckError::Unexpected {
                expected: expected.into(),
                found,
                help,
            },
        )
    }
    /// Takes this operator or separator, or reports that it is missing.
    pub(super) fn expect_punct(&mut self, punct: &str) -> Parsed<Region> {
        match self.eat_punct(punct) {
            Some(region) => Ok(region),
            None => self.unexpected(&format!("`{punct}`")),
        }
    }
    /// Reports anything that is left.
    pub(super) fn expect_end(&mut self, expected: &str) -> Parsed<()> {
        if self.peek().is_none() {
            Ok(())
        } else {
            self.unexpected(expected)
        }
    }
    /// Takes a name, or reports that it is missing.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.peek() {
            Some(Token::Ident(text, span)) => {
                self.at += 1;
                Ok(Name {
                    text: text.clone(),
                    span: *span,
                })
            }
            _ => self.unexpected(what),
        }
    }

    /// Parses the inside of a group.
    pub(super) fn inside<T>(
        &mut self,
        group: &'t Group,
        parse: impl FnOnce(&mut Parser<'t, '_>) -> T,
    ) -> T {
        let mut inner = Parser {
            tokens: &group.tokens,
            at: 0,
            end: Region::of(group.region.last),
            end_text: match group.delimiter {
                Delimiter::Parenthesis => "`)`",
                Delimiter::Bracket => "`]`",
                Delimiter::Brace => "`}`",
                Delimiter::None => "the end",
            },
            errors: &mut *self.errors,
            depth: self.depth,
            ids: self.ids,
        };
        let result = parse(&mut inner);
        self.ids = inner.ids;
        result
    }
    /// Parses one level deeper, or reports that the formula is too deep.
    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= NESTING {
            return self.fail(self.here(), CheckError::TooDeep { limit: NESTING });
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }
    /// Goes on at the start of the next item: behind a `;`, or before `pub`, `fn` or an attribute.
    pub(super) fn skip_item(&mut self) {
        while let Some(token) = self.peek() {
            if token.is_ident("pub") || token.is_ident("fn") || token.is_punct("#") {
                return;
            }
            self.at += 1;
            if token.is_punct(";") {
                return;
            }
        }
    }
}

/// What to write instead of something that Rust has and formulas do not.
fn help_for(token: &Token) -> Option<String> {
    let (Token::Punct(text, _) | Token::Ident(text, _)) = token else {
        return None;
    };
    let help = match text.as_str() {
        "%" => "write `mod(a, b)` for the remainder",
        "^" | "**" => "write `square(a)`, `pow(a, 3)` or `powf(a, b)` for powers",
        "=" => "write `==` to compare",
        "&" => "write `&&` for a logical and",
        "." => "there are no methods: write `exp(a)` instead of `a.exp()`",
        "?" => "write `if c { a } else { b }` to choose",
        "as" => "there are no casts: numbers have the type of the variables",
        "->" => {
            "the type of the result follows from the formula: write `= formula;` after the variables"
        }
        "..=" => "write `v[0..3]`: the end is not included",
        _ => return None,
    };
    Some(help.into())
}
