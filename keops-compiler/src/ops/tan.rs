//! `tan(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "tan",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "Tangent of an angle in radians; NaN at ±inf.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Tan, a),
        vjp: |g, call| {
            let one = g.literal(1.0);
            let square = g.apply(&mul::OP, &[call.node, call.node]);
            let slope = g.apply(&add::OP, &[one, square]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].tan()),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].tan()),
    test_range: (-1.25, 1.25),
};
