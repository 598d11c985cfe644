//! `exp2(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "exp2",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "2 to the power a; exact for whole numbers.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Exp2, a),
        vjp: |g, call| {
            let factor = g.literal(std::f64::consts::LN_2);
            let slope = g.apply(&mul::OP, &[factor, call.node]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].exp2()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].exp2()),
    test_range: (-4.0, 4.0),
};
