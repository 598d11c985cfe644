//! Order of row indices

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "index_lt",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "Order of two row indices.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: index_eq::OP.infer,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::IndexLt, a),
        vjp: |_, _| vec![None, None],
        linear: Linear::No,
        simplify: no_simplification,
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| f64::from(a[0] < a[1])),
    test_range: (-4.0, 4.0),
};
