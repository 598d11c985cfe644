//! A comparison of integers that are made of row indices

use super::*;
use crate::lower::Prim;

/// The record.
///
/// The static parameters say what the integer is, `a·i + b·j + c + w`, for whoever finds out which rows the condition can
/// hold for: its parts do not tell. `w` is the third argument, of the sign `sign`, where there is one: a whole number of at most
/// 2⁴⁰ that is the same for all rows, or NaN, for which the condition does not hold.
pub static OP: Op = Op {
    name: "index_within",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "`high · 2¹⁶ + low ≥ 0` for two integers: one rounding, which keeps the sign.",
    arity: Arity::Between(2, 3),
    params: &[
        Param::integer("a"),
        Param::integer("b"),
        Param::integer("c"),
        Param::integer("sign"),
    ],
    infer: |types, params| {
        let scalar = |arg: usize| match types.get(arg) {
            Some(&Type::SCALAR) => Ok(()),
            _ => Err(TypeError::Expected {
                arg,
                expected: "a scalar".into(),
            }),
        };
        scalar(0)?;
        scalar(1)?;
        if types.len() == 3 {
            scalar(2)?;
        }
        if params.len() != 4 {
            return Err(TypeError::Parameter {
                param: 3,
                expected: "given".into(),
            });
        }
        Ok(Type::BOOL)
    },
    body: Body::Elementwise {
        lower: |l, a, _| {
            let scale = Operand::Const(65536.0);
            let number = l.prim(Prim::Fma, &[a[0].clone(), scale, a[1].clone()]);
            l.prim(Prim::Le, &[Operand::Const(0.0), number])
        },
        vjp: |_, call| vec![None; call.args.len()],
        linear: Linear::No,
        simplify: no_simplification,
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| f64::from(a[0] * 65536.0 + a[1] >= 0.0)),
    test_range: (-4.0, 4.0),
};
