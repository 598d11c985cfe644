//! `[a, b, …]`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "array",
    syntax: Syntax::Operator("[]"),
    keops_name: "",
    doc: "Scalars as a vector, or vectors of equal dimension as the rows of a matrix.",
    arity: Arity::AtLeast(1),
    params: &[],
    infer: |types, _| {
        for (arg, ty) in types.iter().enumerate() {
            let expected = match (types[0].shape, ty) {
                (
                    _,
                    Type {
                        element: Element::Real,
                        shape,
                    },
                ) if *shape == types[0].shape => continue,
                (
                    Shape::Vector(_),
                    Type {
                        element: Element::Real,
                        shape: Shape::Vector(_),
                    },
                ) => {
                    return Err(TypeError::Unequal {
                        left: 0,
                        right: arg,
                        broadcast: false,
                    });
                }
                (Shape::Vector(n), _) => format!("a vector of dimension {n}"),
                _ => "a scalar".into(),
            };
            return Err(TypeError::Expected { arg, expected });
        }
        match types.first().map(|t| t.shape) {
            Some(Shape::Scalar) => sized(Shape::Vector(types.len()), 0),
            Some(Shape::Vector(n)) => sized(Shape::Matrix(types.len(), n), 0),
            _ => Err(TypeError::Expected {
                arg: 0,
                expected: "a scalar or a vector".into(),
            }),
        }
    },
    body: Body::Indexed {
        lower: |l, node, ix| {
            // The row is known: no array needed for the columns.
            if let [row, column] = ix
                && let Some(row) = row.constant()
            {
                return l.number(node.args[row], std::slice::from_ref(column));
            }
            concat::pieces(l, node, ix)
        },
        costly: false,
        vjp: concat::vjp_of_pieces,
        linear: Linear::Sum(concat::piece_in_zeros),
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        let shape = match args[0].shape {
            Shape::Vector(n) => Shape::Matrix(args.len(), n),
            _ => Shape::Vector(args.len()),
        };
        Value {
            shape,
            data: args.iter().flat_map(|a| a.data.clone()).collect(),
        }
    }),
    test_range: (-4.0, 4.0),
};
