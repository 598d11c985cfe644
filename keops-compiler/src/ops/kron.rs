//! `kron(a, b)`, and of flat tensors `kron(a, b, dims_a, dims_b)`

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "kron",
    syntax: Syntax::Call,
    keops_name: "Kron",
    doc: "Kronecker product of two vectors or two matrices; `kron(a, b, dims_a, dims_b)` of two tensors of as many axes, row-major, as a flat vector.",
    arity: Arity::Exactly(2),
    params: &[
        Param::optional_list("dims_a"),
        Param::optional_list("dims_b"),
    ],
    infer: |types, params| {
        let params = encode(types, params)?;
        (contraction::OP.infer)(types, &params).map_err(|error| tensordot::renumbered(error, 1))
    },
    body: Body::Composite(|g, args, params| {
        let types = [g.ty(args[0]), g.ty(args[1])];
        match encode(&types, params) {
            Ok(params) => g.apply_with(&contraction::OP, args, &params),
            Err(_) => unreachable!("internal error in keops: kron was checked"),
        }
    }),
    reference: Reference::Whole(reference),
    test_range: (-4.0, 4.0),
};

/// The dimensions of both tensors, and whether the result is a matrix.
fn dims(types: &[Type], params: &[i64]) -> Result<([Vec<usize>; 2], bool), TypeError> {
    let mut rest = params;
    if params.is_empty() {
        return match (types[0].shape, types[1].shape) {
            (Shape::Vector(n), Shape::Vector(m)) => Ok(([vec![n], vec![m]], false)),
            (Shape::Matrix(r, c), Shape::Matrix(s, d)) => Ok(([vec![r, c], vec![s, d]], true)),
            (Shape::Scalar, _) => Err(TypeError::Expected {
                arg: 0,
                expected: "a vector or a matrix".into(),
            }),
            (Shape::Vector(_), _) => Err(TypeError::Expected {
                arg: 1,
                expected: "a vector".into(),
            }),
            (Shape::Matrix(..), _) => Err(TypeError::Expected {
                arg: 1,
                expected: "a matrix".into(),
            }),
        };
    }
    let dims = [
        contraction::list(&mut rest, 0)?,
        contraction::list(&mut rest, 1)?,
    ];
    if dims[0].len() != dims[1].len() {
        return Err(TypeError::Parameter {
            param: 1,
            expected: format!(
                "{} dimensions, as many as of the first tensor",
                dims[0].len()
            ),
        });
    }
    Ok((dims, false))
}

/// The parameters of `contraction`: no axis is summed, the axes alternate.
fn encode(types: &[Type], params: &[i64]) -> Result<Vec<i64>, TypeError> {
    let (dims, is_matrix) = dims(types, params)?;
    let rows = if is_matrix {
        dims[0][0].saturating_mul(dims[1][0])
    } else {
        0
    };
    let axes = dims[0].len();
    let mut all = vec![i64::try_from(rows).unwrap_or(i64::MAX)];
    for dims in dims {
        contraction::push(&mut all, dims.into_iter());
    }
    all.extend([0, 0]);
    let order: Vec<usize> = (0..2)
        .flat_map(|side| (0..axes).map(move |k| 2 * k + side))
        .collect();
    contraction::push(&mut all, order.into_iter());
    Ok(all)
}

/// As `numpy.kron`, flattened.
fn reference(args: &[Value], params: &[i64]) -> Value {
    let types = [Type::real(args[0].shape), Type::real(args[1].shape)];
    let (dims, is_matrix) = dims(&types, params).expect("kron was checked");
    let result: Vec<usize> = dims[0].iter().zip(&dims[1]).map(|(a, b)| a * b).collect();
    let count: usize = result.iter().product();
    let data = (0..count)
        .map(|mut flat| {
            // From the last axis on: the index in a is index / dimension of b, that in b the rest.
            let (mut a, mut b, mut step_a, mut step_b) = (0, 0, 1, 1);
            for axis in (0..result.len()).rev() {
                let k = flat % result[axis];
                flat /= result[axis];
                a += k / dims[1][axis] * step_a;
                b += k % dims[1][axis] * step_b;
                step_a *= dims[0][axis];
                step_b *= dims[1][axis];
            }
            args[0].data[a] * args[1].data[b]
        })
        .collect();
    let shape = if is_matrix {
        Shape::Matrix(result[0], result[1])
    } else {
        Shape::Vector(count)
    };
    Value { shape, data }
}
