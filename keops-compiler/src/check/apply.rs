//! Applying an operation or reduction to nodes: their own type errors become messages with places here.

use super::error::{CheckError, Typed};
use super::formula::Checker;
use super::signature::largest;
use crate::graph::NodeId;
use crate::ops::{Op, TypeError};
use crate::reductions;
use crate::syntax::print::quoted;
use crate::syntax::{Expr, ExprKind, Region};
use crate::types::Shape;

/// A static parameter with its place.
#[derive(Clone)]
pub(super) struct Param {
    /// As operations are given it: an integer, or a list's length and entries.
    pub(super) values: Vec<i64>,
    /// Whether it is a list.
    pub(super) is_list: bool,
    /// Where it stands.
    pub(super) region: Region,
}

impl Param {
    /// An integer.
    pub(super) fn integer(value: i64, region: Region) -> Param {
        Param {
            values: vec![value],
            is_list: false,
            region,
        }
    }
    /// As it is written.
    fn text(&self) -> String {
        match self.values.split_first() {
            Some((_, entries)) if self.is_list => format!("{entries:?}"),
            Some((value, _)) => value.to_string(),
            None => String::new(),
        }
    }
}

/// What is applied, for messages.
pub(super) struct Application<'a> {
    /// The whole expression.
    pub(super) region: Region,
    /// How it is called: `` `sqdist` ``.
    pub(super) label: &'a str,
    /// Its arguments.
    pub(super) args: &'a [&'a Expr],
    /// Its static parameters.
    pub(super) params: &'a [Param],
    /// Their names.
    pub(super) names: &'a [&'static str],
}

impl Checker<'_> {
    /// An operation of nodes, or the message of its type error.
    pub(super) fn apply(
        &mut self,
        op: &'static Op,
        site: &Application<'_>,
        nodes: &[NodeId],
    ) -> Option<NodeId> {
        if let Some(found) = self.of_integers(op.name, site, nodes) {
            return found;
        }
        if let Some(found) = self.of_complex(op, site, nodes) {
            return found.and_then(|node| self.sized(node, site.region));
        }
        let params: Vec<i64> = site.params.iter().flat_map(|p| p.values.clone()).collect();
        match self.graph.try_apply(op, nodes, &params) {
            Ok(node) => self.sized(node, site.region),
            Err(error) => {
                // `sum(x)` of a scalar was probably meant to reduce over rows.
                let is_scalar = matches!(nodes, [only] if self.graph.shape(*only) == Shape::Scalar);
                let reduction = if is_scalar {
                    reductions::find(op.name)
                } else {
                    None
                };
                self.type_error(site, error, reduction.map(|r| format!("{}_j", r.name)))
            }
        }
    }

    /// A node, unless it holds too many numbers.
    pub(super) fn sized(&mut self, node: NodeId, region: Region) -> Option<NodeId> {
        let limit = largest(!self.signature.dimensions.is_empty());
        if self.graph.shape(node).len() > limit {
            return self.report(region, CheckError::TooLarge { limit });
        }
        Some(node)
    }

    /// Reports a type error.
    pub(super) fn type_error(
        &mut self,
        site: &Application<'_>,
        error: TypeError,
        reduction: Option<String>,
    ) -> Option<NodeId> {
        let operation = site.label.to_string();
        let arg = |k: usize| site.args.get(k).copied();
        match error {
            TypeError::Unequal {
                left,
                right,
                broadcast,
            } => {
                let left = Box::new(self.typed(arg(left)?)?);
                let right = Box::new(self.typed(arg(right)?)?);
                self.report(
                    site.region,
                    CheckError::Unequal {
                        operation,
                        left,
                        right,
                        broadcast,
                    },
                )
            }
            TypeError::Expected {
                arg: number,
                expected,
            } => {
                let argument = Box::new(self.typed(arg(number)?)?);
                let region = core(arg(number)?).region;
                self.report(
                    region,
                    CheckError::WrongType {
                        operation,
                        argument,
                        expected,
                        reduction,
                    },
                )
            }
            TypeError::Parameter { param, expected } => {
                let given = site.params.get(param);
                let value = given.map_or("missing".into(), Param::text);
                let region = given.map_or(site.region, |p| p.region);
                let parameter = site.names.get(param).copied().unwrap_or("parameter");
                self.report(
                    region,
                    CheckError::ParameterRange {
                        operation,
                        parameter,
                        value,
                        expected,
                    },
                )
            }
        }
    }

    /// An expression with its type, for messages.
    pub(super) fn typed(&self, expr: &Expr) -> Option<Typed> {
        let ty = self.graph.ty(self.value(expr)?);
        let core = core(expr);
        let scalar = match &core.kind {
            ExprKind::Name(name) => {
                let mut variables = self.signature.variables.iter();
                let variable = variables.find(|v| v.name.text == *name);
                variable.map(|v| v.scalar(self.signature.scalar.text()))
            }
            _ => None,
        };
        Some(Typed {
            text: quoted(core),
            ty,
            scalar,
        })
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
