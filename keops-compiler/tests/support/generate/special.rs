//! Parts of formulas that no record of an operation stands for: complex values, derivatives, conditions on row numbers.
//!
//! Invariant: what is derived names the variable that it is derived by.

use super::{Generator, Scope, depends, names};
use keops_compiler::types::{Axis, Element, Shape, Type};

/// Shapes of variables to derive by: every number of some takes a sweep of its own.
const DERIVED_BY: [Shape; 5] = [
    Shape::Scalar,
    Shape::Vector(2),
    Shape::Vector(3),
    Shape::Matrix(2, 2),
    Shape::Matrix(2, 3),
];
/// Shapes of complex values.
const COMPLEX: [Shape; 4] = [
    Shape::Scalar,
    Shape::Vector(2),
    Shape::Vector(3),
    Shape::Matrix(2, 2),
];
/// What may be without what is in it.
pub(super) const LOSING: [&str; 7] = [
    "complex",
    "im",
    "grad",
    "jvp",
    "jacobian",
    "divergence",
    "laplacian",
];
/// Conditions on both row numbers; `xs` is a parameter.
const OF_PAIRS: [&str; 12] = [
    "i <= j",
    "i == j",
    "abs(i - j) <= 1",
    "2 * j > i + 1",
    "i != j",
    "min(i, j) < 2",
    "max(i, 2 * j) >= 3",
    "i + j == 4",
    "abs(2 * i - j) <= 2 && j > 0",
    "i - j < 3 && !(j - i > 3)",
    "abs(i - j) <= xs || j == 0",
    "j < xs",
];

impl Generator {
    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    /// A condition on the row numbers that there are.
    pub(super) fn rows_condition(&mut self, scope: &Scope) -> Option<String> {
        let condition = match (scope.axes.i, scope.axes.j) {
            (true, true) => self.one(&OF_PAIRS),
            (true, false) => self.one(&["i < 2", "i == 1", "2 * i >= 3", "i <= xs"]),
            (false, true) => self.one(&["j < 2", "j != 1", "3 - j > 0", "j >= xs"]),
            (false, false) => return None,
        };
        Some(format!("({condition})"))
    }

    /// A value of a real type by a complex one or by a derivative, where there is a way.
    pub(super) fn special(&mut self, ty: Type, depth: usize, scope: &Scope) -> Option<String> {
        if COMPLEX.contains(&ty.shape) && self.chance(0.4) {
            return Some(self.of_complex(ty.shape, depth, scope));
        }
        // Derivatives of derivatives are long.
        if scope.derives && !self.chance(0.15) {
            return None;
        }
        let scope = Scope {
            axes: scope.axes,
            names: scope.names.clone(),
            derives: true,
        };
        self.derivative(ty.shape, depth.min(2), &scope)
    }

    fn variable(&mut self, letters: &[&str], shape: Shape, scope: &Scope) -> String {
        let kind = match shape {
            Shape::Scalar => "s".into(),
            Shape::Vector(n) => format!("v{n}"),
            Shape::Matrix(r, c) => format!("m{r}{c}"),
        };
        let mut suffixes = vec![""];
        suffixes.extend(scope.axes.i.then_some("_i"));
        suffixes.extend(scope.axes.j.then_some("_j"));
        let (letter, suffix) = (self.one(letters), self.one(&suffixes));
        format!("{letter}{kind}{suffix}")
    }

    fn derivative(&mut self, shape: Shape, depth: usize, scope: &Scope) -> Option<String> {
        let scalar = Shape::Scalar;
        let by = |me: &mut Self, shape| me.variable(&["x", "y"], shape, scope);
        let way = self.below(6);
        Some(match (way, shape) {
            (0, Shape::Matrix(r, c)) => {
                let v = by(self, Shape::Vector(c));
                let f = self.naming(&v, Shape::Vector(c), Shape::Vector(r), depth, scope);
                format!("jacobian({f}, {v})")
            }
            (0, Shape::Scalar) => {
                let of = DERIVED_BY[1 + self.below(4)];
                let v = by(self, of);
                let f = self.naming(&v, of, of, depth, scope);
                format!("divergence({f}, {v})")
            }
            (1, Shape::Scalar) => {
                let of = DERIVED_BY[self.below(3)];
                let v = by(self, of);
                let f = self.naming(&v, of, scalar, depth, scope);
                format!("laplacian({f}, {v})")
            }
            (0..=2, _) => {
                let of = DERIVED_BY[self.below(DERIVED_BY.len())];
                let v = by(self, of);
                let f = self.naming(&v, of, shape, depth, scope);
                let t = self.leaf(Type::real(of), scope);
                format!("jvp({f}, {v}, {t})")
            }
            _ if !DERIVED_BY.contains(&shape) => return None,
            (3 | 4, _) => {
                let v = by(self, shape);
                let f = self.naming(&v, shape, scalar, depth, scope);
                format!("grad({f}, {v})")
            }
            _ => {
                let of = DERIVED_BY[self.below(DERIVED_BY.len())];
                let v = by(self, shape);
                let f = self.naming(&v, shape, of, depth, scope);
                let e = self.leaf(Type::real(of), scope);
                format!("grad({f}, {v}, {e})")
            }
        })
    }

