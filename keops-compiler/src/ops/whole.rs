//! The whole number below or above a bound that row numbers are compared with

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "whole",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "The largest whole number up to a, or the smallest from a on where `up` is 1.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("up")],
    infer: |types, params| match params {
        [0 | 1] => broadcast(types, &[]),
        _ => Err(TypeError::Parameter {
            param: 0,
            expected: "0 or 1".into(),
        }),
    },
    body: Body::Elementwise {
        lower: |l, a, params| {
            let nearest = l.prim(Prim::Rint, a);
            let (off, prim) = match params {
                [1] => ([nearest.clone(), a[0].clone()], Prim::Add),
                _ => ([a[0].clone(), nearest.clone()], Prim::Sub),
            };
            let off = l.prim(Prim::Lt, &off);
            let next = l.prim(prim, &[nearest.clone(), Operand::Const(1.0)]);
            l.prim(Prim::Select, &[off, next, nearest])
        },
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: no_simplification,
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, params| match params {
        [1] => a[0].ceil(),
        _ => a[0].floor(),
    }),
    test_range: (-4.0, 4.0),
};
