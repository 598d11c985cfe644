//! Checking of derivatives inside formulas: `grad(f, v)`, `jvp(f, v, t)`, `divergence(f, v)`, …

use super::apply::Application;
use super::error::CheckError;
use super::formula::Checker;
use crate::graph::complex;
use crate::graph::derive::{Derivative, mixed_rows};
use crate::graph::{Kind, NodeId};
use crate::ops::TypeError;
use crate::syntax::print::quoted;
use crate::syntax::{Expr, ExprKind, Name};
use crate::types::{Element, Shape, Type};

impl Checker<'_> {
    pub(super) fn derivative(
        &mut self,
        expr: &Expr,
        name: &Name,
        kind: Derivative,
        args: &[Expr],
    ) -> Option<NodeId> {
        if let [first, ..] = args
            && let ExprKind::Name(item) = &first.bare().kind
            && self.items.contains(&item.as_str())
            && !self.scope.contains(item)
        {
            // Its other arguments are not values of this formula.
            self.unresolved = true;
            let error = CheckError::DerivativeInFormula {
                name: name.text.clone(),
            };
            return self.report(name.region(), error);
        }
        let values: Vec<&Expr> = args.iter().collect();
        let nodes = self.values_of(&values);
        let (fewest, most) = kind.arity();
        if !(fewest..=most).contains(&args.len()) {
            let expected = if fewest == most {
                format!("{fewest} arguments")
            } else {
                format!("{fewest} or {most} arguments")
            };
            let error = CheckError::Arity {
                name: name.text.clone(),
                usage: kind.usage().into(),
                expected,
                found: args.len(),
            };
            return self.report(expr.region, error);
        }
        let nodes = nodes?;
        let is_complex = |k: usize| {
            nodes
                .get(k)
                .is_some_and(|&n| self.graph.ty(n).element == Element::Complex)
        };
        let of_complex = [is_complex(0), is_complex(1)];
        if (0..nodes.len()).any(is_complex) {
            if !matches!(kind, Derivative::Grad | Derivative::Jvp) {
                let function = kind.name();
                return self.report(expr.region, CheckError::ComplexDerivative { function });
            }
            // Shapes and types first: behind this, both parts of each value are one real value.
            let like = match kind {
                Derivative::Grad => 0,
                _ => 1,
            };
            if let Some(&third) = nodes.get(2)
                && self.graph.ty(third) != self.graph.ty(nodes[like])
            {
                let error = TypeError::Unequal {
                    left: like,
                    right: 2,
                    broadcast: false,
                };
                return self.derivative_type_error(expr, kind, &values, error);
            }
            if kind == Derivative::Grad && is_complex(0) && nodes.len() == 2 {
                let argument = Box::new(self.typed(values.first()?)?);
                let function = kind.name();
                let error = CheckError::DerivativeOfVector { function, argument };
                return self.report(args.first()?.region, error);
            }
        }
        let shapes: Vec<Shape> = nodes.iter().map(|&n| self.graph.shape(n)).collect();
        let nodes = self.planar_arguments(&values, &nodes);
        if let (Some(wrt), Some(&node)) = (args.get(1), nodes.get(1))
            && !self.is_variable(wrt, node)
        {
            let error = CheckError::NotAVariable {
                function: kind.name(),
                found: quoted(wrt),
                variables: self
                    .signature
                    .variables
                    .iter()
                    .map(|v| format!("`{}`", v.name.text))
                    .collect(),
            };
            return self.report(wrt.region, error);
        }
        if let Some((reduction, axis)) = mixed_rows(&self.graph, kind, &nodes) {
            let reduction = match self.graph.node(reduction).kind {
                Kind::Reduce(reduction, ..) => format!("{}_{}", reduction.0.name, axis.letter()),
                _ => return None,
            };
            let error = CheckError::DerivativeMixesRows {
                function: kind.name(),
                reduction,
                axis,
            };
            return self.report(expr.region, error);
        }
        if let (Some(f), Some(argument)) = (nodes.first(), args.first())
            && self.graph.ty(*f).element == Element::Real
            && self.graph.shape(*f) != Shape::Scalar
            && kind.needs_scalar(nodes.len())
        {
            let argument = Box::new(self.typed(argument)?);
            let error = CheckError::DerivativeOfVector {
                function: kind.name(),
                argument,
            };
            return self.report(args.first()?.region, error);
        }
        match self.graph.try_derivative(kind, &nodes) {
            Ok(node) => {
                let node = self.sized(node, expr.region)?;
                // The result is like the variable, or like what is derived.
                let like = usize::from(kind == Derivative::Grad);
                if !of_complex[like] {
                    return Some(node);
                }
                let parts = complex::unpack(&mut self.graph, node, shapes[like]);
                Some(complex::pair(&mut self.graph, parts))
            }
            Err(error) => self.derivative_type_error(expr, kind, &values, error),
        }
    }

    fn derivative_type_error(
        &mut self,
        expr: &Expr,
        kind: Derivative,
        values: &[&Expr],
        error: TypeError,
    ) -> Option<NodeId> {
        let label = format!("`{}`", kind.usage());
        let site = Application {
            region: expr.region,
            label: &label,
            args: values,
            params: &[],
            names: &[],
        };
        self.type_error(&site, error, None)
    }

    /// Complex arguments as the real values that hold both parts; the second argument as its variable.
    fn planar_arguments(&mut self, values: &[&Expr], nodes: &[NodeId]) -> Vec<NodeId> {
        let mut planar = vec![];
        for (k, (&node, value)) in nodes.iter().zip(values).enumerate() {
            let Some(parts) = complex::parts(&self.graph, node) else {
                planar.push(node);
                continue;
            };
            let variables = &self.signature.variables;
            let number = match &value.bare().kind {
                ExprKind::Name(name) if k == 1 => {
                    variables.iter().position(|v| v.name.text == *name)
                }
                _ => None,
            };
            planar.push(match number {
                Some(number) => {
                    let (shape, axis) = (variables[number].shape, variables[number].axis);
                    self.graph.variable(number, Type::real(shape), axis)
                }
                None => complex::pack(&mut self.graph, parts),
            });
        }
        planar
    }

    /// Whether an expression is the name of a variable, not of a `let` that stands for one.
    fn is_variable(&self, expr: &Expr, node: NodeId) -> bool {
        let named = match &expr.bare().kind {
            ExprKind::Name(name) => {
                let mut variables = self.signature.variables.iter();
                variables.any(|v| v.name.text == *name)
            }
            _ => false,
        };
        named && matches!(self.graph.node(node).kind, Kind::Variable(_))
    }
}
