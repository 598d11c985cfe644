//! Complex values: pairs of real nodes, which every operation is made of.
//!
//! Invariants: [`Kind::Complex`] nodes are in the checker's graph only; both parts have the value's shape. In memory and in
//! results the parts stand side by side ([`planar`]): a number is a vector of 2, a vector of n a 2×n matrix, an r×c matrix a
//! 2r×c matrix. So derivatives need nothing of their own: with respect to a complex variable they are those by its two parts, ∂/∂re + i ∂/∂im.

use super::{Graph, Kind, NodeId};
use crate::ops::{add, array, cos, div, exp, mul, neg, select, sin, sqrt, stack, sub, take};
use crate::types::{Element, Shape, Type};

/// Real and imaginary part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The real part.
    pub re: NodeId,
    /// The imaginary part.
    pub im: NodeId,
}

/// The real shape that holds a complex value of this shape.
pub fn planar(shape: Shape) -> Shape {
    match shape {
        Shape::Scalar => Shape::Vector(2),
        Shape::Vector(n) => Shape::Matrix(2, n),
        Shape::Matrix(r, c) => Shape::Matrix(2 * r, c),
    }
}

/// The shape of the values of a type, if they are complex.
pub fn shape_of(ty: Type) -> Option<Shape> {
    (ty.element == Element::Complex).then_some(ty.shape)
}

/// The type of values of a real shape, which are complex ones of another shape if there is one: a 2×n matrix may hold a
/// vector or a 1×n matrix.
pub fn ty(shape: Shape, complex: Option<Shape>) -> Type {
    complex.map_or(Type::real(shape), Type::complex)
}

/// The parts of a complex value.
pub fn parts(g: &Graph, node: NodeId) -> Option<Parts> {
    match (&g.node(node).kind, g.node(node).args.as_slice()) {
        (Kind::Complex, &[re, im]) => Some(Parts { re, im }),
        _ => None,
    }
}

/// The complex value of two parts of one shape.
pub fn pair(g: &mut Graph, Parts { re, im }: Parts) -> NodeId {
    let (ty, rows) = (Type::complex(g.shape(re)), g.union_of(&[re, im]));
    g.leaf(Kind::Complex, vec![re, im], ty, rows)
}

/// The parts of a real node of a planar shape.
pub fn unpack(g: &mut Graph, node: NodeId, shape: Shape) -> Parts {
    Parts {
        re: take::block(g, node, 0, shape),
        im: take::block(g, node, shape.len(), shape),
    }
}

/// Both parts as one real node of the planar shape.
pub fn pack(g: &mut Graph, Parts { re, im }: Parts) -> NodeId {
    let op = match g.shape(re) {
        Shape::Matrix(..) => &stack::OP,
        _ => &array::OP,
    };
    g.apply(op, &[re, im])
}

/// The squared absolute value.
pub fn square_abs(g: &mut Graph, z: Parts) -> NodeId {
    let (a, b) = (
        g.apply(&mul::OP, &[z.re, z.re]),
        g.apply(&mul::OP, &[z.im, z.im]),
    );
    g.apply(&add::OP, &[a, b])
}

/// The absolute value.
pub fn abs(g: &mut Graph, z: Parts) -> NodeId {
    let square = square_abs(g, z);
    g.apply(&sqrt::OP, &[square])
}

/// The conjugate.
pub fn conj(g: &mut Graph, z: Parts) -> Parts {
    Parts {
        re: z.re,
        im: g.apply(&neg::OP, &[z.im]),
    }
}

/// a · b
pub fn product(g: &mut Graph, a: Parts, b: Parts) -> Parts {
    let mut term = |x: NodeId, y: NodeId| g.apply(&mul::OP, &[x, y]);
    let (rr, ii) = (term(a.re, b.re), term(a.im, b.im));
    let (ri, ir) = (term(a.re, b.im), term(a.im, b.re));
    Parts {
        re: g.apply(&sub::OP, &[rr, ii]),
        im: g.apply(&add::OP, &[ri, ir]),
    }
}

/// A product by a rule that is linear in each of two factors, one of which may be real: then it has no imaginary part.
pub fn bilinear<E>(
    g: &mut Graph,
    [a, b]: [(NodeId, Option<NodeId>); 2],
    of: &mut dyn FnMut(&mut Graph, NodeId, NodeId) -> Result<NodeId, E>,
) -> Result<Parts, E> {
    let re = of(g, a.0, b.0)?;
    Ok(match (a.1, b.1) {
        (Some(x), Some(y)) => {
            let (ii, ri, ir) = (of(g, x, y)?, of(g, a.0, y)?, of(g, x, b.0)?);
            Parts {
                re: g.apply(&sub::OP, &[re, ii]),
                im: g.apply(&add::OP, &[ri, ir]),
            }
        }
        (Some(x), None) => Parts {
            re,
            im: of(g, x, b.0)?,
        },
        (None, y) => Parts {
            re,
            im: of(g, a.0, y.unwrap_or(b.0))?,
        },
    })
}

/// The parts times a real value.
pub fn scaled(g: &mut Graph, z: Parts, by: NodeId) -> Parts {
    each(z, |part| g.apply(&mul::OP, &[part, by]))
}

/// The parts divided by a real value.
pub fn divided(g: &mut Graph, z: Parts, by: NodeId) -> Parts {
    each(z, |part| g.apply(&div::OP, &[part, by]))
}

/// a / b
pub fn quotient(g: &mut Graph, a: Parts, b: Parts) -> Parts {
    let opposite = conj(g, b);
    let product = product(g, a, opposite);
    let square = square_abs(g, b);
    divided(g, product, square)
}

/// e^(i·x) of a real x.
pub fn exp1j(g: &mut Graph, x: NodeId) -> Parts {
    Parts {
        re: g.apply(&cos::OP, &[x]),
        im: g.apply(&sin::OP, &[x]),
    }
}

/// e^z
pub fn exponential(g: &mut Graph, z: Parts) -> Parts {
    let (size, turn) = (g.apply(&exp::OP, &[z.re]), exp1j(g, z.im));
    scaled(g, turn, size)
}

/// `if c { a } else { b }`
pub fn choice(g: &mut Graph, c: NodeId, a: Parts, b: Parts) -> Parts {
    Parts {
        re: g.apply(&select::OP, &[c, a.re, b.re]),
        im: g.apply(&select::OP, &[c, a.im, b.im]),
    }
}

/// Both parts through the same function.
pub fn each(z: Parts, mut f: impl FnMut(NodeId) -> NodeId) -> Parts {
    Parts {
        re: f(z.re),
        im: f(z.im),
    }
}
