//! Checking of derivatives inside formulas: `grad(f, v)`, `jvp(f, v, t)`, `divergence(f, v)`, …

use super::apply::Application;
use super::error::CheckError;
use super::formula::Checker;
use crate::graph::derive::{Derivative, mixed_rows};
use crate::graph::{Kind, NodeId};
use crate::syntax::print::quoted;
use crate::syntax::{Expr, ExprKind, Name};
use crate::types::{Element, Shape};

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
            Ok(node) => self.sized(node, expr.region),
            Err(error) => {
                let label = format!("`{}`", kind.usage());
                let site = Application {
                    region: expr.region,
                    label: &label,
                    args: &values,
                    params: &[],
                    names: &[],
                };
                self.type_error(&site, error, None)
            }
        }
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
