//! `prod_j body`

use super::*;
use crate::lower::{Prim, flat};
use crate::ops::select;
use crate::ops::{div, eq, mul, sub};

/// The record.
///
/// K is no parameter of users (theirs is 0) but belongs to derivatives: with K = r this is the product of all values that
/// are not 0 if exactly r values are 0, else 0. The r-th derivative with respect to r rows that are 0 is that product.
pub static REDUCTION: Reduction = Reduction {
    name: "prod",
    aliases: &[],
    keops_name: "",
    doc: "Product over rows, number by number; 1 of none; NaN if any factor is; derivatives right where factors are 0, up to the third.",
    arity: 1,
    takes_k: false,
    infer: |types, _| real(types, 0),
    empty_has_value: true,
    body: Body::Primitive {
        feed: |_, args, _| Feed {
            reducer: Reducer::Prod,
            nodes: args.to_vec(),
        },
        finish: |l, node, slot, ix| {
            let Kind::Reduce(_, _, zeros_wanted) = node.kind else {
                unreachable!("internal error in keops: prod is a reduction")
            };
            let at = flat(node.ty.shape, ix).times(2);
            let (product, zeros) = (l.row_word(slot, &at), l.row_word(slot, &at.plus(1)));
            let wanted = Operand::Const(zeros_wanted as f64);
            let as_wanted = l.prim(Prim::Eq, &[zeros, wanted]);
            let zero = Operand::Const(0.0);
            // 0 times infinity or NaN is NaN; the products of derivatives just do not exist.
            let otherwise = if zeros_wanted == 0 {
                l.prim(Prim::Mul, &[product.clone(), zero])
            } else {
                zero
            };
            l.prim(Prim::Select, &[as_wanted, product, otherwise])
        },
        vjp: Some(|g, call| {
            let (v, axis) = (call.args[0], axis_of(g, call.node));
            let zeros = match g.node(call.node).kind {
                Kind::Reduce(_, _, zeros) => zeros,
                _ => 0,
            };
            let mut without = |more: usize| g.reduce(&REDUCTION, axis, call.args, zeros + more);
            let (first, second, third) = (without(1), without(2), without(3));
            let (zero, one) = (g.literal(0.0), g.literal(1.0));
            let at_zero = g.apply(&eq::OP, &[v, zero]);
            let safe = g.apply(&select::OP, &[at_zero, one, v]);
            let elsewhere = g.apply(&div::OP, &[call.node, safe]);
            // Without this row, which is 0: its own derivatives are taken away again, since a factor occurs once.
            let inner = g.apply(&mul::OP, &[v, third]);
            let inner = g.apply(&sub::OP, &[second, inner]);
            let own = g.apply(&mul::OP, &[v, inner]);
            let here = g.apply(&sub::OP, &[first, own]);
            let slope = g.apply(&select::OP, &[at_zero, here, elsewhere]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, slope]))]
        }),
    },
    reference: |rows, zeros_wanted| {
        by_column(rows, |column| {
            let zeros = column.iter().filter(|&&x| x == 0.0).count();
            let rest: f64 = column.iter().filter(|&&x| x != 0.0).product();
            match (zeros == zeros_wanted, zeros_wanted) {
                (true, _) => rest,
                (false, 0) => rest * 0.0,
                (false, _) => 0.0,
            }
        })
    },
};
