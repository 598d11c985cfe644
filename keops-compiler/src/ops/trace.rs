//! `trace(A)`

use super::*;
use crate::lower::Term;

/// The record.
pub static OP: Op = Op {
    name: "trace",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "Sum of the diagonal of a square matrix.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| match matrix(types, 0)? {
        (r, c) if r == c => Ok(Type::SCALAR),
        _ => Err(TypeError::Expected {
            arg: 0,
            expected: "a square matrix".into(),
        }),
    },
    body: Body::Indexed {
        lower: |l, node, _| {
            let a = node.args[0];
            let n = l.graph.shape(a).len().isqrt();
            l.sum(n, &mut |l, k| {
                Term::Value(l.number(a, &[k.clone(), k.clone()]))
            })
        },
        costly: true,
        vjp: |g, call| {
            let n = g.shape(call.args[0]).len().isqrt();
            vec![Some(g.apply_with(
                &diagonal::OP,
                &[call.cotangent],
                &[n as i64],
            ))]
        },
        linear: Linear::Each(|b, call, batch| match (call.which, batch) {
            (_, Batch::Tensor(line, with, _)) => Some(vec![b.dot(line, with)]),
            _ => None,
        }),
        simplify: |g, args, _| {
            if let Some(&[inner]) = g.as_op(args[0], &transpose::OP) {
                return Some(g.apply(&OP, &[inner]));
            }
            if let Some(&[a, b]) = g.as_op(args[0], &outer::OP) {
                return Some(g.apply(&dot::OP, &[a, b]));
            }
            // The same products, without those beside the diagonal.
            if let Some(&[a, b]) = g.as_op(args[0], &matmul::OP) {
                let turned = g.apply(&transpose::OP, &[b]);
                let products = g.apply(&mul::OP, &[a, turned]);
                return Some(g.apply(&sum::OP, &[products]));
            }
            None
        },
    },
    reference: Reference::Whole(|args, _| {
        let n = args[0].data.len().isqrt();
        Value::scalar((0..n).map(|k| args[0].data[k * (n + 1)]).sum())
    }),
    test_range: (-4.0, 4.0),
};
