//! What a whole formula may be: numbers or indices, of reductions over one index, with no other index left.

use super::error::CheckError;
use super::formula::{Checker, Output};
use crate::item::ResultType;
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
            checker.errors.push(
                free.region,
                CheckError::FreeIndex {
                    text: crate::syntax::print::quoted(free),
                    axis,
                },
            );
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
