//! The syntax of the formula language: tokens → [`Source`], every node with its [`Region`].
//!
//! The parser knows precedence and no operation by name; of reductions it knows which names are in
//! [`REDUCTIONS`](crate::reductions::REDUCTIONS), because their bodies need no brackets.
//!
//! ```text
//! source     = item* | expression "where" parameters
//! item       = attribute* visibility? "fn" NAME ("<" generic ("," generic)* ","? ">")? ("(" parameters ")")? "=" body ";"
//! generic    = NAME | "const" NAME ":" "usize"
//! parameters = (NAME ":" type),* ","?
//! type       = NAME | "[" type ";" INTEGER "]"
//! body       = tuple | expression
//! tuple      = "(" expression ("," expression)+ ","? ")"
//! expression = or
//! or         = and ("||" and)*
//! and        = comparison ("&&" comparison)*
//! comparison = dot (("==" | "!=" | "<" | "<=" | ">" | ">=") dot)?
//! dot        = sum ("|" sum)*
//! sum        = product (("+" | "-") product)*
//! product    = prefix (("*" | "/") prefix)*
//! prefix     = ("-" | "!") prefix | postfix
//! postfix    = primary ("[" subscript ("," subscript)* "]")*
//! subscript  = integers | integers? ".." integers?
//! integers   = integer ("*" integer)* (("+" | "-") integer ("*" integer)*)*
//! integer    = INTEGER | "(" integers ")" | "{" integers "}"
//! primary    = NUMBER | NAME | NAME "(" (expression),* ")" | reduction | "(" expression ")" | "[" (expression),+ "]"
//!            | "if" expression block "else" (block | if) | block
//! block      = "{" ("let" NAME "=" expression ";")* expression "}"
//! reduction  = NAME_i or NAME_j ("::" "<" integers ">")? (expression | "(" expression ("," expression)+ ")")
//! ```
//!
//! A reduction's body is an `expression`: it reaches to the end of the enclosing bracket, `,` or `;`, like a closure's.

mod block;
mod cursor;
pub mod expr;
pub mod number;
pub mod parse;
pub mod print;
pub mod token;
mod types;

use crate::item::Arithmetic;
use crate::types::Axis;
use proc_macro2::{Span, TokenStream};

/// First and last token of a piece of source. `Span::join` does nothing on stable compilers, so both ends are kept.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Its first token.
    pub first: Span,
    /// Its last token.
    pub last: Span,
}

impl Region {
    /// One token.
    pub fn of(span: Span) -> Region {
        Region {
            first: span,
            last: span,
        }
    }
    /// From the start of this to the end of the other.
    #[must_use]
    pub fn to(self, end: Region) -> Region {
        Region {
            first: self.first,
            last: end.last,
        }
    }
}

/// A name with its place.
#[derive(Clone, Debug)]
pub struct Name {
    /// As written.
    pub text: String,
    /// Where.
    pub span: Span,
}

impl Name {
    /// Where, as a region.
    pub fn region(&self) -> Region {
        Region::of(self.span)
    }
}

/// A macro call.
#[derive(Clone, Debug)]
pub struct Source {
    /// Which form it has.
    pub form: Form,
    /// Its items, in order; the expression form has one.
    pub items: Vec<ItemSource>,
}

/// The two forms of a macro call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `keops! { pub fn name(…) = …; }`
    Items,
    /// `keops!(… where …)`
    Expression,
}

/// `fn name<T>(parameters) = body;`
#[derive(Clone, Debug)]
pub struct ItemSource {
    /// Doc comments and attributes.
    pub attributes: TokenStream,
    /// What `#[keops(…)]` says, which is not among the attributes.
    pub arithmetic: Option<Arithmetic>,
    /// Whether it says `expand`.
    pub expand: bool,
    /// Values of const parameters for which device code is made.
    pub device: Vec<(Name, Vec<Integer>)>,
    /// `pub`, `pub(crate)`, … or nothing.
    pub visibility: TokenStream,
    /// Its name; `formula` in the expression form.
    pub name: Name,
    /// The type parameter.
    pub generic: Option<Name>,
    /// The const parameters; in the rest of the item numbers stand in their places.
    pub dimensions: Vec<Name>,
    /// The variables; `None` without a parameter list (derivative items).
    pub parameters: Option<Vec<Parameter>>,
    /// The formula; `None` if it could not be parsed (which has been reported).
    pub body: Option<Expr>,
    /// Number of expression ids given out in the body.
    pub ids: usize,
}

