//! Shape rules that operations share, and why arguments do not fit: [`TypeError`].
//!
//! Invariants: no rule panics, whatever the types and static parameters; no rule gives a value of more than
//! [`MAX_NUMBERS`] numbers if its arguments have at most that many.

use crate::types::{Element, Shape, Type};

/// Why arguments do not fit, without spans: argument numbers, for the checker to attach expressions and types to.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeError {
    /// Two arguments must have equal shapes (or one must be a scalar, where `broadcast`).
    Unequal {
        /// One argument.
        left: usize,
        /// The other.
        right: usize,
        /// Whether a scalar would have been accepted.
        broadcast: bool,
    },
    /// An argument has the wrong kind of type.
    Expected {
        /// The argument.
        arg: usize,
        /// What would fit, as in "a vector", "a vector of dimension 3", "a scalar", "a condition".
        expected: String,
    },
    /// A static parameter is out of range.
    Parameter {
        /// Its number.
        param: usize,
        /// What would fit, as in "at least 1", "less than the dimension 3".
        expected: String,
    },
}

/// Numbers that one value of a formula may have.
pub const LARGEST: usize = 1 << 16;

/// Numbers that one value may have, also within derivatives and where complex values lie as their parts: keeps code, stack and build time of any formula bounded.
pub const MAX_NUMBERS: usize = 1 << 20;

/// A real type that grew out of its arguments, if it is not too large; `arg` is the argument to blame.
pub fn sized(shape: Shape, arg: usize) -> Result<Type, TypeError> {
    let numbers = match shape {
        Shape::Matrix(r, c) => r.saturating_mul(c),
        _ => shape.len(),
    };
    if numbers <= MAX_NUMBERS {
        return Ok(Type::real(shape));
    }
    let expected = format!("a smaller value (the result may have at most {LARGEST} numbers)");
    Err(TypeError::Expected { arg, expected })
}

/// A static parameter that numbers one of `count` things.
pub fn below(params: &[i64], param: usize, count: usize) -> Result<usize, TypeError> {
    match params.get(param).map(|&p| usize::try_from(p)) {
        Some(Ok(p)) if p < count => Ok(p),
        Some(Ok(_)) => Err(TypeError::Parameter {
            param,
            expected: format!("less than the dimension {count}"),
        }),
        _ => Err(TypeError::Parameter {
            param,
            expected: "at least 0".into(),
        }),
    }
}

/// Shape rule of element-wise operations on real numbers: equal shapes, scalars broadcast.
pub fn broadcast(types: &[Type], _: &[i64]) -> Result<Type, TypeError> {
    Ok(Type::real(broadcast_shape(types, 0)?))
}

/// Shape rule of comparisons: of real numbers, as [`broadcast`], to conditions.
pub fn comparison(types: &[Type], _: &[i64]) -> Result<Type, TypeError> {
    Ok(Type {
        element: Element::Bool,
        shape: broadcast_shape(types, 0)?,
    })
}

/// Shape rule of logical operations: of conditions, as [`broadcast`].
pub fn logical(types: &[Type], _: &[i64]) -> Result<Type, TypeError> {
    Ok(Type {
        element: Element::Bool,
        shape: common_shape(Element::Bool, types, 0)?,
    })
}

/// The common shape of real arguments, scalars broadcasting; `first` is the number of `types[0]` in the call.
pub fn broadcast_shape(types: &[Type], first: usize) -> Result<Shape, TypeError> {
    common_shape(Element::Real, types, first)
}

/// The common shape of arguments of one kind, scalars broadcasting; `first` is the number of `types[0]` in the call.
pub fn common_shape(element: Element, types: &[Type], first: usize) -> Result<Shape, TypeError> {
    let mut shape = Shape::Scalar;
    let mut widest = 0;
    for (k, ty) in types.iter().enumerate() {
        if ty.element != element {
            let expected = match element {
                Element::Real => "a real number",
                Element::Bool => "a condition",
                Element::Index => "an index",
                Element::Integer => "an integer",
                Element::Complex => "a complex number",
            };
            return Err(TypeError::Expected {
                arg: first + k,
                expected: expected.into(),
            });
        }
        if ty.shape == Shape::Scalar || ty.shape == shape {
            continue;
        }
        if shape != Shape::Scalar {
            return Err(TypeError::Unequal {
                left: first + widest,
                right: first + k,
                broadcast: true,
            });
        }
        (shape, widest) = (ty.shape, k);
    }
    Ok(shape)
}

/// The dimension of a vector argument.
pub fn vector(types: &[Type], arg: usize) -> Result<usize, TypeError> {
    match types.get(arg) {
        Some(Type {
            element: Element::Real,
            shape: Shape::Vector(n),
        }) => Ok(*n),
        _ => Err(TypeError::Expected {
            arg,
            expected: "a vector".into(),
        }),
    }
}

/// The dimensions of a matrix argument.
pub fn matrix(types: &[Type], arg: usize) -> Result<(usize, usize), TypeError> {
    match types.get(arg) {
        Some(Type {
            element: Element::Real,
            shape: Shape::Matrix(r, c),
        }) => Ok((*r, *c)),
        _ => Err(TypeError::Expected {
            arg,
            expected: "a matrix".into(),
        }),
    }
}

/// Two vector arguments of the same dimension.
pub fn equal_vectors(types: &[Type], left: usize, right: usize) -> Result<usize, TypeError> {
    let (n, m) = (vector(types, left)?, vector(types, right)?);
    if n == m {
        Ok(n)
    } else {
        Err(TypeError::Unequal {
            left,
            right,
            broadcast: false,
        })
    }
}

/// A static parameter that is the dimension of a result.
pub fn dimension(params: &[i64], param: usize) -> Result<usize, TypeError> {
    match params.get(param).map(|&p| usize::try_from(p)) {
        Some(Ok(n)) if (1..=LARGEST).contains(&n) => Ok(n),
        _ => Err(TypeError::Parameter {
            param,
            expected: format!("from 1 to {LARGEST}"),
        }),
    }
}
