//! Whether a row index is in each column of a matrix of indices: the numbers for which a reduction chose the row

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "index_in_columns",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "Whether a row index equals one of those in each column of a matrix.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| {
        let expected = |arg: usize, expected: &str| TypeError::Expected {
            arg,
            expected: expected.into(),
        };
        for (arg, ty) in types.iter().enumerate() {
            if ty.element != Element::Index || (arg == 0 && ty.shape != Shape::Scalar) {
                let what = if arg == 0 { "an index" } else { "indices" };
                return Err(expected(arg, what));
            }
        }
        match types[1].shape {
            Shape::Matrix(_, columns) => Ok(Type {
                element: Element::Bool,
                shape: Shape::Vector(columns),
            }),
            _ => Err(expected(1, "a matrix of indices")),
        }
    },
    body: Body::Indexed {
        lower: |l, node, ix| {
            let (row, rows) = (node.args[0], node.args[1]);
            let column = ix[0].clone();
            let count = match l.graph.shape(rows) {
                Shape::Matrix(count, _) => count,
                _ => 1,
            };
            let found = l.sum(count, &mut |l, k| {
                index_among::one_if_equal(l, row, rows, &[k.clone(), column.clone()])
            });
            l.prim(Prim::Lt, &[Operand::Const(0.0), found])
        },
        // Answers are masks, which local arrays of numbers cannot hold.
        costly: false,
        vjp: |_, _| vec![None, None],
        linear: Linear::No,
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        let row = args[0].first();
        let columns = match args[1].shape {
            Shape::Matrix(_, columns) => columns,
            _ => 1,
        };
        let among = |c: usize| {
            args[1]
                .data
                .iter()
                .skip(c)
                .step_by(columns)
                .any(|&r| r == row)
        };
        Value::vector((0..columns).map(|c| f64::from(among(c))).collect())
    }),
    test_range: (-4.0, 4.0),
};
