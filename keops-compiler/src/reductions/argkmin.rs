//! `argkmin_j::<K> body`

use super::*;

/// The record.
pub static REDUCTION: Reduction = Reduction {
    name: "argkmin",
    aliases: &[],
    keops_name: "ArgKMin",
    doc: "Indices of the K smallest values, ascending, the lower index first of equal ones; NaN is ignored; padded with `usize::MAX`.",
    arity: 1,
    takes_k: true,
    infer: |types, k| {
        Ok(Type {
            element: Element::Index,
            shape: kmin::k_shape(real(types, 0)?.shape, k)?,
        })
    },
    empty_has_value: true,
    body: Body::Primitive {
        feed: |_, args, k| Feed {
            reducer: Reducer::KMin(k),
            nodes: args.to_vec(),
        },
        finish: |l, node, slot, ix| {
            let Reducer::KMin(k) = slot.reducer else {
                unreachable!("internal error in keops: argkmin is fed to KMin")
            };
            l.row_word(slot, &kmin::k_word(node.ty.shape, ix).plus(k))
        },
        vjp: None,
    },
    reference: |rows, k| {
        kmin::by_rank(rows, k, |row, _| {
            row.map_or(f64::from(u32::MAX), |row| row as f64)
        })
    },
};
