//! Integers in formulas: the row numbers `i` and `j`, sums and multiples of them, comparisons, and `real`.

use super::apply::Application;
use super::error::CheckError;
use super::formula::Checker;
use crate::graph::NodeId;
use crate::graph::integer::{self, Integer, Of};
use crate::syntax::{Expr, Name, Region};
use crate::types::{Axis, Element};

/// The function that makes a number of an integer.
pub(super) const REAL: &str = "real";
/// The value that sums of minima start with.
pub(super) const INFINITY: &str = "INFINITY";

/// The axis that a name counts the rows of.
pub(super) fn row(name: &str) -> Option<Axis> {
    match name {
        "i" => Some(Axis::I),
        "j" => Some(Axis::J),
        _ => None,
    }
}

impl Checker<'_> {
    /// `i` or `j`.
    pub(super) fn row_number(&mut self, axis: Axis, region: Region) -> Option<NodeId> {
        let has_rows = self
            .signature
            .variables
            .iter()
            .any(|v| v.axis == Some(axis));
        if !has_rows {
            return self.report(region, CheckError::NoRows { axis });
        }
        self.counted.push(axis);
        Some(integer::node(&mut self.graph, Integer::row(axis)))
    }

    /// An operation with an integer among its arguments, if integers have it: `None` inside if that failed, which has been
    /// reported.
    pub(super) fn of_integers(
        &mut self,
        name: &str,
        site: &Application<'_>,
        nodes: &[NodeId],
    ) -> Option<Option<NodeId>> {
        let is_integer = |k: usize| self.graph.ty(nodes[k]).element == Element::Integer;
        let first = (0..nodes.len()).find(|&k| is_integer(k))?;
        if !matches!(
            (name, nodes.len()),
            ("neg" | "abs", 1)
                | (
                    "add" | "sub" | "mul" | "min" | "max" | "lt" | "le" | "gt" | "ge" | "eq" | "ne",
                    2
                )
        ) {
            return None;
        }
        let mut values = vec![];
        for (k, &node) in nodes.iter().enumerate() {
            let Some(integer) = Integer::of(&self.graph, node) else {
                return Some(self.mixed_integer(site, first, k));
            };
            values.push(integer);
        }
        let node = match (name, values.as_slice()) {
            ("neg", [a]) => Some(integer::node(&mut self.graph, a.negated())),
            ("abs", [a]) => self.integer(a.choose(&a.negated(), Of::Most)),
            ("min", [a, b]) => self.integer(a.choose(b, Of::Least)),
            ("max", [a, b]) => self.integer(a.choose(b, Of::Most)),
            ("add", [a, b]) => self.integer(a.plus(b)),
            ("sub", [a, b]) => self.integer(a.plus(&b.negated())),
            ("mul", [a, b]) => {
                let product = match (a.constant(), b.constant()) {
                    (_, Some(k)) => a.times(k),
                    (Some(k), _) => b.times(k),
                    _ => None,
                };
                self.integer(product)
            }
            (_, [a, b]) => integer::compare(&mut self.graph, name, a, b),
            _ => None,
        };
        Some(match node {
            Some(node) => Some(node),
            None => self.report(site.region, CheckError::IntegerTooMuch),
        })
    }

    fn integer(&mut self, value: Option<Integer>) -> Option<NodeId> {
        value.map(|value| integer::node(&mut self.graph, value))
    }

    fn mixed_integer(
        &mut self,
        site: &Application<'_>,
        integer: usize,
        other: usize,
    ) -> Option<NodeId> {
        let integer = Box::new(self.typed(site.args.get(integer)?)?);
        let other = Box::new(self.typed(site.args.get(other)?)?);
        let error = CheckError::IntegerWithReal {
            operation: site.label.into(),
            integer,
            other,
        };
        self.report(site.region, error)
    }

    /// `real(a)`.
    pub(super) fn real(&mut self, expr: &Expr, name: &Name, args: &[Expr]) -> Option<NodeId> {
        let nodes = self.values_of(&args.iter().collect::<Vec<_>>());
        let [argument] = args else {
            let error = CheckError::Arity {
                name: name.text.clone(),
                usage: "real(a)".into(),
                expected: "1 argument".into(),
                found: args.len(),
            };
            return self.report(expr.region, error);
        };
        let &[node] = nodes?.as_slice() else {
            return None;
        };
        if self.graph.ty(node).element != Element::Integer {
            let argument = Box::new(self.typed(argument)?);
            let error = CheckError::WrongType {
                operation: "`real`".into(),
                argument,
                expected: "an integer made of `i` and `j`".into(),
                reduction: None,
            };
            return self.report(args.first()?.region, error);
        }
        let value = Integer::of(&self.graph, node)?;
        Some(integer::real(&mut self.graph, &value))
    }
}
