//! Many cotangents in one sweep: the Jacobian of a value, whatever its dimension.
//!
//! One reverse sweep with a variable in the cotangent's place gives a graph that is linear in this variable. [`batched`] goes
//! through that graph once and finds what it makes of all unit vectors at once: a sum of [`Batch`]es, each of them rows of a matrix
//! with a structure. Unit vectors are a diagonal, a scalar that differs for each is a column, and a column times something that
//! is the same for all is an outer product. So the trace of the Jacobian of a kernel's gradient takes as many operations as its
//! dimension, and no matrix is made unless the formula asks for one. Operations say what they make of a batch
//! ([`crate::ops::Linear`]).
//!
//! Invariants: the form of the result does not depend on dimensions; zeros are absent, never `0 * x`; conditions of
//! chosen rows stay outermost.

mod lines;

use super::autodiff::{add_up, sum_over};
use super::{Graph, Kind, NodeId, chosen};
use crate::ops::{Body, Linear, Op, dot, mul, neg, outer, sum, take, trace};
use crate::reductions;
use crate::types::{Axis, Element, Indices, Shape};
use std::collections::BTreeMap;

/// Most outer products of one value: beyond that they become one matrix.
const MOST_OUTER: usize = 8;

/// A product of two values that is summed over rows.
type Product = fn(&mut Graph, NodeId, NodeId, Indices) -> NodeId;

/// A value for each number of another one, the *unit* k: a summand of it, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// Number k of `by` times `value`, summed over rows.
    Outer {
        /// A number for each unit, in the units' shape.
        by: NodeId,
        /// The same for all units.
        value: NodeId,
        /// The rows that the product is summed over.
        over: Indices,
    },
    /// A vector.
    Line(Line),
    /// A matrix: the outer product of a vector and another one that is the same for all units.
    Tensor(Line, NodeId, Side),
    /// A matrix that is zero but for number k, which is number k of this (or this scalar), where the units are those of a matrix.
    Same(NodeId),
}

/// A vector for each unit, where the units are those of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// One number each, zeros elsewhere.
    Diagonal(Diagonal),
    /// The rows of a matrix.
    Dense(NodeId),
}

/// Unit `row + n` has number n of `numbers` in column `column + n`, for n below `length`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagonal {
    /// A scalar, or as many numbers as the diagonal is long.
    pub numbers: NodeId,
    /// How long it is.
    pub length: usize,
    /// The first unit.
    pub row: usize,
    /// The first column.
    pub column: usize,
    /// How many columns there are.
    pub columns: usize,
}

/// Where the vector that differs for each unit stands in an outer product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// First: one number of it for each row.
    Row,
    /// Second: one number of it for each column.
    Column,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::Row => Side::Column,
            Side::Column => Side::Row,
        }
    }
}

/// An operation of a batch, and of other values that are the same for all units.
pub struct Call<'a> {
    /// The node.
    pub node: NodeId,
    /// Its arguments; that of number `which` is not known.
    pub args: &'a [NodeId],
    /// Its static parameters.
    pub params: &'a [i64],
    /// The argument that the batch stands for.
    pub which: usize,
}

/// The sums of batches that values are.
pub struct Batching<'g> {
    /// The graph.
    pub g: &'g mut Graph,
    /// The shape of the units.
    units: Shape,
    /// The variable that stands for the units.
    seed: NodeId,
    known: BTreeMap<NodeId, Vec<Batch>>,
    depends: BTreeMap<NodeId, bool>,
}

/// What `value`, which is linear in the variable `seed`, is for the units of a value of the shape of `seed`; `None` if some
/// operation between them has no rule.
pub fn batched<'g>(g: &'g mut Graph, value: NodeId, seed: NodeId) -> Option<Jacobian<'g>> {
    let units = g.shape(seed);
    let shape = g.shape(value);
    let mut batching = Batching {
        g,
        units,
        seed,
        known: BTreeMap::new(),
        depends: BTreeMap::new(),
    };
    let mut rows = vec![];
    // In order, so that recursion is shallow.
    for id in batching.g.reachable(&[value]) {
        rows = batching.value(id)?;
    }
    Some(Jacobian {
        batching,
        shape,
        rows,
    })
}

/// A value for each unit.
pub struct Jacobian<'g> {
    batching: Batching<'g>,
    shape: Shape,
    rows: Vec<Batch>,
}

