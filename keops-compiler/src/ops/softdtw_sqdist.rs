//! `softdtw_sqdist(a, b, gamma)`

use super::*;

/// Largest product of the two lengths: the code grows with it, and so that of all derivatives is within the budget.
const MAX_CELLS: usize = 100;

/// The record.
pub static OP: Op = Op {
    name: "softdtw_sqdist",
    syntax: Syntax::Call,
    keops_name: "SoftDTW_SqDist",
    doc: "Soft dynamic time warping of two series of numbers with squared differences as costs, smoothed by gamma > 0; differentiable in all three.",
    arity: Arity::Exactly(3),
    params: &[],
    infer: |types, _| {
        let (n, m) = (vector(types, 0)?, vector(types, 1)?);
        if types[2] != Type::SCALAR {
            return Err(TypeError::Expected {
                arg: 2,
                expected: "a scalar".into(),
            });
        }
        if n.saturating_mul(m) > MAX_CELLS {
            return Err(TypeError::Expected {
                arg: usize::from(m > n),
                expected: format!("a shorter series (the lengths' product may be {MAX_CELLS})"),
            });
        }
        Ok(Type::SCALAR)
    },
    body: Body::Composite(|g, args, _| {
        let (n, m) = (g.shape(args[0]).len(), g.shape(args[1]).len());
        let mut before: Vec<NodeId> = vec![];
        for r in 0..n {
            let a = take::block(g, args[0], r, Shape::Scalar);
            let mut row: Vec<NodeId> = vec![];
            for c in 0..m {
                let b = take::block(g, args[1], c, Shape::Scalar);
                let difference = g.apply(&sub::OP, &[a, b]);
                let cost = g.apply(&mul::OP, &[difference, difference]);
                let left = row.last().copied();
                let cell = match (left, before.get(c).copied()) {
                    (None, None) => cost,
                    (Some(only), None) | (None, Some(only)) => g.apply(&add::OP, &[cost, only]),
                    (Some(left), Some(above)) => {
                        let ways = g.apply(&array::OP, &[left, above, before[c - 1]]);
                        let way = g.apply(&softmin::OP, &[ways, args[2]]);
                        g.apply(&add::OP, &[cost, way])
                    }
                };
                row.push(cell);
            }
            before = row;
        }
        before[m - 1]
    }),
    reference: Reference::Whole(|args, _| {
        let (a, b, gamma) = (&args[0].data, &args[1].data, args[2].first());
        let mut before = vec![f64::INFINITY; b.len() + 1];
        before[0] = 0.0;
        for x in a {
            let mut row = vec![f64::INFINITY];
            for (c, y) in b.iter().enumerate() {
                let ways: Vec<f64> = [row[c], before[c + 1], before[c]]
                    .into_iter()
                    .filter(|w| w.is_finite())
                    .collect();
                row.push((x - y) * (x - y) + softmin::reference(&ways, gamma));
            }
            before = row;
        }
        Value::scalar(before[b.len()])
    }),
    test_range: (0.5, 4.0),
};
