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

/// What is counted downwards from const parameters, as in `v[D - 3]`: at some values it meets what is counted upwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Downwards {
    /// The parameters.
    pub names: Vec<String>,
    /// Beyond this value no two places of a value can meet: twice the sum of all integers of the item.
    pub bound: usize,
}

/// That of the item of this name; of an item without const parameters of its own (a derivative) that of all others.
pub fn downwards(tokens: &TokenStream, name: &str) -> Downwards {
    let mut all = Downwards::default();
    for item in items(tokens.clone()) {
        let names = own(&item);
        let start = item.iter().position(|t| is_word(t, "fn"));
        let behind = item.get(start.map_or(item.len(), |at| at + 1)..);
        let mut found = Downwards::default();
        let sum = integers(
            behind.unwrap_or_default(),
            &names,
            NESTING,
            &mut found.names,
        );
        found.bound = sum.saturating_mul(2).saturating_add(2);
        let is_it = behind
            .and_then(<[_]>::first)
            .is_some_and(|t| is_word(t, name));
        if is_it && !names.is_empty() {
            return found;
        }
        if !found.names.is_empty() {
            all.bound = all.bound.max(found.bound);
            all.names.extend(found.names);
        }
    }
    all
}

/// The sum of all integers, products of them multiplied; adds the parameters from which something is subtracted.
fn integers(
    tokens: &[TokenTree],
    names: &[String],
    depth: usize,
    subtracted: &mut Vec<String>,
) -> usize {
    let is_sign = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if "+-*".contains(p.as_char()));
    let is_part = |t: &TokenTree| is_sign(t) || is_static(t, names, depth);
    let mut sum = 0usize;
    for run in tokens.chunk_by(|a, b| is_part(a) == is_part(b)) {
        let is_product = is_part(&run[0]);
        if is_product
            && run
                .iter()
                .any(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == '-'))
        {
            let used = names.iter().filter(|name| {
                let mut idents = run.iter().cloned();
                idents.any(|t| mentions_name(TokenStream::from(t), name, depth))
            });
            subtracted.extend(used.cloned());
        }
        let mut product = 1usize;
        for token in run {
            let value = match token {
                TokenTree::Literal(literal) => literal.to_string().parse().unwrap_or(0),
                TokenTree::Group(group) if depth > 0 => {
                    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                    integers(&inside, names, depth - 1, subtracted)
                }
                TokenTree::Punct(p) if is_product && p.as_char() != '*' => {
                    product = 1;
                    0
                }
                _ => continue,
            };
            if value > 0 {
                product = if is_product {
                    product.saturating_mul(value)
                } else {
                    value
                };
                sum = sum.saturating_add(product);
            }
        }
    }
    sum
}

/// Whether a token is an integer, a const parameter, or brackets around sums and products of such.
fn is_static(token: &TokenTree, names: &[String], depth: usize) -> bool {
    match token {
        TokenTree::Ident(ident) => names.iter().any(|name| ident == name),
        TokenTree::Literal(literal) => literal.to_string().parse::<usize>().is_ok(),
        TokenTree::Group(group) => {
            depth > 0
                && group.delimiter() != Delimiter::Bracket
                && group.stream().into_iter().all(|t| match t {
                    TokenTree::Punct(p) => "+-*".contains(p.as_char()),
                    t => is_static(&t, names, depth - 1),
                })
        }
        TokenTree::Punct(_) => false,
    }
}

fn mentions_name(tokens: TokenStream, name: &str, depth: usize) -> bool {
    mentions(
        tokens,
        &proc_macro2::Ident::new(name, proc_macro2::Span::call_site()),
        depth,
    )
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
    fn what_is_counted_downwards_is_found() {
        let text = "fn f<const D: usize, const E: usize>(x_i: [f64; D], y: [f64; E]) = sum_j x_i[D - 3] * y[4]; \
                    fn g<const D: usize>(x_i: [f64; D]) = sum_i x_i[D..] - 2.0 * D; fn h = grad(f, x_i); \
                    fn k<const E: usize>(x_i: [f64; E]) = sum_i elem(x_i, 2 * (E + 5) * 3 - 7);";
        let tokens: TokenStream = text.parse().unwrap();
        let of = |name: &str| {
            let found = downwards(&tokens, name);
            (found.names.join(" "), found.bound)
        };
        // `f64` is no integer.
        assert_eq!(of("f"), ("D".into(), 16));
        assert_eq!(of("g").0, "");
        assert_eq!(of("k").0, "E");
        assert!(of("k").1 >= 2 * (2 * 5 * 3 + 7));
        assert_eq!(of("h").0, "D E");
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
