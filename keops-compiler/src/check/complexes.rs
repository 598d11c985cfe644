//! Complex values in formulas: which operations they have, and how each becomes operations of their parts.
//!
//! Real and complex values do not mix by themselves: only a factor of a product may be real, or a divisor, all else needs
//! `complex(x, 0.0)`. No product conjugates: `dot(z, w)` is Σ z·w, as in `ndarray` and NumPy, linear in both.

use super::apply::Application;
use super::error::CheckError;
use super::formula::Checker;
use crate::graph::NodeId;
use crate::graph::complex::{self, Parts};
use crate::ops::{self, Op, TypeError, atan2, mul};
use crate::reductions::Reduction;
use crate::syntax::{Expr, Name};
use crate::types::{Axis, Element};

/// Functions that only complex values have, or that make them: how they are called, and their spelling in KeOps.
pub(super) const FUNCTIONS: [(&str, &str, &str); 7] = [
    // In KeOps they are two, of one part each.
    ("complex", "complex(re, im)", ""),
    ("re", "re(z)", "ComplexReal"),
    ("im", "im(z)", "ComplexImag"),
    ("conj", "conj(z)", "Conj"),
    ("sqabs", "sqabs(z)", "ComplexSquareAbs"),
    ("angle", "angle(z)", "ComplexAngle"),
    ("exp1j", "exp1j(x)", "ComplexExp1j"),
];

