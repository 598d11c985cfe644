//! `matmul(A, B)`

use super::contraction::Plan;
use super::*;

/// The record.
pub static OP: Op = Op {
    name: "matmul",
    syntax: Syntax::Call,
    keops_name: "",
    doc: "Matrix product: r×k times k×c is r×c.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| {
        let ((r, k), (rows, c)) = (matrix(types, 0)?, matrix(types, 1)?);
        if rows != k {
            return Err(TypeError::Expected {
                arg: 1,
                expected: format!("a matrix of {k} rows"),
            });
        }
        sized(Shape::Matrix(r, c), 0)
    },
    body: Body::Indexed {
        lower: |l, node, ix| {
            let (Shape::Matrix(r, k), Shape::Matrix(_, c)) =
                (l.graph.shape(node.args[0]), l.graph.shape(node.args[1]))
            else {
                unreachable!("internal error in keops: matmul of matrices")
            };
            let plan = Plan {
                rows: r,
                dims: [vec![r, k], vec![k, c]],
                summed: [vec![1], vec![0]],
                kept: vec![(0, 0), (1, 1)],
            };
            contraction::number(l, node, &plan, ix)
        },
        costly: false,
        vjp: |g, call| {
            let right = g.apply(&transpose::OP, &[call.args[1]]);
            let left = g.apply(&transpose::OP, &[call.args[0]]);
            vec![
                Some(g.apply(&OP, &[call.cotangent, right])),
                Some(g.apply(&OP, &[left, call.cotangent])),
            ]
        },
        linear: Linear::Each(|b, call, batch| match (call.which, batch) {
            (0, Batch::Tensor(line, with, Side::Row)) => {
                let with = b.g.apply(&vecmat::OP, &[with, call.args[1]]);
                Some(vec![Batch::Tensor(line, with, Side::Row)])
            }
            (0, Batch::Tensor(line, with, Side::Column)) => {
                let line = b.times_matrix(line, call.args[1]);
                Some(vec![Batch::Tensor(line, with, Side::Column)])
            }
            (1, Batch::Tensor(line, with, Side::Row)) => {
                let a = b.g.apply(&transpose::OP, &[call.args[0]]);
                let line = b.times_matrix(line, a);
                Some(vec![Batch::Tensor(line, with, Side::Row)])
            }
            (1, Batch::Tensor(line, with, Side::Column)) => {
                let with = b.g.apply(&matvec::OP, &[call.args[0], with]);
                Some(vec![Batch::Tensor(line, with, Side::Column)])
            }
            _ => None,
        }),
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| match (args[0].shape, args[1].shape) {
        (Shape::Matrix(r, inner), Shape::Matrix(_, c)) => {
            let at = |row: usize, column: usize| {
                (0..inner)
                    .map(|k| args[0].data[row * inner + k] * args[1].data[k * c + column])
                    .sum()
            };
            Value {
                shape: Shape::Matrix(r, c),
                data: (0..r * c).map(|n| at(n / c, n % c)).collect(),
            }
        }
        _ => Value::scalar(f64::NAN),
    }),
    test_range: (-4.0, 4.0),
};
