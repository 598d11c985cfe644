//! How exact each operation is in compiled kernels and in PTX: the second table of `docs/operations.md`.
//!
//! An operation is a formula of its own, of up to three combinations of shapes, on rows whose numbers are exact at f32. Its value
//! and its derivative with random cotangents are compared with the f64 references of the records; that derivative is the one
//! whose difference to finite differences is in the first table.

use crate::On;
use crate::program::{self, Call, Role, Rows};
use crate::support::cases::{Case, cases};
use crate::support::closed::{self, Closed};
use crate::support::generate::written;
use crate::support::text::formula;
use crate::support::{Random, Subject, page};
use keops_compiler::check::parse_and_check;
use keops_compiler::graph::NodeId;
use keops_compiler::interpret::evaluate;
use keops_compiler::lower::interpret::run_function;
use keops_compiler::ops::{OPS, Op};
use keops_compiler::types::{Axis, Element, Shape, Type};
use keops_compiler::value::Value;
use std::fmt::Write;

/// Rows of each formula.
const ROWS: usize = 64;
/// Formulas of an operation at most.
const CASES: usize = 3;
/// Numbers of the arguments of a formula at most, where an operation accepts that few.
const NUMBERS: usize = 40;

/// A value type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// `f32`
    F32,
    /// `f64`
    F64,
}

impl Number {
    fn name(self) -> &'static str {
        match self {
            Number::F32 => "f32",
            Number::F64 => "f64",
        }
    }
    /// The distance from 1 to the next number.
    fn epsilon(self) -> f64 {
        match self {
            Number::F32 => f64::from(f32::EPSILON),
            Number::F64 => f64::EPSILON,
        }
    }
}

/// The largest errors of an operation, in units of the last place of 1 + |value|.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Of its value.
    pub value: f64,
    /// Of its derivative, if it has one.
    pub slope: Option<f64>,
}

/// The shape and the rows of an argument.
type Argument = (Shape, Rows);

/// One formula: an operation of variables with one row for each i.
struct Single {
    case: Case,
    subject: Subject,
    /// Its value, conditions as numbers.
    node: NodeId,
    /// Its expression.
    text: String,
}

fn declared(shape: Shape, number: Number) -> String {
    let name = number.name();
    match shape {
        Shape::Scalar => name.to_owned(),
        Shape::Vector(n) => format!("[{name}; {n}]"),
        Shape::Matrix(r, c) => format!("[[{name}; {c}]; {r}]"),
    }
}

impl Single {
    fn new(case: Case) -> Single {
        let types: Vec<(Type, Option<Axis>)> =
            case.types.iter().map(|&ty| (ty, Some(Axis::I))).collect();
        let mut subject = Subject::new(&types, (ROWS, 1), case.op.test_range, 7);
        round(&mut subject);
        let node = subject
            .graph
            .apply_with(case.op, &subject.variables, &case.params);
        let args: Vec<String> = types
            .iter()
            .enumerate()
            .map(|(k, (ty, _))| match ty.element {
                Element::Bool => format!("(v{k}_i > 0.5)"),
                _ => format!("v{k}_i"),
            })
            .collect();
        let mut text = written(case.op, &args, &case.params);
        if subject.graph.ty(node).element == Element::Bool {
            text = format!("if {text} {{ 1.0 }} else {{ 0.0 }}");
        }
        let node = subject.real(node);
        Single {
            case,
            subject,
            node,
            text,
        }
    }

    /// The item of this name.
    fn item(&self, name: &str, number: Number) -> String {
        let variables: Vec<String> = self
            .case
            .types
            .iter()
            .enumerate()
            .map(|(k, ty)| format!("v{k}_i: {}", declared(ty.shape, number)))
            .collect();
        let (variables, number) = (variables.join(", "), number.name());
        // A formula reduces something: one row of a one changes no number.
        format!(
            "fn {name}({variables}, one_j: {number}) = sum_j one_j * ({});\n",
            self.text
        )
    }

    fn is_accepted(&self) -> bool {
        let item = self.item("f", Number::F64).parse();
        item.is_ok_and(|tokens| parse_and_check(tokens).1.iter().next().is_none())
    }

    /// The numbers of the value, row by row.
    fn values(&self) -> Vec<f64> {
        flat(&evaluate(&self.subject.graph, &[self.node], &self.subject.inputs)[0])
    }

