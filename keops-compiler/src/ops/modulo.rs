//! `mod(a, n)` and `mod(a, n, d)`: the remainder with the sign of the modulus, in [d, d + n)

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "mod",
    syntax: Syntax::Call,
    keops_name: "Mod",
    doc: "a − n·floor((a − d)/n), in [d, d + n) up to rounding; d is 0 if left out; the sign is that of n.",
    arity: Arity::Between(2, 3),
    params: &[],
    infer: broadcast,
    body: Body::Composite(|g, args, _| {
        let shifted = match args {
            [a, _, d] => g.apply(&sub::OP, &[*a, *d]),
            _ => args[0],
        };
        let quotient = g.apply(&div::OP, &[shifted, args[1]]);
        let whole = g.apply(&floor::OP, &[quotient]);
        let multiple = g.apply(&mul::OP, &[args[1], whole]);
        g.apply(&sub::OP, &[args[0], multiple])
    }),
    reference: Reference::Elementwise(|a, _| {
        let d = a.get(2).copied().unwrap_or(0.0);
        a[0] - a[1] * ((a[0] - d) / a[1]).floor()
    }),
    test_range: (0.5, 4.0),
};
