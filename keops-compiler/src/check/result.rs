//! What a whole formula may be: numbers or indices, of reductions over one index, with no other index left.

use super::error::CheckError;
use super::formula::{Checker, Output};
use crate::graph::Kind;
use crate::item::ResultType;
use crate::ops::take;
use crate::syntax::print::quoted;
use crate::syntax::{Expr, ExprKind};
use crate::types::{Axis, Element};

/// Checks the results; `None` if some are wrong or have no value.
pub(super) fn check(
    checker: &mut Checker<'_>,
    outputs: &[Output<'_>],
    is_tuple: bool,
) -> Option<Vec<ResultType>> {
    let before = checker.errors.len();
    let mut results = Vec::new();
    for &(node, expr) in outputs {
        let Some(node) = node else { continue };
        let (ty, indices) = (checker.graph.ty(node), checker.graph.indices(node));
        if ty.element == Element::Bool {
            checker
                .errors
                .push(expr.region, CheckError::ConditionResult);
        } else if ty.element == Element::Integer && checker.is_reduced(node) {
            checker.errors.push(expr.region, CheckError::IntegerResult);
        } else if !checker.is_reduced(node) {
            let axis = if indices.i && !indices.j {
                Axis::I
            } else {
                Axis::J
            };
            let example = format!("sum_{}", axis.letter());
            checker.errors.push(
                expr.region,
                CheckError::NoReduction {
                    example,
                    in_tuple: is_tuple,
                },
            );
        } else if let Some((axis, _)) = checker.first_reduction
            && indices.contains(axis)
            && !checker.mixed
        {
            let free = smallest(checker, expr, axis);
            let text = quoted(free);
            let error = match by_variable(checker, free, axis) {
                Some(variable) => CheckError::DerivativeLeavesIndex {
                    text,
                    variable,
                    axis,
                    summed: indices.contains(axis.other()),
                },
                None => CheckError::FreeIndex { text, axis },
            };
            checker.errors.push(free.region, error);
        } else {
            results.push(ResultType {
                ty,
                rows: indices.single(),
            });
        }
    }
    if results.len() == outputs.len() && checker.errors.len() == before {
        Some(results)
    } else {
        None
    }
}

/// The smallest part of an expression that alone brings the index in.
fn smallest<'e>(checker: &Checker<'_>, expr: &'e Expr, axis: Axis) -> &'e Expr {
    let mut expr = expr;
    loop {
        if by_variable(checker, expr, axis).is_some() {
            return expr;
        }
        let below = match &expr.kind {
            ExprKind::Block(_, value) => vec![value.as_ref()],
            _ => expr.children(),
        };
        let has_index = |e: &&Expr| {
            checker
                .value(e)
                .is_some_and(|n| checker.graph.indices(n).contains(axis))
        };
        let mut guilty = below.into_iter().filter(has_index);
        match (guilty.next(), guilty.next()) {
            (Some(only), None) => expr = only,
            _ => return expr,
        }
    }
}

/// The variable of a derivative that has the index from its variable alone.
fn by_variable(checker: &Checker<'_>, expr: &Expr, axis: Axis) -> Option<String> {
    let g = &checker.graph;
    let mut node = g.node(checker.value(expr)?);
    // A complex one is made of the parts of a real one.
    while matches!(node.kind, Kind::Complex)
        || matches!(&node.kind, Kind::Op(op, _) if op.0.name == take::OP.name)
    {
        node = g.node(*node.args.first()?);
    }
    let (Kind::Derivative(_), &[f, v, ..]) = (&node.kind, node.args.as_slice()) else {
        return None;
    };
    let Kind::Variable(number) = g.node(v).kind else {
        return None;
    };
    let alone = g.indices(v).contains(axis) && !g.indices(f).contains(axis);
    let variable = checker.signature.variables.get(number)?;
    alone.then(|| variable.name.text.clone())
}
