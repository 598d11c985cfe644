//! "Did you mean": the nearest name, and KeOps' spellings.

use super::complexes::FUNCTIONS;
use super::integers::REAL;
use super::keops;
use crate::graph::derive::Derivative;
use crate::ops::{OPS, Syntax};
use crate::reductions::{PAIRS, REDUCTIONS};
use crate::types::Axis;

/// What was probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The name in the formula language; for a spelling of KeOps, what to write, with code in backticks.
    pub name: String,
    /// Whether the unknown name is KeOps' own spelling of it.
    pub from_keops: bool,
}

/// The variable, `let` or constant meant by an unknown name.
pub fn variable<'a>(unknown: &str, declared: impl Iterator<Item = &'a str>) -> Option<Suggestion> {
    nearest(unknown, declared.chain(["PI", "INFINITY"]))
}

/// The operation or reduction meant by an unknown function.
pub fn function(unknown: &str) -> Option<Suggestion> {
    if let Some(here) = keops::here(unknown) {
        return Some(Suggestion {
            name: here,
            from_keops: true,
        });
    }
    if let Some(base) = reduction_base(unknown) {
        return Some(Suggestion {
            name: format!("`{base}_j`"),
            from_keops: true,
        });
    }
    let operations = OPS.iter().filter(|op| op.syntax == Syntax::Call);
    let reductions = || {
        REDUCTIONS
            .iter()
            .map(|r| r.name)
            .chain(PAIRS.iter().map(|p| p.name))
            .flat_map(|name| [format!("{name}_j"), format!("{name}_i")])
    };
    let derivatives = || Derivative::ALL.into_iter().map(Derivative::name);
    let all: Vec<String> = operations
        .map(|op| op.name)
        .chain(derivatives())
        .chain([Derivative::ALIAS.0])
        .chain(FUNCTIONS.map(|(name, ..)| name))
        .chain([REAL])
        .map(String::from)
        .chain(reductions())
        .collect();
    nearest(unknown, all.iter().map(String::as_str))
}

/// The reduction (with its index) meant by an unknown one.
pub fn reduction(base: &str, axis: Axis) -> Option<Suggestion> {
    let with_index = |name: &str| format!("{name}_{}", axis.letter());
    if let Some(known) = reduction_base(base) {
        return Some(Suggestion {
            name: format!("`{}`", with_index(known)),
            from_keops: true,
        });
    }
    let names = REDUCTIONS
        .iter()
        .flat_map(|r| r.aliases.iter().copied().chain([r.name]))
        .chain(PAIRS.iter().map(|p| p.name));
    let found = nearest(base, names)?;
    Some(Suggestion {
        name: with_index(&found.name),
        from_keops: false,
    })
}

/// The reduction that KeOps writes like this: `Sum_Reduction`, `Max_SumShiftExp`, `ArgKMin`.
fn reduction_base(unknown: &str) -> Option<&'static str> {
    let bare = unknown.strip_suffix("_Reduction").unwrap_or(unknown);
    let spelled =
        |keops_name| is_keops_spelling(bare, keops_name) || is_keops_spelling(unknown, keops_name);
    let known = REDUCTIONS.iter().map(|r| (r.name, r.keops_name));
    known
        .chain(PAIRS.iter().map(|p| (p.name, p.keops_name)))
        .find(|(_, keops_name)| spelled(keops_name))
        .map(|(name, _)| name)
}

fn is_keops_spelling(unknown: &str, keops_name: &str) -> bool {
    keops_name
        .split(", ")
        .any(|name| !name.is_empty() && unknown.eq_ignore_ascii_case(name))
}

/// The candidate at the smallest edit distance, the first of equal ones, if it is near enough.
pub fn nearest<'a>(unknown: &str, candidates: impl Iterator<Item = &'a str>) -> Option<Suggestion> {
    if unknown.len() > 40 {
        return None;
    }
    let limit = (unknown.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = distance(&unknown.to_lowercase(), &candidate.to_lowercase());
        let long_enough = unknown.chars().count() > 1 || candidate.chars().count() > 1;
        if distance <= limit && long_enough && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| Suggestion {
        name: name.into(),
        from_keops: false,
    })
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = vec![];
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (m, x) in a.iter().enumerate() {
        let mut next = vec![m + 1];
        for (n, y) in b.iter().enumerate() {
            let at = |row: &[usize], k: usize| row.get(k).copied().unwrap_or(usize::MAX / 2);
            let mut cost = (at(&row, n) + usize::from(x != y))
                .min(at(&row, n + 1) + 1)
                .min(at(&next, n) + 1);
            let swapped = n > 0 && m > 0 && a.get(m - 1) == Some(y) && b.get(n - 1) == Some(x);
            if swapped {
                cost = cost.min(at(&before, n - 1) + 1);
            }
            next.push(cost);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("sqdist", "sqdist"), 0);
        assert_eq!(distance("sqdsit", "sqdist"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("x_i", "y_j"), 2);
    }

    #[test]
    fn spellings_of_keops() {
        let meant = |name| function(name).map(|s| (s.name, s.from_keops));
        assert_eq!(meant("SqDist"), Some(("`sqdist`".into(), true)));
        assert_eq!(meant("Scalprod"), Some(("`dot`".into(), true)));
        assert_eq!(meant("Sum_Reduction"), Some(("`sum_j`".into(), true)));
        assert_eq!(meant("GradMatrix"), Some(("`jacobian`".into(), true)));
        assert_eq!(meant("Grad_Matrix"), Some(("`jacobian`".into(), true)));
        assert_eq!(meant("grad_matrx"), Some(("grad_matrix".into(), false)));
        assert_eq!(meant("sqdits"), Some(("sqdist".into(), false)));
        assert_eq!(meant("Mult"), Some(("`a * b`".into(), true)));
        assert_eq!(meant("Minus"), Some(("`-a`".into(), true)));
        assert_eq!(meant("ComplexReal"), Some(("`re(z)`".into(), true)));
        assert_eq!(meant("frobnicate"), None);
    }
}
