//! [`Value`]: a run-time value of the f64 reference interpreter.

use crate::types::Shape;

/// Numbers in row-major order with their shape. Conditions are 1 and 0, indices are exact integers.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The shape.
    pub shape: Shape,
    /// `shape.len()` numbers.
    pub data: Vec<f64>,
}

impl Value {
    /// A scalar.
    pub fn scalar(x: f64) -> Value {
        Value {
            shape: Shape::Scalar,
            data: vec![x],
        }
    }
    /// A vector.
    pub fn vector(data: Vec<f64>) -> Value {
        Value {
            shape: Shape::Vector(data.len()),
            data,
        }
    }
    /// All numbers equal.
    pub fn filled(x: f64, shape: Shape) -> Value {
        Value {
            shape,
            data: vec![x; shape.len()],
        }
    }
    /// Number `k`, a scalar's only number for every `k`.
    pub fn broadcast(&self, k: usize) -> f64 {
        if self.shape == Shape::Scalar {
            self.data[0]
        } else {
            self.data[k]
        }
    }
    /// The only number of a scalar, or the first number.
    pub fn first(&self) -> f64 {
        self.data[0]
    }
}