    /// The cotangents, and with them the derivative by each argument that has one, row by row.
    fn slopes(&self) -> Option<(Argument, Vec<Option<Vec<f64>>>)> {
        if !self.case.is_real() {
            return None;
        }
        let mut subject = self.subject.clone();
        let weighted = subject.weighted(self.node, 5);
        round(&mut subject);
        let wrt = self.case.real_arguments();
        let (g, found) = subject.gradient(weighted, &wrt);
        let mut slopes = vec![None; self.case.types.len()];
        for (k, found) in wrt.into_iter().zip(found) {
            let count = self.case.types[k].shape.len();
            slopes[k] = Some(match found {
                None => vec![0.0; ROWS * count],
                Some(node) => {
                    let values = evaluate(&g, &[node], &subject.inputs).remove(0);
                    // A derivative that is the same for all rows may have one.
                    let row = |row: usize| values[row.min(values.len() - 1)].data.clone();
                    (0..ROWS).flat_map(row).collect()
                }
            });
        }
        let cotangent = subject.inputs.variables.pop()?;
        let shape = cotangent[0].shape;
        let rows = cotangent.into_iter().map(|row| row.data).collect();
        Some(((shape, rows), slopes))
    }
}

/// Makes all numbers exact at f32.
fn round(subject: &mut Subject) {
    let rows = subject.inputs.variables.iter_mut().flatten();
    for number in rows.flat_map(|row| &mut row.data) {
        *number = f64::from(*number as f32);
    }
}

fn flat(values: &[Value]) -> Vec<f64> {
    let row = |row: usize| values[row.min(values.len() - 1)].data.clone();
    (0..ROWS).flat_map(row).collect()
}

/// Formulas of an operation.
fn formulas(op: &'static Op) -> Vec<Single> {
    let mut all: Vec<Case> = cases(op, 200)
        .into_iter()
        .filter(|case| {
            // Steps closer than numbers at f32 have no error worth the name.
            let fine = op.name != "round" || case.params.iter().all(|&p| p <= 1);
            fine && case.params.iter().all(|p| p.unsigned_abs() < 100)
        })
        .collect();
    let size = |case: &Case| case.types.iter().map(|ty| ty.shape.len()).sum::<usize>();
    if all.iter().any(|case| size(case) <= NUMBERS) {
        all.retain(|case| size(case) <= NUMBERS);
    }
    let accepted: Vec<Single> = all
        .into_iter()
        .map(Single::new)
        .filter(Single::is_accepted)
        .collect();
    let stride = accepted.len().div_ceil(CASES).max(1);
    accepted.into_iter().step_by(stride).collect()
}

/// The largest difference, in units of the last place of 1 + |value|; infinite where only one of two is NaN.
fn largest(found: &[f64], expected: &[f64], number: Number) -> f64 {
    if found.len() != expected.len() {
        return f64::INFINITY;
    }
    let each = found.iter().zip(expected).map(|(f, e)| {
        if f == e || (f.is_nan() && e.is_nan()) {
            return 0.0;
        }
        let difference = (f - e).abs() / (1.0 + f.abs().max(e.abs()));
        if difference.is_nan() {
            f64::INFINITY
        } else {
            difference / number.epsilon()
        }
    });
    each.fold(0.0, f64::max)
}

