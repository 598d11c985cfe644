//! Matrices one below another: both parts of a complex one

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "stack",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "Matrices of as many columns, one below another.",
    arity: Arity::AtLeast(2),
    params: &[],
    infer: |types, _| {
        let (mut rows, columns) = (0usize, matrix(types, 0)?.1);
        for arg in 0..types.len() {
            let (r, c) = matrix(types, arg)?;
            if c != columns {
                return Err(TypeError::Expected {
                    arg,
                    expected: format!("a matrix of {columns} columns"),
                });
            }
            rows += r;
            sized(Shape::Matrix(rows, columns), arg)?;
        }
        sized(Shape::Matrix(rows, columns), 0)
    },
    body: Body::Indexed {
        lower: |l, node, ix| {
            if let [row, column] = ix
                && let Some(mut row) = row.constant()
            {
                for &piece in &node.args {
                    match l.graph.shape(piece) {
                        Shape::Matrix(rows, _) if row >= rows => row -= rows,
                        _ => return l.number(piece, &[Ix::at(row), column.clone()]),
                    }
                }
            }
            concat::pieces(l, node, ix)
        },
        costly: false,
        vjp: concat::vjp_of_pieces,
        linear: Linear::Sum(concat::piece_in_zeros),
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        let data: Vec<f64> = args.iter().flat_map(|a| a.data.clone()).collect();
        let columns = match args[0].shape {
            Shape::Matrix(_, columns) => columns,
            _ => 1,
        };
        Value {
            shape: Shape::Matrix(data.len() / columns.max(1), columns),
            data,
        }
    }),
    test_range: (-4.0, 4.0),
};