impl Jacobian<'_> {
    /// Σ over units k of number k of the value, which has as many numbers as there are units.
    pub fn trace(mut self) -> Option<NodeId> {
        let b = &mut self.batching;
        let mut total = None;
        for batch in self.rows {
            if let Some(part) = b.trace(batch)? {
                total = Some(total.map_or(part, |sum| chosen::add(b.g, sum, part, add_up)));
            }
        }
        Some(total.unwrap_or_else(|| b.g.literal(0.0)))
    }

    /// The values as the rows of a matrix, or the numbers of a vector where they are scalars.
    pub fn matrix(mut self) -> Option<NodeId> {
        let b = &mut self.batching;
        let shape = match (b.units, self.shape) {
            (units, Shape::Scalar) => units,
            (Shape::Vector(r), Shape::Vector(c)) => Shape::Matrix(r, c),
            _ => return None,
        };
        let mut total = None;
        for batch in self.rows {
            let part = match batch {
                Batch::Line(line) => b.dense(line),
                Batch::Outer { .. } => b.product(batch, self.shape)?,
                Batch::Tensor(..) | Batch::Same(_) => return None,
            };
            total = Some(total.map_or(part, |sum| chosen::add(b.g, sum, part, add_up)));
        }
        Some(total.unwrap_or_else(|| b.g.constant(0.0, shape)))
    }
}

