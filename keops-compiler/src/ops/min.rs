//! `min(a, b)`, number by number, and `min(v)`, inside one vector (over rows it is the reduction `min_j`)

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "min",
    syntax: Syntax::Call,
    keops_name: "Min",
    doc: "`min(a, b)`: the smaller of two numbers, NaN only if both are; `min(v)`: the smallest number of a vector, NaN ignored. Derivative: the first of equal ones.",
    arity: Arity::Between(1, 2),
    params: &[],
    infer: |types, params| match types {
        [_] => (smallest::OP.infer)(types, params),
        _ => broadcast(types, params),
    },
    body: Body::Composite(|g, args, _| {
        g.apply(
            if args.len() == 1 {
                &smallest::OP
            } else {
                &smaller::OP
            },
            args,
        )
    }),
    reference: Reference::Whole(|args, _| max::picked(args, f64::min, f64::INFINITY)),
    test_range: (-4.0, 4.0),
};
