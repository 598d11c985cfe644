//! Parsing of `if c { a } else { b }` and `{ let k = a; b }`.

use super::cursor::{Failed, Parsed, Parser};
use super::token::{Group, Token};
use super::{Expr, ExprKind, Let};
use crate::check::error::CheckError;
use proc_macro2::Delimiter;

impl<'t> Parser<'t, '_> {
    pub(super) fn if_else(&mut self) -> Parsed<Expr> {
        let start = self.here();
        self.bump();
        if self.at_ident("let") {
            return self.unexpected("a condition");
        }
        let condition = self.expr()?;
        let then = self.branch()?;
        let Some(else_region) = self.eat_ident("else") else {
            return self.fail(start.to(self.previous()), CheckError::MissingElse);
        };
        let otherwise = if self.at_ident("if") {
            self.deeper(Parser::if_else)?
        } else if self.at_group(Delimiter::Brace) {
            self.branch()?
        } else {
            return self.fail(else_region, CheckError::MissingBranch);
        };
        let region = start.to(otherwise.region);
        self.make(ExprKind::If(Box::new([condition, then, otherwise])), region)
    }

    fn branch(&mut self) -> Parsed<Expr> {
        match self.eat_group(Delimiter::Brace) {
            Some(group) => self.block_expr(group),
            None => self.unexpected("an operator or `{`"),
        }
    }

    /// The block of a braced group that has been taken.
    pub(super) fn block_expr(&mut self, group: &'t Group) -> Parsed<Expr> {
        let parsed = self.inside(group, |p| p.deeper(|p| p.block(group)));
        match parsed {
            Ok((lets, value)) => self.make(ExprKind::Block(lets, Box::new(value)), group.region),
            Err(Failed) => Ok(self.error(group.region)),
        }
    }

    fn block(&mut self, group: &Group) -> Parsed<(Vec<Let>, Expr)> {
        let mut lets = Vec::new();
        while self.at_ident("let") {
            lets.push(self.let_statement()?);
        }
        if self.peek().is_none() {
            return self.fail(group.region, CheckError::NoBlockValue);
        }
        let value = self.expr()?;
        if let Some(region) = self.eat_punct(";") {
            let error = if self.peek().is_none() {
                CheckError::SemicolonAfterValue
            } else {
                CheckError::UnusedStatement
            };
            let region = if self.peek().is_none() {
                region
            } else {
                value.region
            };
            return self.fail(region, error);
        }
        self.expect_end("an operator or `}`")?;
        Ok((lets, value))
    }

    fn let_statement(&mut self) -> Parsed<Let> {
        self.bump();
        if self.at_ident("mut") {
            return self.unexpected("a name, as values never change");
        }
        let name = self.name("a name")?;
        if self.at_punct(":") {
            return self.fail(self.here(), CheckError::TypedLet { name: name.text });
        }
        self.expect_punct("=")?;
        let start = self.here();
        let value = match self.expr() {
            Ok(value) => value,
            Err(Failed) => {
                while self.peek().is_some_and(|t| !t.is_punct(";")) {
                    self.bump();
                }
                self.error(start)
            }
        };
        if self.eat_punct(";").is_none() {
            if self.peek().is_some_and(Token::starts_line) || self.peek().is_none() {
                return self.fail(self.previous(), CheckError::MissingSemicolon);
            }
            return self.unexpected("an operator or `;`");
        }
        Ok(Let { name, value })
    }
}

impl Token {
    /// Whether it starts a statement or an operand, so that a `;` before it is missing rather than an operator.
    fn starts_line(&self) -> bool {
        !matches!(self, Token::Punct(..))
    }
}