impl Batching<'_> {
    fn depends(&mut self, id: NodeId) -> bool {
        if id == self.seed {
            return true;
        }
        if let Some(&known) = self.depends.get(&id) {
            return known;
        }
        let args = self.g.node(id).args.clone();
        let depends =
            self.g.ty(id).element == Element::Real && args.iter().any(|&a| self.depends(a));
        self.depends.insert(id, depends);
        depends
    }

    /// What a node is for each unit; nothing where it is not asked for any.
    fn value(&mut self, id: NodeId) -> Option<Vec<Batch>> {
        if !self.depends(id) {
            return Some(vec![]);
        }
        if let Some(known) = self.known.get(&id) {
            return Some(known.clone());
        }
        let node = self.g.node(id).clone();
        let shape = node.ty.shape;
        let rows = if id == self.seed {
            vec![self.units_themselves()?]
        } else {
            match &node.kind {
                Kind::Op(op, params) => match op.0.body {
                    Body::Composite(definition) => {
                        let same = definition(self.g, &node.args, params);
                        self.value(same)?
                    }
                    Body::Elementwise { linear, .. } | Body::Indexed { linear, .. } => {
                        self.of_op(op.0, linear, id, params)?
                    }
                },
                Kind::Reduce(reduction, axis, _)
                    if reduction.0.name == reductions::sum::REDUCTION.name =>
                {
                    let mut rows = vec![];
                    for batch in self.value(node.args[0])? {
                        let sum = self.summed(batch, *axis)?;
                        self.push(&mut rows, sum, shape)?;
                    }
                    rows
                }
                _ => return None,
            }
        };
        self.known.insert(id, rows.clone());
        Some(rows)
    }

    /// The unit vectors.
    fn units_themselves(&mut self) -> Option<Batch> {
        let one = self.g.literal(1.0);
        match self.units {
            Shape::Scalar => None,
            Shape::Vector(n) => Some(Batch::Line(Line::Diagonal(Diagonal {
                numbers: one,
                length: n,
                row: 0,
                column: 0,
                columns: n,
            }))),
            Shape::Matrix(..) => Some(Batch::Same(one)),
        }
    }

    fn of_op(
        &mut self,
        op: &'static Op,
        linear: Linear,
        id: NodeId,
        params: &[i64],
    ) -> Option<Vec<Batch>> {
        let node = self.g.node(id).clone();
        let shape = node.ty.shape;
        let depends: Vec<usize> = (0..node.args.len())
            .filter(|&n| self.depends(node.args[n]))
            .collect();
        let mut rows = vec![];
        if let Linear::Sum(part) = linear {
            for n in 0..node.args.len() {
                let arg = node.args[n];
                if depends.contains(&n) {
                    let part = part(self.g, &node, n);
                    for batch in self.value(part)? {
                        self.push(&mut rows, batch, shape)?;
                    }
                } else if self.g.ty(arg).element == Element::Real
                    && self.g.as_constant(arg) != Some(0.0)
                {
                    return None;
                }
            }
            return Some(rows);
        }
        let &[which] = depends.as_slice() else {
            return None;
        };
        let call = Call {
            node: id,
            args: &node.args,
            params,
            which,
        };
        for batch in self.value(node.args[which])? {
            for made in self.of_batch(op, linear, &call, batch)? {
                self.push(&mut rows, made, shape)?;
            }
        }
        Some(rows)
    }

    fn of_batch(
        &mut self,
        op: &'static Op,
        linear: Linear,
        call: &Call<'_>,
        batch: Batch,
    ) -> Option<Vec<Batch>> {
        if let Batch::Outer { over, .. } = batch {
            // Rows that are summed already are others than those of the same axis outside.
            let clashes = call.args.iter().enumerate().any(|(n, &arg)| {
                let rows = self.g.indices(arg);
                n != call.which && (rows.i && over.i || rows.j && over.j)
            });
            if clashes {
                let shape = self.g.shape(call.args[call.which]);
                let closed = self.closed(batch, shape)?;
                return self.of_batch(op, linear, call, closed);
            }
        }
        let with = |value: NodeId| {
            let mut args = call.args.to_vec();
            args[call.which] = value;
            args
        };
        match (linear, batch) {
            (Linear::Numbers(apply), Batch::Outer { by, value, over }) => {
                let value = apply(self.g, &with(value), call.which, call.params)?;
                Some(vec![Batch::Outer { by, value, over }])
            }
            (Linear::Numbers(apply), batch) => {
                let made = self.number_by_number(call, batch, &mut |g, args| {
                    apply(g, args, call.which, call.params)
                })?;
                Some(vec![made])
            }
            (Linear::Each(_), Batch::Outer { by, value, over }) => {
                let value = self.g.apply_with(op, &with(value), call.params);
                Some(vec![Batch::Outer { by, value, over }])
            }
            (Linear::Each(rule), batch) => rule(self, call, batch),
            (Linear::No | Linear::Sum(_), _) => None,
        }
    }

    /// Σ over the rows of an axis.
    fn summed(&mut self, batch: Batch, axis: Axis) -> Option<Batch> {
        Some(match batch {
            Batch::Line(Line::Dense(m)) => Batch::Line(Line::Dense(sum_over(self.g, axis, m))),
            Batch::Line(Line::Diagonal(d)) => Batch::Line(Line::Diagonal(Diagonal {
                numbers: sum_over(self.g, axis, d.numbers),
                ..d
            })),
            Batch::Same(numbers) => Batch::Same(sum_over(self.g, axis, numbers)),
            Batch::Tensor(line, with, side) => {
                if self.g.indices(with).contains(axis) {
                    return None;
                }
                match self.summed(Batch::Line(line), axis)? {
                    Batch::Line(line) => Batch::Tensor(line, with, side),
                    _ => return None,
                }
            }
            Batch::Outer { by, value, over } => {
                let within = |n: NodeId| self.g.indices(n).contains(axis) && !over.contains(axis);
                match (within(by), within(value)) {
                    (true, true) => Batch::Outer {
                        by,
                        value,
                        over: over.union(Indices::of(Some(axis))),
                    },
                    // Rows that are summed already are not the ones that are summed here.
                    (false, false) if over.contains(axis) => {
                        let count = self.g.extent(axis);
                        let value = self.g.apply(&mul::OP, &[count, value]);
                        Batch::Outer { by, value, over }
                    }
                    (true, false) => Batch::Outer {
                        by: sum_over(self.g, axis, by),
                        value,
                        over,
                    },
                    _ => Batch::Outer {
                        by,
                        value: sum_over(self.g, axis, value),
                        over,
                    },
                }
            }
        })
    }

    /// Adds a batch to a sum of batches of values of this shape.
    fn push(&mut self, rows: &mut Vec<Batch>, batch: Batch, shape: Shape) -> Option<()> {
        let batch = match batch {
            // A number for each unit is as good as a product.
            Batch::Outer { over, .. } if shape == Shape::Scalar && over != Indices::NONE => {
                self.closed(batch, shape)?
            }
            other => other,
        };
        for known in rows.iter_mut() {
            if let Some(sum) = self.merged(*known, batch, shape)? {
                *known = sum;
                return Some(());
            }
        }
        rows.push(batch);
        let is_outer = |batch: Batch| matches!(batch, Batch::Outer { .. });
        if rows.iter().filter(|&&b| is_outer(b)).count() > MOST_OUTER {
            let all = std::mem::take(rows);
            for batch in all {
                let batch = match (batch, shape) {
                    (Batch::Outer { .. }, Shape::Matrix(..)) => return None,
                    // Numbers for each unit are then as many as there are sets of rows.
                    (Batch::Outer { .. }, _) => self.closed(batch, shape)?,
                    _ => batch,
                };
                self.push(rows, batch, shape)?;
            }
        }
        Some(())
    }

    /// The sum of two batches as one, if there is one.
    fn merged(&mut self, a: Batch, b: Batch, shape: Shape) -> Option<Option<Batch>> {
        let plus = |g: &mut Graph, x, y| chosen::add(g, x, y, add_up);
        Some(match (a, b) {
            (
                Batch::Outer { by, value, over },
                Batch::Outer {
                    by: other_by,
                    value: other_value,
                    over: other_over,
                },
            ) => {
                // What depends on fewer rows stays apart: sums over the others are of what depends on these.
                let rows = |b: &Self, x, y| b.g.indices(x) == b.g.indices(y);
                let same_rows = rows(self, by, other_by) && rows(self, value, other_value);
                if !same_rows || over != other_over {
                    None
                } else if by == other_by {
                    let value = plus(self.g, value, other_value);
                    Some(Batch::Outer { by, value, over })
                } else if value == other_value {
                    let by = plus(self.g, by, other_by);
                    Some(Batch::Outer { by, value, over })
                } else if shape == Shape::Scalar {
                    let (a, b) = (self.product(a, shape)?, self.product(b, shape)?);
                    let sum = plus(self.g, a, b);
                    Some(self.numbers(sum))
                } else {
                    None
                }
            }
            (Batch::Line(Line::Diagonal(d)), Batch::Line(Line::Diagonal(other)))
                if (d.length, d.row, d.column) == (other.length, other.row, other.column) =>
            {
                Some(Batch::Line(Line::Diagonal(Diagonal {
                    numbers: plus(self.g, d.numbers, other.numbers),
                    ..d
                })))
            }
            (Batch::Line(Line::Dense(x)), Batch::Line(Line::Dense(y))) => {
                Some(Batch::Line(Line::Dense(plus(self.g, x, y))))
            }
            (Batch::Same(x), Batch::Same(y)) => Some(Batch::Same(plus(self.g, x, y))),
            _ => None,
        })
    }

    /// An outer product without a sum over rows, with as few factors as it can have.
    fn closed(&mut self, batch: Batch, shape: Shape) -> Option<Batch> {
        let product = self.product(batch, shape)?;
        match shape {
            Shape::Scalar => Some(self.numbers(product)),
            _ => Some(Batch::Line(Line::Dense(product))),
        }
    }

    /// An outer product as a matrix, or as a number for each unit.
    fn product(&mut self, batch: Batch, shape: Shape) -> Option<NodeId> {
        let Batch::Outer { by, value, over } = batch else {
            return None;
        };
        let op: Product = match (self.units, shape) {
            (_, Shape::Scalar) => |g, by, value, _| mul::times(g, value, by),
            (Shape::Vector(_), Shape::Vector(_)) => outer_product,
            _ => return None,
        };
        Some(self.multiplied(op, by, value, over))
    }

    /// Σ over rows of a product, with conditions of chosen rows outside.
    fn multiplied(&mut self, product: Product, by: NodeId, value: NodeId, over: Indices) -> NodeId {
        let (condition, by) = chosen::split(self.g, by);
        let (other, value) = chosen::split(self.g, value);
        let mut product = product(self.g, by, value, over);
        product = chosen::only(self.g, other, product);
        product = chosen::only(self.g, condition, product);
        for axis in [Axis::J, Axis::I] {
            if over.contains(axis) {
                product = sum_over(self.g, axis, product);
            }
        }
        product
    }

    /// A scalar for each unit.
    pub fn numbers(&mut self, by: NodeId) -> Batch {
        let by = if self.g.shape(by) == Shape::Scalar {
            let ones = self.g.constant(1.0, self.units);
            self.g.apply(&mul::OP, &[by, ones])
        } else {
            by
        };
        Batch::Outer {
            by,
            value: self.g.literal(1.0),
            over: Indices::NONE,
        }
    }

    /// A scalar for each unit times a value.
    pub fn scaled(&mut self, scalars: Batch, value: NodeId) -> Batch {
        match scalars {
            Batch::Outer {
                by,
                value: factor,
                over,
            } => {
                let value = mul::times(self.g, factor, value);
                Batch::Outer { by, value, over }
            }
            other => unreachable!("internal error in keops: {other:?} is no scalar for each unit"),
        }
    }

    /// Σ of the numbers k of the values; `None` within if all are zero.
    fn trace(&mut self, batch: Batch) -> Option<Option<NodeId>> {
        let total = |b: &mut Self, numbers: NodeId, count: usize| match b.g.shape(numbers) {
            Shape::Scalar => {
                let count = b.g.literal(count as f64);
                b.g.apply(&mul::OP, &[numbers, count])
            }
            _ => b.g.apply(&sum::OP, &[numbers]),
        };
        Some(match batch {
            Batch::Line(Line::Diagonal(d)) if d.row != d.column => None,
            Batch::Line(Line::Diagonal(d)) => Some(total(self, d.numbers, d.length)),
            Batch::Line(Line::Dense(m)) => Some(self.g.apply(&trace::OP, &[m])),
            Batch::Same(numbers) => Some(total(self, numbers, self.units.len())),
            Batch::Outer { by, value, over } => Some(self.multiplied(dot_product, by, value, over)),
            Batch::Tensor(..) => return None,
        })
    }

    /// An element-wise operation, `apply` of arguments with numbers of the batch in the place of the argument it stands for.
    fn number_by_number(
        &mut self,
        call: &Call<'_>,
        batch: Batch,
        apply: &mut dyn FnMut(&mut Graph, &[NodeId]) -> Option<NodeId>,
    ) -> Option<Batch> {
        let others = (0..call.args.len())
            .filter(|&n| n != call.which && self.g.shape(call.args[n]) != Shape::Scalar);
        let others: Vec<usize> = others.collect();
        let mut args = call.args.to_vec();
        Some(match batch {
            Batch::Line(Line::Diagonal(d)) => {
                args[call.which] = d.numbers;
                for n in others {
                    args[n] = take::block(self.g, args[n], d.column, Shape::Vector(d.length));
                }
                Batch::Line(Line::Diagonal(Diagonal {
                    numbers: apply(self.g, &args)?,
                    ..d
                }))
            }
            Batch::Line(Line::Dense(m)) => {
                args[call.which] = m;
                for n in others {
                    args[n] = lines::repeated(self.g, args[n], self.units.len());
                }
                Batch::Line(Line::Dense(apply(self.g, &args)?))
            }
            Batch::Same(numbers) => {
                args[call.which] = numbers;
                Batch::Same(apply(self.g, &args)?)
            }
            Batch::Tensor(line, with, side) if others.is_empty() => {
                match self.number_by_number(call, Batch::Line(line), apply)? {
                    Batch::Line(line) => Batch::Tensor(line, with, side),
                    _ => return None,
                }
            }
            Batch::Tensor(..) | Batch::Outer { .. } => return None,
        })
    }
}

