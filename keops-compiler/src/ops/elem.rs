//! `elem(v, k)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "elem",
    syntax: Syntax::Call,
    keops_name: "Elem",
    doc: "Number k of a vector, from 0; also `v[k]`.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("index")],
    infer: |types, params| {
        let n = vector(types, 0)?;
        below(params, 0, n).map(|_| Type::SCALAR)
    },
    body: Body::Composite(|g, args, params| {
        take::block(g, args[0], params[0] as usize, Shape::Scalar)
    }),
    reference: Reference::Whole(|args, params| Value::scalar(args[0].data[params[0] as usize])),
    test_range: (-4.0, 4.0),
};
