//! `if c { a } else { b }`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "select",
    syntax: Syntax::Operator("if"),
    keops_name: "IfElse",
    doc: "`a` where the condition holds, else `b`, number by number; both are computed, the derivative is that of the chosen one.",
    arity: Arity::Exactly(3),
    params: &[],
    infer: |types, _| {
        let condition = logical(&types[..1], &[])?.shape;
        let branches = broadcast_shape(&types[1..], 1)?;
        match (condition, branches) {
            (Shape::Scalar, shape) | (shape, Shape::Scalar) => Ok(Type::real(shape)),
            (c, b) if c == b => Ok(Type::real(b)),
            _ => {
                let widest = if types[1].shape == Shape::Scalar {
                    2
                } else {
                    1
                };
                Err(TypeError::Unequal {
                    left: 0,
                    right: widest,
                    broadcast: true,
                })
            }
        }
    },
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Select, a),
        vjp: |g, call| {
            let chosen = g.apply_with(&gate::OP, &[call.args[0], call.cotangent], &[0]);
            let other = g.apply_with(&gate::OP, &[call.args[0], call.cotangent], &[1]);
            vec![None, Some(chosen), Some(other)]
        },
        linear: Linear::Sum(|g, node, which| {
            let opposite = i64::from(which == 2);
            let part = add::whole_shape(g, node, which);
            g.apply_with(&gate::OP, &[node.args[0], part], &[opposite])
        }),
        simplify: |g, args, _| {
            // Both branches the same, unless the condition's shape broadcasts them.
            if args[1] == args[2]
                && (g.shape(args[0]) == Shape::Scalar || g.shape(args[0]) == g.shape(args[1]))
            {
                return Some(args[1]);
            }
            if let Some(&[opposite]) = g.as_op(args[0], &not::OP) {
                return Some(g.apply(&OP, &[opposite, args[2], args[1]]));
            }
            // A branch that asks the same question again knows the answer.
            for branch in [1, 2] {
                if let Some(&[condition, then, otherwise]) = g.as_op(args[branch], &OP) {
                    let known = if branch == 1 { then } else { otherwise };
                    if condition == args[0] && g.shape(known) == g.shape(args[branch]) {
                        let mut args = args.to_vec();
                        args[branch] = known;
                        return Some(g.apply(&OP, &args));
                    }
                }
            }
            None
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| if a[0] != 0.0 { a[1] } else { a[2] }),
    test_range: (-4.0, 4.0),
};
