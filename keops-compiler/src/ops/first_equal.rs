//! 1 at the first number of a vector that equals a scalar, 0 elsewhere: where `min(v)` and `max(v)` come from

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "first_equal",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "1 at the first number of a vector that equals a scalar, else 0.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| {
        let n = vector(types, 0)?;
        match types[1] {
            Type::SCALAR => Ok(Type::real(Shape::Vector(n))),
            _ => Err(TypeError::Expected {
                arg: 1,
                expected: "a scalar".into(),
            }),
        }
    },
    body: Body::Indexed {
        lower: |l, node, ix| {
            let (v, wanted, n) = (node.args[0], node.args[1], node.ty.shape.len());
            let array = l.filled(node, &mut |l, array| {
                let wanted = l.number(wanted, &[]);
                l.fold(n, Operand::Const(0.0), &mut |l, found, k| {
                    let number = l.number(v, std::slice::from_ref(k));
                    let equal = l.prim(Prim::Eq, &[number, wanted.clone()]);
                    let open = l.prim(Prim::Eq, &[found.clone(), Operand::Const(0.0)]);
                    let first = l.prim(Prim::And, &[equal, open]);
                    let value = l.prim(
                        Prim::Select,
                        &[first, Operand::Const(1.0), Operand::Const(0.0)],
                    );
                    l.store(array, k.clone(), value.clone());
                    l.prim(Prim::Add, &[found, value])
                });
            });
            Operand::Element(array, ix[0].clone())
        },
        costly: false,
        vjp: |_, _| vec![None, None],
        linear: Linear::No,
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        let first = args[0].data.iter().position(|&x| x == args[1].first());
        Value::vector(
            (0..args[0].data.len())
                .map(|k| f64::from(Some(k) == first))
                .collect(),
        )
    }),
    test_range: (-4.0, 4.0),
};
