//! `extractt(v, start, dimension)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "extractt",
    syntax: Syntax::Call,
    keops_name: "ExtractT",
    doc: "The vector of this dimension that holds v from this index on, from 0, and zeros elsewhere.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("start"), Param::integer("dimension")],
    infer: |types, params| {
        let (part, n) = (vector(types, 0)?, dimension(params, 1)?);
        match params[0] {
            0.. if (params[0] as usize).saturating_add(part) <= n => {
                Ok(Type::real(Shape::Vector(n)))
            }
            _ => Err(TypeError::Parameter {
                param: 0,
                expected: format!("such that {part} numbers fit into {n}"),
            }),
        }
    },
    body: Body::Composite(|g, args, params| {
        among_zeros(g, args[0], params[0] as usize, params[1] as usize)
    }),
    reference: Reference::Whole(|args, params| {
        let mut result = Value::filled(0.0, Shape::Vector(params[1] as usize));
        let start = params[0] as usize;
        result.data[start..start + args[0].data.len()].copy_from_slice(&args[0].data);
        result
    }),
    test_range: (-4.0, 4.0),
};

/// A scalar or vector between zeros. They are numbers like others, not the structural zeros of derivatives (`place`), which
/// vanish even where they meet infinity.
pub(super) fn among_zeros(g: &mut Graph, part: NodeId, start: usize, dimension: usize) -> NodeId {
    let end = start + g.shape(part).len();
    let mut pieces = vec![part];
    if start > 0 {
        pieces.insert(0, g.constant(0.0, Shape::Vector(start)));
    }
    if end < dimension {
        pieces.push(g.constant(0.0, Shape::Vector(dimension - end)));
    }
    if pieces.len() == 1 && g.shape(part) == Shape::Scalar {
        return g.apply(&array::OP, &pieces);
    }
    g.apply(&concat::OP, &pieces)
}
