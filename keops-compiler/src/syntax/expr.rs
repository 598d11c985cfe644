//! Parsing of expressions: precedence climbing, calls, reductions, subscripts.

use super::cursor::{Parsed, Parser};
use super::token::{Group, Token};
use super::{Expr, ExprKind, Integer, Name, Reduce, Region, Subscript, number};
use crate::check::error::CheckError;
use crate::reductions;
use crate::types::Axis;
use proc_macro2::{Delimiter, Span};

/// Largest height of an expression: a chain of operators is as high as it is long.
pub const HEIGHT: usize = 256;

/// Infix operators with their precedence, from loosest to tightest as in Rust.
const INFIX: [(&str, u8); 13] = [
    ("||", 1),
    ("&&", 2),
    ("==", COMPARISON),
    ("!=", COMPARISON),
    ("<", COMPARISON),
    ("<=", COMPARISON),
    (">", COMPARISON),
    (">=", COMPARISON),
    ("|", 4),
    ("+", 5),
    ("-", 5),
    ("*", 6),
    ("/", 6),
];
/// Comparisons do not chain.
const COMPARISON: u8 = 3;

impl<'t> Parser<'t, '_> {
    /// An expression, as far as it reaches.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.deeper(|p| p.infix(1))
    }

    fn infix(&mut self, loosest: u8) -> Parsed<Expr> {
        let mut left = self.prefix()?;
        let mut compared = false;
        while let Some((operator, level)) = self.infix_operator()
            && level >= loosest
        {
            if level == COMPARISON && std::mem::replace(&mut compared, true) {
                return self.fail(self.here(), CheckError::ChainedComparison);
            }
            self.bump();
            let right = self.infix(level + 1)?;
            let region = left.region.to(right.region);
            left = self.make(
                ExprKind::Infix(operator, Box::new(left), Box::new(right)),
                region,
            )?;
        }
        Ok(left)
    }

    fn infix_operator(&self) -> Option<(&'static str, u8)> {
        let Some(Token::Punct(text, _)) = self.peek() else {
            return None;
        };
        INFIX.into_iter().find(|(operator, _)| operator == text)
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        let start = self.here();
        for operator in ["-", "!"] {
            if self.eat_punct(operator).is_some() {
                let operand = self.deeper(Parser::prefix)?;
                let region = start.to(operand.region);
                return self.make(ExprKind::Prefix(operator, Box::new(operand)), region);
            }
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut value = self.primary()?;
        while let Some(group) = self.eat_group(Delimiter::Bracket) {
            let region = value.region.to(group.region);
            value = match self.inside(group, |p| p.subscripts()) {
                Ok(subscripts) => {
                    self.make(ExprKind::Subscript(Box::new(value), subscripts), region)?
                }
                Err(_) => self.make(ExprKind::Error, region)?,
            };
        }
        Ok(value)
    }

    fn subscripts(&mut self) -> Parsed<Vec<Subscript>> {
        let mut subscripts = vec![self.subscript()?];
        while self.eat_punct(",").is_some() && self.peek().is_some() {
            subscripts.push(self.subscript()?);
        }
        self.expect_end("`]`")?;
        Ok(subscripts)
    }

    fn subscript(&mut self) -> Parsed<Subscript> {
        let start = self.here();
        match self.bound() {
            Some(low) if self.eat_punct("..").is_some() => {
                if let Some(high) = self.bound()
                    && self.peek().is_none_or(|t| t.is_punct(","))
                {
                    return Ok(Subscript::Range(low, high, start.to(self.previous())));
                }
            }
            Some(Some(_)) if self.at_punct("..=") => return self.unexpected("`..` or `]`"),
            Some(Some(at)) if self.peek().is_none_or(|t| t.is_punct(",")) => {
                return Ok(Subscript::At(at));
            }
            _ => {}
        }
        if self.peek().is_none() {
            return self.unexpected("an index such as `0` or a range such as `0..2`");
        }
        while self.peek().is_some_and(|t| !t.is_punct(",")) {
            self.bump();
        }
        self.fail(start.to(self.previous()), CheckError::IndexNotLiteral)
    }

    /// The integer at one end of a range, if there is something; `None` where that is no integer.
    fn bound(&mut self) -> Option<Option<Integer>> {
        let is_absent = |t: &Token| t.is_punct("..") || t.is_punct(",");
        if self.peek().is_none_or(is_absent) {
            return Some(None);
        }
        self.integers().map(Some)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        match self.peek() {
            Some(Token::Literal(text, span)) => {
                let region = Region::of(*span);
                self.bump();
                match number::read(text) {
                    Some(number) => self.make(ExprKind::Number(number), region),
                    None => self.fail(region, CheckError::NotANumberLiteral { text: text.clone() }),
                }
            }
            Some(Token::Ident(text, _)) if text == "if" => self.if_else(),
            Some(Token::Ident(text, _)) if is_keyword(text) => self.unexpected("an expression"),
            Some(Token::Ident(text, span)) => self.named(text, *span),
            Some(Token::Group(group)) => {
                self.bump();
                match group.delimiter {
                    Delimiter::Parenthesis | Delimiter::None => self.paren(group),
                    Delimiter::Bracket => self.array(group),
                    Delimiter::Brace => self.block_expr(group),
                }
            }
            _ => self.unexpected("an expression"),
        }
    }

    fn named(&mut self, text: &str, span: Span) -> Parsed<Expr> {
        self.bump();
        let name = Name {
            text: text.into(),
            span,
        };
        if let Some((base, axis)) = split_index(text)
            && (reductions::find(base).is_some() || self.at_body())
        {
            return self.reduction(name, base, axis);
        }
        if self.at_punct("::") {
            return self.fail(self.here(), CheckError::Turbofish { name: name.text });
        }
        match self.eat_group(Delimiter::Parenthesis) {
            Some(group) => {
                let args = self.inside(group, |p| p.list());
                self.make(
                    ExprKind::Call { name, args },
                    Region::of(span).to(group.region),
                )
            }
            None => self.make(ExprKind::Name(name.text), Region::of(span)),
        }
    }

    /// Whether the next token can only be the body of a reduction: two operands do not stand side by side.
    fn at_body(&self) -> bool {
        match self.peek() {
            // A reduction starts a formula of its own: a `;` or an operator is missing before it.
            Some(Token::Ident(text, _)) => !is_keyword(text) && !is_reduction(text),
            Some(Token::Literal(..)) => true,
            Some(Token::Punct(text, _)) => text == "::",
            Some(Token::Group(group)) => group.delimiter == Delimiter::Parenthesis,
            None => false,
        }
    }

    fn reduction(&mut self, name: Name, base: &str, axis: Axis) -> Parsed<Expr> {
        let start = name.region();
        let k = if self.at_punct("::") {
            Some(self.turbofish()?)
        } else {
            None
        };
        // A comma behind the only argument does not count: `(a,)` is a tuple.
        let is_list = |group: &Group| group.tokens.iter().rev().skip(1).any(|t| t.is_punct(","));
        let args = match self.peek() {
            Some(Token::Group(group))
                if group.delimiter == Delimiter::Parenthesis && is_list(group) =>
            {
                self.bump();
                self.inside(group, |p| p.list())
            }
            None => return self.fail(start, CheckError::NoBody { name: name.text }),
            Some(Token::Punct(text, _)) if text != "-" && text != "!" => {
                return self.fail(start, CheckError::NoBody { name: name.text });
            }
            Some(Token::Ident(text, _)) if is_keyword(text) && text != "if" => {
                return self.fail(start, CheckError::NoBody { name: name.text });
            }
            Some(_) => vec![self.expr()?],
        };
        let region = start.to(self.previous());
        self.make(
            ExprKind::Reduce(Reduce {
                name,
                base: base.into(),
                axis,
                k,
                args,
            }),
            region,
        )
    }

    fn turbofish(&mut self) -> Parsed<Integer> {
        self.expect_punct("::")?;
        self.expect_punct("<")?;
        let start = self.here();
        if let Some(k) = self.integers()
            && self.eat_punct(">").is_some()
        {
            return Ok(k);
        }
        while self.peek().is_some_and(|t| !t.is_punct(">")) {
            self.bump();
        }
        let end = self.previous();
        self.fail(start.to(end), CheckError::KNotLiteral)
    }

    /// Expressions separated by commas, up to the end of the bracket. What fails becomes one error expression.
    pub(super) fn list(&mut self) -> Vec<Expr> {
        let mut list = Vec::new();
        while self.peek().is_some() {
            let start = self.here();
            let parsed = self.expr().and_then(|expr| match self.peek() {
                Some(token) if !token.is_punct(",") => {
                    self.unexpected("an operator, `,` or the closing bracket")
                }
                _ => Ok(expr),
            });
            list.push(match parsed {
                Ok(expr) => expr,
                Err(_) => {
                    while self.peek().is_some_and(|t| !t.is_punct(",")) {
                        self.bump();
                    }
                    self.error(start.to(self.previous()))
                }
            });
            self.eat_punct(",");
        }
        list
    }

    fn paren(&mut self, group: &'t Group) -> Parsed<Expr> {
        let has_comma = group.tokens.iter().any(|t| t.is_punct(","));
        let mut list = self.inside(group, |p| p.list());
        match list.len() {
            0 => self.fail(group.region, CheckError::EmptyBrackets),
            1 if has_comma => {
                let error = CheckError::Unexpected {
                    expected: "a second result".into(),
                    found: "`)`".into(),
                    help: Some("remove the `,`".into()),
                };
                self.fail(Region::of(group.region.last), error)
            }
            1 => match list.pop() {
                Some(inner) => self.make(ExprKind::Paren(Box::new(inner)), group.region),
                None => self.unexpected("an expression"),
            },
            _ => self.make(ExprKind::Tuple(list), group.region),
        }
    }

    fn array(&mut self, group: &'t Group) -> Parsed<Expr> {
        // An empty one is no value, but may be a list of numbers: the checker tells.
        let list = self.inside(group, |p| p.list());
        self.make(ExprKind::Array(list), group.region)
    }

    /// A node, unless it is too high.
    pub(super) fn make(&mut self, kind: ExprKind, region: Region) -> Parsed<Expr> {
        let mut expr = Expr {
            kind,
            region,
            id: self.ids,
            height: 0,
        };
        self.ids += 1;
        expr.height = expr
            .children()
            .iter()
            .map(|c| c.height + 1)
            .max()
            .unwrap_or(0);
        if expr.height > HEIGHT {
            return self.fail(region, CheckError::TooDeep { limit: HEIGHT });
        }
        Ok(expr)
    }

    /// What stands for something that could not be parsed.
    pub(super) fn error(&mut self, region: Region) -> Expr {
        self.ids += 1;
        Expr {
            kind: ExprKind::Error,
            region,
            id: self.ids - 1,
            height: 0,
        }
    }
}

fn is_reduction(name: &str) -> bool {
    split_index(name).is_some_and(|(base, _)| reductions::find(base).is_some())
}

/// `x_i` → (`x`, i): the index that a name says.
pub fn split_index(name: &str) -> Option<(&str, Axis)> {
    let (base, axis) = match name.strip_suffix("_i") {
        Some(base) => (base, Axis::I),
        None => (name.strip_suffix("_j")?, Axis::J),
    };
    if base.is_empty() {
        None
    } else {
        Some((base, axis))
    }
}

/// Words that end an expression or cannot be in one.
pub fn is_keyword(text: &str) -> bool {
    const KEYWORDS: [&str; 23] = [
        "as", "const", "else", "enum", "fn", "for", "if", "impl", "in", "let", "loop", "match",
        "move", "mut", "pub", "ref", "return", "static", "struct", "type", "unsafe", "where",
        "while",
    ];
    KEYWORDS.contains(&text)
}
