//! Random well-typed formulas, made from the records of operations and reductions: a new record is in them by itself; what has no
//! record is in [`special`].
//!
//! Arguments stay inside the records' test ranges where those are narrow. An operation with a kink or a jump has its
//! argument moved by an odd literal, so that structure (`x_i - x_i`, equal numbers of a vector) does not put it there.

mod special;

use super::Random;
use super::cases::tuples;
use keops_compiler::ops::{Arity, OPS, Op, Syntax};
use keops_compiler::reductions::{REDUCTIONS, Reduction};
use keops_compiler::types::{Axis, Element, Indices, Shape, Type};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// One way to call a record: the arguments' types, and static parameters or K.
type Call<T> = (&'static T, Vec<Type>, Vec<i64>);

/// Dimensions below and above the limit of unrolling.
const SHAPES: [Shape; 8] = [
    Shape::Scalar,
    Shape::Vector(2),
    Shape::Vector(3),
    Shape::Vector(6),
    Shape::Vector(11),
    Shape::Matrix(2, 2),
    Shape::Matrix(2, 3),
    Shape::Matrix(3, 2),
];
const PARAMETERS: [i64; 8] = [-2, -1, 0, 1, 2, 3, 6, 11];

/// Operations with a kink, a jump or a pole, and the argument that is moved away from it.
const KINKS: [(&str, usize); 25] = [
    ("abs", 0),
    ("sign", 0),
    ("step", 0),
    ("relu", 0),
    ("clamp", 0),
    ("floor", 0),
    ("ceil", 0),
    ("trunc", 0),
    ("round", 0),
    ("mod", 0),
    ("min", 0),
    ("max", 0),
    ("argmin", 0),
    ("argmax", 0),
    ("one_hot", 0),
    ("ifelse", 0),
    ("norm2", 0),
    ("normalize", 0),
    ("dist", 0),
    ("lt", 1),
    ("le", 1),
    ("gt", 1),
    ("ge", 1),
    ("eq", 1),
    ("ne", 1),
];
/// Operations of which only this argument has to be in the test range.
const NARROW: [(&str, usize); 6] = [
    ("div", 1),
    ("atan2", 1),
    ("powf", 0),
    ("mod", 1),
    ("softdtw_sqdist", 2),
    ("one_hot", 0),
];
/// Operations that grow fast: half of their arguments are kept in a range too.
const STEEP: [&str; 6] = ["exp", "exp2", "expm1", "sinh", "cosh", "pow"];

/// What an expression may use.
struct Scope {
    axes: Indices,
    names: Vec<(String, Type)>,
    /// Whether this is part of what is derived.
    derives: bool,
}

/// Makes formulas.
pub struct Generator {
    random: Random,
    operations: BTreeMap<Type, Vec<Vec<Call<Op>>>>,
    reductions: Vec<Vec<Call<Reduction>>>,
}

fn real_and_logical() -> Vec<Type> {
    let mut types: Vec<Type> = SHAPES.iter().map(|&s| Type::real(s)).collect();
    for shape in [Shape::Scalar, Shape::Vector(3), Shape::Matrix(2, 3)] {
        types.push(Type {
            element: Element::Bool,
            shape,
        });
    }
    types
}

/// Static parameters to try; those that are lists by example.
fn parameters(op: &Op) -> Vec<Vec<i64>> {
    if op.params.iter().any(|p| p.list) {
        return match op.name {
            "tensordot" => vec![
                vec![2, 2, 3, 1, 3, 1, 1, 1, 0],
                vec![2, 2, 3, 2, 3, 2, 2, 1, 0, 2, 0, 1],
                vec![1, 2, 2, 2, 3, 1, 0, 1, 0],
            ],
            _ => vec![vec![], vec![2, 2, 3, 2, 3, 2]],
        };
    }
    let least = op.params.iter().filter(|p| !p.optional).count();
    (least..=op.params.len())
        .flat_map(|n| tuples(&PARAMETERS, n))
        .collect()
}

fn calls(op: &'static Op, types: &[Type]) -> Vec<(Type, Call<Op>)> {
    let counts = match op.arity {
        Arity::Exactly(n) => vec![n],
        Arity::AtLeast(n) => vec![n, n + 1],
        Arity::Between(a, b) => (a..=b).collect(),
    };
    let mut found = vec![];
    for args in counts.into_iter().flat_map(|n| tuples(types, n)) {
        // Quadratic recurrences are long enough with few numbers.
        if op.name == "softdtw_sqdist" && args.iter().any(|t| t.shape.len() > 3) {
            continue;
        }
        for params in parameters(op) {
            // Steps of a thousandth look like a slope to a finite difference.
            if op.name == "round" && params.first().is_some_and(|&decimals| decimals > 1) {
                continue;
            }
            match (op.infer)(&args, &params) {
                Ok(ty) if types.contains(&ty) => found.push((ty, (op, args.clone(), params))),
                _ => {}
            }
        }
    }
    found
}

impl Generator {
    /// Of this seed.
    pub fn new(seed: u64) -> Generator {
        let types = real_and_logical();
        let mut operations: BTreeMap<Type, Vec<Vec<Call<Op>>>> = BTreeMap::new();
        for op in OPS.iter().filter(|op| op.syntax != Syntax::Internal) {
            let mut by_type: BTreeMap<Type, Vec<Call<Op>>> = BTreeMap::new();
            for (ty, call) in calls(op, &types) {
                by_type.entry(ty).or_default().push(call);
            }
            assert!(!by_type.is_empty(), "{} is in no formula", op.name);
            for (ty, calls) in by_type {
                operations.entry(ty).or_default().push(calls);
            }
        }
        let real: Vec<Type> = SHAPES.iter().map(|&s| Type::real(s)).collect();
        let reductions = REDUCTIONS.iter().map(|&reduction| {
            let ks: &[usize] = if reduction.takes_k { &[1, 2, 3] } else { &[0] };
            let mut calls = vec![];
            for args in tuples(&real, reduction.arity) {
                for &k in ks {
                    if (reduction.infer)(&args, k).is_ok() {
                        calls.push((reduction, args.clone(), vec![k as i64]));
                    }
                }
            }
            calls
        });
        Generator {
            random: Random(seed),
            operations,
            reductions: reductions.collect(),
        }
    }
    /// Starts again: the formula of a seed does not depend on earlier ones.
    pub fn reseed(&mut self, seed: u64) {
        self.random = Random(seed);
    }
    fn below(&mut self, n: usize) -> usize {
        (self.random.unit() * n as f64) as usize
    }
    fn chance(&mut self, probability: f64) -> bool {
        self.random.unit() < probability
    }
    fn number(&mut self) -> String {
        let x = self.random.within((-1.5, 1.5));
        if x < 0.0 {
            format!("({x:.3})")
        } else {
            format!("{x:.3}")
        }
    }
    /// A literal of a shape.
    fn literal(&mut self, shape: Shape) -> String {
        let mut list = |n: usize| {
            let numbers: Vec<String> = (0..n).map(|_| self.number()).collect();
            format!("[{}]", numbers.join(", "))
        };
        match shape {
            Shape::Scalar => self.number(),
            Shape::Vector(n) => list(n),
            Shape::Matrix(r, c) => {
                let rows: Vec<String> = (0..r).map(|_| list(c)).collect();
                format!("[{}]", rows.join(", "))
            }
        }
    }
    fn leaf(&mut self, ty: Type, scope: &Scope) -> String {
        let Scope { axes, names, .. } = scope;
        if ty.element == Element::Bool {
            if ty.shape == Shape::Scalar
                && self.chance(0.4)
                && let Some(condition) = self.rows_condition(scope)
            {
                return condition;
            }
            let real = Type::real(ty.shape);
            return format!("({} < {})", self.leaf(real, scope), self.literal(ty.shape));
        }
        let named: Vec<&String> = names
            .iter()
            .filter(|(_, t)| *t == ty)
            .map(|(name, _)| name)
            .collect();
        if !named.is_empty() && self.chance(0.4) {
            return named[self.below(named.len())].clone();
        }
        if self.chance(0.08) {
            return self.literal(ty.shape);
        }
        if axes.i && axes.j && ty == Type::SCALAR && self.chance(0.05) {
            return "real(i - j)".into();
        }
        let kind = match ty.shape {
            Shape::Scalar => "s".into(),
            Shape::Vector(n) => format!("v{n}"),
            Shape::Matrix(r, c) => format!("m{r}{c}"),
        };
        let mut suffixes = vec![""];
        suffixes.extend(axes.i.then_some("_i"));
        suffixes.extend(axes.j.then_some("_j"));
        let suffix = suffixes[self.below(suffixes.len())];
        let letter = ["x", "y"][self.below(2)];
        format!("{letter}{kind}{suffix}")
    }
    /// A value moved into an interval.
    fn within(&mut self, text: &str, (low, high): (f64, f64)) -> String {
        if low > 0.0 && high >= 3.0 && self.chance(0.5) {
            return format!("({:.3} + square({text}))", low + 0.3);
        }
        let (middle, half) = (0.5 * (low + high), 0.45 * (high - low));
        let squash = ["sin", "tanh"][self.below(2)];
        format!("({half:.3} * {squash}({text}) + ({middle:.3}))")
    }
    fn expression(&mut self, ty: Type, depth: usize, scope: &Scope) -> String {
        if depth == 0 || self.chance(0.1) {
            return self.leaf(ty, scope);
        }
        if ty.element == Element::Real
            && self.chance(0.08)
            && let Some(text) = self.special(ty, depth, scope)
        {
            return text;
        }
        let operations = &self.operations[&ty];
        let which = (self.random.unit() * operations.len() as f64) as usize;
        let calls = &operations[which];
        let (op, types, params) = calls[(self.random.unit() * calls.len() as f64) as usize].clone();
        let args: Vec<String> = types
            .iter()
            .enumerate()
            .map(|(k, &ty)| self.argument(op, k, ty, &params, depth - 1, scope))
            .collect();
        written(op, &args, &params)
    }
    fn argument(
        &mut self,
        op: &Op,
        number: usize,
        ty: Type,
        params: &[i64],
        depth: usize,
        scope: &Scope,
    ) -> String {
        if op.name == "bspline" && number == 0 {
            let knots: Vec<String> = (0..ty.shape.len())
                .map(|k| format!("{:.2}", 0.61 * k as f64 - 0.73))
                .collect();
            let moved = self.expression(ty, depth, scope);
            return format!("([{}] + 0.2 * sin({moved}))", knots.join(", "));
        }
        let mut text = self.expression(ty, depth, scope);
        if ty.element != Element::Real {
            return text;
        }
        let narrow = match NARROW.iter().find(|(name, _)| *name == op.name) {
            Some((_, argument)) => *argument == number,
            None if op.name == "pow" && params[0] < 0 => true,
            None if STEEP.contains(&op.name) => self.chance(0.5),
            None => op.test_range.0 > -2.0,
        };
        if narrow {
            text = self.within(&text, op.test_range);
        }
        if KINKS.contains(&(op.name, number)) {
            text = format!("({text} + {})", self.literal(ty.shape));
        }
        text
    }
    /// A reduction and its type.
    fn reduction(&mut self, axis: Axis, scope: &Scope, index_too: bool) -> (String, Type) {
        loop {
            let which = self.below(self.reductions.len());
            let calls = &self.reductions[which];
            let (reduction, types, k) =
                calls[(self.random.unit() * calls.len() as f64) as usize].clone();
            let ty = (reduction.infer)(&types, k[0] as usize).expect("it was accepted");
            if !index_too && ty.element != Element::Real {
                continue;
            }
            let own = format!("_{}", axis.letter());
            let args: Vec<String> = types
                .iter()
                .enumerate()
                .map(|(number, &ty)| {
                    let depth = 1 + self.below(3);
                    let mut text = self.expression(ty, depth, scope);
                    if !depends(&text, &own) {
                        text = format!("({text} * xs{own})");
                    }
                    // Rows that are skipped.
                    if matches!(reduction.name, "sum" | "mean")
                        && ty == Type::SCALAR
                        && self.chance(0.25)
                        && let Some(condition) = self.rows_condition(scope)
                    {
                        text = format!("if {condition} {{ {text} }} else {{ 0.0 }}");
                    }
                    // Weights of a logarithm are positive.
                    if reduction.name == "logsumexpweight" && number == 1 {
                        text = format!("exp(sin({text}))");
                    }
                    text
                })
                .collect();
            let k = if reduction.takes_k {
                format!("::<{}>", k[0])
            } else {
                String::new()
            };
            return (
                format!("{}{own}{k}({})", reduction.name, args.join(", ")),
                ty,
            );
        }
    }
    /// A formula `fn f(…) = …;`.
    pub fn formula(&mut self) -> String {
        let axis = if self.chance(0.7) { Axis::J } else { Axis::I };
        let real: Vec<Type> = SHAPES.iter().map(|&s| Type::real(s)).collect();
        let mut pair = Scope {
            axes: Indices { i: true, j: true },
            names: vec![],
            derives: false,
        };
        let mut lets: Vec<(String, String)> = vec![];
        if self.chance(0.5) {
            let ty = real[self.below(real.len())];
            let shared = self.expression(ty, 2, &pair);
            lets.push(("shared".into(), shared));
            pair.names.push(("shared".into(), ty));
        }
        let mut after = Scope {
            axes: Indices {
                i: axis == Axis::J,
                j: axis == Axis::I,
            },
            names: vec![],
            derives: false,
        };
        let mut outputs = vec![];
        if self.chance(0.15) {
            outputs.push(self.reduction(axis, &pair, true).0);
        }
        if self.chance(0.05) {
            outputs.push(self.complex_reduction(axis, &pair));
        }
        for number in 0..1 + self.below(2) {
            let (text, ty) = self.reduction(axis, &pair, false);
            let name = format!("r{number}");
            if self.chance(0.08) {
                outputs.extend(self.along_rows(&name, &text, axis));
            }
            lets.push((name.clone(), text));
            after.names.push((name, ty));
        }
        for (name, ty) in after.names.clone() {
            if name == "r1" && self.chance(0.6) {
                continue;
            }
            let mut output = name.clone();
            if self.chance(0.6) {
                let ty = if real.contains(&ty) { ty } else { Type::SCALAR };
                let depth = 1 + self.below(2);
                let text = self.expression(ty, depth, &after);
                let reduces = depends(&text, "r0") || depends(&text, "r1");
                if reduces {
                    output = text;
                } else if real.contains(&ty)
                    && after.names.iter().any(|(n, t)| *n == name && *t == ty)
                {
                    output = format!("{name} * {text}");
                }
            }
            outputs.push(output);
        }
        let result = if outputs.len() == 1 {
            outputs[0].clone()
        } else {
            format!("({})", outputs.join(", "))
        };
        finished(&lets, &result)
    }
}

/// A derivative with respect to the numbers of a vector, and the same as a gradient for each number.
pub struct TwoWays {
    /// The formula with the derivative.
    pub at_once: String,
    /// The formula with a gradient for each number.
    pub written_out: String,
}

impl Generator {
    /// A Jacobian, divergence or laplacian of a random value.
    pub fn derived_two_ways(&mut self) -> TwoWays {
        let scope = Scope {
            axes: Indices { i: true, j: true },
            names: vec![],
            derives: false,
        };
        let sizes = [2, 3, 6, 11];
        let (columns, rows) = (sizes[self.below(4)], sizes[self.below(4)]);
        let kind = self.below(3);
        let ty = match kind {
            0 => Type::real(Shape::Vector(rows)),
            1 => Type::real(Shape::Vector(columns)),
            _ => Type::SCALAR,
        };
        let variable = format!("xv{columns}_i");
        // Half of the derivatives are of a reduction.
        let inside = self.chance(0.5);
        let value = loop {
            let (text, found) = if inside {
                self.reduction(Axis::J, &scope, false)
            } else {
                let depth = 1 + self.below(3);
                (self.expression(ty, depth, &scope), ty)
            };
            if found == ty && names(&text).any(|n| n == variable) {
                break text;
            }
        };
        let number = |k: usize| format!("grad(f[{k}], {variable})");
        let second = |k: usize| format!("grad(grad(f, {variable})[{k}], {variable})[{k}]");
        let all = |n: usize, f: &dyn Fn(usize) -> String, between: &str| {
            (0..n).map(f).collect::<Vec<_>>().join(between)
        };
        let (at_once, written_out) = match kind {
            0 => (
                format!("jacobian(f, {variable})"),
                format!("[{}]", all(rows, &number, ", ")),
            ),
            1 => (
                format!("divergence(f, {variable})"),
                all(columns, &|k| format!("{}[{k}]", number(k)), " + "),
            ),
            _ => (
                format!("laplacian(f, {variable})"),
                all(columns, &second, " + "),
            ),
        };
        let formula = |derivative: &str| {
            let body = format!("let f = {value};\n    {derivative}");
            let reduced = if inside {
                body
            } else {
                format!("sum_j {{ {body} + 0.0 * xs_j }}")
            };
            finished(&[], &reduced)
        };
        TwoWays {
            at_once: formula(&at_once),
            written_out: formula(&written_out),
        }
    }
}

/// The names in a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|name| !name.is_empty())
}

