//! Tokens with their regions: multi-character operators are joined, groups are nested, limits are enforced.
//!
//! Invariant: nothing behind this file meets more than [`NESTING`] nested groups or [`TOKENS`] tokens, so recursion over
//! groups is bounded whatever the input is.

use super::Region;
use crate::check::error::CheckError;
use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};

/// Deepest accepted nesting of brackets, prefix operators and reductions.
pub const NESTING: usize = 128;
/// Most tokens of one macro call.
pub const TOKENS: usize = 1 << 16;

/// A token tree.
#[derive(Clone, Debug)]
pub enum Token {
    /// A name or keyword.
    Ident(String, Span),
    /// A number, string or character, as written.
    Literal(String, Span),
    /// An operator or separator, joined (`&&`, `..`, `::`).
    Punct(String, Region),
    /// A bracketed group.
    Group(Group),
}

/// A bracketed group.
#[derive(Clone, Debug)]
pub struct Group {
    /// Which brackets; `None` for what a `macro_rules!` fragment was substituted with.
    pub delimiter: Delimiter,
    /// What is inside.
    pub tokens: Vec<Token>,
    /// With the brackets.
    pub region: Region,
    /// As it came, for attributes and visibilities.
    pub raw: TokenTree,
}

impl Token {
    /// Where it is.
    pub fn region(&self) -> Region {
        match self {
            Token::Ident(_, span) | Token::Literal(_, span) => Region::of(*span),
            Token::Punct(_, region) => *region,
            Token::Group(group) => group.region,
        }
    }
    /// How messages name it.
    pub fn describe(&self) -> String {
        match self {
            Token::Ident(text, _) | Token::Literal(text, _) | Token::Punct(text, _) => {
                format!("`{text}`")
            }
            Token::Group(group) => match group.delimiter {
                Delimiter::Parenthesis => "`(`".into(),
                Delimiter::Bracket => "`[`".into(),
                Delimiter::Brace => "`{`".into(),
                Delimiter::None => "an expression".into(),
            },
        }
    }
    /// Whether it is this keyword or name.
    pub fn is_ident(&self, expected: &str) -> bool {
        matches!(self, Token::Ident(text, _) if text == expected)
    }
    /// Whether it is this operator or separator.
    pub fn is_punct(&self, expected: &str) -> bool {
        matches!(self, Token::Punct(text, _) if text == expected)
    }
    /// The group, if it is one with these brackets.
    pub fn group(&self, delimiter: Delimiter) -> Option<&Group> {
        match self {
            Token::Group(group) if group.delimiter == delimiter => Some(group),
            _ => None,
        }
    }
}

/// Operators of more than one character, longest first.
const JOINED: [&str; 13] = [
    "..=", "...", "..", "::", "&&", "||", "==", "!=", "<=", ">=", "->", "=>", "**",
];

/// Reads a stream; the error is a limit that it exceeds.
pub fn read(stream: TokenStream) -> Result<Vec<Token>, Box<(Region, CheckError)>> {
    let mut count = 0;
    read_nested(stream, 0, &mut count)
}

fn read_nested(
    stream: TokenStream,
    depth: usize,
    count: &mut usize,
) -> Result<Vec<Token>, Box<(Region, CheckError)>> {
    let mut tokens = Vec::new();
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        *count += 1;
        if *count > TOKENS {
            return Err(Box::new((
                Region::of(tree.span()),
                CheckError::TooLong { limit: TOKENS },
            )));
        }
        match tree {
            TokenTree::Ident(ident) => tokens.push(Token::Ident(ident.to_string(), ident.span())),
            TokenTree::Literal(literal) => {
                tokens.push(Token::Literal(literal.to_string(), literal.span()))
            }
            TokenTree::Punct(first) => {
                let mut text = String::from(first.as_char());
                let mut region = Region::of(first.span());
                let mut joint = first.spacing() == Spacing::Joint;
                while joint && let Some(TokenTree::Punct(next)) = trees.peek() {
                    let longer = format!("{text}{}", next.as_char());
                    if !JOINED.contains(&longer.as_str()) {
                        break;
                    }
                    text = longer;
                    region.last = next.span();
                    joint = next.spacing() == Spacing::Joint;
                    trees.next();
                }
                tokens.push(Token::Punct(text, region));
            }
            TokenTree::Group(group) => {
                let region = match group.delimiter() {
                    Delimiter::None => Region::of(group.span()),
                    _ => Region {
                        first: group.span_open(),
                        last: group.span_close(),
                    },
                };
                if depth == NESTING {
                    return Err(Box::new((region, CheckError::TooDeep { limit: NESTING })));
                }
                let inner = read_nested(group.stream(), depth + 1, count)?;
                // What a fragment of one token, or a visibility, was substituted with needs no brackets.
                let splice = inner.len() < 2 || inner.first().is_some_and(|t| t.is_ident("pub"));
                match group.delimiter() {
                    Delimiter::None if splice => tokens.extend(inner),
                    delimiter => {
                        tokens.push(Token::Group(Group {
                            delimiter,
                            tokens: inner,
                            region,
                            raw: group.into(),
                        }));
                    }
                }
            }
        }
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let stream: TokenStream = source.parse().unwrap_or_default();
        let tokens = read(stream).unwrap_or_default();
        tokens.iter().map(Token::describe).collect()
    }

    #[test]
    fn operators_are_joined() {
        assert_eq!(texts("a<=-b"), ["`a`", "`<=`", "`-`", "`b`"]);
        assert_eq!(
            texts("f::<5>-x"),
            ["`f`", "`::`", "`<`", "`5`", "`>`", "`-`", "`x`"]
        );
        assert_eq!(texts("0..2"), ["`0`", "`..`", "`2`"]);
        assert_eq!(texts("a||b|c"), ["`a`", "`||`", "`b`", "`|`", "`c`"]);
    }

    #[test]
    fn fragments_of_one_token_need_no_brackets() {
        let fragment = |source: &str| {
            let stream: TokenStream = source.parse().unwrap_or_default();
            TokenStream::from(TokenTree::from(proc_macro2::Group::new(
                Delimiter::None,
                stream,
            )))
        };
        let read = |source| read(fragment(source)).unwrap_or_default();
        assert_eq!(read("f32").len(), 1);
        assert!(matches!(read("f32").first(), Some(Token::Ident(..))));
        assert!(matches!(read("a + b").first(), Some(Token::Group(_))));
        assert_eq!(read("pub(crate)").len(), 2);
    }
}
