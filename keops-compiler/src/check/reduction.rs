//! Checking of reductions: name, K, number of arguments, no nesting, and a body that depends on the index.

use super::apply::{Application, Param};
use super::error::{CheckError, Role};
use super::formula::Checker;
use super::suggest;
use crate::graph::{Kind, NodeId};
use crate::reductions::{self, Pair, Reduction};
use crate::syntax::print::quoted;
use crate::syntax::{Expr, ExprKind, Integer, Reduce};
use crate::types::{Axis, Indices, Shape};
use std::collections::BTreeSet;

/// Largest K.
pub(super) const LARGEST_K: usize = 1024;

impl Checker<'_> {
    pub(super) fn reduce(&mut self, expr: &Expr, reduce: &Reduce) -> Option<NodeId> {
        if reductions::find_pair(&reduce.base).is_some() {
            self.unresolved = true;
            return self.report(expr.region, CheckError::NestedTuple);
        }
        let Some(reduction) = reductions::find_for(&reduce.base, reduce.args.len()) else {
            return self.unknown_reduction(reduce);
        };
        self.reduce_by(reduction, expr, reduce)
    }

    /// Both results of a pair such as `min_argmin`.
    pub(super) fn pair(
        &mut self,
        pair: &'static Pair,
        expr: &Expr,
        reduce: &Reduce,
    ) -> [Option<NodeId>; 2] {
        let Some(index) = self.reduce_by(pair.index, expr, reduce) else {
            return [None, None];
        };
        let node = self.graph.node(index);
        let (body, k) = match node.kind {
            Kind::Reduce(_, _, k) => (node.args[0], k),
            _ => return [None, None],
        };
        let value = (pair.value)(&mut self.graph, reduce.axis, body, k);
        [self.sized(value, expr.region), Some(index)]
    }

    fn reduce_by(
        &mut self,
        reduction: &'static Reduction,
        expr: &Expr,
        reduce: &Reduce,
    ) -> Option<NodeId> {
        self.check_axis(reduce);
        let args: Vec<&Expr> = reduce.args.iter().collect();
        self.enclosing += 1;
        let nodes = self.values_of(&args);
        self.enclosing -= 1;
        let k = self.check_k(reduce, reduction);
        if args.len() != reduction.arity {
            let error = CheckError::Arity {
                name: reduce.name.text.clone(),
                usage: usage(reduce, reduction),
                expected: format!(
                    "{} argument{}",
                    reduction.arity,
                    if reduction.arity == 1 { "" } else { "s" }
                ),
                found: args.len(),
            };
            return self.report(reduce.name.region(), error);
        }
        let (nodes, k) = (nodes?, k?);
        if let Some(inner) = args.iter().find_map(|a| self.nested(a, reduce.axis)) {
            let error = CheckError::Nested {
                outer: reduce.name.text.clone(),
                inner: quoted(inner),
                bracketed: self.bracketed(reduce),
            };
            return self.report(inner.region, error);
        }
        let indices = nodes
            .iter()
            .fold(Indices::NONE, |all, &n| all.union(self.graph.indices(n)));
        if !indices.contains(reduce.axis) {
            let error = CheckError::WrongIndex {
                name: reduce.name.text.clone(),
                base: reduce.base.clone(),
                axis: reduce.axis,
                on_other: indices.contains(reduce.axis.other()),
                declared: self
                    .signature
                    .variables
                    .iter()
                    .any(|v| v.axis == Some(reduce.axis)),
            };
            return self.report(reduce.name.region(), error);
        }
        if let Some(node) = self.reduce_complex(reduction, reduce.axis, &nodes) {
            return self.sized(node, expr.region);
        }
        match self.graph.try_reduce(reduction, reduce.axis, &nodes, k) {
            Ok(node) => self.sized(node, expr.region),
            Err(error) => {
                let site = Application {
                    region: expr.region,
                    label: &format!("`{}`", reduce.name.text),
                    args: &args,
                    params: &reduce
                        .k
                        .map_or(vec![], |k| vec![Param::integer(k.value, k.region)]),
                    names: &["K"],
                };
                self.type_error(&site, error, None)
            }
        }
    }

    fn unknown_reduction(&mut self, reduce: &Reduce) -> Option<NodeId> {
        let Reduce {
            name,
            base,
            axis,
            args,
            ..
        } = reduce;
        self.values_of(&args.iter().collect::<Vec<_>>());
        if let Some(binding) = self.scope.take(&name.text) {
            let value = binding.value;
            let indexable = value.is_some_and(|v| self.graph.shape(v) != Shape::Scalar);
            let called = !matches!(args.as_slice(), [only] if !matches!(leftmost(only).kind, ExprKind::Paren(_)));
            let error = match called {
                true => CheckError::NotAFunction {
                    name: name.text.clone(),
                    indexable,
                },
                false => CheckError::MissingOperator {
                    left: name.text.clone(),
                },
            };
            return self.report(name.region(), error);
        }
        let suggestion = suggest::reduction(base, *axis);
        self.report(
            name.region(),
            CheckError::Unknown {
                name: name.text.clone(),
                role: Role::Reduction,
                suggestion,
            },
        )
    }

    /// All reductions of a formula that are not inside others are over one index.
    fn check_axis(&mut self, reduce: &Reduce) {
        if self.enclosing > 0 {
            return;
        }
        match &self.first_reduction {
            None => self.first_reduction = Some((reduce.axis, reduce.name.text.clone())),
            Some((axis, first)) if *axis != reduce.axis && !self.mixed => {
                let error = CheckError::MixedIndices {
                    name: reduce.name.text.clone(),
                    first: first.clone(),
                };
                self.errors.push(reduce.name.region(), error);
                self.mixed = true;
            }
            Some(_) => {}
        }
    }

    /// K, 0 where none is taken.
    fn check_k(&mut self, reduce: &Reduce, reduction: &Reduction) -> Option<usize> {
        let name = reduce.name.text.clone();
        let (region, error) = match (reduce.k, reduction.takes_k) {
            (None, false) => return Some(0),
            (None, true) => (reduce.name.region(), CheckError::MissingK { name }),
            (Some(k), false) => (k.region, CheckError::UnexpectedK { name }),
            (Some(Integer { value: 0, region }), true) => (region, CheckError::ZeroK { name }),
            (Some(k), true) => match usize::try_from(k.value) {
                Ok(value) if value <= LARGEST_K => return Some(value),
                _ => (
                    k.region,
                    CheckError::LargeK {
                        name,
                        k: k.value,
                        limit: LARGEST_K,
                    },
                ),
            },
        };
        self.errors.push(region, error);
        None
    }

    /// The smallest part of a body over this axis that is reduced already.
    fn nested<'e>(&self, expr: &'e Expr, axis: Axis) -> Option<&'e Expr> {
        if !self.is_nested(self.value(expr)?, axis) {
            return None;
        }
        if matches!(expr.kind, ExprKind::Reduce(_) | ExprKind::Name(_)) {
            return Some(expr);
        }
        Some(
            expr.children()
                .into_iter()
                .find_map(|child| self.nested(child, axis))
                .unwrap_or(expr),
        )
    }

    /// Whether a value that is reduced over this axis is made of reductions. The derivative of a reduction over the other
    /// axis is none: it has a value for each pair, and its sum is the derivative by a variable with rows of that axis.
    fn is_nested(&self, node: NodeId, axis: Axis) -> bool {
        let g = &self.graph;
        let mut seen = BTreeSet::new();
        let mut open = vec![node];
        while let Some(id) = open.pop() {
            if !self.is_reduced(id) || !seen.insert(id) {
                continue;
            }
            let over_axis =
                |id: &NodeId| matches!(g.node(*id).kind, Kind::Reduce(_, over, _) if over == axis);
            match g.node(id).kind {
                Kind::Reduce(..) => return true,
                Kind::Derivative(_) if !g.reachable(&[id]).iter().any(over_axis) => {}
                _ => open.extend(&g.node(id).args),
            }
        }
        false
    }

    /// `sum_j (a) / b` with the brackets that `sum_j(a) / b` seems to mean.
    fn bracketed(&self, reduce: &Reduce) -> Option<String> {
        let [body] = reduce.args.as_slice() else {
            return None;
        };
        let first = leftmost(body);
        let is_part = !std::ptr::eq(first, body);
        match &first.kind {
            ExprKind::Paren(inner) if is_part && self.nested(inner, reduce.axis).is_none() => {
                Some(format!("{} {}", reduce.name.text, quoted(inner)))
            }
            _ => None,
        }
    }
}

/// The first operand of a chain of operators.
fn leftmost(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let ExprKind::Infix(_, left, _) = &expr.kind {
        expr = left;
    }
    expr
}

fn usage(reduce: &Reduce, reduction: &Reduction) -> String {
    let k = if reduction.takes_k { "::<5>" } else { "" };
    match reduction.arity {
        1 => format!("{}{k} a", reduce.name.text),
        n => {
            let letters: Vec<&str> = ["a", "b", "c", "d"].into_iter().take(n).collect();
            format!("{}{k}({})", reduce.name.text, letters.join(", "))
        }
    }
}
