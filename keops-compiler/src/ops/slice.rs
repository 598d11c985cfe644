//! `v[a..b]`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "slice",
    syntax: Syntax::Operator("[..]"),
    keops_name: "",
    doc: "The numbers of a vector, or rows of a matrix, from start to end, the end excluded.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("start"), Param::integer("end")],
    infer: |types, params| {
        let (element, count) = match types.first() {
            Some(&Type {
                element,
                shape: Shape::Vector(n),
            }) => (element, n),
            Some(&Type {
                element,
                shape: Shape::Matrix(r, _),
            }) => (element, r),
            _ => {
                return Err(TypeError::Expected {
                    arg: 0,
                    expected: "a vector or a matrix".into(),
                });
            }
        };
        let start = below(params, 0, count)?;
        let length = match params.get(1).map(|&p| usize::try_from(p)) {
            Some(Ok(end)) if end > start && end <= count => end - start,
            _ => {
                let expected = format!("more than {start} and at most the dimension {count}");
                return Err(TypeError::Parameter { param: 1, expected });
            }
        };
        let shape = match types[0].shape {
            Shape::Matrix(_, c) => Shape::Matrix(length, c),
            _ => Shape::Vector(length),
        };
        Ok(Type { element, shape })
    },
    body: Body::Composite(|g, args, params| {
        let (start, length) = (params[0] as usize, (params[1] - params[0]) as usize);
        match g.shape(args[0]) {
            Shape::Matrix(_, c) => take::block(g, args[0], start * c, Shape::Matrix(length, c)),
            _ => take::block(g, args[0], start, Shape::Vector(length)),
        }
    }),
    reference: Reference::Whole(|args, params| {
        let (start, end) = (params[0] as usize, params[1] as usize);
        match args[0].shape {
            Shape::Matrix(_, c) => Value {
                shape: Shape::Matrix(end - start, c),
                data: args[0].data[start * c..end * c].to_vec(),
            },
            _ => Value::vector(args[0].data[start..end].to_vec()),
        }
    }),
    test_range: (-4.0, 4.0),
};
