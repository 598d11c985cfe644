//! `sumt(a, dimension)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "sumt",
    syntax: Syntax::Call,
    keops_name: "SumT",
    doc: "The vector of this dimension whose numbers all are the scalar a.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("dimension")],
    infer: |types, params| {
        if types[0] != Type::SCALAR {
            return Err(TypeError::Expected {
                arg: 0,
                expected: "a scalar".into(),
            });
        }
        Ok(Type::real(Shape::Vector(dimension(params, 0)?)))
    },
    body: Body::Composite(|g, args, params| {
        let ones = g.constant(1.0, Shape::Vector(params[0] as usize));
        g.apply(&mul::OP, &[args[0], ones])
    }),
    reference: Reference::Whole(|args, params| {
        Value::filled(args[0].first(), Shape::Vector(params[0] as usize))
    }),
    test_range: (-4.0, 4.0),
};
