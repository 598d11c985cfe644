//! A batch of random formulas with what they must give.

use crate::On;
use crate::program::{self, Call, Role, Rows};
use crate::support::coverage::uses;
use crate::support::expected::{Expected, Passed, as_rows, compare};
use crate::support::generate::Generator;
use keops_compiler::check::parse_and_check;
use keops_compiler::expand::formulas;
use keops_compiler::function::{Formula, Input};
use keops_compiler::types::Shape;
use keops_compiler::value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::time::Instant;

/// What a run has compared.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Formulas of which everything was compared.
    pub compared: u64,
    /// Of these, formulas with a pass over listed pairs only.
    pub listed: u64,
    /// Functions that were compared, by what they compute.
    pub functions: BTreeMap<&'static str, u64>,
    /// Numbers that were compared.
    pub numbers: u64,
    /// The largest part of its tolerance that a number used.
    pub worst: f64,
    /// How many formulas use what: operations, reductions, kinds of values.
    pub uses: BTreeMap<String, u64>,
    passed: BTreeMap<Passed, u64>,
    /// Seconds of all threads together for making formulas with what they must give, and for compiling and running them.
    seconds: [f64; 2],
}

impl Sums {
    /// Adds those of other formulas.
    pub fn add(&mut self, other: &Sums) {
        self.compared += other.compared;
        self.listed += other.listed;
        self.numbers += other.numbers;
        self.worst = self.worst.max(other.worst);
        for (sum, seconds) in self.seconds.iter_mut().zip(other.seconds) {
            *sum += seconds;
        }
        for (name, count) in &other.functions {
            *self.functions.entry(name).or_default() += count;
        }
        for (name, count) in &other.uses {
            *self.uses.entry(name.clone()).or_default() += count;
        }
        for (why, count) in &other.passed {
            *self.passed.entry(*why).or_default() += count;
        }
    }

    /// How many formulas use what, one a line.
    pub fn coverage(&self) -> String {
        let lines = self.uses.iter().map(|(what, n)| format!("{what}: {n}\n"));
        lines.collect()
    }
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} formulas compared ({:?}; {} with listed pairs), {} numbers, passed over: {:?}, {:.3} of a tolerance used, {:.0} s making them, {:.0} s compiling and running",
            self.compared,
            self.functions,
            self.listed,
            self.numbers,
            self.passed,
            self.worst,
            self.seconds[0],
            self.seconds[1]
        )
    }
}

/// A formula of a batch.
struct Subject {
    seed: u64,
    text: String,
    uses: BTreeSet<String>,
    runs: Vec<Run>,
}

/// One of its functions, with what it must give.
struct Run {
    role: Role,
    inputs: Vec<(Shape, Rows)>,
    values: Vec<Rows>,
    limits: Vec<f64>,
}

impl Subject {
    /// The formula of a seed, or why it is passed over.
    ///
    /// # Errors
    /// The checker refuses the formula.
    fn new(
        generator: &mut Generator,
        seed: u64,
        on: &On,
    ) -> Result<Result<Subject, Passed>, String> {
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
        let item = &program.items[0];
        Ok(
            Expected::new(item, &formula, seed, &on.sizes()).and_then(|expected| {
                Ok(Subject {
                    seed,
                    uses: uses(item, &text),
                    text,
                    runs: runs(&formula, expected, seed)?,
                })
            }),
        )
    }
}

