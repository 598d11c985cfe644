//! Products of two tensors summed over shared axes: what `tensordot` and `kron` are made of
//!
//! Values have at most two axes; a tensor of more axes is a vector (or matrix) of its numbers in row-major order with a
//! list of dimensions beside it. The code is a nest of loops, one per axis, whatever the dimensions; only few products are
//! written out.

use super::*;
use crate::graph::Kind;
use crate::lower::{flat, unroll};

/// The record.
pub static OP: Op = Op {
    name: "contraction",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "Σ of products of two tensors' numbers over pairs of axes; the other axes remain, those of the first tensor first, permuted.",
    arity: Arity::Exactly(2),
    params: &[
        Param::integer("rows"),
        Param::list("dims_a"),
        Param::list("dims_b"),
        Param::list("axes_a"),
        Param::list("axes_b"),
        Param::list("order"),
    ],
    infer: |types, params| {
        let plan = Plan::new(types, params)?;
        let numbers = plan
            .result_dims()
            .iter()
            .try_fold(1usize, |n, &d| n.checked_mul(d));
        let numbers = numbers
            .filter(|&n| n <= MAX_NUMBERS)
            .ok_or(TypeError::Expected {
                arg: 0,
                expected: format!(
                    "a smaller value (the result may have at most {MAX_NUMBERS} numbers)"
                ),
            })?;
        Ok(Type::real(match plan.rows {
            0 if plan.kept.is_empty() => Shape::Scalar,
            0 => Shape::Vector(numbers),
            rows if fits(Shape::Matrix(rows, numbers / rows), &plan.result_dims()) => {
                Shape::Matrix(rows, numbers / rows)
            }
            _ => {
                return Err(TypeError::Parameter {
                    param: 0,
                    expected: "the product of the first dimensions of the result".into(),
                });
            }
        }))
    },
    body: Body::Indexed {
        lower,
        costly: false,
        vjp: |g, call| {
            let types = [g.ty(call.args[0]), g.ty(call.args[1])];
            let Ok(plan) = Plan::new(&types, call.params) else {
                unreachable!("internal error in keops: the contraction was checked")
            };
            let mut cotangent = call.cotangent;
            if g.shape(cotangent) != g.shape(call.node) {
                let ones = g.constant(1.0, g.shape(call.node));
                cotangent = g.apply(&mul::OP, &[cotangent, ones]);
            }
            (0..2)
                .map(|side| Some(plan.gradient(g, side, call.args, cotangent)))
                .collect()
        },
        linear: Linear::Each(|b, call, batch| match batch {
            Batch::Line(line) => {
                let shape = b.g.shape(call.node);
                let types = [b.g.ty(call.args[0]), b.g.ty(call.args[1])];
                let plan = Plan::new(&types, call.params).ok()?;
                let mut args = call.args.to_vec();
                let rows = b.dense(line);
                args[call.which] = rows;
                let Shape::Matrix(units, _) = b.g.shape(rows) else {
                    return None;
                };
                let made = match shape {
                    Shape::Scalar => {
                        b.g.apply_with(&OP, &args, &plan.of_rows(call.which, units, 0))
                    }
                    Shape::Vector(_) => {
                        b.g.apply_with(&OP, &args, &plan.of_rows(call.which, units, units))
                    }
                    Shape::Matrix(..) => return None,
                };
                Some(vec![match shape {
                    Shape::Scalar => b.numbers(made),
                    _ => Batch::Line(Line::Dense(made)),
                }])
            }
            _ => None,
        }),
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, params| {
        let types = [Type::real(args[0].shape), Type::real(args[1].shape)];
        let plan = Plan::new(&types, params).expect("the contraction was checked");
        reference(&plan, args)
    }),
    test_range: (-4.0, 4.0),
};

/// The decoded parameters.
pub(super) struct Plan {
    /// 0 for a vector (or a scalar), else the rows of the resulting matrix.
    pub rows: usize,
    /// The dimensions of both tensors.
    pub dims: [Vec<usize>; 2],
    /// The axes of each that are summed, in pairs.
    pub summed: [Vec<usize>; 2],
    /// The remaining axes, (tensor, axis), as they stand in the result.
    pub kept: Vec<(usize, usize)>,
}