/// A value without the signs and scalar factors that [`Factors`] collects.
fn inside(g: &Graph, value: NodeId, factors: &mut Factors) -> NodeId {
    if let Some(&[a]) = g.as_op(value, &neg::OP) {
        factors.negative = !factors.negative;
        return inside(g, a, factors);
    }
    if let Some(&[a, b]) = g.as_op(value, &mul::OP) {
        for (scalar, rest) in [(a, b), (b, a)] {
            if g.shape(scalar) == Shape::Scalar && g.shape(rest) == g.shape(value) {
                factors.scalars.push(scalar);
                return inside(g, rest, factors);
            }
        }
    }
    value
}

/// What stands outside of a product, as in `autodiff`: signs and scalar factors.
#[derive(Default)]
struct Factors {
    scalars: Vec<NodeId>,
    negative: bool,
}

impl Factors {
    /// A value times these.
    fn times(&self, g: &mut Graph, value: NodeId) -> NodeId {
        let scalars = self.scalars.iter().rev();
        let product = scalars.fold(value, |value, &s| g.apply(&mul::OP, &[s, value]));
        if self.negative {
            g.apply(&neg::OP, &[product])
        } else {
            product
        }
    }
}

/// An outer product: scalar factors are with the first vector, which is read less often, but for those that a sum over rows
/// leaves outside.
fn outer_product(g: &mut Graph, a: NodeId, b: NodeId, over: Indices) -> NodeId {
    let mut with = Factors::default();
    let (a, b) = (inside(g, a, &mut with), inside(g, b, &mut with));
    let mut outside = Factors {
        negative: std::mem::take(&mut with.negative),
        ..Factors::default()
    };
    (outside.scalars, with.scalars) = with.scalars.iter().partition(|&&s| {
        let rows = g.indices(s);
        over != Indices::NONE && !(rows.i && over.i || rows.j && over.j)
    });
    let a = with.times(g, a);
    let product = g.apply(&outer::OP, &[a, b]);
    outside.times(g, product)
}

/// A scalar product, or the sum of all products of two matrices' numbers.
fn dot_product(g: &mut Graph, a: NodeId, b: NodeId, _: Indices) -> NodeId {
    let mut outside = Factors::default();
    let (a, b) = (inside(g, a, &mut outside), inside(g, b, &mut outside));
    let product = match g.shape(a) {
        Shape::Vector(_) => g.apply(&dot::OP, &[a, b]),
        _ => {
            let products = g.apply(&mul::OP, &[a, b]);
            g.apply(&sum::OP, &[products])
        }
    };
    outside.times(g, product)
}
