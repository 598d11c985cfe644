//! `abs(a)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "abs",
    syntax: Syntax::Call,
    keops_name: "Abs",
    doc: "Absolute value; derivative 0 at 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Abs, a),
        vjp: |g, call| {
            let slope = g.apply(&sign::OP, call.args);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        },
        linear: Linear::No,
        simplify: |g, args, _| {
            // |−a| = |a|, ||a|| = |a|
            for inner in [&neg::OP, &OP] {
                if let Some(&[a]) = g.as_op(args[0], inner) {
                    return Some(g.apply(&OP, &[a]));
                }
            }
            fold_constants(g, args, |a| a[0].abs())
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].abs()),
    test_range: (-4.0, 4.0),
};
