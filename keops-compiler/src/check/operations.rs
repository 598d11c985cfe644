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
        if let Some((_, usage)) = functions.find(|(function, _)| *function == name.text) {
            return self.complex_function(expr, name, usage, args);
        }
        if name.text == integers::REAL {
            return self.real(expr, name, args);
        }
        let Some(op) = ops::find(&name.text) else {
            return self.unknown_call(name, args);
        };
        let split = args.len().saturating_sub(op.params.len());
        let (values, params) = args.split_at_checked(split).unwrap_or((args, &[]));
        let fits = match op.arity {
            Arity::Exactly(n) => values.len() == n,
            Arity::AtLeast(n) => values.len() >= n,
            Arity::Between(low, high) => (low..=high).contains(&values.len()),
        };
        if !fits || args.len() < op.params.len() {
            self.values_of(&args.iter().collect::<Vec<_>>());
            let error = CheckError::Arity {
                name: name.text.clone(),
                usage: usage(op),
                expected: expected_arguments(op),
                found: args.len(),
            };
            return self.report(expr.region, error);
        }
        let values: Vec<&Expr> = values.iter().collect();
        let nodes = self.values_of(&values);
        let integers = self.integers(op, params);
        let site = Application {
            region: expr.region,
            label: &format!("`{}`", op.name),
            args: &values,
            params: &integers?,
            names: op.params,
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
    fn integers(&mut self, op: &'static Op, params: &[Expr]) -> Option<Vec<Param>> {
        let mut integers = Vec::new();
        for (param, &name) in params.iter().zip(op.params) {
            match integer(param) {
                Some(value) => integers.push((value, param.region)),
                None => {
                    if let ExprKind::Name(name) = &param.bare().kind {
                        self.scope.take(name);
                    }
                    let error = CheckError::NotAnInteger {
                        name: op.name.into(),
                        parameter: name,
                        found: quoted(param),
                    };
                    self.errors.push(param.region, error);
                }
            }
        }
        if integers.len() == params.len() {
            Some(integers)
        } else {
            None
        }
    }
}

/// An integer literal, perhaps with a sign.
fn integer(expr: &Expr) -> Option<i64> {
    match &expr.bare().kind {
        ExprKind::Number(number) if number.suffix.is_empty() => number.integer,
        ExprKind::Prefix("-", operand) => match &operand.bare().kind {
            ExprKind::Number(number) if number.suffix.is_empty() => number.integer?.checked_neg(),
            _ => None,
        },
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
    let all: Vec<&str> = values.chain(op.params.iter().copied()).collect();
    format!("{}({})", op.name, all.join(", "))
}

/// `2 arguments`
fn expected_arguments(op: &Op) -> String {
    let plural = |n: usize| if n == 1 { "argument" } else { "arguments" };
    let extra = op.params.len();
    match op.arity {
        Arity::Exactly(n) => format!("{} {}", n + extra, plural(n + extra)),
        Arity::AtLeast(n) => format!("at least {} {}", n + extra, plural(n + extra)),
        Arity::Between(low, high) => format!("{} to {} arguments", low + extra, high + extra),
    }
}
