//! A scalar times the identity matrix: the derivative of `trace`

use super::*;
use crate::lower::flat;

/// The record.
pub static OP: Op = Op {
    name: "diagonal",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "A scalar on the diagonal of a matrix, 0 elsewhere.",
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
            _ => Err(TypeError::Expected {
                arg: 0,
                expected: "a scalar".into(),
            }),
        }
    },
    body: Body::Indexed {
        lower: |l, node, ix| {
            let (arg, n) = (node.args[0], node.ty.shape.len().isqrt());
            if let (Some(row), Some(column)) = (ix[0].constant(), ix[1].constant()) {
                return if row == column {
                    l.number(arg, &[])
                } else {
                    Operand::Const(0.0)
                };
            }
            let array = l.filled(node, &mut |l, array| {
                l.repeat(n * n, &mut |l, k| l.store(array, k, Operand::Const(0.0)));
                let value = l.number(arg, &[]);
                l.repeat(n, &mut |l, k| l.store(array, k.times(n + 1), value.clone()));
            });
            Operand::Element(array, flat(node.ty.shape, ix))
        },
        costly: false,
        vjp: |g, call| vec![Some(g.apply(&trace::OP, &[call.cotangent]))],
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, params| {
        let n = params[0] as usize;
        let data = (0..n * n)
            .map(|k| {
                if k % (n + 1) == 0 {
                    args[0].first()
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
