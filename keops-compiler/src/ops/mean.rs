//! `mean(v)`, the mean inside one value (over rows it is the reduction `mean_j`)

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "mean",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "Mean of the numbers of a vector or matrix.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, params| (sum::OP.infer)(types, params),
    body: Body::Composite(|g, args, _| {
        let total = g.apply(&sum::OP, args);
        let count = g.literal(g.shape(args[0]).len() as f64);
        g.apply(&div::OP, &[total, count])
    }),
    reference: Reference::Whole(|args, _| {
        Value::scalar(args[0].data.iter().sum::<f64>() / args[0].data.len() as f64)
    }),
    test_range: (-4.0, 4.0),
};
