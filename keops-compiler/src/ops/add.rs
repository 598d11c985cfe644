//! `a + b`

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "add",
    syntax: Syntax::Operator("+"),
    keops_name: "Add",
    doc: "Sum; scalars broadcast.",
    arity: Arity::Exactly(2),
    params: &[],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, _| l.prim(Prim::Add, a),
        vjp: |_, call| vec![Some(call.cotangent), Some(call.cotangent)],
        linear: Linear::Sum(whole_shape),
        simplify: |g, args, _| fold_constants(g, args, |a| a[0] + a[1]),
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0] + a[1]),
    test_range: (-4.0, 4.0),
};

/// An argument in the shape of the element-wise result.
pub(super) fn whole_shape(g: &mut Graph, node: &Node, which: usize) -> NodeId {
    let part = node.args[which];
    if g.shape(part) == node.ty.shape {
        return part;
    }
    let ones = g.constant(1.0, node.ty.shape);
    g.apply(&mul::OP, &[part, ones])
}
