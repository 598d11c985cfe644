//! Equality of row indices: which row a minimum came from

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "index_eq",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "Equality of two row indices.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| {
        Ok(Type {
            element: Element::Bool,
            shape: common_shape(Element::Index, types, 0)?,
        })
    },
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::IndexEq, a),
        vjp: |_, _| vec![None, None],
        linear: Linear::No,
        simplify: no_simplification,
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| f64::from(a[0] == a[1])),
    test_range: (-4.0, 4.0),
};
