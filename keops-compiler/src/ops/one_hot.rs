//! `one_hot(a, dimension)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "one_hot",
    syntax: Syntax::Call,
    keops_name: "OneHot",
    doc: "The vector of this dimension that is 1 at number floor(a + 1/2), counted from 0, and 0 elsewhere; all 0 where there is no such number; derivative 0.",
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
    body: Body::Indexed {
        lower: |l, node, ix| {
            let hot = |l: &mut Lowerer<'_>, k: Operand| {
                let a = l.number(node.args[0], &[]);
                let shifted = l.prim(Prim::Add, &[a, Operand::Const(0.5)]);
                let place = floor::floor(l, &shifted);
                let here = l.prim(Prim::Eq, &[place, k]);
                l.prim(
                    Prim::Select,
                    &[here, Operand::Const(1.0), Operand::Const(0.0)],
                )
            };
            if let Some(k) = ix[0].constant() {
                return hot(l, Operand::Const(k as f64));
            }
            let n = node.ty.shape.len();
            let array = l.filled(node, &mut |l, array| {
                l.iterate(n, &[], &mut |l, _, at, k| {
                    let number = hot(l, k.clone());
                    l.store(array, at.clone(), number);
                    vec![]
                });
            });
            Operand::Element(array, ix[0].clone())
        },
        costly: false,
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, params| {
        let place = (args[0].first() + 0.5).floor();
        Value::vector(
            (0..params[0])
                .map(|k| f64::from(place == k as f64))
                .collect(),
        )
    }),
    test_range: (-1.0, 4.0),
};
