//! `tensordot(a, b, dims_a, dims_b, axes_a, axes_b)`, perhaps with an order of the remaining axes

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "tensordot",
    syntax: Syntax::Call,
    keops_name: "TensorDot",
    doc: "Σ over pairs of axes of two tensors of the given dimensions, row-major, as in NumPy; `order[k]` says where remaining axis k goes. Vectors give a flat vector, as in KeOps; where an argument is a matrix, two remaining axes give a matrix.",
    arity: Arity::Exactly(2),
    params: &[
        Param::list("dims_a"),
        Param::list("dims_b"),
        Param::list("axes_a"),
        Param::list("axes_b"),
        Param::optional_list("order"),
    ],
    infer: |types, params| {
        let params = encode(types, params)?;
        (contraction::OP.infer)(types, &params).map_err(|error| renumbered(error, 1))
    },
    body: Body::Composite(|g, args, params| {
        let types = [g.ty(args[0]), g.ty(args[1])];
        match encode(&types, params) {
            Ok(params) => g.apply_with(&contraction::OP, args, &params),
            Err(_) => unreachable!("internal error in keops: tensordot was checked"),
        }
    }),
    reference: Reference::Whole(|args, params| {
        let types = [Type::real(args[0].shape), Type::real(args[1].shape)];
        let params = encode(&types, params).expect("tensordot was checked");
        match contraction::OP.reference {
            Reference::Whole(f) => f(args, &params),
            Reference::Elementwise(_) => unreachable!("contraction has a whole reference"),
        }
    }),
    test_range: (-4.0, 4.0),
};

/// An error about a parameter of `contraction`, which has `extra` parameters in front.
pub(super) fn renumbered(error: TypeError, extra: usize) -> TypeError {
    match error {
        TypeError::Parameter { param, expected } => TypeError::Parameter {
            param: param.saturating_sub(extra),
            expected,
        },
        other => other,
    }
}

/// The parameters of `contraction`.
fn encode(types: &[Type], params: &[i64]) -> Result<Vec<i64>, TypeError> {
    let mut all = vec![0];
    all.extend_from_slice(params);
    // Without an order the list is left out.
    let mut rest = params;
    for name in 0..4 {
        contraction::list(&mut rest, name)?;
    }
    if rest.is_empty() {
        all.push(0);
    }
    let typed = types.iter().any(|ty| matches!(ty.shape, Shape::Matrix(..)));
    let plan = contraction::Plan::new(types, &all).map_err(|error| renumbered(error, 1))?;
    if let ([rows, _], true) = (plan.result_dims().as_slice(), typed) {
        all[0] = *rows as i64;
    }
    Ok(all)
}
