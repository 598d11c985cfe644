//! `concat(a, b, …)`

use super::*;
use crate::lower::flat;

/// The record.
pub static OP: Op = Op {
    name: "concat",
    syntax: Syntax::Call,
    keops_name: "Concat",
    doc: "The numbers of vectors and scalars, one after another, as one vector.",
    arity: Arity::AtLeast(2),
    params: &[],
    infer: |types, _| {
        let mut n = 0usize;
        for (arg, ty) in types.iter().enumerate() {
            match ty {
                Type {
                    element: Element::Real,
                    shape: Shape::Scalar | Shape::Vector(_),
                } => n += ty.shape.len(),
                _ => {
                    return Err(TypeError::Expected {
                        arg,
                        expected: "a vector or a scalar".into(),
                    });
                }
            }
            sized(Shape::Vector(n), arg)?;
        }
        sized(Shape::Vector(n), 0)
    },
    body: Body::Indexed {
        lower: pieces,
        costly: false,
        vjp: vjp_of_pieces,
        linear: Linear::Sum(piece_in_zeros),
        simplify: |g, args, _| {
            // concat(concat(a, b), c) = concat(a, b, c)
            let flat: Vec<NodeId> = args
                .iter()
                .flat_map(|&a| g.as_op(a, &OP).map_or(vec![a], <[NodeId]>::to_vec))
                .collect();
            (flat.len() != args.len()).then(|| g.apply(&OP, &flat))
        },
    },
    reference: Reference::Whole(|args, _| {
        Value::vector(args.iter().flat_map(|a| a.data.clone()).collect())
    }),
    test_range: (-4.0, 4.0),
};

/// The number at an index of the pieces put one after another, row-major.
pub(super) fn pieces(l: &mut Lowerer<'_>, node: &Node, ix: &[Ix]) -> Operand {
    let at = flat(node.ty.shape, ix);
    let graph = l.graph;
    if let Some(mut at) = at.constant() {
        for &piece in &node.args {
            let shape = graph.shape(piece);
            if at < shape.len() {
                return l.number(
                    piece,
                    if shape == Shape::Scalar {
                        vec![]
                    } else {
                        vec![Ix::at(at)]
                    }
                    .as_slice(),
                );
            }
            at -= shape.len();
        }
    }
    let array = l.filled(node, &mut |l, array| {
        let mut offset = 0;
        for &piece in &node.args {
            let shape = graph.shape(piece);
            l.for_each(shape, &mut |l, ix| {
                let value = l.number(piece, ix);
                l.store(array, flat(shape, ix).plus(offset), value);
            });
            offset += shape.len();
        }
    });
    Operand::Element(array, at)
}

/// Each piece has its own part of the cotangent.
pub(super) fn vjp_of_pieces(g: &mut Graph, call: &VjpCall<'_>) -> Vec<Option<NodeId>> {
    let mut offset = 0;
    let mut cotangents = vec![];
    for &piece in call.args {
        let shape = g.shape(piece);
        cotangents.push(Some(take::block(g, call.cotangent, offset, shape)));
        offset += shape.len();
    }
    cotangents
}

/// One piece alone, the others zero.
pub(super) fn piece_in_zeros(g: &mut Graph, node: &Node, which: usize) -> NodeId {
    let offset = node.args[..which].iter().map(|&a| g.shape(a).len()).sum();
    place::in_zeros(g, node.args[which], offset, node.ty.shape)
}
