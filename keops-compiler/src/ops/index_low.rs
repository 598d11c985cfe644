//! The low 16 bits of a row index, as a number

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "index_low",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "A row index modulo 2¹⁶, as a number.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: number_of_index,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::IndexLow, a),
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: no_simplification,
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0] % 65536.0),
    test_range: (-4.0, 4.0),
};

/// A real number from an index.
pub fn number_of_index(types: &[Type], _: &[i64]) -> Result<Type, TypeError> {
    common_shape(Element::Index, types, 0).map(Type::real)
}
