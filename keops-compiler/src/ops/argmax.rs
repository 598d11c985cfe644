//! `argmax(v)`, inside one vector (over rows it is the reduction `argmax_j`)

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "argmax",
    syntax: Syntax::Call,
    keops_name: "ArgMax",
    doc: "Position of the largest number of a vector, from 0, the first of equal ones, as a real number (exact: dimensions are at most 2¹⁶); NaN is ignored, 0 if all are; derivative 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| vector(types, 0).map(|_| Type::SCALAR),
    body: Body::Composite(|g, args, _| {
        let negated = g.apply(&neg::OP, args);
        g.apply(&argmin::OP, &[negated])
    }),
    reference: Reference::Whole(|args, _| {
        let (mut best, mut place) = (f64::NEG_INFINITY, 0);
        for (k, &x) in args[0].data.iter().enumerate() {
            if x > best {
                (best, place) = (x, k);
            }
        }
        Value::scalar(place as f64)
    }),
    test_range: (-4.0, 4.0),
};
