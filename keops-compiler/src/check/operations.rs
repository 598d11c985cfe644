//! Checking of operators and calls: which operation, how many arguments, integer parameters.

use super::apply::{Application, Param};
use super::complexes;
use super::error::{CheckError, Role};
use super::formula::Checker;
use super::integers;
use super::suggest;
use crate::graph::NodeId;
use crate::graph::derive::Derivative;
use crate::ops::{self, Arity, OPS, Op};
use crate::syntax::print::quoted;
use crate::syntax::{Expr, ExprKind, Name};
use crate::types::Shape;

/// The operation of every operator; `-` with one argument is `neg`.
const OPERATORS: [(&str, &str); 14] = [
    ("+", "add"),
    ("-", "sub"),
    ("*", "mul"),
    ("/", "div"),
    ("|", "dot"),
    ("<", "lt"),
    ("<=", "le"),
    (">", "gt"),
    (">=", "ge"),
    ("==", "eq"),
    ("!=", "ne"),
    ("&&", "and"),
    ("||", "or"),
    ("!", "not"),
];

impl Checker<'_> {
    pub(super) fn operator(
        &mut self,
        expr: &Expr,
        operator: &str,
        args: &[&Expr],
    ) -> Option<NodeId> {
        let name = match OPERATORS.iter().find(|(token, _)| *token == operator) {
            Some(_) if operator == "-" && args.len() == 1 => "neg",
            Some((_, name)) => name,
            None => return None,
        };
        self.named_operation(expr, name, &format!("`{operator}`"), args)
    }

    /// An operation that users do not call by name.
    pub(super) fn named_operation(
        &mut self,
        expr: &Expr,
        name: &str,
        label: &str,
        args: &[&Expr],
    ) -> Option<NodeId> {
        let op = OPS.iter().copied().find(|op| op.name == name)?;
        let nodes = self.values_of(args);
        let site = Application {
            region: expr.region,
            label,
            args,
            params: &[],
            names: &[],
        };
        self.apply(op, &site, &nodes?)
    }

    pub(super) fn call(&mut self, expr: &Expr, name: &Name, args: &[Expr]) -> Option<NodeId> {
        if let Some(kind) = Derivative::find(&name.text) {
            return self.derivative(expr, name, kind, args);
        }
        let mut functions = complexes::FUNCTIONS.iter();
        if let Some((_, usage, _)) = functions.find(|(function, ..)| *function == name.text) {
            return self.complex_function(expr, name, usage, args);
        }
        if name.text == integers::REAL {
            return self.real(expr, name, args);
        }
        let Some(op) = ops::find(&name.text) else {
            return self.unknown_call(name, args);
        };
        let Some((values, params)) = split(op, args) else {
            self.values_of(&args.iter().collect::<Vec<_>>());
            let error = CheckError::Arity {
                name: name.text.clone(),
                usage: usage(op),
                expected: expected_arguments(op),
                found: args.len(),
            };
            return self.report(expr.region, error);
        };
        let values: Vec<&Expr> = values.iter().collect();
        let nodes = self.values_of(&values);
        let statics = self.statics(op, params);
        let site = Application {
            region: expr.region,
            label: &format!("`{}`", op.name),
            args: &values,
            params: &statics?,
            names: &op.params.iter().map(|p| p.name).collect::<Vec<_>>(),
        };
        self.apply(op, &site, &nodes?)
    }

    fn unknown_call(&mut self, name: &Name, args: &[Expr]) -> Option<NodeId> {
        self.values_of(&args.iter().collect::<Vec<_>>());
        if let Some(binding) = self.scope.take(&name.text) {
            let value = binding.value;
            let indexable = value.is_some_and(|v| self.graph.shape(v) != Shape::Scalar);
            return self.report(
                name.region(),
                CheckError::NotAFunction {
                    name: name.text.clone(),
                    indexable,
                },
            );
        }
        let suggestion = suggest::function(&name.text);
        self.report(
            name.region(),
            CheckError::Unknown {
                name: name.text.clone(),
                role: Role::Function,
                suggestion,
            },
        )
    }

    /// The nodes of all, after visiting all.
    pub(super) fn values_of(&mut self, args: &[&Expr]) -> Option<Vec<NodeId>> {
        let nodes: Vec<Option<NodeId>> = args.iter().map(|a| self.expr(a)).collect();
        nodes.into_iter().collect()
    }

    /// The static parameters of a call.
    fn statics(&mut self, op: &'static Op, params: &[Expr]) -> Option<Vec<Param>> {
        let mut all = Vec::new();
        for (expr, param) in params.iter().zip(op.params) {
            if let Some(found) = literal(expr, param.list) {
                all.push(found);
                continue;
            }
            if let ExprKind::Name(name) = &expr.bare().kind {
                self.scope.take(name);
            }
            let error = CheckError::NotAnInteger {
                name: op.name.into(),
                parameter: param.name,
                list: param.list,
                found: quoted(expr),
            };
            self.errors.push(expr.region, error);
        }
        (all.len() == params.len()).then_some(all)
    }
}

