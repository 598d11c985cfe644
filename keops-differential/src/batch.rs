//! A batch of random formulas with what they must give.

use crate::On;
use crate::program::{self, Call, Rows};
use crate::support::expected::{Expected, Passed, as_rows, compare};
use crate::support::generate::Generator;
use keops_compiler::check::parse_and_check;
use keops_compiler::expand::formulas;
use keops_compiler::function::Input;
use std::collections::BTreeMap;
use std::fmt;

/// What a run has compared.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Formulas whose values were compared.
    pub compared: u64,
    /// Of these, formulas whose gradients were too.
    pub derived: u64,
    /// Numbers that were compared.
    pub numbers: u64,
    /// The largest part of its tolerance that a number used.
    pub worst: f64,
    passed: BTreeMap<Passed, u64>,
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} formulas compared, {} of them with gradients, {} numbers, passed over: {:?}, {:.3} of a tolerance used",
            self.compared, self.derived, self.numbers, self.passed, self.worst
        )
    }
}

/// A formula of a batch.
struct Subject {
    seed: u64,
    text: String,
    inputs: Vec<Input>,
    expected: Expected,
}

/// Formulas that say something.
pub struct Batch {
    subjects: Vec<Subject>,
    /// The seed behind the last formula's.
    pub next: u64,
}

impl Batch {
    /// So many formulas from a seed on.
    ///
    /// # Errors
    /// A formula that the checker refuses.
    pub fn new(first: u64, count: u64, on: &On, sums: &mut Sums) -> Result<Batch, String> {
        let most = match on {
            On::Scalar => 5,
            On::Ptx => 9,
            On::Vector | On::Optimised => 21,
        };
        let mut generator = Generator::new(0);
        let mut batch = Batch {
            subjects: vec![],
            next: first,
        };
        while (batch.subjects.len() as u64) < count {
            let seed = batch.next;
            batch.next += 1;
            generator.reseed(seed.wrapping_mul(0x9e37_79b9));
            let text = generator
                .formula()
                .replacen("fn f(", &format!("fn f{seed}("), 1);
            let tokens = text.parse().map_err(|e| format!("seed {seed}: {e}"))?;
            let (program, errors) = parse_and_check(tokens);
            if let Some(error) = errors.iter().next() {
                return Err(format!("seed {seed}: {}\n{text}", error.message()));
            }
            let formula = formulas(&program).remove(0);
            match Expected::new(&program.items[0], &formula, seed, most) {
                Ok(expected) => batch.subjects.push(Subject {
                    seed,
                    text,
                    inputs: formula.inputs.clone(),
                    expected,
                }),
                Err(why) => *sums.passed.entry(why).or_default() += 1,
            }
        }
        Ok(batch)
    }

    /// Compiles the formulas, runs them, and returns a message for each whose results differ.
    ///
    /// # Errors
    /// The program cannot be built or run.
    pub fn compare(&self, on: &On, sums: &mut Sums) -> Result<Vec<String>, String> {
        let text: String = self.subjects.iter().map(|s| s.text.as_str()).collect();
        let mut calls = vec![];
        for (number, subject) in self.subjects.iter().enumerate() {
            let slots = as_rows(&subject.expected.inputs.variables);
            let own = subject.inputs.len();
            let call = |derivative: bool, inputs: &[Input], slots: &[Vec<Vec<f64>>]| Call {
                formula: number,
                derivative,
                inputs: inputs.iter().map(|i| i.shape).zip(slots.to_vec()).collect(),
            };
            calls.push(call(false, &subject.inputs, &slots[..own]));
            if let Some(gradient) = &subject.expected.gradient {
                calls.push(call(true, &gradient.formula.inputs, &slots));
            }
        }
        let mut failures = vec![];
        let results = program::run(&text, &calls, on)?;
        for (call, flat) in calls.iter().zip(results) {
            let Subject {
                seed,
                text,
                expected,
                ..
            } = &self.subjects[call.formula];
            let (values, limits) = match &expected.gradient {
                Some(gradient) if call.derivative => (&gradient.values, &gradient.limits),
                _ => (&expected.values, &expected.limits),
            };
            sums.numbers += flat.iter().map(|numbers| numbers.len() as u64).sum::<u64>();
            let found: Vec<Rows> = flat.into_iter().zip(values).map(cut).collect();
            match compare(&found, values, limits) {
                Ok(used) => sums.worst = sums.worst.max(used),
                Err(message) => {
                    let what = if call.derivative { "gradient" } else { "value" };
                    failures.push(format!("seed {seed}, {what}, {message}\n{text}"));
                }
            }
            sums.compared += u64::from(!call.derivative);
            sums.derived += u64::from(call.derivative);
        }
        Ok(failures)
    }
}

/// Cuts numbers into rows as long as the expected ones.
fn cut((numbers, expected): (Vec<f64>, &Rows)) -> Rows {
    let columns = expected.first().map_or(1, Vec::len).max(1);
    numbers.chunks(columns).map(<[f64]>::to_vec).collect()
}
