//! `v[k]`, `A[r]` and `A[r][c]`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "index",
    syntax: Syntax::Operator("[]"),
    keops_name: "",
    doc: "A number of a vector, a row of a matrix, or (with two parameters) a number of a matrix; from 0.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("index"), Param::optional("column")],
    infer: |types, params| {
        let Some(&Type { element, shape }) = types.first() else {
            return Err(TypeError::Expected {
                arg: 0,
                expected: "a vector or a matrix".into(),
            });
        };
        let shape = match (shape, params.len()) {
            (Shape::Vector(n), 0 | 1) => below(params, 0, n).map(|_| Shape::Scalar)?,
            (Shape::Matrix(r, c), 0 | 1) => below(params, 0, r).map(|_| Shape::Vector(c))?,
            (Shape::Matrix(r, c), 2) => {
                below(params, 0, r)?;
                below(params, 1, c).map(|_| Shape::Scalar)?
            }
            (Shape::Vector(_), 2) => {
                return Err(TypeError::Expected {
                    arg: 0,
                    expected: "a matrix".into(),
                });
            }
            _ => {
                return Err(TypeError::Expected {
                    arg: 0,
                    expected: "a vector or a matrix".into(),
                });
            }
        };
        Ok(Type { element, shape })
    },
    body: Body::Composite(|g, args, params| {
        let (offset, shape) = place_of(g.shape(args[0]), params);
        take::block(g, args[0], offset, shape)
    }),
    reference: Reference::Whole(|args, params| {
        let (offset, shape) = place_of(args[0].shape, params);
        Value {
            shape,
            data: args[0].data[offset..offset + shape.len()].to_vec(),
        }
    }),
    test_range: (-4.0, 4.0),
};

/// Where the result starts in the argument, and its shape.
fn place_of(shape: Shape, params: &[i64]) -> (usize, Shape) {
    let p = |k: usize| params[k] as usize;
    match (shape, params.len()) {
        (Shape::Matrix(_, c), 1) => (p(0) * c, Shape::Vector(c)),
        (Shape::Matrix(_, c), _) => (p(0) * c + p(1), Shape::Scalar),
        _ => (p(0), Shape::Scalar),
    }
}
