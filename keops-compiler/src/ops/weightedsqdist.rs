//! `weightedsqdist(w, a, b)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "weightedsqdist",
    syntax: Syntax::Call,
    keops_name: "WeightedSqDist",
    doc: "`weightedsqnorm(w, a - b)`: squared distance with a scalar, diagonal or full weight.",
    arity: Arity::Exactly(3),
    params: &[],
    infer: |types, _| weightedsqnorm::check(types, equal_vectors(types, 1, 2)?),
    body: Body::Composite(|g, args, _| {
        let difference = g.apply(&sub::OP, &args[1..]);
        g.apply(&weightedsqnorm::OP, &[args[0], difference])
    }),
    reference: Reference::Whole(|args, _| {
        let difference: Vec<f64> = args[1]
            .data
            .iter()
            .zip(&args[2].data)
            .map(|(a, b)| a - b)
            .collect();
        Value::scalar(weightedsqnorm::reference(&args[0], &difference))
    }),
    test_range: (-4.0, 4.0),
};
