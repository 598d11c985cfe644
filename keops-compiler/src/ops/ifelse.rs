//! `ifelse(c, a, b)`, KeOps' choice by sign

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "ifelse",
    syntax: Syntax::Call,
    keops_name: "IfElse",
    doc: "a where c ≥ 0, else b (also where c is NaN): KeOps' form of `if c >= 0.0 { a } else { b }`.",
    arity: Arity::Exactly(3),
    params: &[],
    infer: broadcast,
    body: Body::Composite(|g, args, _| {
        let zero = g.literal(0.0);
        let condition = g.apply(&ge::OP, &[args[0], zero]);
        g.apply(&select::OP, &[condition, args[1], args[2]])
    }),
    reference: Reference::Elementwise(|a, _| if a[0] >= 0.0 { a[1] } else { a[2] }),
    test_range: (-4.0, 4.0),
};