/// A list of static parameters: its length, then its entries; each at least `least` and at most [`MAX_NUMBERS`].
pub(super) fn list<'p>(params: &mut &'p [i64], name: usize) -> Result<Vec<usize>, TypeError> {
    let wrong = |expected: &str| TypeError::Parameter {
        param: name,
        expected: expected.into(),
    };
    let all: &'p [i64] = params;
    let (&count, rest) = all.split_first().ok_or(wrong("a list"))?;
    let count = usize::try_from(count).map_err(|_| wrong("a list"))?;
    let (entries, rest) = rest.split_at_checked(count).ok_or(wrong("a list"))?;
    *params = rest;
    entries
        .iter()
        .map(|&e| usize::try_from(e).ok().filter(|&e| e <= MAX_NUMBERS))
        .collect::<Option<Vec<usize>>>()
        .ok_or(wrong("numbers that are at least 0"))
}

/// Appends a list as [`list`] reads it.
pub(super) fn push(params: &mut Vec<i64>, entries: impl ExactSizeIterator<Item = usize>) {
    params.push(entries.len() as i64);
    params.extend(entries.map(|e| e as i64));
}

/// Whether a value of this shape can be seen as a tensor of these dimensions.
fn fits(shape: Shape, dims: &[usize]) -> bool {
    let product = |d: &[usize]| d.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    if dims.contains(&0) {
        return false;
    }
    match shape {
        Shape::Scalar => dims.is_empty(),
        Shape::Vector(n) => !dims.is_empty() && product(dims) == Some(n),
        Shape::Matrix(r, c) => {
            product(dims) == r.checked_mul(c)
                && (1..dims.len()).any(|k| product(&dims[..k]) == Some(r))
        }
    }
}

impl Plan {
    pub(super) fn new(types: &[Type], params: &[i64]) -> Result<Plan, TypeError> {
        let wrong = |param: usize, expected: String| Err(TypeError::Parameter { param, expected });
        let mut rest = params;
        let rows = match rest.split_first() {
            Some((&rows, others)) if (0..=MAX_NUMBERS as i64).contains(&rows) => {
                rest = others;
                rows as usize
            }
            _ => return wrong(0, "at least 0".into()),
        };
        let dims = [list(&mut rest, 1)?, list(&mut rest, 2)?];
        let summed = [list(&mut rest, 3)?, list(&mut rest, 4)?];
        let order = list(&mut rest, 5)?;
        for side in 0..2 {
            let ty = types[side];
            if ty.element != Element::Real {
                return Err(TypeError::Expected {
                    arg: side,
                    expected: "a real number".into(),
                });
            }
            if !fits(ty.shape, &dims[side]) {
                return wrong(1 + side, format!("dimensions that fit {}", ty.shape));
            }
            for (k, axis) in summed[side].iter().enumerate() {
                let count = dims[side].len();
                if *axis >= count || summed[side][..k].contains(axis) {
                    return wrong(3 + side, format!("different axes below {count}"));
                }
            }
        }
        if summed[0].len() != summed[1].len() {
            return wrong(
                4,
                format!("{} axes, as many as of the first tensor", summed[0].len()),
            );
        }
        for (&a, &b) in summed[0].iter().zip(&summed[1]) {
            if dims[0][a] != dims[1][b] {
                let (da, db) = (dims[0][a], dims[1][b]);
                return wrong(
                    4,
                    format!("axes of equal dimensions ({da} and {db} differ)"),
                );
            }
        }
        let mut plain = vec![];
        for (side, (dims, summed)) in dims.iter().zip(&summed).enumerate() {
            plain.extend(
                (0..dims.len())
                    .filter(|a| !summed.contains(a))
                    .map(|a| (side, a)),
            );
        }
        let kept = if order.is_empty() {
            plain
        } else {
            let mut kept = vec![None; plain.len()];
            for (&axis, &to) in plain.iter().zip(&order) {
                if let Some(place) = kept.get_mut(to) {
                    *place = Some(axis);
                }
            }
            match kept.into_iter().collect::<Option<Vec<_>>>() {
                Some(kept) if kept.len() == order.len() => kept,
                _ => return wrong(5, format!("an order of the {} remaining axes", plain.len())),
            }
        };
        Ok(Plan {
            rows,
            dims,
            summed,
            kept,
        })
    }

