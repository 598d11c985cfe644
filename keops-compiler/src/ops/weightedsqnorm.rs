//! `weightedsqnorm(w, v)`, with a scalar, a diagonal or a full weight

use super::*;

/// The record.
pub static OP: Op = Op {
    name: "weightedsqnorm",
    syntax: Syntax::Call,
    keops_name: "WeightedSqNorm, SqNormIso, SqNormDiag, SymSqNorm",
    doc: "w·|v|² for a scalar w, Σ wₖvₖ² for a vector, vᵀ·w·v for a matrix (which need not be symmetric).",
    arity: Arity::Exactly(2),
    params: &[],
    infer: |types, _| check(types, vector(types, 1)?),
    body: Body::Composite(|g, args, _| {
        let (w, v) = (args[0], args[1]);
        match g.shape(w) {
            Shape::Scalar => {
                let square = g.apply(&dot::OP, &[v, v]);
                g.apply(&mul::OP, &[w, square])
            }
            Shape::Vector(_) => {
                let weighted = g.apply(&mul::OP, &[w, v]);
                g.apply(&dot::OP, &[weighted, v])
            }
            Shape::Matrix(..) => {
                let product = g.apply(&matvec::OP, &[w, v]);
                g.apply(&dot::OP, &[product, v])
            }
        }
    }),
    reference: Reference::Whole(|args, _| Value::scalar(reference(&args[0], &args[1].data))),
    test_range: (-4.0, 4.0),
};

/// Whether the weight fits vectors of dimension d.
pub(super) fn check(types: &[Type], d: usize) -> Result<Type, TypeError> {
    let fits = match types[0].shape {
        Shape::Scalar => true,
        Shape::Vector(n) => n == d,
        Shape::Matrix(r, c) => (r, c) == (d, d),
    };
    if fits && types[0].element == Element::Real {
        return Ok(Type::SCALAR);
    }
    Err(TypeError::Expected {
        arg: 0,
        expected: format!("a scalar, a vector of dimension {d} or a {d}×{d} matrix"),
    })
}

/// The norm with one of the three weights.
pub(super) fn reference(w: &Value, v: &[f64]) -> f64 {
    let d = v.len();
    let weight = |k: usize, l: usize| match w.shape {
        Shape::Matrix(..) => w.data[k * d + l],
        _ if k != l => 0.0,
        _ => w.broadcast(k),
    };
    (0..d)
        .flat_map(|k| (0..d).map(move |l| (k, l)))
        .map(|(k, l)| weight(k, l) * v[k] * v[l])
        .sum()
}
