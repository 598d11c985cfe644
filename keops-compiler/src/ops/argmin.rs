//! `argmin(v)`, inside one vector (over rows it is the reduction `argmin_j`)

use super::*;
use crate::lower::Prim;

/// The record.
pub static OP: Op = Op {
    name: "argmin",
    syntax: Syntax::Call,
    keops_name: "ArgMin",
    doc: "Position of the smallest number of a vector, from 0, the first of equal ones, as a real number (exact: dimensions are at most 2¹⁶); NaN is ignored, 0 if all are; derivative 0.",
    arity: Arity::Exactly(1),
    params: &[],
    infer: |types, _| vector(types, 0).map(|_| Type::SCALAR),
    body: Body::Indexed {
        lower: |l, node, _| {
            let v = node.args[0];
            let start = [Operand::Const(f64::INFINITY), Operand::Const(0.0)];
            let found = l.iterate(l.graph.shape(v).len(), &start, &mut |l, state, at, k| {
                let (best, place) = (&state[0], &state[1]);
                let x = l.number(v, std::slice::from_ref(at));
                let better = l.prim(Prim::Lt, &[x.clone(), best.clone()]);
                vec![
                    l.prim(Prim::Select, &[better.clone(), x, best.clone()]),
                    l.prim(Prim::Select, &[better, k.clone(), place.clone()]),
                ]
            });
            found[1].clone()
        },
        costly: true,
        vjp: |_, _| vec![None],
        linear: Linear::No,
        simplify: no_simplification,
    },
    reference: Reference::Whole(|args, _| {
        let (mut best, mut place) = (f64::INFINITY, 0);
        for (k, &x) in args[0].data.iter().enumerate() {
            if x < best {
                (best, place) = (x, k);
            }
        }
        Value::scalar(place as f64)
    }),
    test_range: (-4.0, 4.0),
};