    /// The parameters of the same for a tensor of one more axis, its first, of this dimension, which is the result's first too.
    fn of_rows(&self, side: usize, dimension: usize, rows: usize) -> Vec<i64> {
        let shifted = |of: usize, axis: usize| axis + usize::from(of == side);
        let dims = |of: usize| {
            let first = (of == side).then_some(dimension);
            first.into_iter().chain(self.dims[of].iter().copied())
        };
        // Where the remaining axes of each tensor stand in the result.
        let mut order = vec![];
        for of in 0..2 {
            if of == side {
                order.push(0);
            }
            for axis in 0..self.dims[of].len() {
                let place = self.kept.iter().position(|&kept| kept == (of, axis));
                order.extend(place.map(|place| place + 1));
            }
        }
        let mut params = vec![rows as i64];
        for of in 0..2 {
            push(&mut params, dims(of).collect::<Vec<_>>().into_iter());
        }
        for of in 0..2 {
            push(&mut params, self.summed[of].iter().map(|&a| shifted(of, a)));
        }
        push(&mut params, order.into_iter());
        params
    }

    /// The dimensions of the result, before rows are told from columns.
    pub(super) fn result_dims(&self) -> Vec<usize> {
        self.kept
            .iter()
            .map(|&(side, axis)| self.dims[side][axis])
            .collect()
    }

    /// The cotangent of one tensor: the result's cotangent contracted with the other one.
    fn gradient(&self, g: &mut Graph, side: usize, args: &[NodeId], cotangent: NodeId) -> NodeId {
        let other = 1 - side;
        let shape = g.shape(args[side]);
        let places = |of: usize| -> Vec<usize> {
            (0..self.kept.len())
                .filter(|&p| self.kept[p].0 == of)
                .collect()
        };
        let theirs = places(other);
        // What remains: this tensor's kept axes as the cotangent has them, then the other's summed ones.
        let mine = places(side).into_iter().map(|p| self.kept[p].1);
        let mut kept_of_other: Vec<usize> = (0..self.dims[other].len())
            .filter(|a| self.summed[other].contains(a))
            .collect();
        kept_of_other = kept_of_other
            .into_iter()
            .filter_map(|a| self.summed[other].iter().position(|&s| s == a))
            .map(|pair| self.summed[side][pair])
            .collect();
        let order: Vec<usize> = mine.chain(kept_of_other).collect();
        let mut params = vec![match shape {
            Shape::Matrix(r, _) => r as i64,
            _ => 0,
        }];
        push(&mut params, self.result_dims().into_iter());
        push(&mut params, self.dims[other].iter().copied());
        push(&mut params, theirs.iter().copied());
        push(&mut params, theirs.iter().map(|&p| self.kept[p].1));
        push(&mut params, order.into_iter());
        g.apply_with(&OP, &[cotangent, args[other]], &params)
    }

    /// The number of a tensor at these indices of its axes.
    fn number(&self, l: &mut Lowerer<'_>, node: NodeId, side: usize, at: &[Ix]) -> Operand {
        let dims = &self.dims[side];
        let flatten = |from: usize, to: usize| {
            (from..to).fold(Ix::at(0), |so_far, axis| {
                so_far.times(dims[axis]).add(&at[axis])
            })
        };
        match l.graph.shape(node) {
            Shape::Scalar => l.number(node, &[]),
            Shape::Vector(_) => l.number(node, &[flatten(0, dims.len())]),
            Shape::Matrix(r, _) => {
                let split = (1..dims.len())
                    .find(|&k| dims[..k].iter().product::<usize>() == r)
                    .unwrap_or(dims.len());
                l.number(node, &[flatten(0, split), flatten(split, dims.len())])
            }
        }
    }

    /// Σ over the summed axes from pair `pair` on.
    fn sum(
        &self,
        l: &mut Lowerer<'_>,
        args: &[NodeId],
        at: &mut [Vec<Ix>; 2],
        pair: usize,
    ) -> Term {
        let Some(&axis) = self.summed[0].get(pair) else {
            let a = self.number(l, args[0], 0, &at[0]);
            let b = self.number(l, args[1], 1, &at[1]);
            return Term::Product(a, b);
        };
        let sum = l.sum_beyond(self.written_out(), self.dims[0][axis], &mut |l, k| {
            at[0][axis] = k.clone();
            at[1][self.summed[1][pair]] = k.clone();
            self.sum(l, args, at, pair + 1)
        });
        Term::Value(sum)
    }

    /// Stores all numbers, the result's axes from `axis` on in loops.
    fn store(
        &self,
        l: &mut Lowerer<'_>,
        args: &[NodeId],
        array: u32,
        at: &mut [Vec<Ix>; 2],
        place: &Ix,
        axis: usize,
    ) {
        let Some(&(side, own)) = self.kept.get(axis) else {
            let number = self.total(l, args, at);
            l.store(array, place.clone(), number);
            return;
        };
        let dimension = self.dims[side][own];
        l.repeat_beyond(self.written_out(), dimension, &mut |l, k| {
            at[side][own] = k.clone();
            self.store(
                l,
                args,
                array,
                at,
                &place.times(dimension).add(&k),
                axis + 1,
            );
        });
    }

