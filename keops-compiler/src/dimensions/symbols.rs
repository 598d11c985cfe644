//! Const parameters in the tokens of a macro call: where they are declared, numbers in their places, and their names in
//! place of numbers in messages.
//!
//! A parameter holds within its item, from `fn` to `;`. It may stand wherever an integer may.

use super::Samples;
use crate::syntax::token::NESTING;
use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};
use std::collections::BTreeMap;

/// The names of all const parameters that the items of a macro call declare, each once.
pub fn declared(tokens: &TokenStream) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for item in items(tokens.clone()) {
        for name in own(&item) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// The const parameters that are no dimension of any variable of their items.
pub fn unused(tokens: &TokenStream) -> Vec<proc_macro2::Ident> {
    let mut unused = vec![];
    for item in items(tokens.clone()) {
        let names = own(&item);
        // Behind `fn`: there may be brackets in its visibility.
        let start = item.iter().position(|t| is_word(t, "fn"));
        let variables = item.iter().skip(start.unwrap_or(0)).find_map(|t| match t {
            TokenTree::Group(g) if g.delimiter() == Delimiter::Parenthesis => Some(g.stream()),
            _ => None,
        });
        let declarations = item.windows(2).filter(|pair| is_word(&pair[0], "const"));
        for pair in declarations {
            if let TokenTree::Ident(name) = &pair[1]
                && names.iter().any(|n| name == n)
                && !variables
                    .clone()
                    .is_some_and(|v| mentions(v, name, NESTING))
            {
                unused.push(name.clone());
            }
        }
    }
    unused
}

fn mentions(tokens: TokenStream, name: &proc_macro2::Ident, depth: usize) -> bool {
    tokens.into_iter().any(|t| match t {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => depth > 0 && mentions(group.stream(), name, depth - 1),
        _ => false,
    })
}

/// The tokens with a number in each parameter's place; the declarations stay.
pub fn substitute(tokens: TokenStream, values: &BTreeMap<String, usize>) -> TokenStream {
    if values.is_empty() {
        return tokens;
    }
    items(tokens)
        .into_iter()
        .flat_map(|item| {
            let own: BTreeMap<String, usize> = own(&item)
                .into_iter()
                .filter_map(|name| values.get(&name).map(|&value| (name, value)))
                .collect();
            replace(item, &own, NESTING)
        })
        .collect()
}

/// Pieces that end in `;`.
fn items(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut items = vec![vec![]];
    for token in tokens {
        let ends = matches!(&token, TokenTree::Punct(p) if p.as_char() == ';');
        if let Some(last) = items.last_mut() {
            last.push(token);
        }
        if ends {
            items.push(vec![]);
        }
    }
    items
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

/// The parameters that one item declares: `const D` before its variables.
fn own(item: &[TokenTree]) -> Vec<String> {
    let start = item.iter().position(|t| is_word(t, "fn"));
    let generics = item.iter().skip(start.unwrap_or(item.len()));
    let generics: Vec<&TokenTree> = generics
        .take_while(|t| !matches!(t, TokenTree::Group(_)))
        .collect();
    generics
        .windows(2)
        .filter(|pair| is_word(pair[0], "const"))
        .filter_map(|pair| match pair[1] {
            TokenTree::Ident(name) => Some(name.to_string()),
            _ => None,
        })
        .collect()
}

/// Replaces names, but for those behind `const`, within attributes, and in front of brackets, which are calls.
///
/// Not in brackets nested deeper than `depth`, which is an error elsewhere.
fn replace(
    tokens: Vec<TokenTree>,
    values: &BTreeMap<String, usize>,
    depth: usize,
) -> Vec<TokenTree> {
    let mut out: Vec<TokenTree> = Vec::with_capacity(tokens.len());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let before = out.last();
        let declares = before.is_some_and(|t| is_word(t, "const"));
        let attribute = matches!(before, Some(TokenTree::Punct(p)) if p.as_char() == '#');
        let calls = matches!(tokens.peek(), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
        out.push(match token {
            TokenTree::Ident(ident) if !declares && !calls => {
                match values.get(&ident.to_string()) {
                    Some(&value) => {
                        let mut literal = Literal::usize_unsuffixed(value);
                        literal.set_span(ident.span());
                        literal.into()
                    }
                    None => ident.into(),
                }
            }
            TokenTree::Group(group) if !attribute && depth > 0 => {
                let inside = replace(group.stream().into_iter().collect(), values, depth - 1);
                let mut replaced = Group::new(group.delimiter(), inside.into_iter().collect());
                replaced.set_span(group.span());
                replaced.into()
            }
            other => other,
        });
    }
    out
}

/// Names for the numbers of a sample in messages.
#[derive(Clone, Debug, Default)]
pub struct Naming(Vec<(usize, String)>);

impl Naming {
    /// For the numbers of one sample, as far as small sums and multiples of a parameter go.
    pub fn new(samples: &Samples, values: &[usize]) -> Naming {
        let mut names = vec![];
        for (name, &value) in samples.names().iter().zip(values) {
            names.push((value, name.clone()));
        }
        for (n, (name, &value)) in samples.names().iter().zip(values).enumerate() {
            for (other, &factor) in samples.names().iter().zip(values).skip(n) {
                names.push((value * factor, format!("{name}·{other}")));
            }
            for factor in 2..=4 {
                names.push((factor * value, format!("{factor}·{name}")));
            }
            for shift in 1..=4 {
                names.push((value + shift, format!("{name} + {shift}")));
                names.extend(
                    value
                        .checked_sub(shift)
                        .map(|v| (v, format!("{name} - {shift}"))),
                );
            }
        }
        Naming(names)
    }

    /// The text with names.
    pub fn apply(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            let length = rest[start..]
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len() - start);
            let (before, number) = (&rest[..start], &rest[start..start + length]);
            out.push_str(before);
            // `f32` and `0.67` are no dimensions.
            let alone = !before.ends_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_');
            let named = number
                .parse()
                .ok()
                .and_then(|n: usize| self.0.iter().find(|(value, _)| *value == n))
                .filter(|_| alone);
            out.push_str(named.map_or(number, |(_, name)| name));
            rest = &rest[start + length..];
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_hold_within_their_item() {
        let text = "#[doc = \"D\"] pub(super) fn f<T, const D: usize, const E: usize>(x_i: [T; D]) = sum_j f(x_i[0..D]) * E; \
                    fn g(D: f32) = sum_j D * y_j; fn h<const D: usize>(a: [[f32; D]; 2]) = D(a);";
        let tokens: TokenStream = text.parse().unwrap();
        assert_eq!(declared(&tokens), ["D", "E"]);
        let values = BTreeMap::from([("D".to_owned(), 67), ("E".to_owned(), 113)]);
        let expected = "#[doc = \"D\"] pub(super) fn f<T, const D: usize, const E: usize>(x_i: [T; 67]) = sum_j f(x_i[0..67]) * 113; \
                    fn g(D: f32) = sum_j D * y_j; fn h<const D: usize>(a: [[f32; 67]; 2]) = D(a);";
        let expected: TokenStream = expected.parse().unwrap();
        assert_eq!(
            substitute(tokens.clone(), &values).to_string(),
            expected.to_string()
        );
        let unused: Vec<String> = unused(&tokens).iter().map(ToString::to_string).collect();
        assert_eq!(unused, ["E"]);
    }

    #[test]
    fn messages_show_names() {
        let samples = Samples::new(vec!["D".into(), "E".into()]);
        let (d, e) = (samples.values(0)[0], samples.values(0)[1]);
        let naming = Naming::new(&samples, samples.values(0));
        assert_eq!(
            naming.apply(&format!(
                "a {d}×{e} matrix of f{d}, {}, {}, 0.{d}",
                d + 1,
                d * e
            )),
            format!("a D×E matrix of f{d}, D + 1, D·E, 0.{d}")
        );
        assert_eq!(Naming::default().apply("67"), "67");
    }
}
