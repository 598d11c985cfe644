//! Checking of `v[0]`, `v[0..2]`, `A[0]` and `A[0, 1]`.

use super::apply::{Application, Param};
use super::error::CheckError;
use super::formula::Checker;
use crate::graph::NodeId;
use crate::ops::OPS;
use crate::syntax::{Expr, Region, Subscript};
use crate::types::Shape;

impl Checker<'_> {
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
        if let [Subscript::Range(None, None, _)] = subscripts {
            return Some(node);
        }
        let mut params: Vec<Param> = Vec::new();
        let mut name = "index";
        for (subscript, dimension) in subscripts.iter().zip(dimensions) {
            let bound = i64::try_from(dimension).unwrap_or(i64::MAX);
            match *subscript {
                Subscript::At(at) if (0..bound).contains(&at.value) => {
                    params.push(Param::integer(at.value, at.region))
                }
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
                    if start < 0 {
                        let region = low.map_or(region, |l| l.region);
                        return self.out_of_bounds(start, region, value, dimension);
                    }
                    if start >= end {
                        return self.report(region, CheckError::EmptyRange { start, end });
                    }
                    name = "slice";
                    params.extend([start, end].map(|bound| Param::integer(bound, region)));
                }
            }
        }
        let op = OPS.iter().copied().find(|op| op.name == name)?;
        let site = Application {
            region: expr.region,
            label: "`[…]`",
            args: &[value],
            params: &params,
            names: &op.params.iter().map(|p| p.name).collect::<Vec<_>>(),
        };
        self.apply(op, &site, &[node])
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
