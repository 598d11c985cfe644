//! Checking of operators, calls and subscripts; operations' own type errors become messages here.

use super::error::{CheckError, Role, Typed};
use super::formula::Checker;
use super::signature::LARGEST;
use super::suggest;
use crate::graph::NodeId;
use crate::ops::{self, Arity, OPS, Op, TypeError};
use crate::reductions;
use crate::syntax::print::quoted;
use crate::syntax::{Expr, ExprKind, Name, Region, Subscript};
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

/// Names of derivatives, which only stand alone.
const DERIVATIVES: [&str; 6] = ["grad", "Grad", "jvp", "vjp", "divergence", "laplacian"];

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
        self.apply(expr.region, op, label, args, nodes?, &[])
    }

    pub(super) fn call(&mut self, expr: &Expr, name: &Name, args: &[Expr]) -> Option<NodeId> {
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
        let (nodes, integers) = (nodes?, integers?);
        let label = format!("`{}`", op.name);
        let regions: Vec<Region> = params.iter().map(|p| p.region).collect();
        match self.graph.try_apply(op, &nodes, &integers) {
            Err(TypeError::Parameter { param, expected }) => {
                let error = CheckError::ParameterRange {
                    name: op.name.into(),
                    parameter: op.params.get(param).copied().unwrap_or("parameter").into(),
                    value: integers.get(param).copied().unwrap_or(0),
                    expected,
                };
                self.report(regions.get(param).copied().unwrap_or(expr.region), error)
            }
            _ => self.apply(expr.region, op, &label, &values, nodes, &integers),
        }
    }

    fn unknown_call(&mut self, name: &Name, args: &[Expr]) -> Option<NodeId> {
        if DERIVATIVES.contains(&name.text.as_str()) {
            // Its arguments are not values of this formula.
            self.unresolved = true;
            return self.report(
                name.region(),
                CheckError::DerivativeInFormula {
                    name: name.text.clone(),
                },
            );
        }
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
    fn integers(&mut self, op: &'static Op, params: &[Expr]) -> Option<Vec<i64>> {
        let mut integers = Vec::new();
        for (param, &name) in params.iter().zip(op.params) {
            match integer(param) {
                Some(value) => integers.push(value),
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

    /// An operation of nodes, or the message of its type error.
    fn apply(
        &mut self,
        region: Region,
        op: &'static Op,
        label: &str,
        args: &[&Expr],
        nodes: Vec<NodeId>,
        params: &[i64],
    ) -> Option<NodeId> {
        match self.graph.try_apply(op, &nodes, params) {
            Ok(node) if self.graph.shape(node).len() > LARGEST => {
                self.report(region, CheckError::TooLarge { limit: LARGEST })
            }
            Ok(node) => Some(node),
            Err(error) => {
                let reduction = match nodes.as_slice() {
                    [only] if self.graph.shape(*only) == Shape::Scalar => reductions::find(op.name),
                    _ => None,
                };
                let (at, error) =
                    self.type_error(region, label, args, error, reduction.map(|r| r.name))?;
                self.report(at, error)
            }
        }
    }

    /// The message and place of an operation's type error; `None` if an argument has no type.
    pub(super) fn type_error(
        &self,
        region: Region,
        label: &str,
        args: &[&Expr],
        error: TypeError,
        reduction: Option<&str>,
    ) -> Option<(Region, CheckError)> {
        Some(match error {
            TypeError::Unequal {
                left,
                right,
                broadcast,
            } => {
                let side = |k: usize| self.typed(args.get(k).copied()?).map(Box::new);
                let operation = label.to_string();
                (
                    region,
                    CheckError::Unequal {
                        operation,
                        left: side(left)?,
                        right: side(right)?,
                        broadcast,
                    },
                )
            }
            TypeError::Expected { arg, expected } => {
                let argument = args.get(arg).copied()?;
                let error = CheckError::WrongType {
                    operation: label.into(),
                    argument: Box::new(self.typed(argument)?),
                    expected,
                    reduction: reduction.map(|name| format!("{name}_j")),
                };
                (core(argument).region, error)
            }
            TypeError::Parameter { param, expected } => {
                let error = CheckError::ParameterRange {
                    name: label.trim_matches('`').into(),
                    parameter: "parameter".into(),
                    value: param as i64,
                    expected,
                };
                (region, error)
            }
        })
    }

    /// An expression with its type, for messages.
    pub(super) fn typed(&self, expr: &Expr) -> Option<Typed> {
        let ty = self.graph.ty(self.value(expr)?);
        let core = core(expr);
        let scalar = match &core.kind {
            ExprKind::Name(name)
                if self
                    .signature
                    .variables
                    .iter()
                    .any(|v| v.name.text == *name) =>
            {
                Some(self.signature.scalar.text().to_string())
            }
            _ => None,
        };
        Some(Typed {
            text: quoted(core),
            ty,
            scalar,
        })
    }

    pub(super) fn subscript(
        &mut self,
        expr: &Expr,
        value: &Expr,
        subscripts: &[Subscript],
    ) -> Option<NodeId> {
        let node = self.expr(value)?;
        let shape = self.graph.shape(node);
        let dimensions = match shape {
            Shape::Scalar => vec![],
            Shape::Vector(n) => vec![n],
            Shape::Matrix(r, c) => vec![r, c],
        };
        if subscripts.len() > dimensions.len() {
            let value = Box::new(self.typed(value)?);
            return self.report(expr.region, CheckError::TooManySubscripts { value });
        }
        let mut params = Vec::new();
        let mut name = "index";
        for (subscript, dimension) in subscripts.iter().zip(dimensions) {
            let bound = i64::try_from(dimension).unwrap_or(i64::MAX);
            match *subscript {
                Subscript::At(at) if at.value < bound => params.push(at.value),
                Subscript::At(at) => {
                    return self.out_of_bounds(at.value, at.region, value, dimension);
                }
                Subscript::Range(_, _, region) if subscripts.len() > 1 => {
                    return self.report(region, CheckError::IndexNotLiteral);
                }
                Subscript::Range(low, high, region) => {
                    let (start, end) =
                        (low.map_or(0, |l| l.value), high.map_or(bound, |h| h.value));
                    if end > bound {
                        // The end itself is excluded, so the first index that does not exist is the last one.
                        return self.out_of_bounds(
                            end - 1,
                            high.map_or(region, |h| h.region),
                            value,
                            dimension,
                        );
                    }
                    if start >= end {
                        return self.report(region, CheckError::EmptyRange { start, end });
                    }
                    name = "slice";
                    params.extend([start, end]);
                }
            }
        }
        let op = OPS.iter().copied().find(|op| op.name == name)?;
        self.apply(expr.region, op, "`[…]`", &[value], vec![node], &params)
    }

    fn out_of_bounds(
        &mut self,
        index: i64,
        region: Region,
        value: &Expr,
        dimension: usize,
    ) -> Option<NodeId> {
        let value = Box::new(self.typed(value)?);
        self.report(
            region,
            CheckError::OutOfBounds {
                index,
                value,
                dimension,
            },
        )
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

/// Without brackets or braces that only enclose.
fn core(expr: &Expr) -> &Expr {
    let mut expr = expr.bare();
    while let ExprKind::Block(lets, value) = &expr.kind
        && lets.is_empty()
    {
        expr = value.bare();
    }
    expr
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