    /// Products of two numbers.
    fn products(&self) -> usize {
        let summed = self.summed[0].iter().map(|&axis| self.dims[0][axis]);
        self.result_dims().into_iter().chain(summed).product()
    }

    fn are_few(&self) -> bool {
        self.products() <= 2 * unroll() * unroll()
    }

    /// The dimension up to which an axis is written out: where there are many products, short axes are loops too.
    fn written_out(&self) -> usize {
        if self.are_few() {
            unroll()
        } else {
            unroll().min(1)
        }
    }

    /// How often each number of a tensor is read.
    fn reads(&self, side: usize) -> usize {
        let others = self.kept.iter().filter(|&&(of, _)| of != side);
        others.map(|&(of, axis)| self.dims[of][axis]).product()
    }

    fn total(&self, l: &mut Lowerer<'_>, args: &[NodeId], at: &mut [Vec<Ix>; 2]) -> Operand {
        match self.sum(l, args, at, 0) {
            Term::Value(v) => v,
            Term::Product(a, b) => l.prim(crate::lower::Prim::Mul, &[a, b]),
        }
    }

    fn start(&self) -> [Vec<Ix>; 2] {
        [0, 1].map(|side: usize| vec![Ix::at(0); self.dims[side].len()])
    }
}

fn lower(l: &mut Lowerer<'_>, node: &Node, ix: &[Ix]) -> Operand {
    let types = [l.graph.ty(node.args[0]), l.graph.ty(node.args[1])];
    let Kind::Op(_, params) = &node.kind else {
        unreachable!("internal error in keops: contraction is an operation")
    };
    let Ok(plan) = Plan::new(&types, params) else {
        unreachable!("internal error in keops: the contraction was checked")
    };
    number(l, node, &plan, ix)
}

/// The number of a contraction at an index.
pub(super) fn number(l: &mut Lowerer<'_>, node: &Node, plan: &Plan, ix: &[Ix]) -> Operand {
    let place = flat(node.ty.shape, ix);
    if let Some(mut place) = place.constant()
        && (plan.are_few() || plan.kept.is_empty())
    {
        let mut at = plan.start();
        for &(side, axis) in plan.kept.iter().rev() {
            let dimension = plan.dims[side][axis];
            at[side][axis] = Ix::at(place % dimension);
            place /= dimension;
        }
        return plan.total(l, &node.args, &mut at);
    }
    let array = l.filled(node, &mut |l, array| {
        for (side, &arg) in node.args.iter().enumerate() {
            if plan.reads(side) > 1 && !plan.are_few() {
                l.keep(arg);
            }
        }
        plan.store(l, &node.args, array, &mut plan.start(), &Ix::at(0), 0);
    });
    Operand::Element(array, place)
}

fn reference(plan: &Plan, args: &[Value]) -> Value {
    let dims = plan.result_dims();
    let count: usize = dims.iter().product();
    let pairs: Vec<usize> = plan.summed[0].iter().map(|&a| plan.dims[0][a]).collect();
    // The indices that a row-major number stands for.
    let unravel = |mut flat: usize, dims: &[usize]| {
        let mut at = vec![0; dims.len()];
        for (k, d) in dims.iter().enumerate().rev() {
            at[k] = flat % d;
            flat /= d;
        }
        at
    };
    let ravel = |at: &[usize], dims: &[usize]| at.iter().zip(dims).fold(0, |n, (k, d)| n * d + k);
    let data = (0..count)
        .map(|place| {
            let out = unravel(place, &dims);
            (0..pairs.iter().product())
                .map(|s| {
                    let inner = unravel(s, &pairs);
                    let number = |side: usize| {
                        let mut at = vec![0; plan.dims[side].len()];
                        for (&(of, axis), &k) in plan.kept.iter().zip(&out) {
                            if of == side {
                                at[axis] = k;
                            }
                        }
                        for (&axis, &k) in plan.summed[side].iter().zip(&inner) {
                            at[axis] = k;
                        }
                        args[side].data[ravel(&at, &plan.dims[side])]
                    };
                    number(0) * number(1)
                })
                .sum()
        })
        .collect();
    let shape = match plan.rows {
        0 if dims.is_empty() => Shape::Scalar,
        0 => Shape::Vector(count),
        rows => Shape::Matrix(rows, count / rows),
    };
    Value { shape, data }
}