/// The errors of some operations.
///
/// # Errors
/// A program that cannot be built or run.
pub fn measure(ops: &[&'static Op], on: &On, number: Number) -> Result<Vec<Errors>, String> {
    let mut errors = vec![Errors::default(); ops.len()];
    let singles: Vec<(usize, Single)> = ops
        .iter()
        .enumerate()
        .flat_map(|(k, op)| formulas(op).into_iter().map(move |single| (k, single)))
        .collect();
    let mut text = String::new();
    let mut calls = vec![];
    let mut expected = vec![];
    for (n, (k, single)) in singles.iter().enumerate() {
        text.push_str(&single.item(&format!("f{n}"), number));
        let slots = single.subject.slots();
        let shapes = single.case.types.iter().map(|ty| ty.shape);
        let one = (Shape::Scalar, vec![vec![1.0]]);
        let inputs: Vec<_> = shapes.zip(slots).chain([one]).collect();
        calls.push(Call {
            formula: n,
            role: Role::Eval,
            inputs: inputs.clone(),
        });
        expected.push((*k, vec![Some(single.values())]));
        if let Some((cotangent, slopes)) = single.slopes() {
            let mut inputs = inputs;
            inputs.push(cotangent);
            calls.push(Call {
                formula: n,
                role: Role::Vjp,
                inputs,
            });
            expected.push((*k, slopes));
        }
    }
    let results = program::run(&text, &calls, on)?;
    for ((call, (k, expected)), found) in calls.iter().zip(expected).zip(results) {
        for (found, expected) in found.numbers.iter().zip(&expected) {
            let Some(expected) = expected else { continue };
            let error = largest(found, expected, number);
            let of = &mut errors[k];
            if call.role == Role::Vjp {
                of.slope = Some(of.slope.unwrap_or(0.0).max(error));
            } else {
                of.value = of.value.max(error);
            }
        }
    }
    Ok(errors)
}

/// The errors of some formulas with closed values.
///
/// # Errors
/// A program that cannot be built or run.
pub fn measure_closed(some: &[&Closed], on: &On, number: Number) -> Result<Vec<Errors>, String> {
    let (mut text, mut calls, mut expected) = (String::new(), vec![], vec![]);
    for (n, closed) in some.iter().enumerate() {
        text.push_str(&closed.item(&format!("f{n}"), number.name()));
        let rows = closed.rows(ROWS);
        let value: Vec<Vec<f64>> = (0..ROWS)
            .map(|row| {
                let at: Vec<&[f64]> = rows.iter().map(|rows| rows[row].as_slice()).collect();
                closed.value(&at)
            })
            .collect();
        let mut random = Random(5);
        let mut number_of = |_: &f64| f64::from(random.within((-1.0, 1.0)) as f32);
        let cotangent: Rows = value
            .iter()
            .map(|row| row.iter().map(&mut number_of).collect())
            .collect();
        let shape = match value[0].len() {
            1 if closed.is_number() => Shape::Scalar,
            n => Shape::Vector(n),
        };
        let count = rows.len();
        let mut slots = rows.clone();
        slots.push(vec![vec![1.0]]);
        slots.push(cotangent.clone());
        // The derivative by the interpreter, which the first tables compare with differences.
        let gradient = formula(&closed.item("f", "f64")).vjp(&(0..count).collect::<Vec<_>>());
        let slopes = run_function(&gradient.compile(), &slots, ROWS, 1);
        let one = (Shape::Scalar, vec![vec![1.0]]);
        let inputs: Vec<_> = closed.shapes().into_iter().zip(rows).chain([one]).collect();
        calls.push(Call {
            formula: n,
            role: Role::Eval,
            inputs: inputs.clone(),
        });
        expected.push(vec![value.concat()]);
        calls.push(Call {
            formula: n,
            role: Role::Vjp,
            inputs: inputs.into_iter().chain([(shape, cotangent)]).collect(),
        });
        expected.push(slopes.into_iter().map(|rows| rows.concat()).collect());
    }
    let results = program::run(&text, &calls, on)?;
    let mut errors = vec![Errors::default(); some.len()];
    for ((call, expected), found) in calls.iter().zip(expected).zip(results) {
        let each = found.numbers.iter().zip(&expected);
        let error = each.map(|(f, e)| largest(f, e, number)).fold(0.0, f64::max);
        let of = &mut errors[call.formula];
        match call.role {
            Role::Vjp => of.slope = Some(error),
            _ => of.value = error,
        }
    }
    Ok(errors)
}

/// What is measured: the columns of the table.
pub const COLUMNS: [(&str, On, Number); 4] = [
    ("CPU f32", On::Vector, Number::F32),
    ("PTX f32", On::Ptx, Number::F32),
    ("CPU f64", On::Vector, Number::F64),
    ("PTX f64", On::Ptx, Number::F64),
];

const HEAD: &str = "
The largest errors of kernels as they are compiled, on 64 rows of up to three combinations of shapes for each operation, with numbers of
the range. *CPU* is the engine with AVX2 (NEON on 64-bit ARM), *PTX* the interpreter of `keops-sim`, where approximate instructions give
what is nearest to the exact value. The unit is 2⁻²³ (f32) or 2⁻⁵² (f64) of 1 + |value|: up to 0.5 is correct rounding. The first number of a
cell is of the value, the second of the derivative with random cotangents. References are those of the records in f64, whose own rounding is in
the columns of f64 too; the derivative's is the one that the first tables compare with differences. Items are not `fast_math`.

`cargo xtask operations` measures and writes this table; tests measure some of its rows again.

";

/// An error as it is written: rounded up.
fn shown(error: f64) -> String {
    let digits = if error < 10.0 { 10.0 } else { 1.0 };
    format!("{}", (error * digits).ceil() / digits)
}

/// The errors of a cell.
fn cell(errors: &Errors) -> String {
    match errors.slope {
        None => shown(errors.value),
        Some(slope) => format!("{}, {}", shown(errors.value), shown(slope)),
    }
}

/// The errors that a cell states.
pub fn stated(cell: &str) -> Option<Errors> {
    let mut numbers = cell.split(", ").map(str::parse);
    let value = numbers.next()?.ok()?;
    let slope = match numbers.next() {
        None => None,
        Some(slope) => Some(slope.ok()?),
    };
    Some(Errors { value, slope })
}

/// The operations of the table.
pub fn all() -> Vec<&'static Op> {
    OPS.iter()
        .copied()
        .filter(|op| page::name(op).is_some())
        .collect()
}