impl Checker<'_> {
    /// An operation with a complex value among its arguments, if complex values have it: `None` inside if that failed, which
    /// has been reported.
    pub(super) fn of_complex(
        &mut self,
        op: &'static Op,
        site: &Application<'_>,
        nodes: &[NodeId],
    ) -> Option<Option<NodeId>> {
        let parts: Vec<Option<Parts>> = nodes
            .iter()
            .map(|&n| complex::parts(&self.graph, n))
            .collect();
        parts.iter().flatten().next()?;
        let params: Vec<i64> = site.params.iter().flat_map(|p| p.values.clone()).collect();
        let g = &mut self.graph;
        let result: Result<Parts, TypeError> = match (op.name, parts.as_slice()) {
            (
                "neg" | "sum" | "mean" | "index" | "slice" | "extract" | "elem" | "sumt" | "elemt"
                | "extractt" | "transpose" | "trace",
                [Some(z)],
            ) => both(*z, |part| g.try_apply(op, &[part], &params)),
            (
                "dot" | "matvec" | "vecmat" | "matmul" | "outer" | "cross" | "kron" | "tensordot",
                [a, b],
            ) => {
                let factor = |z: &Option<Parts>, k: usize| match z {
                    Some(z) => (z.re, Some(z.im)),
                    None => (nodes[k], None),
                };
                complex::bilinear(g, [factor(a, 0), factor(b, 1)], &mut |g, x, y| {
                    g.try_apply(op, &[x, y], &params)
                })
            }
            ("array" | "concat", all) | ("add" | "sub", all) => {
                let Some(all) = all.iter().copied().collect::<Option<Vec<Parts>>>() else {
                    return Some(self.complex_with_real(site, nodes));
                };
                let of = |part: fn(&Parts) -> NodeId| all.iter().map(part).collect::<Vec<_>>();
                g.try_apply(op, &of(|z| z.re), &params).and_then(|re| {
                    let im = g.try_apply(op, &of(|z| z.im), &params)?;
                    Ok(Parts { re, im })
                })
            }
            ("mul" | "div", [a, b]) => {
                let part = |z: &Option<Parts>, k: usize| z.map_or(nodes[k], |z| z.re);
                // The rule of shapes first: behind it, all parts fit.
                g.try_apply(op, &[part(a, 0), part(b, 1)], &[])
                    .map(|_| match (a, b) {
                        (Some(a), Some(b)) if op.name == "mul" => complex::product(g, *a, *b),
                        (Some(a), Some(b)) => complex::quotient(g, *a, *b),
                        (Some(a), None) if op.name == "mul" => complex::scaled(g, *a, nodes[1]),
                        (Some(a), None) => complex::divided(g, *a, nodes[1]),
                        (None, Some(b)) if op.name == "mul" => complex::scaled(g, *b, nodes[0]),
                        (None, Some(b)) => {
                            // x / b = x · conj(b) / |b|²
                            let square = complex::square_abs(g, *b);
                            let inverse = complex::conj(g, *b);
                            let inverse = complex::divided(g, inverse, square);
                            complex::scaled(g, inverse, nodes[0])
                        }
                        (None, None) => unreachable!("internal error in keops: one is complex"),
                    })
            }
            ("select", [None, a, b]) => {
                let (Some(a), Some(b)) = (a, b) else {
                    return Some(self.complex_with_real(site, nodes));
                };
                g.try_apply(op, &[nodes[0], a.re, b.re], &[])
                    .map(|_| complex::choice(g, nodes[0], *a, *b))
            }
            ("ifelse", [None, a, b]) => {
                let (Some(a), Some(b)) = (a, b) else {
                    return Some(self.complex_with_real(site, nodes));
                };
                let mut of = |x: NodeId, y: NodeId| g.try_apply(op, &[nodes[0], x, y], &[]);
                of(a.re, b.re).and_then(|re| {
                    let im = of(a.im, b.im)?;
                    Ok(Parts { re, im })
                })
            }
            ("normalize", [Some(z)]) => g.try_apply(op, &[z.re], &[]).map(|direction| {
                let all = g.apply(&ops::concat::OP, &[z.re, z.im]);
                let (all, shape) = (g.apply(op, &[all]), g.shape(direction));
                complex::unpack(g, all, shape)
            }),
            ("exp", [Some(z)]) => Ok(complex::exponential(g, *z)),
            ("square", [Some(z)]) => Ok(complex::product(g, *z, *z)),
            ("abs", [Some(z)]) => return Some(Some(complex::abs(g, *z))),
            // Lengths are those of the parts together.
            ("sqnorm2" | "norm2" | "sqdist" | "dist", all) => {
                let Some(all) = all.iter().copied().collect::<Option<Vec<Parts>>>() else {
                    return Some(self.complex_with_real(site, nodes));
                };
                // Their rule: of vectors.
                let re: Vec<NodeId> = all.iter().map(|z| z.re).collect();
                if let Err(error) = g.try_apply(op, &re, &[]) {
                    return Some(self.type_error(site, error, None));
                }
                let mut together = |z: &Parts| g.apply(&ops::concat::OP, &[z.re, z.im]);
                let all: Vec<NodeId> = all.iter().map(&mut together).collect();
                return Some(Some(g.apply(op, &all)));
            }
            _ => return None,
        };
        Some(match result {
            Ok(parts) => Some(complex::pair(&mut self.graph, parts)),
            Err(error) => self.type_error(site, error, None),
        })
    }

    fn complex_with_real(&mut self, site: &Application<'_>, nodes: &[NodeId]) -> Option<NodeId> {
        let is_complex = |k: usize| self.graph.ty(nodes[k]).element == Element::Complex;
        let complex = (0..nodes.len()).find(|&k| is_complex(k))?;
        // The condition of an `if` is neither.
        let other = (0..nodes.len())
            .rev()
            .find(|&k| self.graph.ty(nodes[k]).element == Element::Real);
        let Some(other) = other else {
            return self.type_error(
                site,
                TypeError::Expected {
                    arg: (0..nodes.len()).find(|&k| !is_complex(k))?,
                    expected: "a complex number".into(),
                },
                None,
            );
        };
        let complex = Box::new(self.typed(site.args.get(complex)?)?);
        let other = Box::new(self.typed(site.args.get(other)?)?);
        let error = CheckError::ComplexWithReal {
            operation: site.label.into(),
            complex,
            other,
        };
        self.report(site.region, error)
    }

    /// A sum, mean or weighted mean of complex values; `None` for other reductions, which say what they need.
    pub(super) fn reduce_complex(
        &mut self,
        reduction: &'static Reduction,
        axis: Axis,
        nodes: &[NodeId],
    ) -> Option<NodeId> {
        let z = complex::parts(&self.graph, *nodes.last()?)?;
        let g = &mut self.graph;
        let parts = match (reduction.name, nodes) {
            ("sum" | "mean", [_]) => {
                both(z, |part| g.try_reduce(reduction, axis, &[part], 0)).ok()?
            }
            // Both parts have the same weights.
            ("sumsoftmaxweight", &[score, _]) => {
                let (shape, value) = (g.shape(z.re), complex::pack(g, z));
                let found = g.try_reduce(reduction, axis, &[score, value], 0).ok()?;
                complex::unpack(g, found, shape)
            }
            _ => return None,
        };
        Some(complex::pair(g, parts))
    }

    /// A call of one of [`FUNCTIONS`].
    pub(super) fn complex_function(
        &mut self,
        expr: &Expr,
        name: &Name,
        usage: &str,
        args: &[Expr],
    ) -> Option<NodeId> {
        let values: Vec<&Expr> = args.iter().collect();
        let nodes = self.values_of(&values);
        let arity = if name.text == "complex" { 2 } else { 1 };
        if args.len() != arity {
            let error = CheckError::Arity {
                name: name.text.clone(),
                usage: usage.into(),
                expected: format!("{arity} argument{}", if arity == 1 { "" } else { "s" }),
                found: args.len(),
            };
            return self.report(expr.region, error);
        }
        let nodes = nodes?;
        let label = format!("`{}`", name.text);
        let site = Application {
            region: expr.region,
            label: &label,
            args: &values,
            params: &[],
            names: &[],
        };
        let takes_real = matches!(name.text.as_str(), "complex" | "exp1j");
        let wanted = if takes_real {
            Element::Real
        } else {
            Element::Complex
        };
        for (arg, &node) in nodes.iter().enumerate() {
            if self.graph.ty(node).element != wanted {
                let expected = if takes_real {
                    "a real number"
                } else {
                    "a complex number"
                };
                let error = TypeError::Expected {
                    arg,
                    expected: expected.into(),
                };
                return self.type_error(&site, error, None);
            }
        }
        let g = &mut self.graph;
        if let &[re, im] = nodes.as_slice() {
            // Scalars broadcast: as in a sum.
            return match g.try_apply(&ops::add::OP, &[re, im], &[]) {
                Err(error) => self.type_error(&site, error, None),
                Ok(sum) => {
                    let shape = g.shape(sum);
                    let mut wide = |part: NodeId| {
                        if g.shape(part) == shape {
                            return part;
                        }
                        let ones = g.constant(1.0, shape);
                        g.apply(&mul::OP, &[part, ones])
                    };
                    let parts = Parts {
                        re: wide(re),
                        im: wide(im),
                    };
                    Some(complex::pair(g, parts))
                }
            };
        }
        let &[node] = nodes.as_slice() else {
            return None;
        };
        if name.text == "exp1j" {
            let parts = complex::exp1j(g, node);
            return Some(complex::pair(g, parts));
        }
        let z = complex::parts(g, node)?;
        match name.text.as_str() {
            "re" => Some(z.re),
            "im" => Some(z.im),
            "sqabs" => Some(complex::square_abs(g, z)),
            "angle" => Some(g.apply(&atan2::OP, &[z.im, z.re])),
            "conj" => {
                let parts = complex::conj(g, z);
                Some(complex::pair(g, parts))
            }
            _ => None,
        }
    }
}

fn both(
    z: Parts,
    mut f: impl FnMut(NodeId) -> Result<NodeId, TypeError>,
) -> Result<Parts, TypeError> {
    Ok(Parts {
        re: f(z.re)?,
        im: f(z.im)?,
    })
}
