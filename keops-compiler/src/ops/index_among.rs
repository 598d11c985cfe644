//! Whether a row index is among others: the rows that a reduction chose

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "index_among",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "Whether a row index equals one of several.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| {
        for (arg, ty) in types.iter().enumerate() {
            if ty.element != Element::Index || (arg == 0 && ty.shape != Shape::Scalar) {
                return Err(TypeError::Expected {
                    arg,
                    expected: if arg == 0 { "an index" } else { "indices" }.into(),
                });
            }
        }
        Ok(Type::BOOL)
    },
    body: Body::Indexed {
        lower: |l, node, _| {
            let (row, rows) = (node.args[0], node.args[1]);
            let found = sum_all(l, rows, &mut |l, ix| one_if_equal(l, row, rows, ix));
            l.prim(Prim::Lt, &[Operand::Const(0.0), found])
        },
        costly: false,
        vjp: |_, _| vec![None, None],
        linear: Linear::No,
        simplify: |g, args, _| match g.shape(args[1]) {
            Shape::Scalar => Some(g.apply(&index_eq::OP, args)),
            _ => None,
        },
    },
    reference: Reference::Whole(|args, _| {
        let row = args[0].first();
        Value::scalar(f64::from(args[1].data.contains(&row)))
    }),
    test_range: (-4.0, 4.0),
};

/// 1 where a row index equals one of others, 0 where not.
pub(super) fn one_if_equal(l: &mut Lowerer<'_>, row: NodeId, rows: NodeId, ix: &[Ix]) -> Term {
    let (row, other) = (l.number(row, &[]), l.number(rows, ix));
    let equal = l.prim(Prim::IndexEq, &[row, other]);
    let (one, zero) = (Operand::Const(1.0), Operand::Const(0.0));
    Term::Value(l.prim(Prim::Select, &[equal, one, zero]))
}
