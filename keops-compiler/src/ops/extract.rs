//! `extract(v, start, length)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "extract",
    syntax: Syntax::Call,
    keops_name: "Extract",
    doc: "The numbers start, start + 1, … of a vector, `length` of them; also `v[start..end]`.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("start"), Param::integer("length")],
    infer: |types, params| {
        let n = vector(types, 0)?;
        let start = below(params, 0, n)?;
        match params.get(1).map(|&p| usize::try_from(p)) {
            Some(Ok(length)) if length >= 1 && length <= n - start => {
                Ok(Type::real(Shape::Vector(length)))
            }
            _ => Err(TypeError::Parameter {
                param: 1,
                expected: format!("from 1 to {}", n - start),
            }),
        }
    },
    body: Body::Composite(|g, args, params| {
        take::block(
            g,
            args[0],
            params[0] as usize,
            Shape::Vector(params[1] as usize),
        )
    }),
    reference: Reference::Whole(|args, params| {
        Value::vector(
            args[0]
                .data
                .iter()
                .copied()
                .skip(params[0] as usize)
                .take(params[1] as usize)
                .collect(),
        )
    }),
    test_range: (-4.0, 4.0),
};
