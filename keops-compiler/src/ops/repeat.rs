//! A vector as every row of a matrix: what is the same for many cotangents beside what is not

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "repeat",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "A vector (of numbers or conditions) as every row of a matrix.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("rows")],
    infer: |types, params| {
        let rows = below(params, 0, MAX_NUMBERS)?;
        match types.first() {
            Some(&Type {
                element: element @ (Element::Real | Element::Bool),
                shape: Shape::Vector(n),
            }) if rows > 0 => {
                let shape = sized(Shape::Matrix(rows, n), 0)?.shape;
                Ok(Type { element, shape })
            }
            Some(Type {
                shape: Shape::Vector(_),
                ..
            }) if rows == 0 => Err(TypeError::Parameter {
                param: 0,
                expected: "at least 1".into(),
            }),
            _ => Err(TypeError::Expected {
                arg: 0,
                expected: "a vector".into(),
            }),
        }
    },
    body: Body::Indexed {
        lower: |l, node, ix| l.number(node.args[0], &ix[1..]),
        costly: false,
        vjp: |g, call| {
            let ones = g.constant(1.0, Shape::Vector(call.params[0] as usize));
            vec![Some(g.apply(&vecmat::OP, &[ones, call.cotangent]))]
        },
        linear: Linear::Each(|b, call, batch| match batch {
            Batch::Line(line) => {
                let ones = b.g.constant(1.0, Shape::Vector(call.params[0] as usize));
                Some(vec![Batch::Tensor(line, ones, Side::Column)])
            }
            _ => None,
        }),
        simplify: |g, args, params| {
            let value = g.as_constant(args[0])?;
            let rows = params[0] as usize;
            Some(g.constant(value, Shape::Matrix(rows, g.shape(args[0]).len())))
        },
    },
    reference: Reference::Whole(|args, params| {
        let rows = params[0] as usize;
        Value {
            shape: Shape::Matrix(rows, args[0].data.len()),
            data: args[0].data.repeat(rows),
        }
    }),
    test_range: (-4.0, 4.0),
};
