//! `bspline(knots, a, order)`

use super::*;

/// Largest order.
const MAX_ORDER: i64 = 16;

/// The record.
pub static OP: Op = Op {
    name: "bspline",
    syntax: Syntax::Call,
    keops_name: "BSpline",
    doc: "The K − order − 1 basis splines of this order (degree) on K ascending knots, at the scalar a; intervals are half open, so 0 at the last knot; differentiable in a and in the knots.",
    arity: Arity::Exactly(2),
    params: &[Param::integer("order")],
    infer: |types, params| {
        let knots = vector(types, 0)?;
        if types[1] != Type::SCALAR {
            return Err(TypeError::Expected {
                arg: 1,
                expected: "a scalar".into(),
            });
        }
        let order = match params {
            [order @ 0..=MAX_ORDER] => *order as usize,
            _ => {
                return Err(TypeError::Parameter {
                    param: 0,
                    expected: format!("from 0 to {MAX_ORDER}"),
                });
            }
        };
        if knots < order + 2 {
            return Err(TypeError::Expected {
                arg: 0,
                expected: format!("a vector of at least {} knots", order + 2),
            });
        }
        Ok(Type::real(Shape::Vector(knots - order - 1)))
    },
    // The recursion of Cox and de Boor, all splines of one order at a time; 0/0 at repeated knots is 0.
    body: Body::Composite(|g, args, params| {
        let (knots, a) = (args[0], args[1]);
        let count = g.shape(knots).len();
        let part = |g: &mut Graph, v: NodeId, from: usize, n: usize| {
            take::block(g, v, from, Shape::Vector(n))
        };
        let (low, high) = (part(g, knots, 0, count - 1), part(g, knots, 1, count - 1));
        let after = g.apply(&le::OP, &[low, a]);
        let before = g.apply(&lt::OP, &[a, high]);
        let inside = g.apply(&and::OP, &[after, before]);
        let (one, zero) = (g.literal(1.0), g.literal(0.0));
        let mut splines = g.apply(&select::OP, &[inside, one, zero]);
        for order in 1..=params[0] as usize {
            let n = count - 1 - order;
            let mut side = |first: usize, rising: bool| {
                let (start, end) = (part(g, knots, first, n), part(g, knots, first + order, n));
                let width = g.apply(&sub::OP, &[end, start]);
                let inverse = g.apply(&inv_or_zero::OP, &[width]);
                let distance = if rising { [a, start] } else { [end, a] };
                let distance = g.apply(&sub::OP, &distance);
                let share = g.apply(&mul::OP, &[distance, inverse]);
                let lower = part(g, splines, first, n);
                g.apply(&mul::OP, &[share, lower])
            };
            let (left, right) = (side(0, true), side(1, false));
            splines = g.apply(&add::OP, &[left, right]);
        }
        splines
    }),
    reference: Reference::Whole(|args, params| {
        let (t, a, order) = (&args[0].data, args[1].first(), params[0] as usize);
        let splines = t.len() - order - 1;
        Value::vector((0..splines).map(|k| spline(t, a, k, order)).collect())
    }),
    test_range: (-4.0, 4.0),
};

/// Spline k, literally.
fn spline(t: &[f64], a: f64, k: usize, order: usize) -> f64 {
    if order == 0 {
        return f64::from(t[k] <= a && a < t[k + 1]);
    }
    let share = |top: f64, width: f64, k: usize| {
        if width == 0.0 {
            0.0
        } else {
            top / width * spline(t, a, k, order - 1)
        }
    };
    let end = k + order;
    share(a - t[k], t[end] - t[k], k) + share(t[end + 1] - a, t[end + 1] - t[k + 1], k + 1)
}
