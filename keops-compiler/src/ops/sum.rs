//! `sum(v)`, the sum inside one value (over rows it is the reduction `sum_j`)

use super::*;
use crate::lower::Term;

/// The record.
pub static OP: Op = Op {
    name: "sum",
    syntax: Syntax::Call,
    keops_name: "Sum",
    doc: "Sum of the numbers of a vector or matrix.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| match types[0] {
        Type {
            element: Element::Real,
            shape: Shape::Vector(_) | Shape::Matrix(..),
        } => Ok(Type::SCALAR),
        _ => Err(TypeError::Expected {
            arg: 0,
            expected: "a vector or a matrix".into(),
        }),
    },
    body: Body::Indexed {
        lower: |l, node, _| {
            sum_all(l, node.args[0], &mut |l, ix| {
                Term::Value(l.number(node.args[0], ix))
            })
        },
        costly: true,
        vjp: |g, call| {
            let shape = g.shape(call.args[0]);
            let ones = g.constant(1.0, shape);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, ones]))]
        },
        linear: Linear::Each(|b, call, batch| match (call.which, batch) {
            (_, Batch::Line(line)) => Some(vec![b.total(line)]),
            (_, Batch::Tensor(line, with, _)) => {
                let other = b.g.apply(&OP, &[with]);
                let sum = b.total(line);
                Some(vec![b.scaled(sum, other)])
            }
            (_, Batch::Same(numbers)) => Some(vec![b.numbers(numbers)]),
            _ => None,
        }),
        simplify: |g, args, _| {
            let (part, _) = place::parts(g, args[0])?;
            Some(if g.shape(part) == Shape::Scalar {
                part
            } else {
                g.apply(&OP, &[part])
            })
        },
    },
    reference: Reference::Whole(|args, _| Value::scalar(args[0].data.iter().sum())),
    test_range: (-4.0, 4.0),
};
