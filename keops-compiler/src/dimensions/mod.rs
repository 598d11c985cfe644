//! Items with const parameters: [`interpolate`] makes one generic expansion of expansions at several dimensions.
//!
//! `fn gauss<T, const D: usize>(x_i: [T; D], …)` is compiled at some prime numbers D; the expansions differ in numbers only, and
//! each number is the value of a polynomial in D, which takes its place. Dimensions are therefore checked symbolically in
//! effect (equal only if they are the same polynomial), while no part of the compiler knows of symbols.
//!
//! Lengths of arrays are written `words![A; n]` in these expansions, because Rust takes no polynomial there; they become
//! nested types of `keops_gpu_kernels::words`.
//!
//! Invariant: the result, with numbers in place of the parameters, is the expansion at these numbers; only constants with a
//! fraction, which the compiler may have multiplied before, are equal up to rounding.

mod polynomial;
mod symbols;

pub use polynomial::{MOST, Samples};
pub use symbols::{Downwards, Naming, declared, downwards, substitute, unused};

use polynomial::{Monomial, Polynomial};
use proc_macro2::{Group, Literal, TokenStream, TokenTree};
use std::str::FromStr;

/// Why expansions are not one generic expansion: what differs in which way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch(pub String);

impl Mismatch {
    /// That of texts, one for each sample: two that differ, and where.
    fn between(samples: &Samples, texts: &[String]) -> Mismatch {
        let other = texts.iter().position(|text| *text != texts[0]);
        let places = [0, other.unwrap_or(0)];
        let parts = places.map(|k| format!("{} at {}", texts[k], samples.place(samples.values(k))));
        Mismatch(format!("a {}", parts.join(" and a ")))
    }
}

/// Makes one expansion of those at each sample.
///
/// # Errors
/// They differ in something that is not a polynomial of the parameters.
pub fn interpolate(samples: &Samples, streams: &[TokenStream]) -> Result<TokenStream, Mismatch> {
    let mut columns: Vec<_> = streams.iter().map(|s| s.clone().into_iter()).collect();
    let mut out: Vec<TokenTree> = vec![];
    loop {
        let tokens: Vec<Option<TokenTree>> = columns.iter_mut().map(Iterator::next).collect();
        let Some(tokens) = tokens.iter().cloned().collect::<Option<Vec<_>>>() else {
            return if tokens.iter().all(Option::is_none) {
                Ok(out.into_iter().collect())
            } else {
                Err(Mismatch(
                    "more statements at one than at another".to_owned(),
                ))
            };
        };
        token(samples, &tokens, &mut out)?;
    }
}

/// Appends the one token that these are.
fn token(
    samples: &Samples,
    tokens: &[TokenTree],
    out: &mut Vec<TokenTree>,
) -> Result<(), Mismatch> {
    let differ = || {
        let texts: Vec<String> = tokens.iter().map(ToString::to_string).collect();
        Mismatch::between(samples, &texts)
    };
    match &tokens[0] {
        TokenTree::Group(first) => {
            let groups: Option<Vec<&Group>> = tokens
                .iter()
                .map(|t| match t {
                    TokenTree::Group(g) if g.delimiter() == first.delimiter() => Some(g),
                    _ => None,
                })
                .collect();
            let groups = groups.ok_or_else(differ)?;
            let streams: Vec<TokenStream> = groups.iter().map(|g| g.stream()).collect();
            if is_words(out) {
                out.truncate(out.len() - 2);
                out.extend(words(samples, &streams)?);
                return Ok(());
            }
            let mut group = Group::new(first.delimiter(), interpolate(samples, &streams)?);
            group.set_span(first.span());
            out.push(group.into());
        }
        TokenTree::Literal(first) => {
            let literals: Option<Vec<String>> = tokens
                .iter()
                .map(|t| match t {
                    TokenTree::Literal(l) => Some(l.to_string()),
                    _ => None,
                })
                .collect();
            let literals = literals.ok_or_else(differ)?;
            if literals.iter().all(|l| *l == literals[0]) {
                out.push(first.clone().into());
            } else if literals[0].starts_with('"') {
                out.extend(parse(&text(samples, &literals).ok_or_else(differ)?));
            } else {
                let number = number(samples, &literals).ok_or_else(differ)?;
                if is_argument(out)
                    && number
                        .clone()
                        .into_iter()
                        .any(|t| matches!(t, TokenTree::Group(_)))
                {
                    // Rust takes no polynomial there; the length is checked when the formula is called.
                    out.extend(parse("{ k::ANY }"));
                } else {
                    out.extend(number);
                }
            }
        }
        first => {
            let text = first.to_string();
            if tokens.iter().any(|t| t.to_string() != text) {
                return Err(differ());
            }
            out.push(first.clone());
        }
    }
    Ok(())
}

