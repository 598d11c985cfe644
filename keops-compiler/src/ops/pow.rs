//! `pow(a, n)`, an integer power

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "pow",
    syntax: Syntax::Call,
    keops_name: "Pow",
    doc: "aⁿ for an integer n, by repeated multiplication, negative powers through 1/a; `pow(a, 0)` is 1, of NaN too.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("exponent")],
    infer: |types, params| match params {
        [_] => broadcast(types, params),
        _ => Err(TypeError::Parameter {
            param: 0,
            expected: "an integer".into(),
        }),
    },
    body: Body::Elementwise {
        lower: |l, a, params| {
            let power = positive_power(l, &a[0], params[0].unsigned_abs());
            if params[0] < 0 {
                l.prim(Prim::Div, &[Operand::Const(1.0), power])
            } else {
                power
            }
        },
        vjp: |g, call| {
            let n = call.params[0];
            if n == 0 {
                return vec![None];
            }
            let lower = g.apply_with(&OP, call.args, &[n.saturating_sub(1)]);
            let exponent = g.literal(n as f64);
            let slope = g.apply(&mul::OP, &[exponent, lower]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, params| match params[0] {
            0 => Some(g.constant(1.0, g.shape(args[0]))),
            1 => Some(args[0]),
            2 => Some(g.apply(&mul::OP, &[args[0], args[0]])),
            _ => None,
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, params| a[0].powf(params[0] as f64)),
    test_range: (0.8, 1.25),
};

/// aⁿ by squaring: about 2·log2 n multiplications.
fn positive_power(l: &mut Lowerer<'_>, a: &Operand, mut n: u64) -> Operand {
    let mut power: Option<Operand> = None;
    let mut square = a.clone();
    while n > 0 {
        if n & 1 == 1 {
            power = Some(match power {
                None => square.clone(),
                Some(p) => l.prim(Prim::Mul, &[p, square.clone()]),
            });
        }
        n >>= 1;
        if n > 0 {
            square = l.prim(Prim::Mul, &[square.clone(), square]);
        }
    }
    power.unwrap_or(Operand::Const(1.0))
}