/// `name: type`
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name.
    pub name: Name,
    /// The type; `None` if it could not be parsed (which has been reported).
    pub ty: Option<TypeSource>,
}

/// A type: a name inside any number of arrays.
#[derive(Clone, Debug)]
pub struct TypeSource {
    /// The innermost name, of complex numbers that of their parts.
    pub scalar: Name,
    /// Whether it is `Complex<scalar>`.
    pub complex: bool,
    /// Dimensions with their places, outermost first.
    pub dimensions: Vec<Integer>,
    /// The whole type.
    pub region: Region,
}

/// An integer literal, or what sums and products of such are.
#[derive(Clone, Copy, Debug)]
pub struct Integer {
    /// Its value.
    pub value: i64,
    /// Where.
    pub region: Region,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub region: Region,
    /// A number of its own within the item: key of side tables.
    pub id: usize,
    /// Levels below it, bounded by [`expr::HEIGHT`].
    pub height: usize,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Something that could not be parsed; reported already.
    Error,
    /// A variable, a `let` or a constant.
    Name(String),
    /// A literal.
    Number(number::Number),
    /// `-a`, `!a`
    Prefix(&'static str, Box<Expr>),
    /// `a + b`
    Infix(&'static str, Box<Expr>, Box<Expr>),
    /// `name(a, b)`
    Call {
        /// The operation.
        name: Name,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// `name_j body` or `name_j(a, b)`
    Reduce(Reduce),
    /// `v[0]`, `v[0..2]`, `A[0, 1]`
    Subscript(Box<Expr>, Vec<Subscript>),
    /// `[a, b, c]`
    Array(Vec<Expr>),
    /// `if a { b } else { c }`
    If(Box<[Expr; 3]>),
    /// `{ let k = a; b }`
    Block(Vec<Let>, Box<Expr>),
    /// `(a)`
    Paren(Box<Expr>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
}

/// A reduction.
#[derive(Clone, Debug)]
pub struct Reduce {
    /// Name with the index, as written.
    pub name: Name,
    /// Name without the index.
    pub base: String,
    /// The index.
    pub axis: Axis,
    /// `::<K>`
    pub k: Option<Integer>,
    /// The body, or several arguments.
    pub args: Vec<Expr>,
}

/// `let name = value;`
#[derive(Clone, Debug)]
pub struct Let {
    /// The name.
    pub name: Name,
    /// The value.
    pub value: Expr,
}

/// One entry between `[` and `]`.
#[derive(Clone, Copy, Debug)]
pub enum Subscript {
    /// `v[0]`
    At(Integer),
    /// `v[0..2]`, either bound optional
    Range(Option<Integer>, Option<Integer>, Region),
}

impl Expr {
    /// The expressions directly below, in source order.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Error | ExprKind::Name(_) | ExprKind::Number(_) => vec![],
            ExprKind::Prefix(_, a) | ExprKind::Subscript(a, _) | ExprKind::Paren(a) => vec![a],
            ExprKind::Infix(_, a, b) => vec![a, b],
            ExprKind::Call { args, .. } | ExprKind::Array(args) | ExprKind::Tuple(args) => {
                args.iter().collect()
            }
            ExprKind::Reduce(reduce) => reduce.args.iter().collect(),
            ExprKind::If(parts) => parts.iter().collect(),
            ExprKind::Block(lets, value) => lets
                .iter()
                .map(|l| &l.value)
                .chain([value.as_ref()])
                .collect(),
        }
    }
    /// Without brackets around it.
    pub fn bare(&self) -> &Expr {
        let mut expr = self;
        while let ExprKind::Paren(inner) = &expr.kind {
            expr = inner;
        }
        expr
    }
}