/// Whether the last tokens are `words!`.
fn is_words(out: &[TokenTree]) -> bool {
    matches!(out, [.., TokenTree::Ident(name), TokenTree::Punct(p)] if name == "words" && p.as_char() == '!')
}

/// Whether the last tokens are `Vector<`, `Matrix<` or `Matrix<…,`, or those of complex numbers.
fn is_argument(out: &[TokenTree]) -> bool {
    let is = |at: usize, text: &str| {
        let token = out.len().checked_sub(at).and_then(|at| out.get(at));
        token.is_some_and(|t| t.to_string() == text)
    };
    let is_matrix = |at: usize| is(at, "Matrix") || is(at, "ComplexMatrix");
    is(1, "<") && (is(2, "Vector") || is(2, "ComplexVector") || is_matrix(2))
        || is(1, ",") && is(3, "<") && is_matrix(4)
}

fn parse(text: &str) -> TokenStream {
    TokenStream::from_str(text)
        .unwrap_or_else(|e| panic!("internal error in keops: `{text}` does not parse: {e}"))
}

/// What different numbers are: a polynomial, or at `f64` one, or a constant divided by a parameter.
fn number(samples: &Samples, literals: &[String]) -> Option<TokenStream> {
    let names = samples.names();
    let integers: Option<Vec<i128>> = literals.iter().map(|l| integer(l)).collect();
    if let Some(integers) = integers {
        return Some(parse(&samples.fit(&integers)?.text(names)));
    }
    let signed: Option<Vec<i128>> = literals
        .iter()
        .map(|l| l.strip_suffix("i64")?.parse().ok())
        .collect();
    if let Some(signed) = signed {
        let polynomial = samples.fit(&signed)?.text(names);
        return Some(parse(&format!("({polynomial} as i64)")));
    }
    let floats: Option<Vec<f64>> = literals
        .iter()
        .map(|l| l.strip_suffix("f64")?.parse().ok())
        .collect();
    let floats = floats?;
    if floats.iter().all(|f| f.fract() == 0.0 && f.abs() < 1e15) {
        let integers: Vec<i128> = floats.iter().map(|&f| f as i128).collect();
        let polynomial = samples.fit(&integers)?.text(names);
        return Some(parse(&format!("({polynomial} as f64)")));
    }
    // A constant times a power of a parameter. Constants were folded before, so it need hold up to rounding only.
    let power = |parameter: usize, power: Power| {
        let value = |k: usize| samples.values(k)[parameter] as f64;
        let n = 0..floats.len();
        let constants: Vec<f64> = n.map(|k| floats[k] / power.times(1.0, value(k))).collect();
        let c = constant(&constants, |k, c| power.times(c, value(k)) == floats[k])?;
        Some(parse(&format!(
            "({c:?}f64 {})",
            power.text(&names[parameter])
        )))
    };
    (0..names.len()).find_map(|s| Power::ALL.into_iter().find_map(|p| power(s, p)))
}

/// Powers of a parameter that constants hold: means divide by it, scalar products are divided by its square root.
#[derive(Clone, Copy)]
enum Power {
    One,
    Inverse,
    Root,
    InverseRoot,
    Square,
    InverseSquare,
}

impl Power {
    const ALL: [Power; 6] = [
        Power::One,
        Power::Inverse,
        Power::Root,
        Power::InverseRoot,
        Power::Square,
        Power::InverseSquare,
    ];
    /// A number times this power, rounded as [`Power::text`] is.
    fn times(self, c: f64, d: f64) -> f64 {
        match self {
            Power::One => c * d,
            Power::Inverse => c / d,
            Power::Root => c * d.sqrt(),
            Power::InverseRoot => c / d.sqrt(),
            Power::Square => c * (d * d),
            Power::InverseSquare => c / (d * d),
        }
    }
    /// Behind a number, as Rust text.
    fn text(self, d: &str) -> String {
        match self {
            Power::One => format!("* {d} as f64"),
            Power::Inverse => format!("/ {d} as f64"),
            Power::Root => format!("* ({d} as f64).sqrt()"),
            Power::InverseRoot => format!("/ ({d} as f64).sqrt()"),
            Power::Square => format!("* ({d} * {d}) as f64"),
            Power::InverseSquare => format!("/ ({d} * {d}) as f64"),
        }
    }
}

