//! A diagonal matrix: the derivative of `trace`, and of numbers with respect to themselves

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "diagonal",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "A scalar, or the numbers of a vector, on the diagonal of a matrix, 0 elsewhere.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("dimension")],
    infer: |types, params| {
        let n = below(params, 0, MAX_NUMBERS)?;
        match types.first() {
            Some(&Type::SCALAR) if n > 0 => sized(Shape::Matrix(n, n), 0),
            Some(&Type::SCALAR) => Err(TypeError::Parameter {
                param: 0,
                expected: "at least 1".into(),
            }),
            Some(ty) if *ty == Type::real(Shape::Vector(n)) => sized(Shape::Matrix(n, n), 0),
            _ => Err(TypeError::Expected {
                arg: 0,
                expected: format!("a scalar or a vector of dimension {n}"),
            }),
        }
    },
    body: Body::Indexed {
        lower: |l, node, ix| {
            let arg = node.args[0];
            let value = match l.graph.shape(arg) {
                Shape::Scalar => l.number(arg, &[]),
                _ => l.number(arg, &ix[..1]),
            };
            l.where_equal([&ix[0], &ix[1]], value, Operand::Const(0.0))
        },
        costly: false,
        vjp: |g, call| {
            let op = match g.shape(call.args[0]) {
                Shape::Scalar => &trace::OP,
                _ => &diagonal_of::OP,
            };
            vec![Some(g.apply(op, &[call.cotangent]))]
        },
        linear: Linear::Each(|_, _, _| None),
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, params| {
        let n = params[0] as usize;
        let data = (0..n * n)
            .map(|k| {
                if k % (n + 1) == 0 {
                    args[0].data[k / n % args[0].data.len()]
                } else {
                    0.0
                }
            })
            .collect();
        Value {
            shape: Shape::Matrix(n, n),
            data,
        }
    }),
    test_range: (-4.0, 4.0),
};