/// What is run of a formula: its value, and its gradient; now and then its tangent, or the gradient with the value in one
/// function.
fn runs(formula: &Formula, mut expected: Expected, seed: u64) -> Result<Vec<Run>, Passed> {
    let tangent = if seed.is_multiple_of(8) {
        expected.tangent(formula, seed)?
    } else {
        None
    };
    let with = |inputs: &[Input], rows: &[Vec<Value>]| {
        let shapes = inputs.iter().map(|input| input.shape);
        shapes.zip(as_rows(rows)).collect()
    };
    let own = formula.inputs.len();
    let mut runs = vec![Run {
        role: Role::Eval,
        inputs: with(&formula.inputs, &expected.inputs.variables[..own]),
        values: expected.values.clone(),
        limits: expected.limits.clone(),
    }];
    if formula.compile().excess.is_some() {
        return Err(Passed::Budget);
    }
    if let Some(gradient) = expected.gradient {
        if gradient.formula.compile().excess.is_some() {
            return Err(Passed::Budget);
        }
        let inputs = with(&gradient.formula.inputs, &expected.inputs.variables);
        let both = seed % 8 == 1 && formula.value_and_vjp().compile().excess.is_none();
        if both {
            let behind = |first: &[Rows], second: &[Rows]| [first, second].concat();
            runs.push(Run {
                role: Role::ValueAndVjp,
                inputs: inputs.clone(),
                values: behind(&expected.values, &gradient.values),
                limits: [&expected.limits[..], &gradient.limits].concat(),
            });
        }
        runs.push(Run {
            role: Role::Vjp,
            inputs,
            values: gradient.values,
            limits: gradient.limits,
        });
    }
    if let Some((inputs, tangent)) = tangent {
        if tangent.formula.compile().excess.is_some() {
            return Err(Passed::Budget);
        }
        runs.push(Run {
            role: Role::Jvp,
            inputs: with(&tangent.formula.inputs, &inputs.variables),
            values: tangent.values,
            limits: tangent.limits,
        });
    }
    Ok(runs)
}

/// The formulas of some seeds that say something.
pub struct Batch {
    subjects: Vec<Subject>,
}

impl Batch {
    /// Of the next seeds, which are taken from `seeds`.
    ///
    /// # Errors
    /// A formula that the checker refuses.
    pub fn new(
        seeds: Range<u64>,
        generator: &mut Generator,
        on: &On,
        sums: &mut Sums,
    ) -> Result<Batch, String> {
        let start = Instant::now();
        let mut subjects = vec![];
        for seed in seeds {
            match Subject::new(generator, seed, on)? {
                Ok(subject) => subjects.push(subject),
                Err(why) => *sums.passed.entry(why).or_default() += 1,
            }
        }
        sums.seconds[0] += start.elapsed().as_secs_f64();
        Ok(Batch { subjects })
    }

    /// Compiles the formulas, runs them, and returns a message for each whose results differ.
    ///
    /// # Errors
    /// The program cannot be built or run.
    pub fn compare(&self, on: &On, sums: &mut Sums) -> Result<Vec<String>, String> {
        let text: String = self.subjects.iter().map(|s| s.text.as_str()).collect();
        let mut calls = vec![];
        for (formula, subject) in self.subjects.iter().enumerate() {
            calls.extend(subject.runs.iter().map(|run| Call {
                formula,
                role: run.role,
                inputs: run.inputs.clone(),
            }));
        }
        if calls.is_empty() {
            return Ok(vec![]);
        }
        let start = Instant::now();
        let mut results = program::run(&text, &calls, on)?.into_iter();
        sums.seconds[1] += start.elapsed().as_secs_f64();
        let mut failures = vec![];
        for Subject {
            seed,
            text,
            uses,
            runs,
        } in &self.subjects
        {
            let mut listed = false;
            for (run, found) in runs.iter().zip(&mut results) {
                listed |= found.listed > 0;
                sums.numbers += found.numbers.iter().map(|n| n.len() as u64).sum::<u64>();
                *sums.functions.entry(name(run.role)).or_default() += 1;
                let rows: Vec<Rows> = found
                    .numbers
                    .into_iter()
                    .zip(&run.values)
                    .map(cut)
                    .collect();
                match compare(&rows, &run.values, &run.limits) {
                    Ok(used) => sums.worst = sums.worst.max(used),
                    Err(message) => {
                        let what = name(run.role);
                        failures.push(format!("seed {seed}, {what}, {message}\n{text}"));
                    }
                }
            }
            sums.compared += 1;
            sums.listed += u64::from(listed);
            for name in uses {
                *sums.uses.entry(name.clone()).or_default() += 1;
            }
        }
        Ok(failures)
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Eval => "value",
        Role::Vjp => "gradient",
        Role::ValueAndVjp => "value and gradient",
        Role::Grad(_) => "one gradient",
        Role::Jvp => "tangent",
    }
}

/// Cuts numbers into rows as long as the expected ones.
fn cut((numbers, expected): (Vec<f64>, &Rows)) -> Rows {
    let columns = expected.first().map_or(1, Vec::len).max(1);
    numbers.chunks(columns).map(<[f64]>::to_vec).collect()
}