/// The constant that values are up to rounding: the one that fits the most samples exactly.
fn constant(values: &[f64], fits: impl Fn(usize, f64) -> bool) -> Option<f64> {
    if !values.iter().all(|&v| near_to(v, values[0])) {
        return None;
    }
    let candidates = values.iter().copied().chain([values[0].round()]);
    candidates
        .filter(|&c| near_to(c, values[0]))
        .max_by_key(|&c| (0..values.len()).filter(|&k| fits(k, c)).count())
}

fn near_to(a: f64, b: f64) -> bool {
    (a - b).abs() <= 4.0 * f64::EPSILON * b.abs()
}

/// What texts with different numbers are, with polynomials in the numbers' places.
fn text(samples: &Samples, texts: &[String]) -> Option<String> {
    with_polynomials(samples, texts, &mut |polynomial, _| polynomial.to_owned())
}

/// What the messages of all samples say of any values, each with the numbers of its sample: polynomials in the numbers' places.
/// `None` if they differ in anything else.
pub fn wording(samples: &Samples, messages: &[String]) -> Option<String> {
    let mut lines: Vec<_> = messages.iter().map(|m| m.lines()).collect();
    let mut all: Vec<String> = vec![];
    loop {
        let line: Vec<Option<&str>> = lines.iter_mut().map(Iterator::next).collect();
        if line.iter().all(Option::is_none) {
            return Some(all.join("\n"));
        }
        let line: Option<Vec<String>> = line.iter().map(|l| l.map(str::to_owned)).collect();
        let line = line?;
        // Only a parameter by itself can be written in a formula: no help to write more.
        let mut can_be_written = true;
        let named = with_polynomials(samples, &line, &mut |polynomial, after| {
            let alone = polynomial
                .strip_prefix('(')
                .and_then(|p| p.strip_suffix(')'));
            can_be_written &= alone.is_none();
            match alone {
                Some(alone) if !after.ends_with('×') => alone.to_owned(),
                _ => polynomial.to_owned(),
            }
        })?;
        if can_be_written || !named.starts_with("help:") {
            all.push(named);
        }
    }
}

/// The same with polynomials as `write` has them, given also what is before.
fn with_polynomials(
    samples: &Samples,
    texts: &[String],
    write: &mut dyn FnMut(&str, &str) -> String,
) -> Option<String> {
    let runs: Vec<Vec<&str>> = texts.iter().map(|text| runs(text)).collect();
    let first = &runs[0];
    if runs.iter().any(|r| r.len() != first.len()) {
        return None;
    }
    let mut out = String::new();
    for n in 0..first.len() {
        if runs.iter().all(|r| r[n] == first[n]) {
            out.push_str(first[n]);
        } else {
            let numbers: Option<Vec<i128>> = runs.iter().map(|r| r[n].parse().ok()).collect();
            let polynomial = samples.fit(&numbers?)?.text(samples.names());
            let written = write(&polynomial, &out);
            out.push_str(&written);
        }
    }
    Some(out)
}

/// The runs of digits of a text and what is between them, in turn.
fn runs(text: &str) -> Vec<&str> {
    let mut runs = vec![];
    let (mut rest, mut digits) = (text, false);
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| c.is_ascii_digit() != digits)
            .unwrap_or(rest.len());
        runs.push(&rest[..end]);
        (rest, digits) = (&rest[end..], !digits);
    }
    runs
}

/// An integer literal of type `usize`, or without one.
fn integer(literal: &str) -> Option<i128> {
    literal
        .strip_suffix("usize")
        .unwrap_or(literal)
        .parse()
        .ok()
}