/// The arguments and the static parameters of a call, if there are as many as the operation takes.
fn split<'e>(op: &Op, args: &'e [Expr]) -> Option<(&'e [Expr], &'e [Expr])> {
    let least = op.params.iter().filter(|p| !p.optional).count();
    (least..=op.params.len())
        .rev()
        .filter_map(|params| args.split_at_checked(args.len().checked_sub(params)?))
        .find(|(values, _)| op.arity.accepts(values.len()))
}

/// An integer literal, or a list of them.
fn literal(expr: &Expr, is_list: bool) -> Option<Param> {
    let values = match &expr.bare().kind {
        ExprKind::Array(entries) if is_list => {
            let numbers = entries.iter().map(integer).collect::<Option<Vec<i64>>>()?;
            [vec![numbers.len() as i64], numbers].concat()
        }
        _ if is_list => return None,
        _ => vec![integer(expr)?],
    };
    Some(Param {
        values,
        is_list,
        region: expr.region,
    })
}

/// An integer literal, or sums and products of such, perhaps with a sign. Expressions are not deep.
fn integer(expr: &Expr) -> Option<i64> {
    match &expr.bare().kind {
        ExprKind::Number(number) if number.suffix.is_empty() => number.integer,
        ExprKind::Prefix("-", operand) => integer(operand)?.checked_neg(),
        ExprKind::Infix(operator, left, right) => {
            let (left, right) = (integer(left)?, integer(right)?);
            match *operator {
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                _ => None,
            }
        }
        _ => None,
    }
}

/// `pow(a, exponent)`
fn usage(op: &Op) -> String {
    let letters = ["a", "b", "c", "d", "e", "f"];
    let (count, more) = match op.arity {
        Arity::Exactly(n) => (n, false),
        Arity::AtLeast(n) => (n, true),
        Arity::Between(_, high) => (high, false),
    };
    let values = letters.into_iter().take(count).chain(more.then_some("…"));
    let all: Vec<&str> = values.chain(op.params.iter().map(|p| p.name)).collect();
    format!("{}({})", op.name, all.join(", "))
}

/// `2 arguments`
fn expected_arguments(op: &Op) -> String {
    let plural = |n: usize| if n == 1 { "argument" } else { "arguments" };
    let least = op.params.iter().filter(|p| !p.optional).count();
    let (low, high) = match op.arity {
        Arity::Exactly(n) => (n + least, Some(n + op.params.len())),
        Arity::AtLeast(n) => (n + least, None),
        Arity::Between(low, high) => (low + least, Some(high + op.params.len())),
    };
    match high {
        Some(high) if high == low => format!("{low} {}", plural(low)),
        Some(high) => format!("{low} to {high} arguments"),
        None => format!("at least {low} {}", plural(low)),
    }
}
