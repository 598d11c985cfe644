//! `round(a)` and `round(a, decimals)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "round",
    syntax: Syntax::Call,
    keops_name: "Round",
    doc: "The nearest whole number, halves away from zero; `round(a, n)` to n decimals, n a literal from −30 to 30; derivative 0.",
    arity: Arity::Exactly(1),
    params: &[Param::optional("decimals")],
    infer: |types, params| match params {
        [] | [-30..=30] => broadcast(types, params),
        _ => Err(TypeError::Parameter {
            param: 0,
            expected: "from -30 to 30".into(),
        }),
    },
    body: Body::Elementwise {
        lower: |l, a, params| {
            let decimals = params.first().copied().unwrap_or(0);
            if decimals == 0 {
                return half_away(l, &a[0]);
            }
            let power = Operand::Const(10f64.powi(decimals.unsigned_abs() as i32));
            let (forth, back) = if decimals > 0 {
                (Prim::Mul, Prim::Div)
            } else {
                (Prim::Div, Prim::Mul)
            };
            let scaled = l.prim(forth, &[a[0].clone(), power.clone()]);
            let rounded = half_away(l, &scaled);
            // What has no decimals to lose stays what it is, however large.
            let whole = l.prim(Prim::Eq, &[rounded.clone(), scaled]);
            let result = l.prim(back, &[rounded, power]);
            l.prim(Prim::Select, &[whole, a[0].clone(), result])
        },
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: |g, args, params| match params {
            [] | [0] => fold_constants(g, args, |a| a[0].round()),
            _ => None,
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, params| {
        let power = 10f64.powi(params.first().copied().unwrap_or(0) as i32);
        (a[0] * power).round() / power
    }),
    test_range: (-4.0, 4.0),
};

/// The nearest whole number, halves away from zero.
fn half_away(l: &mut Lowerer<'_>, a: &Operand) -> Operand {
    let size = l.prim(Prim::Abs, std::slice::from_ref(a));
    let floor = floor::floor(l, &size);
    let fraction = l.prim(Prim::Sub, &[size, floor.clone()]);
    let up = l.prim(Prim::Le, &[Operand::Const(0.5), fraction]);
    let next = l.prim(Prim::Add, &[floor.clone(), Operand::Const(1.0)]);
    let nearest = l.prim(Prim::Select, &[up, next, floor]);
    l.prim(Prim::XorSign, &[nearest, a.clone()])
}
