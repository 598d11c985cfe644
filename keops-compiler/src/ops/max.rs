//! `max(a, b)`, number by number, and `max(v)`, inside one vector (over rows it is the reduction `max_j`)

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "max",
    syntax: Syntax::Call,
    keops_name: "Max",
    doc: "`max(a, b)`: the larger of two numbers, NaN only if both are; `max(v)`: the largest number of a vector, NaN ignored. Derivative: the first of equal ones.",
    arity: Arity::Between(1, 2),
    params: &[],
    infer: |types, params| match types {
        [_] => (largest::OP.infer)(types, params),
        _ => broadcast(types, params),
    },
    body: Body::Composite(|g, args, _| {
        g.apply(
            if args.len() == 1 {
                &largest::OP
            } else {
                &larger::OP
            },
            args,
        )
    }),
    reference: Reference::Whole(|args, _| picked(args, f64::max, f64::NEG_INFINITY)),
    test_range: (-4.0, 4.0),
};

/// Of two values number by number, or of all numbers of one. For `min` too.
pub(super) fn picked(args: &[Value], pick: fn(f64, f64) -> f64, neutral: f64) -> Value {
    match args {
        [v] => Value::scalar(v.data.iter().copied().fold(neutral, pick)),
        _ => {
            let shape = args
                .iter()
                .map(|a| a.shape)
                .max_by_key(|s| s.rank())
                .unwrap_or(Shape::Scalar);
            let data = (0..shape.len())
                .map(|k| pick(args[0].broadcast(k), args[1].broadcast(k)))
                .collect();
            Value { shape, data }
        }
    }
}
