//! Static types of formula values, and which indices a value depends on.

use std::fmt;

/// Shape of one value. Dimensions are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// One number.
    Scalar,
    /// A vector of this dimension.
    Vector(usize),
    /// Rows × columns.
    Matrix(usize, usize),
}

impl Shape {
    /// Numbers in one value.
    pub fn len(self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Vector(n) => n,
            Shape::Matrix(r, c) => r * c,
        }
    }
    /// Never true for a checked formula; here because `len` is.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
    /// Number of indices that select one number: 0, 1 or 2.
    pub fn rank(self) -> usize {
        match self {
            Shape::Scalar => 0,
            Shape::Vector(_) => 1,
            Shape::Matrix(..) => 2,
        }
    }
}

/// As users see it in messages: `a scalar`, `a vector of dimension 3`, `a 2×3 matrix`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Scalar => write!(f, "a scalar"),
            Shape::Vector(n) => write!(f, "a vector of dimension {n}"),
            Shape::Matrix(r, c) => write!(f, "a {r}×{c} matrix"),
        }
    }
}

/// What the numbers of a value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    /// The item's float type.
    Real,
    /// A complex number, in the checker's graph only: there it is a pair of real values.
    Complex,
    /// A truth value, the type of comparisons.
    Bool,
    /// A row index, the result of arg-reductions.
    Index,
    /// An integer made of the row numbers `i` and `j`, which only comparisons and `real` take.
    Integer,
}

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type {
    /// What its numbers are.
    pub element: Element,
    /// How many, in which shape.
    pub shape: Shape,
}

impl Type {
    /// A real value of this shape.
    pub fn real(shape: Shape) -> Type {
        Type {
            element: Element::Real,
            shape,
        }
    }
    /// The type of complex values of this shape.
    pub fn complex(shape: Shape) -> Type {
        Type {
            element: Element::Complex,
            shape,
        }
    }
    /// The type of a real number.
    pub const SCALAR: Type = Type {
        element: Element::Real,
        shape: Shape::Scalar,
    };
    /// The type of a condition.
    pub const BOOL: Type = Type {
        element: Element::Bool,
        shape: Shape::Scalar,
    };
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.element, self.shape) {
            (Element::Real, shape) => write!(f, "{shape}"),
            (Element::Bool, Shape::Scalar) => write!(f, "a condition"),
            (Element::Bool, shape) => write!(f, "{shape} of conditions"),
            (Element::Complex, Shape::Scalar) => write!(f, "a complex number"),
            (Element::Complex, Shape::Vector(n)) => {
                write!(f, "a complex vector of dimension {n}")
            }
            (Element::Complex, shape) => write!(f, "{shape} of complex numbers"),
            (Element::Integer, _) => write!(f, "an integer"),
            (Element::Index, Shape::Scalar) => write!(f, "an index"),
            (Element::Index, shape) => write!(f, "{shape} of indices"),
        }
    }
}

/// One of the two index ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// i, of M rows
    I,
    /// j, of N rows
    J,
}

impl Axis {
    /// The other one.
    pub fn other(self) -> Axis {
        match self {
            Axis::I => Axis::J,
            Axis::J => Axis::I,
        }
    }
    /// `i` or `j`.
    pub fn letter(self) -> char {
        match self {
            Axis::I => 'i',
            Axis::J => 'j',
        }
    }
}

/// The set of indices that a value depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Indices {
    /// Depends on i.
    pub i: bool,
    /// Depends on j.
    pub j: bool,
}

impl Indices {
    /// Depends on neither.
    pub const NONE: Indices = Indices { i: false, j: false };
    /// Exactly one index, or none.
    pub fn of(axis: Option<Axis>) -> Indices {
        Indices {
            i: axis == Some(Axis::I),
            j: axis == Some(Axis::J),
        }
    }
    /// Whether the set holds the axis.
    pub fn contains(self, axis: Axis) -> bool {
        match axis {
            Axis::I => self.i,
            Axis::J => self.j,
        }
    }
    /// The union.
    #[must_use]
    pub fn union(self, other: Indices) -> Indices {
        Indices {
            i: self.i || other.i,
            j: self.j || other.j,
        }
    }
    /// The set without the axis.
    #[must_use]
    pub fn without(self, axis: Axis) -> Indices {
        match axis {
            Axis::I => Indices { i: false, ..self },
            Axis::J => Indices { j: false, ..self },
        }
    }
    /// The only axis of a one-element set.
    pub fn single(self) -> Option<Axis> {
        match (self.i, self.j) {
            (true, false) => Some(Axis::I),
            (false, true) => Some(Axis::J),
            _ => None,
        }
    }
    /// Whether the value belongs to a pair.
    pub fn is_pair(self) -> bool {
        self.i && self.j
    }
}