/// The type of `words![A; n]`: so many words `A`, or more.
fn words(samples: &Samples, streams: &[TokenStream]) -> Result<TokenStream, Mismatch> {
    let mut lengths = vec![];
    let mut element = TokenStream::new();
    for stream in streams {
        let mut tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
        let length = match tokens.pop() {
            Some(TokenTree::Literal(l)) => integer(&l.to_string()),
            _ => None,
        };
        lengths.push(length.ok_or_else(|| Mismatch("an array of another length".to_owned()))?);
        tokens.pop();
        element = tokens.into_iter().collect();
    }
    let fitted = samples.fit(&lengths);
    let Polynomial { terms } = fitted.ok_or_else(|| {
        let texts: Vec<String> = lengths.iter().map(ToString::to_string).collect();
        Mismatch::between(samples, &texts)
    })?;
    let name =
        |s: usize| proc_macro2::Ident::new(&samples.names()[s], proc_macro2::Span::call_site());
    // What is subtracted may be left there.
    let mut parts =
        terms
            .into_iter()
            .filter(|&(factor, _)| factor > 0)
            .map(|(factor, monomial)| {
                let count =
                    Literal::usize_unsuffixed(usize::try_from(factor).unwrap_or(usize::MAX));
                let block = match monomial {
                    Monomial::One => return quote::quote!([#element; #count]),
                    Monomial::Parameter(s) => {
                        let d = name(s);
                        quote::quote!([#element; #d])
                    }
                    Monomial::Product(s, t) => {
                        let (d, e) = (name(s), name(t));
                        quote::quote!(words::Blocks<[#element; #e], #d>)
                    }
                };
                if factor == 1 {
                    block
                } else {
                    quote::quote!(words::Blocks<#block, #count>)
                }
            });
    let first = parts.next().unwrap_or_else(|| quote::quote!([#element; 0]));
    Ok(parts.fold(first, |all, part| quote::quote!(words::Pair<#all, #part>)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interpolation of texts in which `$D` and `$E` stand for the parameters' values, as functions of them.
    fn made(texts: impl Fn(usize, usize) -> String) -> Result<String, Mismatch> {
        let samples = Samples::new(vec!["D".into(), "E".into()]);
        let streams: Vec<TokenStream> = (0..samples.len())
            .map(|k| parse(&texts(samples.values(k)[0], samples.values(k)[1])))
            .collect();
        interpolate(&samples, &streams).map(|s| s.to_string())
    }
    fn same(found: Result<String, Mismatch>, expected: &str) {
        let plain = |text: String| text.replace(' ', "");
        assert_eq!(plain(found.unwrap()), plain(parse(expected).to_string()));
    }

    #[test]
    fn numbers_become_polynomials() {
        same(
            made(|d, e| {
                format!(
                    "const A: usize = {}; f(x[{} + d0 * {e}], \"3\", 7)",
                    d + 1,
                    2 * d
                )
            }),
            "const A: usize = (D + 1); f(x[(2 * D) + d0 * E], \"3\", 7)",
        );
        same(made(|d, _| format!("lit({d}.0f64)")), "lit((D as f64))");
        same(made(|d, _| format!("({}i64)", d + 1)), "(((D + 1) as i64))");
        same(
            made(|d, e| {
                format!(
                    "k::Vector<{d}> k::Vector<{}> k::Matrix<{}, {e}>",
                    d + e,
                    e + 1
                )
            }),
            "k::Vector<D> k::Vector<{ k::ANY }> k::Matrix<{ k::ANY }, E>",
        );
        same(
            made(|d, e| format!("\"sum(x[0..{d}]) / {} é 2\"", e + 1)),
            "\"sum(x[0..D]) / (E + 1) é 2\"",
        );
        same(
            made(|_, e| format!("lit({:?}f64)", 1.0 / e as f64)),
            "lit((1.0f64 / E as f64))",
        );
    }

    #[test]
    fn folded_constants_are_found() {
        let log2_e = std::f64::consts::LOG2_E;
        same(
            made(|d, _| format!("lit({:?}f64)", log2_e / d as f64)),
            &format!("lit(({log2_e:?}f64 / D as f64))"),
        );
        same(
            made(|_, e| format!("lit({:?}f64)", 0.5 / (e as f64).sqrt())),
            "lit((0.5f64 / (E as f64).sqrt()))",
        );
        same(
            made(|_, e| format!("lit({:?}f64)", -0.5 * (2 * e + 1) as f64 + 0.5)),
            "lit(-(E as f64))",
        );
    }

    #[test]
    fn lengths_become_types() {
        same(made(|d, _| format!("words![A; {d}]")), "[A; D]");
        same(made(|_, _| "words![S::F; 4]".to_owned()), "[S::F; 4]");
        same(
            made(|d, _| format!("words![A; {}]", 2 * d + 1)),
            "words::Pair<words::Blocks<[A; D], 2>, [A; 1]>",
        );
        same(
            made(|d, e| format!("words![A; {}]", d * e + e - 3)),
            "words::Pair<words::Blocks<[A; E], D>, [A; E]>",
        );
    }

    #[test]
    fn other_differences_are_refused() {
        assert_eq!(
            made(|d, _| format!("a{}", d))
                .unwrap_err()
                .0
                .split(", ")
                .count(),
            3
        );
        assert!(made(|d, _| "x;".repeat(d)).is_err());
        assert!(made(|d, _| format!("f({})", d * d * d)).is_err());
        assert!(made(|d, _| format!("f({:?}f64)", (d as f64).ln())).is_err());
    }
}