    /// An expression of a shape that names a variable.
    fn naming(
        &mut self,
        variable: &str,
        own: Shape,
        shape: Shape,
        depth: usize,
        scope: &Scope,
    ) -> String {
        let text = self.expression(Type::real(shape), depth, scope);
        if names(&text).any(|name| name == variable) {
            return text;
        }
        let function = self.one(&["sin", "tanh", "exp"]);
        match own {
            Shape::Scalar => format!("({text} * {function}(0.7 * {variable}))"),
            _ => format!("({text} * {function}(0.4 * sum({variable})))"),
        }
    }

    /// A real value of a complex one.
    fn of_complex(&mut self, shape: Shape, depth: usize, scope: &Scope) -> String {
        let depth = depth.saturating_sub(1);
        let z = self.complex(shape, depth, scope);
        let far = format!("({z} + complex(2.13, 0.37))");
        match (self.below(7), shape) {
            (0 | 1, _) => format!("re({z})"),
            (2, _) => format!("im({z})"),
            (3, _) => format!("sqabs({z})"),
            (4, _) => format!("abs({far})"),
            (5, Shape::Scalar) => {
                let v = self.complex(Shape::Vector(3), depth, scope);
                let function = self.one(&["norm2", "sqnorm2"]);
                format!("{function}({v} + complex(1.13, 0.37))")
            }
            _ => format!("angle({far})"),
        }
    }

    /// A complex value.
    pub(super) fn complex(&mut self, shape: Shape, depth: usize, scope: &Scope) -> String {
        let real = Type::real(shape);
        if depth == 0 {
            return if self.chance(0.8) {
                self.variable(&["z"], shape, scope)
            } else {
                let (x, y) = (self.leaf(real, scope), self.leaf(real, scope));
                format!("complex({x}, {y})")
            };
        }
        let depth = depth - 1;
        let z = |me: &mut Self, shape| me.complex(shape, depth, scope);
        let number = |me: &mut Self| me.expression(Type::SCALAR, depth.min(1), scope);
        if self.chance(0.3) {
            let (two, three) = (Shape::Vector(2), Shape::Vector(3));
            let square = Shape::Matrix(2, 2);
            return match (shape, self.below(3)) {
                (Shape::Scalar, 0) => format!("exp1j({})", number(self)),
                (Shape::Scalar, 1) => format!("({} | {})", z(self, three), z(self, three)),
                (Shape::Scalar, _) => match self.below(3) {
                    0 => format!("sum({})", z(self, two)),
                    1 => format!("trace({})", z(self, square)),
                    _ => format!("({})[1]", z(self, three)),
                },
                (Shape::Vector(3), 0) => format!("cross({}, {})", z(self, three), z(self, three)),
                (Shape::Vector(3), _) => {
                    format!("concat({}, {})", z(self, Shape::Scalar), z(self, two))
                }
                (Shape::Vector(_), 0) => format!("matvec({}, {})", z(self, square), z(self, two)),
                (Shape::Vector(_), 1) => {
                    let m = self.leaf(Type::real(square), scope);
                    format!("vecmat({}, {m})", z(self, two))
                }
                (Shape::Vector(_), _) => {
                    format!("[{}, {}]", z(self, Shape::Scalar), z(self, Shape::Scalar))
                }
                (Shape::Matrix(..), 0) => {
                    format!("matmul({}, {})", z(self, square), z(self, square))
                }
                (Shape::Matrix(..), 1) => format!("transpose({})", z(self, square)),
                (Shape::Matrix(..), _) => format!("outer({}, {})", z(self, two), z(self, two)),
            };
        }
        match self.below(9) {
            0 => format!("({} + {})", z(self, shape), z(self, shape)),
            1 => format!("({} - {})", z(self, shape), z(self, shape)),
            2 => format!("({} * {})", z(self, shape), z(self, shape)),
            3 => format!("(-{})", z(self, shape)),
            4 => format!("conj({})", z(self, shape)),
            5 => format!("({} * {})", number(self), z(self, shape)),
            6 => {
                let by = z(self, shape);
                format!("({} / ({by} + complex(2.71, 1.3)))", z(self, shape))
            }
            7 => format!("exp(0.5 * {})", z(self, shape)),
            _ => {
                let condition = Type {
                    element: Element::Bool,
                    shape: Shape::Scalar,
                };
                let condition = self.leaf(condition, scope);
                let (a, b) = (z(self, shape), z(self, shape));
                format!("(if {condition} {{ {a} }} else {{ {b} }})")
            }
        }
    }

    /// A complex reduction.
    pub(super) fn complex_reduction(&mut self, axis: Axis, scope: &Scope) -> String {
        let own = format!("_{}", axis.letter());
        let shape = COMPLEX[self.below(COMPLEX.len())];
        let depth = self.below(3);
        let mut text = self.complex(shape, depth, scope);
        if !depends(&text, &own) {
            text = format!("({text} * xs{own})");
        }
        format!("{}{own}({text})", self.one(&["sum", "mean"]))
    }

    /// The derivative of a reduction by all rows that it runs over, where its text names a variable that has such rows.
    pub(super) fn along_rows(&mut self, name: &str, text: &str, axis: Axis) -> Option<String> {
        let own = format!("_{}", axis.letter());
        let is_variable = |name: &&str| name.starts_with(['x', 'y']) && name.ends_with(&own);
        let found: Vec<&str> = names(text).filter(is_variable).collect();
        if found.is_empty() {
            return None;
        }
        let v = self.one(&found);
        let t = match v.strip_prefix('x') {
            Some(rest) => format!("y{rest}"),
            None => format!("x{}", &v[1..]),
        };
        Some(format!("jvp({name}, {v}, {t})"))
    }
}
