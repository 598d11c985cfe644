//! A value as a contiguous block among zeros: the derivative of indexing and slicing

use super::*;
use crate::graph::Kind;
use crate::lower::flat;

/// The record.
pub static OP: Op = Op {
    name: "place",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "A value as a contiguous block of a larger one, 0 elsewhere.",
    arity: Arity::Exactly(1),
    params: &[
        Param::integer("offset"),
        Param::integer("rows"),
        Param::integer("columns"),
    ],
    infer: |types, params| {
        let part = match types.first() {
            Some(&Type {
                element: Element::Real,
                shape,
            }) => shape,
            _ => {
                return Err(TypeError::Expected {
                    arg: 0,
                    expected: "a real number".into(),
                });
            }
        };
        let (offset, whole) = decode(params)?;
        if whole == Shape::Scalar {
            return Err(TypeError::Parameter {
                param: 2,
                expected: "at least 1".into(),
            });
        }
        check(whole, offset, part)?;
        sized(whole, 0)
    },
    body: Body::Indexed {
        lower,
        costly: false,
        vjp: |g, call| {
            let part = g.shape(call.args[0]);
            vec![Some(take::block(
                g,
                call.cotangent,
                call.params[0] as usize,
                part,
            ))]
        },
        linear: Linear::Each(|b, call, batch| match (call.which, batch) {
            (_, Batch::Line(line)) => {
                let (offset, whole) = decode(call.params).ok()?;
                Some(vec![b.place(line, offset, whole)])
            }
            (_, Batch::Tensor(line, with, side)) => {
                let (offset, whole) = decode(call.params).ok()?;
                b.place_tensor(line, with, side, offset, whole)
                    .map(|rows| vec![rows])
            }
            _ => None,
        }),
        simplify: |g, args, params| {
            let (offset, whole) = decode(params).ok()?;
            if take::is_all(whole, g.shape(args[0])) {
                return Some(args[0]);
            }
            if g.as_constant(args[0]) == Some(0.0) {
                return Some(g.constant(0.0, whole));
            }
            // A block within a block, where it can be described as one.
            let (inner, start) = parts(g, args[0])?;
            g.try_apply(&OP, &[inner], &encode(offset + start, whole))
                .ok()
        },
    },
    reference: Reference::Whole(|args, params| {
        let shape = match params[1] {
            0 => Shape::Vector(params[2] as usize),
            r => Shape::Matrix(r as usize, params[2] as usize),
        };
        let mut result = Value::filled(0.0, shape);
        let offset = params[0] as usize;
        result.data[offset..offset + args[0].data.len()].copy_from_slice(&args[0].data);
        result
    }),
    test_range: (-4.0, 4.0),
};

/// `value` from number `offset` on in a value of this shape, 0 elsewhere.
pub fn in_zeros(g: &mut Graph, value: NodeId, offset: usize, shape: Shape) -> NodeId {
    if take::is_all(shape, g.shape(value)) {
        return value;
    }
    g.apply_with(&OP, &[value], &encode(offset, shape))
}

/// The block and its offset, if the node is a `place`.
pub fn parts(g: &Graph, node: NodeId) -> Option<(NodeId, usize)> {
    match &g.node(node).kind {
        Kind::Op(op, params) if op.0.name == OP.name => {
            Some((g.node(node).args[0], params[0] as usize))
        }
        _ => None,
    }
}

/// An offset and a shape as static parameters: a scalar is 0×0, a vector 0×n.
pub fn encode(offset: usize, shape: Shape) -> [i64; 3] {
    let (rows, columns) = match shape {
        Shape::Scalar => (0, 0),
        Shape::Vector(n) => (0, n),
        Shape::Matrix(r, c) => (r, c),
    };
    [offset as i64, rows as i64, columns as i64]
}

/// What [`encode`] encoded.
pub fn decode(params: &[i64]) -> Result<(usize, Shape), TypeError> {
    let p = |param: usize| match params.get(param).map(|&p| usize::try_from(p)) {
        Some(Ok(p)) if p <= MAX_NUMBERS => Ok(p),
        _ => Err(TypeError::Parameter {
            param,
            expected: format!("from 0 to {MAX_NUMBERS}"),
        }),
    };
    match (p(0)?, p(1)?, p(2)?) {
        (offset, 0, 0) => Ok((offset, Shape::Scalar)),
        (offset, 0, n) => Ok((offset, Shape::Vector(n))),
        (_, _, 0) => Err(TypeError::Parameter {
            param: 2,
            expected: "at least 1".into(),
        }),
        (offset, r, c) => Ok((offset, Shape::Matrix(r, c))),
    }
}

/// Whether `part` fits at `offset`: numbers or slices of a vector; numbers, a row or whole rows of a matrix.
pub fn check(whole: Shape, offset: usize, part: Shape) -> Result<(), TypeError> {
    let fits = match (whole, part) {
        (Shape::Scalar, part) => part == Shape::Scalar,
        (_, Shape::Scalar) | (Shape::Vector(_), Shape::Vector(_)) => true,
        (Shape::Matrix(_, c), Shape::Vector(n) | Shape::Matrix(_, n)) => {
            c == n && offset.is_multiple_of(c)
        }
        (Shape::Vector(_), Shape::Matrix(..)) => false,
    };
    // The shapes' own numbers first: a huge matrix must not overflow.
    if fits
        && sized(whole, 0).is_ok()
        && sized(part, 0).is_ok()
        && offset + part.len() <= whole.len()
    {
        return Ok(());
    }
    Err(TypeError::Parameter {
        param: 0,
        expected: format!("such that the block lies within {whole}"),
    })
}

fn lower(l: &mut Lowerer<'_>, node: &Node, ix: &[Ix]) -> Operand {
    let (arg, whole) = (node.args[0], node.ty.shape);
    let part = l.graph.shape(arg);
    let Kind::Op(_, params) = &node.kind else {
        unreachable!("internal error in keops: place is an operation")
    };
    let offset = params[0] as usize;
    let at = flat(whole, ix);
    if let Some(at) = at.constant() {
        if at < offset || at >= offset + part.len() {
            return Operand::Const(0.0);
        }
        let at = at - offset;
        return match part {
            Shape::Scalar => l.number(arg, &[]),
            Shape::Vector(_) => l.number(arg, &[Ix::at(at)]),
            Shape::Matrix(_, c) => l.number(arg, &[Ix::at(at / c), Ix::at(at % c)]),
        };
    }
    // Rows are known: no array needed for the columns.
    if let (Shape::Matrix(_, c), [row, column]) = (whole, ix)
        && let Some(row) = row.constant()
        && part != Shape::Scalar
    {
        let (first, rows) = (offset / c, part.len() / c);
        return match part {
            _ if row < first || row >= first + rows => Operand::Const(0.0),
            Shape::Vector(_) => l.number(arg, std::slice::from_ref(column)),
            _ => l.number(arg, &[Ix::at(row - first), column.clone()]),
        };
    }
    let array = l.filled(node, &mut |l, array| {
        let end = offset + part.len();
        l.repeat(offset, &mut |l, k| l.store(array, k, Operand::Const(0.0)));
        l.for_each(part, &mut |l, ix| {
            let value = l.number(arg, ix);
            l.store(array, flat(part, ix).plus(offset), value);
        });
        l.repeat(whole.len() - end, &mut |l, k| {
            l.store(array, k.plus(end), Operand::Const(0.0))
        });
    });
    Operand::Element(array, at)
}
