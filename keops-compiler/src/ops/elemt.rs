//! `elemt(a, dimension, index)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "elemt",
    syntax: Syntax::Call,
    keops_name: "ElemT",
    doc: "The vector of this dimension that holds the scalar a at this index, from 0, and zeros elsewhere.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("dimension"), Param::integer("index")],
    infer: |types, params| {
        if types[0] != Type::SCALAR {
            return Err(TypeError::Expected {
                arg: 0,
                expected: "a scalar".into(),
            });
        }
        let n = dimension(params, 0)?;
        below(params, 1, n).map(|_| Type::real(Shape::Vector(n)))
    },
    body: Body::Composite(|g, args, params| {
        extractt::among_zeros(g, args[0], params[1] as usize, params[0] as usize)
    }),
    reference: Reference::Whole(|args, params| {
        let mut result = Value::filled(0.0, Shape::Vector(params[0] as usize));
        result.data[params[1] as usize] = args[0].first();
        result
    }),
    test_range: (-4.0, 4.0),
};
