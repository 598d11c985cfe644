//! A contiguous block of a value: what indexing and slicing are made of

use super::*;
use crate::graph::Kind;
use crate::lower::{flat, keeps_form};

/// The record.
pub static OP: Op = Op {
    name: "take",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "A contiguous block of a value, row-major.",
    arity: Arity::Exactly(1),
    params: &[
        Param::integer("offset"),
        Param::integer("rows"),
        Param::integer("columns"),
    ],
    infer: |types, params| {
        let Some(&Type { element, shape }) = types.first() else {
            return Err(TypeError::Expected {
                arg: 0,
                expected: "a value".into(),
            });
        };
        let (offset, part) = place::decode(params)?;
        place::check(shape, offset, part)?;
        Ok(Type {
            element,
            shape: part,
        })
    },
    body: Body::Indexed {
        lower: |l, node, ix| {
            let arg = node.args[0];
            let (Kind::Op(_, params), whole) = (&node.kind, l.graph.shape(arg)) else {
                unreachable!("internal error in keops: take is an operation")
            };
            let at = flat(node.ty.shape, ix).plus(params[0] as usize);
            match (whole, node.ty.shape) {
                (Shape::Vector(_), _) => l.number(arg, &[at]),
                (Shape::Matrix(_, c), Shape::Scalar) => {
                    l.number(arg, &[Ix::at(at.base / c), Ix::at(at.base % c)])
                }
                (Shape::Matrix(_, c), part) => {
                    let row = Ix::at(params[0] as usize / c);
                    match part {
                        Shape::Matrix(..) => l.number(arg, &[ix[0].add(&row), ix[1].clone()]),
                        _ => l.number(arg, &[row, ix[0].clone()]),
                    }
                }
                (Shape::Scalar, _) => l.number(arg, &[]),
            }
        },
        costly: false,
        vjp: |g, call| {
            let whole = g.shape(call.args[0]);
            vec![Some(place::in_zeros(
                g,
                call.cotangent,
                call.params[0] as usize,
                whole,
            ))]
        },
        linear: Linear::Each(|b, call, batch| match (call.which, batch) {
            (_, Batch::Line(line)) => {
                let (offset, part) = place::decode(call.params).ok()?;
                Some(b.take(line, offset, part).into_iter().collect())
            }
            (_, Batch::Tensor(line, with, side)) => {
                let (offset, part) = place::decode(call.params).ok()?;
                let rows = b.take_of_tensor(line, with, side, offset, part);
                Some(rows.into_iter().collect())
            }
            _ => None,
        }),
        simplify: |g, args, params| {
            let (whole, (offset, part)) = (g.shape(args[0]), place::decode(params).ok()?);
            if is_all(whole, part) {
                return Some(args[0]);
            }
            if let Some(value) = g.as_constant(args[0]) {
                return Some(g.constant(value, part));
            }
            // What is structurally zero number by number is so in the block, too.
            if let Some((condition, value, opposite)) = gate::parts(g, args[0]) {
                let [condition, value] = [condition, value].map(|v| match g.shape(v) {
                    Shape::Scalar => Some(v),
                    _ => try_block(g, v, offset, part),
                });
                let opposite = i64::from(opposite);
                let block = g.apply_with(&gate::OP, &[condition?, value?], &[opposite]);
                return (g.shape(block) == part).then_some(block);
            }
            let Kind::Op(inner, inner_params) = g.node(args[0]).kind.clone() else {
                return None;
            };
            let of = g.node(args[0]).args.clone();
            match inner.0.name {
                "take" => try_block(g, of[0], offset + inner_params[0] as usize, part),
                "concat" | "array" => {
                    let mut start = 0;
                    for piece in of {
                        let shape = g.shape(piece);
                        if offset >= start && offset + part.len() <= start + shape.len() {
                            return try_block(g, piece, offset - start, part);
                        }
                        start += shape.len();
                    }
                    None
                }
                "place" => {
                    let (start, shape) = (inner_params[0] as usize, g.shape(of[0]));
                    if offset >= start + shape.len() || offset + part.len() <= start {
                        return Some(g.constant(0.0, part));
                    }
                    let inside = offset >= start && offset + part.len() <= start + shape.len();
                    if inside {
                        try_block(g, of[0], offset - start, part)
                    } else {
                        None
                    }
                }
                _ => None,
            }
        },
    },
    reference: Reference::Whole(|args, params| {
        let offset = params[0] as usize;
        let shape = match (params[1], params[2]) {
            (0, 0) => Shape::Scalar,
            (0, n) => Shape::Vector(n as usize),
            (r, c) => Shape::Matrix(r as usize, c as usize),
        };
        Value {
            shape,
            data: args[0].data[offset..offset + shape.len()].to_vec(),
        }
    }),
    test_range: (-4.0, 4.0),
};

/// The block of this shape from this number of `value` on.
pub fn block(g: &mut Graph, value: NodeId, offset: usize, shape: Shape) -> NodeId {
    if is_all(g.shape(value), shape) {
        return value;
    }
    g.apply_with(&OP, &[value], &place::encode(offset, shape))
}

/// The same, if the block can be described: part of a row of a matrix cannot.
fn try_block(g: &mut Graph, value: NodeId, offset: usize, shape: Shape) -> Option<NodeId> {
    if is_all(g.shape(value), shape) {
        return Some(value);
    }
    g.try_apply(&OP, &[value], &place::encode(offset, shape))
        .ok()
}

/// Whether a block is the value itself. Where code keeps its form it is a block at dimensions where it happens to be all, too.
pub fn is_all(whole: Shape, block: Shape) -> bool {
    whole == block && (whole == Shape::Scalar || !keeps_form())
}
