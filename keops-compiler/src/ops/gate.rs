//! A cotangent behind a condition: the derivative of a choice

use super::*;
use crate::graph::Kind;
use crate::lower::Prim;

/// The record.
///
/// Where the condition does not hold the value is a structural zero, which stays zero whatever it is multiplied by: the
/// branch that was not taken may be infinite. So products move inside.
pub static OP: Op = Op {
    name: "gate",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "A value where a condition holds (or does not, where `opposite` is 1), else 0.",
    arity: Arity::Exactly(2),
    params: &[Param::integer("opposite")],
    infer: |types, params| {
        if !matches!(params, [0 | 1]) {
            return Err(TypeError::Parameter {
                param: 0,
                expected: "0 or 1".into(),
            });
        }
        (select::OP.infer)(&[types[0], types[1], Type::SCALAR], &[])
    },
    body: Body::Elementwise {
        lower: |l, a, params| {
            let zero = Operand::Const(0.0);
            let args = match params {
                [0] => [a[0].clone(), a[1].clone(), zero],
                _ => [a[0].clone(), zero, a[1].clone()],
            };
            l.prim(Prim::Select, &args)
        },
        vjp: |g, call| {
            vec![
                None,
                Some(g.apply_with(&OP, &[call.args[0], call.cotangent], call.params)),
            ]
        },
        linear: Linear::Numbers(|g, args, _, params| Some(g.apply_with(&OP, args, params))),
        simplify: |g, args, params| {
            if g.as_constant(args[1]) == Some(0.0) && g.shape(args[0]) == Shape::Scalar {
                return Some(args[1]);
            }
            if let Some(&[condition]) = g.as_op(args[0], &not::OP) {
                return Some(g.apply_with(&OP, &[condition, args[1]], &[1 - params[0]]));
            }
            if let Some(&[value]) = g.as_op(args[1], &neg::OP) {
                let gate = g.apply_with(&OP, &[args[0], value], params);
                return Some(g.apply(&neg::OP, &[gate]));
            }
            // What asks the same question again knows the answer.
            let known = match parts(g, args[1]) {
                Some((condition, value, opposite)) if condition == args[0] => {
                    (opposite == (params[0] == 1)).then_some(value)?
                }
                _ => match g.as_op(args[1], &select::OP) {
                    Some(&[condition, then, otherwise]) if condition == args[0] => {
                        if params[0] == 0 { then } else { otherwise }
                    }
                    _ => return None,
                },
            };
            let better = g.apply_with(&OP, &[args[0], known], params);
            (g.shape(better) == g.shape(args[1])).then_some(better)
        },
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, params| {
        if (a[0] != 0.0) == (params[0] == 0) {
            a[1]
        } else {
            0.0
        }
    }),
    test_range: (-4.0, 4.0),
};

/// Condition, value, and whether it is the opposite that must hold, if the node is a gate.
pub fn parts(g: &Graph, node: NodeId) -> Option<(NodeId, NodeId, bool)> {
    match (&g.node(node).kind, g.as_op(node, &OP)) {
        (Kind::Op(_, params), Some(&[condition, value])) => {
            Some((condition, value, params.as_slice() == [1]))
        }
        _ => None,
    }
}

/// `gate(c, a) · b` as `gate(c, a · b)`, and the same for a quotient.
pub fn times(g: &mut Graph, op: &'static Op, gate: NodeId, other: NodeId) -> Option<NodeId> {
    let (condition, value, opposite) = parts(g, gate)?;
    // A scalar gate moves inside of the larger value; one number by number only where that is the larger one.
    let scalar = g.shape(condition) == Shape::Scalar;
    if !scalar && g.shape(gate).rank() < g.shape(other).rank() {
        return None;
    }
    let product = g.apply(op, &[value, other]);
    Some(g.apply_with(&OP, &[condition, product], &[i64::from(opposite)]))
}

/// A product of two values whose numbers are all structurally zero where a condition does not hold, with the condition outside.
pub(super) fn outside(g: &mut Graph, op: &'static Op, args: &[NodeId]) -> Option<NodeId> {
    for n in 0..2 {
        if let Some((condition, inside, opposite)) = parts(g, args[n])
            && g.shape(condition) == Shape::Scalar
            && g.shape(inside) == g.shape(args[n])
        {
            let mut args = args.to_vec();
            args[n] = inside;
            let product = g.apply(op, &args);
            let opposite = i64::from(opposite);
            return Some(g.apply_with(&OP, &[condition, product], &[opposite]));
        }
    }
    None
}