/// Whether a text surely depends on a name with this end. Parts of complex values and derivatives may lose what is in them.
fn depends(text: &str, end: &str) -> bool {
    names(text).any(|n| n.ends_with(end)) && !names(text).any(|n| special::LOSING.contains(&n))
}

/// The formula with the lets that it needs, and its variables.
fn finished(lets: &[(String, String)], result: &str) -> String {
    let mut body = result.to_string();
    for (name, value) in lets.iter().rev() {
        if names(&body).any(|n| n == name) {
            body = format!("let {name} = {value};\n    {body}");
        }
    }
    let mut variables: Vec<(&str, String)> = vec![];
    for name in names(&body) {
        let (stem, _) = name.split_once('_').unwrap_or((name, ""));
        let Some(kind) = stem.strip_prefix(['x', 'y', 'z']) else {
            continue;
        };
        let number = if stem.starts_with('z') {
            "Complex<f64>"
        } else {
            "f64"
        };
        let digits: Vec<&str> = kind[1.min(kind.len())..]
            .split("")
            .filter(|d| !d.is_empty())
            .collect();
        let ty = match (kind.chars().next(), digits.as_slice()) {
            (Some('s'), []) => number.to_string(),
            (Some('v'), n) if kind[1..].parse::<usize>().is_ok() => {
                format!("[{number}; {}]", n.concat())
            }
            (Some('m'), [r, c]) => format!("[[{number}; {c}]; {r}]"),
            _ => continue,
        };
        if !variables.iter().any(|(known, _)| *known == name) {
            variables.push((name, ty));
        }
    }
    // A formula that uses the number of a row needs a variable that has such rows.
    for letter in ["i", "j"] {
        let suffix = format!("_{letter}");
        let counted = names(&body).any(|n| n == letter);
        if counted && !variables.iter().any(|(n, _)| n.ends_with(&suffix)) {
            let name = if letter == "i" { "xs_i" } else { "xs_j" };
            variables.push((name, "f64".into()));
        }
    }
    let mut text = String::from("fn f(");
    for (k, (name, ty)) in variables.iter().enumerate() {
        let comma = if k == 0 { "" } else { ", " };
        write!(text, "{comma}{name}: {ty}").expect("a string takes all");
    }
    format!("{text}) = {{\n    {body}\n}};")
}