/// Measures the formulas with closed values: their rows of the table.
///
/// # Errors
/// A program that cannot be built or run.
pub fn closed_rows(show: &mut dyn FnMut(&str)) -> Result<Vec<String>, String> {
    let others: Vec<&Closed> = closed::all().collect();
    let mut cells: Vec<Vec<String>> = vec![vec![]; others.len()];
    for (title, on, number) in &COLUMNS {
        let batch = if *on == On::Ptx { 6 } else { 50 };
        for (n, some) in others.chunks(batch).enumerate() {
            show(&format!("{title}: {}", some[0].written));
            let errors = measure_closed(some, on, *number)?;
            for (k, errors) in errors.iter().enumerate() {
                cells[n * batch + k].push(cell(errors));
            }
        }
    }
    let rows = others.iter().zip(&cells);
    Ok(rows
        .map(|(closed, cells)| format!("| `{}` | {} |\n", closed.written, cells.join(" | ")))
        .collect())
}

/// Measures all operations and writes the second part of the page; `show` is told what is measured.
///
/// # Errors
/// A program that cannot be built or run, or the page cannot be written.
pub fn write_page(show: &mut dyn FnMut(&str)) -> Result<(), String> {
    let ops = all();
    let mut cells: Vec<Vec<String>> = vec![vec![]; ops.len()];
    for (title, on, number) in &COLUMNS {
        let batch = if *on == On::Ptx { 6 } else { 40 };
        for (n, some) in ops.chunks(batch).enumerate() {
            show(&format!("{title}: {}", some[0].name));
            let errors = measure(some, on, *number)?;
            for (k, errors) in errors.iter().enumerate() {
                cells[n * batch + k].push(cell(errors));
            }
        }
    }
    let titles: Vec<&str> = COLUMNS.iter().map(|(title, ..)| *title).collect();
    let mut part = format!(
        "{}{HEAD}| written | {} |\n|---|---|---|---|---|\n",
        page::SECTION,
        titles.join(" | ")
    );
    for (op, cells) in ops.iter().zip(&cells) {
        let name = page::name(op).unwrap_or_default();
        writeln!(part, "| {name} | {} |", cells.join(" | ")).map_err(|e| e.to_string())?;
    }
    for row in closed_rows(show)? {
        part += &row;
    }
    let path = page::path();
    let error = |e: std::io::Error| format!("{}: {e}", path.display());
    let text = std::fs::read_to_string(&path).map_err(error)?;
    let at = text.find(page::SECTION).unwrap_or(text.len());
    std::fs::write(&path, text[..at].to_owned() + &part).map_err(error)
}

/// The errors that the page states for an operation.
///
/// # Errors
/// The page cannot be read, or lacks the operation.
pub fn on_page(op: &Op) -> Result<Vec<Errors>, String> {
    let text = std::fs::read_to_string(page::path()).map_err(|e| e.to_string())?;
    let part = text.split(page::SECTION).nth(1).unwrap_or("");
    let name = page::name(op).unwrap_or_default();
    let row = part
        .lines()
        .find_map(|line| line.strip_prefix(&format!("| {name} | ")))
        .ok_or_else(|| format!("no row of {name}"))?;
    let cells = row.trim_end_matches(" |").split(" | ");
    cells
        .map(|cell| stated(cell).ok_or_else(|| format!("{name}: {cell}")))
        .collect()
}
