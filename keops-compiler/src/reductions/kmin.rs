//! `kmin_j::<K> body`

use super::*;
use crate::ops::{MAX_NUMBERS, gate, index_in_columns, sum, take, vecmat};

/// The record.
pub static REDUCTION: Reduction = Reduction {
    name: "kmin",
    aliases: &[],
    keops_name: "KMin",
    doc: "The K smallest values, ascending, number by number (K, or K×d of vectors); NaN is ignored; padded with +inf.",
    arity: 1,
    takes_k: true,
    infer: |types, k| Ok(Type::real(k_shape(real(types, 0)?.shape, k)?)),
    empty_has_value: true,
    body: Body::Primitive {
        feed: |_, args, k| Feed {
            reducer: Reducer::KMin(k),
            nodes: args.to_vec(),
        },
        finish: |l, node, slot, ix| l.row_word(slot, &k_word(node.ty.shape, ix)),
        vjp: Some(|g, call| {
            let k = match g.shape(call.node) {
                Shape::Matrix(k, _) | Shape::Vector(k) => k,
                Shape::Scalar => 1,
            };
            let rows = g.reduce(&argkmin::REDUCTION, axis_of(g, call.node), call.args, k);
            let chosen = where_chosen(g, call, rows);
            // A row is at most once among the K.
            let cotangent = match g.shape(call.args[0]) {
                Shape::Scalar => g.apply(&sum::OP, &[chosen]),
                _ => {
                    let ones = g.constant(1.0, Shape::Vector(k));
                    let sums = g.apply(&vecmat::OP, &[ones, chosen]);
                    // A number that is among no number's K is structurally zero again, not a sum of zeros.
                    let row = g.row(axis_of(g, call.node));
                    let among = g.apply(&index_in_columns::OP, &[row, rows]);
                    g.apply_with(&gate::OP, &[among, sums], &[0])
                }
            };
            vec![Some(in_chosen_rows(g, call, rows, cotangent))]
        }),
    },
    reference: |rows, k| {
        by_rank(rows, k, |sorted, column| {
            sorted.map_or(f64::INFINITY, |row| column[row])
        })
    },
};

/// The smallest value, from the state that `argmin` also uses: `kmin::<1>` without its axis.
pub(super) fn first(g: &mut Graph, axis: Axis, body: NodeId) -> NodeId {
    let shape = g.shape(body);
    if let Shape::Matrix(..) = shape {
        return g.reduce(&min::REDUCTION, axis, &[body], 0);
    }
    let one = g.reduce(&REDUCTION, axis, &[body], 1);
    take::block(g, one, 0, shape)
}

/// The largest K: each pair may move K numbers.
pub const MAX_K: usize = 4096;

/// Shape of the K smallest: K for scalars, K×d for vectors.
pub(super) fn k_shape(shape: Shape, k: usize) -> Result<Shape, TypeError> {
    if !(1..=MAX_K).contains(&k) {
        return Err(TypeError::Parameter {
            param: 0,
            expected: format!("from 1 to {MAX_K}"),
        });
    }
    match shape {
        Shape::Scalar => Ok(Shape::Vector(k)),
        Shape::Vector(d) if k * d <= MAX_NUMBERS => Ok(Shape::Matrix(k, d)),
        Shape::Vector(_) => Err(TypeError::Parameter {
            param: 0,
            expected: "smaller for a vector of this dimension".into(),
        }),
        Shape::Matrix(..) => Err(TypeError::Expected {
            arg: 0,
            expected: "a scalar or a vector".into(),
        }),
    }
}

/// The word of the state row that holds a value of the result; its index is K words further.
pub(super) fn k_word(shape: Shape, ix: &[Ix]) -> Ix {
    match (shape, ix) {
        (Shape::Matrix(k, _), [rank, number]) => number.times(2 * k).add(rank),
        _ => ix[0].clone(),
    }
}

/// Reference: `f` is given the row of each rank (`None` beyond the last) and its column.
pub(super) fn by_rank(rows: &[Vec<Value>], k: usize, f: fn(Option<usize>, &[f64]) -> f64) -> Value {
    let shape = rows.first().map_or(Shape::Scalar, |r| r[0].shape);
    let columns: Vec<(Vec<f64>, Vec<usize>)> = (0..shape.len())
        .map(|n| {
            let column: Vec<f64> = rows.iter().map(|r| r[0].data[n]).collect();
            let mut order: Vec<usize> = (0..column.len())
                .filter(|&row| !column[row].is_nan())
                .collect();
            // Stable: equal values keep the order of their rows.
            order.sort_by(|&a, &b| {
                column[a]
                    .partial_cmp(&column[b])
                    .unwrap_or(std::cmp::Ordering::Equal)
            });
            (column, order)
        })
        .collect();
    let data = (0..k)
        .flat_map(|rank| {
            columns
                .iter()
                .map(move |(c, order)| f(order.get(rank).copied(), c))
        })
        .collect();
    let shape = match shape {
        Shape::Scalar => Shape::Vector(k),
        _ => Shape::Matrix(k, shape.len()),
    };
    Value { shape, data }
}