/// An operation as users write it.
pub fn written(op: &Op, args: &[String], params: &[i64]) -> String {
    let a = |k: usize| &args[k];
    match (op.syntax, op.name) {
        (Syntax::Operator(_), "select") => {
            format!("(if {} {{ {} }} else {{ {} }})", a(0), a(1), a(2))
        }
        (Syntax::Operator(_), "array") => format!("[{}]", args.join(", ")),
        (Syntax::Operator(_), "index") => {
            let at: Vec<String> = params.iter().map(i64::to_string).collect();
            format!("({})[{}]", a(0), at.join(", "))
        }
        (Syntax::Operator(_), "slice") => format!("({})[{}..{}]", a(0), params[0], params[1]),
        (Syntax::Operator(token), _) if args.len() == 1 => format!("({token}{})", a(0)),
        (Syntax::Operator(token), _) => format!("({} {token} {})", a(0), a(1)),
        _ => {
            let mut all = args.to_vec();
            let mut rest = params;
            for param in op.params {
                if rest.is_empty() {
                    break;
                }
                if param.list {
                    let (list, others) = rest[1..].split_at(rest[0] as usize);
                    let list: Vec<String> = list.iter().map(i64::to_string).collect();
                    all.push(format!("[{}]", list.join(", ")));
                    rest = others;
                } else {
                    all.push(rest[0].to_string());
                    rest = &rest[1..];
                }
            }
            format!("{}({})", op.name, all.join(", "))
        }
    }
}
