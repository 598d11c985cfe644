//! Polynomials of degree two in the const parameters of an item, found from their values at [`Samples`].
//!
//! Everything that a compiled formula counts (columns, loop bounds, words of a state, offsets) is such a polynomial in its
//! dimensions, unless it holds outer products of outer products. The compiler knows numbers only: it compiles the formula at
//! several sets of dimensions, and what it counted is interpolated.
//!
//! Invariant: a polynomial that is found takes the value of every sample exactly, and there are more samples than
//! coefficients.

use std::fmt::Write;

/// Samples beyond the number of coefficients.
const SPARE: usize = 2;

/// Most const parameters of a macro call.
pub const MOST: usize = 3;

/// Larger than what the compiler unrolls, so that every sample takes the same way, and small enough for the square of the
/// largest to be a value's length. Primes, so that nothing holds in a sample by accident.
const PRIMES: [usize; 36] = [
    67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163,
    167, 173, 179, 181, 191, 193, 197, 199, 211, 223, 227, 229, 233, 239, 241, 251,
];

/// The values of the const parameters for which the compiler runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    names: Vec<String>,
    /// For each sample the value of each parameter.
    values: Vec<Vec<usize>>,
}

impl Samples {
    /// Samples for these parameters, at most [`MOST`].
    ///
    /// Parameters differ in every sample, and each is sometimes the smaller one of two.
    pub fn new(names: Vec<String>) -> Samples {
        let steps = [5, 17, 29];
        let values = (0..monomials(names.len()).len() + SPARE)
            .map(|k| {
                (0..names.len())
                    .map(|s| PRIMES[(11 * s + (k + 1) * steps[s % MOST]) % PRIMES.len()])
                    .collect()
            })
            .collect();
        Samples { names, values }
    }
    /// These and one more, at any values.
    #[must_use]
    pub fn with(&self, values: Vec<usize>) -> Samples {
        let mut samples = self.clone();
        samples.values.push(values);
        samples
    }
    /// Samples for the parameters that a macro call declares; those beyond [`MOST`] are an error elsewhere.
    pub fn of(tokens: &proc_macro2::TokenStream) -> Samples {
        let mut names = super::declared(tokens);
        names.truncate(MOST);
        Samples::new(names)
    }
    /// Whether there are no parameters: then there is one sample, without values.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// The values of the parameters in a sample.
    pub fn values(&self, sample: usize) -> &[usize] {
        &self.values[sample]
    }
    /// Some values in messages: `D = 67, E = 113`.
    pub fn place(&self, values: &[usize]) -> String {
        let named = self.names.iter().zip(values);
        let all: Vec<String> = named
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        all.join(", ")
    }
    /// The parameters' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The polynomial with these values in the samples.
    pub fn fit(&self, values: &[i128]) -> Option<Polynomial> {
        let monomials = monomials(self.names.len());
        let n = monomials.len();
        let row = |k: usize| -> Vec<f64> {
            let terms = monomials.iter().map(|m| m.at(&self.values[k]) as f64);
            terms.chain([values[k] as f64]).collect()
        };
        let mut rows: Vec<Vec<f64>> = (0..n).map(row).collect();
        for c in 0..n {
            let pivot = (c..n).max_by(|&a, &b| rows[a][c].abs().total_cmp(&rows[b][c].abs()))?;
            rows.swap(c, pivot);
            if rows[c][c] == 0.0 {
                return None;
            }
            for r in 0..n {
                if r != c {
                    let factor = rows[r][c] / rows[c][c];
                    let pivot = rows[c].clone();
                    for (entry, pivot) in rows[r].iter_mut().zip(pivot) {
                        *entry -= factor * pivot;
                    }
                }
            }
        }
        let terms = (0..n).map(|c| ((rows[c][n] / rows[c][c]).round() as i128, monomials[c]));
        let found = Polynomial {
            terms: terms.filter(|&(factor, _)| factor != 0).collect(),
        };
        // Rounding may have gone wrong, and a value need not be a polynomial at all.
        let holds = (0..self.len()).all(|k| found.at(&self.values[k]) == values[k]);
        holds.then_some(found)
    }
}

/// A product of at most two parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Monomial {
    /// 1
    One,
    /// A parameter.
    Parameter(usize),
    /// The product of two.
    Product(usize, usize),
}

impl Monomial {
    fn at(self, values: &[usize]) -> i128 {
        match self {
            Monomial::One => 1,
            Monomial::Parameter(s) => values[s] as i128,
            Monomial::Product(s, t) => values[s] as i128 * values[t] as i128,
        }
    }
}

