//! The high 16 bits of a row index, as a number

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "index_high",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "A row index divided by 2¹⁶ and rounded down, as a number.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: index_low::number_of_index,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::IndexHigh, a),
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: no_simplification,
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| (a[0] / 65536.0).floor()),
    test_range: (-4.0, 4.0),
};
