//! The text of a PTX module: tokens, types, and the tree that [`decode`](crate::decode) works on.
pub(crate) mod ast;
pub(crate) mod lexer;
pub(crate) mod parse;
mod scope;
mod statement;
pub(crate) mod types;

pub(crate) use parse::parse;