/// All monomials of so many parameters, of higher degree first.
fn monomials(parameters: usize) -> Vec<Monomial> {
    let products =
        (0..parameters).flat_map(|s| (s..parameters).map(move |t| Monomial::Product(s, t)));
    products
        .chain((0..parameters).map(Monomial::Parameter))
        .chain([Monomial::One])
        .collect()
}

/// A sum of monomials with integer factors other than 0, of higher degree first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polynomial {
    /// Factors and monomials.
    pub terms: Vec<(i128, Monomial)>,
}

impl Polynomial {
    fn at(&self, values: &[usize]) -> i128 {
        self.terms
            .iter()
            .map(|&(factor, m)| factor * m.at(values))
            .sum()
    }

    /// As Rust text, what is subtracted last: `D`, `2 * D + 1`, `D * E - 1`. In brackets unless it is one name.
    pub fn text(&self, names: &[String]) -> String {
        let mut text = String::new();
        let (minus, plus): (Vec<_>, Vec<_>) =
            self.terms.iter().partition(|(factor, _)| *factor < 0);
        for &&(factor, monomial) in plus.iter().chain(&minus) {
            let sign = match (text.is_empty(), factor < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let name = match monomial {
                Monomial::One => String::new(),
                Monomial::Parameter(s) => names[s].clone(),
                Monomial::Product(s, t) => format!("{} * {}", names[s], names[t]),
            };
            // Writing to a string cannot fail.
            let _ = match (factor.abs(), name.is_empty()) {
                (factor, true) => write!(text, "{sign}{factor}"),
                (1, false) => write!(text, "{sign}{name}"),
                (factor, false) => write!(text, "{sign}{factor} * {name}"),
            };
        }
        match self.terms[..] {
            [] => "0".to_owned(),
            [(1, Monomial::Parameter(_))] => text,
            _ => format!("({text})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(names: &[&str]) -> Samples {
        Samples::new(names.iter().map(|&n| n.to_owned()).collect())
    }
    fn fit(samples: &Samples, f: impl Fn(&[usize]) -> i128) -> Option<String> {
        let values: Vec<i128> = (0..samples.len()).map(|k| f(samples.values(k))).collect();
        samples.fit(&values).map(|p| p.text(samples.names()))
    }

    #[test]
    fn polynomials_of_degree_two_are_found() {
        let d = samples(&["D"]);
        assert_eq!(fit(&d, |v| v[0] as i128).unwrap(), "D");
        assert_eq!(fit(&d, |_| 12).unwrap(), "(12)");
        assert_eq!(fit(&d, |_| 0).unwrap(), "0");
        assert_eq!(fit(&d, |v| 2 * v[0] as i128 + 1).unwrap(), "(2 * D + 1)");
        assert_eq!(
            fit(&d, |v| (v[0] * v[0]) as i128 - 3).unwrap(),
            "(D * D - 3)"
        );
        let three = samples(&["D", "E", "F"]);
        assert_eq!(
            fit(&three, |v| (3 * v[0] * v[2] + v[1]) as i128 - 7).unwrap(),
            "(3 * D * F + E - 7)"
        );
        assert_eq!(
            fit(&three, |v| v[1] as i128 - v[0] as i128).unwrap(),
            "(E - D)"
        );
    }

    #[test]
    fn what_is_no_such_polynomial_is_refused() {
        for names in [&["D"][..], &["D", "E"], &["D", "E", "F"]] {
            let samples = samples(names);
            assert_eq!(fit(&samples, |v| (v[0] * v[0] * v[0]) as i128), None);
            assert_eq!(fit(&samples, |v| (v[0] / 2) as i128), None);
            assert_eq!(fit(&samples, |v| i128::from(v[0] % 10 == 3)), None);
        }
    }

    #[test]
    fn parameters_differ_in_each_sample_in_either_order() {
        for names in [&["D"][..], &["D", "E"], &["D", "E", "F"]] {
            let samples = samples(names);
            let all: Vec<&[usize]> = (0..samples.len()).map(|k| samples.values(k)).collect();
            for s in 0..names.len() {
                assert!(all.iter().all(|v| v[s] * v[s] <= 1 << 16));
                for t in 0..s {
                    assert!(all.iter().all(|v| v[s] != v[t]));
                    assert!(all.iter().any(|v| v[s] < v[t]) && all.iter().any(|v| v[s] > v[t]));
                }
            }
        }
    }
}
