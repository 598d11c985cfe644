//! The smallest number of a vector

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "smallest",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "The smallest number of a vector, NaN ignored (+inf if all are); derivative to the first of equal ones.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| vector(types, 0).map(|_| Type::SCALAR),
    body: Body::Indexed {
        lower: |l, node, _| largest::folded(l, node, Prim::PickMin, f64::INFINITY),
        costly: true,
        vjp: largest::to_first_equal,
        linear: Linear::No,
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        Value::scalar(args[0].data.iter().fold(f64::INFINITY, |m, &x| m.min(x)))
    }),
    test_range: (-4.0, 4.0),
};
