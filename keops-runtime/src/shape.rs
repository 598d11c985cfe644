//! Shapes of one row's value: [`Shape`] at run time, and the markers [`Scalar`], [`Vector`] and [`Matrix`] that carry the
//! same in types, so that a call with an array of the wrong rank does not compile.
use std::fmt;

/// Shape of one row of a variable, of a parameter or of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One number.
    Scalar,
    /// This many numbers.
    Vector(usize),
    /// Rows × columns, row-major.
    Matrix(usize, usize),
}

impl Shape {
    /// Numbers in one value.
    pub const fn len(self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Vector(n) => n,
            Shape::Matrix(r, c) => r * c,
        }
    }
    /// Whether a value has no numbers (never the case for a checked formula).
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Scalar => write!(f, "scalars"),
            Shape::Vector(1) => write!(f, "1 column"),
            Shape::Vector(n) => write!(f, "{n} columns"),
            Shape::Matrix(r, c) => write!(f, "{r}×{c} matrices"),
        }
    }
}

/// Marks a variable or parameter of one number: `f32` in a formula.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {}

/// A dimension that types do not say, because Rust takes no polynomial of const parameters there: arrays of any number of
/// columns have the type, and the number is checked when the formula is called, as every dimension is. No row has none.
pub const ANY: usize = 0;

/// Marks a variable or parameter of D numbers: `[f32; D]` in a formula.
#[derive(Clone, Copy, Debug)]
pub enum Vector<const D: usize> {}

/// Marks a variable or parameter of one complex number: `Complex<f32>` in a formula.
#[derive(Clone, Copy, Debug)]
pub enum ComplexScalar {}

/// Marks a variable or parameter of D complex numbers: `[Complex<f32>; D]` in a formula.
#[derive(Clone, Copy, Debug)]
pub enum ComplexVector<const D: usize> {}

/// Marks a variable or parameter of R × C complex numbers: `[[Complex<f32>; C]; R]` in a formula.
#[derive(Clone, Copy, Debug)]
pub enum ComplexMatrix<const R: usize, const C: usize> {}

/// Marks a variable or parameter of R × C numbers: `[[f32; C]; R]` in a formula.
#[derive(Clone, Copy, Debug)]
pub enum Matrix<const R: usize, const C: usize> {}
