//! `atan2(y, x)`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "atan2",
    syntax: Syntax::Call,
    keops_name: "Atan2",
    doc: "Angle of the point (x, y), in [−π, π], with C's special values; derivative 0 at the origin.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Atan2, a),
        vjp: |g, call| {
            // (x, −y)/(x² + y²)
            let (y, x) = (call.args[0], call.args[1]);
            let (xx, yy) = (g.apply(&mul::OP, &[x, x]), g.apply(&mul::OP, &[y, y]));
            let square = g.apply(&add::OP, &[xx, yy]);
            let inverse = g.apply(&inv_or_zero::OP, &[square]);
            let scaled = g.apply(&mul::OP, &[call.cotangent, inverse]);
            let of_x = g.apply(&mul::OP, &[scaled, y]);
            vec![
                Some(g.apply(&mul::OP, &[scaled, x])),
                Some(g.apply(&neg::OP, &[of_x])),
            ]
        },
        linear: Linear::No,
        simplify: |g, args, _| fold_constants(g, args, |a| a[0].atan2(a[1])),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].atan2(a[1])),
    test_range: (0.5, 4.0),
};
