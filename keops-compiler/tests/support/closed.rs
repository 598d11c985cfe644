//! Complex operations and derivatives inside formulas, each with its value in plain arithmetic: rows of `docs/operations.md` that are
//! no operation's record.
//!
//! As items they are formulas of real numbers, from which complex values are made and into whose parts they are taken apart, so that every
//! harness of real formulas runs them.

use super::Random;
use keops_compiler::types::Shape;
use std::fmt::Write;

/// A complex number: real and imaginary part.
pub type Z = (f64, f64);

/// The values of one row.
pub struct At {
    x: f64,
    y: f64,
    z: Z,
    w: Z,
    u: Vec<Z>,
    v: Vec<Z>,
    a: Vec<Z>,
    b: Vec<Z>,
    p: Vec<f64>,
    t: Vec<f64>,
}

/// What a formula gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    /// A real number.
    Real,
    /// A real vector.
    Reals,
    /// A real matrix of three rows.
    RealMatrix,
    /// A complex number.
    Number,
    /// A complex vector.
    Vector,
    /// A complex matrix of three rows.
    Matrix,
}

/// A formula: numbers x, y, complex z, w, complex vectors u, v and 3×3 matrices A, B, real vectors p_i, t_i.
pub struct Closed {
    /// As it is written, in a cell of the table too.
    pub written: &'static str,
    /// KeOps' name.
    pub keops: &'static str,
    gives: Gives,
    value: fn(&At) -> Vec<Z>,
}

/// A variable of the items: its letter, its shape, how its value is made.
const VARIABLES: [(&str, Shape, &str); 10] = [
    ("x", Shape::Scalar, "let x = x_i;"),
    ("y", Shape::Scalar, "let y = y_i;"),
    ("z", Shape::Vector(2), "let z = complex(z_i[0], z_i[1]);"),
    ("w", Shape::Vector(2), "let w = complex(w_i[0], w_i[1]);"),
    (
        "u",
        Shape::Vector(6),
        "let u = complex(u_i[0..3], u_i[3..6]);",
    ),
    (
        "v",
        Shape::Vector(6),
        "let v = complex(v_i[0..3], v_i[3..6]);",
    ),
    (
        "A",
        Shape::Matrix(6, 3),
        "let A = complex(A_i[0..3], A_i[3..6]);",
    ),
    (
        "B",
        Shape::Matrix(6, 3),
        "let B = complex(B_i[0..3], B_i[3..6]);",
    ),
    ("p_i", Shape::Vector(3), ""),
    ("t_i", Shape::Vector(3), ""),
];

fn numbers(data: &[f64]) -> Vec<Z> {
    let (re, im) = data.split_at(data.len() / 2);
    re.iter().copied().zip(im.iter().copied()).collect()
}

impl Closed {
    /// The variables that it uses, with their shapes.
    fn variables(&self) -> impl Iterator<Item = &'static (&'static str, Shape, &'static str)> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words: Vec<&str> = self.written.split(|c| !is_part(c)).collect();
        VARIABLES
            .iter()
            .filter(move |(name, ..)| words.contains(name))
    }

    /// The shapes of its variables, in order.
    pub fn shapes(&self) -> Vec<Shape> {
        self.variables().map(|(_, shape, _)| *shape).collect()
    }

    /// Whether the item's result is one number, not a vector.
    pub fn is_number(&self) -> bool {
        self.gives == Gives::Real
    }

    /// An item of variables with rows i, a variable `one_j` of ones behind them: a formula reduces something.
    pub fn item(&self, name: &str, number: &str) -> String {
        let (mut variables, mut lets) = (String::new(), String::new());
        for (letter, shape, made) in self.variables() {
            let letter = letter.trim_end_matches("_i");
            let ty = match shape {
                Shape::Scalar => number.to_owned(),
                Shape::Vector(n) => format!("[{number}; {n}]"),
                Shape::Matrix(r, c) => format!("[[{number}; {c}]; {r}]"),
            };
            let _ = write!(variables, "{letter}_i: {ty}, ");
            lets += made;
        }
        let value = match self.gives {
            Gives::Real | Gives::Reals => "r",
            Gives::RealMatrix => "concat(r[0], r[1], r[2])",
            Gives::Number => "[re(r), im(r)]",
            Gives::Vector => "concat(re(r), im(r))",
            Gives::Matrix => "concat(re(r)[0], re(r)[1], re(r)[2], im(r)[0], im(r)[1], im(r)[2])",
        };
        format!(
            "fn {name}({variables}one_j: {number}) = sum_j one_j * {{ {lets} let r = {}; {value} }};\n",
            self.written
        )
    }

    /// Random rows of its variables.
    pub fn rows(&self, count: usize) -> Vec<Vec<Vec<f64>>> {
        let mut random = Random(11);
        let mut row = |shape: &Shape| -> Vec<f64> {
            (0..shape.len())
                .map(|_| f64::from(random.within((0.5, 2.0)) as f32))
                .collect()
        };
        let shapes = self.shapes();
        let mut variable = |shape| (0..count).map(|_| row(shape)).collect();
        shapes.iter().map(&mut variable).collect()
    }

    /// The numbers of the item's result for a row of its variables.
    pub fn value(&self, variables: &[&[f64]]) -> Vec<f64> {
        let of = |name: &str| -> &[f64] {
            let at = self.variables().position(|(n, ..)| *n == name);
            at.map_or(&[], |k| variables[k])
        };
        let first = |name: &str| of(name).first().copied().unwrap_or(0.0);
        let number = |name: &str| numbers(of(name)).first().copied().unwrap_or((0.0, 0.0));
        let at = At {
            x: first("x"),
            y: first("y"),
            z: number("z"),
            w: number("w"),
            u: numbers(of("u")),
            v: numbers(of("v")),
            a: numbers(of("A")),
            b: numbers(of("B")),
            p: of("p_i").to_vec(),
            t: of("t_i").to_vec(),
        };
        let value = (self.value)(&at);
        let (re, im): (Vec<f64>, Vec<f64>) = value.into_iter().unzip();
        match self.gives {
            Gives::Real | Gives::Reals | Gives::RealMatrix => re,
            _ => [re, im].concat(),
        }
    }
}

fn add(a: Z, b: Z) -> Z {
    (a.0 + b.0, a.1 + b.1)
}
fn mul(a: Z, b: Z) -> Z {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}
fn div(a: Z, b: Z) -> Z {
    let n = b.0 * b.0 + b.1 * b.1;
    let z = mul(a, (b.0, -b.1));
    (z.0 / n, z.1 / n)
}
fn real(x: f64) -> Vec<Z> {
    vec![(x, 0.0)]
}
fn reals(v: impl IntoIterator<Item = f64>) -> Vec<Z> {
    v.into_iter().map(|x| (x, 0.0)).collect()
}
fn total(v: impl IntoIterator<Item = Z>) -> Z {
    v.into_iter().fold((0.0, 0.0), add)
}
fn sqabs(v: &[Z]) -> f64 {
    v.iter().map(|z| z.0 * z.0 + z.1 * z.1).sum()
}
fn minus(a: &[Z], b: &[Z]) -> Vec<Z> {
    let each = a.iter().zip(b);
    each.map(|(a, b)| (a.0 - b.0, a.1 - b.1)).collect()
}
/// The product of r×3 and 3×c matrices.
fn product(a: &[Z], b: &[Z]) -> Vec<Z> {
    let (r, c) = (a.len() / 3, b.len() / 3);
    let number = |k: usize| total((0..3).map(|m| mul(a[k / c * 3 + m], b[m * c + k % c])));
    (0..r * c).map(number).collect()
}
/// All products of two numbers, row-major.
fn outer(a: &[Z], b: &[Z]) -> Vec<Z> {
    a.iter()
        .flat_map(|&a| b.iter().map(move |&b| mul(a, b)))
        .collect()
}
/// exp(−|p|²/2), with the numbers of p.
fn bump(q: &At) -> f64 {
    (-0.5 * q.p.iter().map(|p| p * p).sum::<f64>()).exp()
}
fn one(k: usize, l: usize) -> f64 {
    f64::from(u8::from(k == l))
}

const fn row(
    written: &'static str,
    keops: &'static str,
    gives: Gives,
    value: fn(&At) -> Vec<Z>,
) -> Closed {
    Closed {
        written,
        keops,
        gives,
        value,
    }
}

/// Complex operations.
pub const COMPLEX: &[Closed] = &[
    row("z + w", "ComplexAdd", Gives::Number, |q| {
        vec![add(q.z, q.w)]
    }),
    row("z - w", "ComplexSubtract", Gives::Number, |q| {
        minus(&[q.z], &[q.w])
    }),
    row("-z", "", Gives::Number, |q| vec![(-q.z.0, -q.z.1)]),
    row("z * w", "ComplexMult", Gives::Number, |q| {
        vec![mul(q.z, q.w)]
    }),
    row("x * z", "ComplexRealScal", Gives::Number, |q| {
        vec![mul((q.x, 0.0), q.z)]
    }),
    row("z / w", "ComplexDivide", Gives::Number, |q| {
        vec![div(q.z, q.w)]
    }),
    row("z / x", "", Gives::Number, |q| {
        vec![(q.z.0 / q.x, q.z.1 / q.x)]
    }),
    row("x / z", "", Gives::Number, |q| vec![div((q.x, 0.0), q.z)]),
    row(
        "complex(x, y)",
        "Real2Complex, Imag2Complex",
        Gives::Number,
        |q| vec![(q.x, q.y)],
    ),
    row("re(z)", "ComplexReal", Gives::Real, |q| real(q.z.0)),
    row("im(z)", "ComplexImag", Gives::Real, |q| real(q.z.1)),
    row("conj(z)", "Conj", Gives::Number, |q| vec![(q.z.0, -q.z.1)]),
    row("abs(z)", "ComplexAbs", Gives::Real, |q| {
        real(sqabs(&[q.z]).sqrt())
    }),
    row("sqabs(z)", "ComplexSquareAbs", Gives::Real, |q| {
        real(sqabs(&[q.z]))
    }),
    row("angle(z)", "ComplexAngle", Gives::Real, |q| {
        real(q.z.1.atan2(q.z.0))
    }),
    row("exp(z)", "ComplexExp", Gives::Number, |q| {
        let size = q.z.0.exp();
        vec![(size * q.z.1.cos(), size * q.z.1.sin())]
    }),
    row("exp1j(x)", "ComplexExp1j", Gives::Number, |q| {
        vec![(q.x.cos(), q.x.sin())]
    }),
    row("square(z)", "", Gives::Number, |q| vec![mul(q.z, q.z)]),
    row("if x < y { z } else { w }", "", Gives::Number, |q| {
        vec![if q.x < q.y { q.z } else { q.w }]
    }),
    row("sum(u)", "ComplexSum", Gives::Number, |q| {
        vec![total(q.u.clone())]
    }),
    row("mean(u)", "", Gives::Number, |q| {
        let z = total(q.u.clone());
        vec![(z.0 / 3.0, z.1 / 3.0)]
    }),
    row("sumt(z, 3)", "ComplexSumT", Gives::Vector, |q| vec![q.z; 3]),
    row("elemt(z, 3, 1)", "", Gives::Vector, |q| {
        vec![(0.0, 0.0), q.z, (0.0, 0.0)]
    }),
    row("concat(u, z)", "", Gives::Vector, |q| {
        [&q.u[..], &[q.z]].concat()
    }),
    row("sqnorm2(u)", "", Gives::Real, |q| real(sqabs(&q.u))),
    row("norm2(u)", "", Gives::Real, |q| real(sqabs(&q.u).sqrt())),
    row("normalize(u)", "", Gives::Vector, |q| {
        let norm = sqabs(&q.u).sqrt();
        q.u.iter().map(|z| (z.0 / norm, z.1 / norm)).collect()
    }),
    row("sqdist(u, v)", "", Gives::Real, |q| {
        real(sqabs(&minus(&q.u, &q.v)))
    }),
    row("dist(u, v)", "", Gives::Real, |q| {
        real(sqabs(&minus(&q.u, &q.v)).sqrt())
    }),
    row("dot(u, v)", "", Gives::Number, |q| product(&q.u, &q.v)),
    row("cross(u, v)", "", Gives::Vector, |q| {
        let term = |k: usize, l: usize| minus(&[mul(q.u[k], q.v[l])], &[mul(q.u[l], q.v[k])])[0];
        vec![term(1, 2), term(2, 0), term(0, 1)]
    }),
    row("outer(u, v)", "", Gives::Matrix, |q| outer(&q.u, &q.v)),
    row("kron(u, v)", "", Gives::Vector, |q| outer(&q.u, &q.v)),
    row("matvec(A, u)", "", Gives::Vector, |q| product(&q.a, &q.u)),
    row("vecmat(u, A)", "", Gives::Vector, |q| product(&q.u, &q.a)),
    row("matmul(A, B)", "", Gives::Matrix, |q| product(&q.a, &q.b)),
    row("transpose(A)", "", Gives::Matrix, |q| {
        (0..9).map(|k| q.a[k % 3 * 3 + k / 3]).collect()
    }),
    row("trace(A)", "", Gives::Number, |q| {
        vec![total([q.a[0], q.a[4], q.a[8]])]
    }),
];

/// Derivatives inside formulas, of exp(−|p|²/2) and, where they are of vectors, of its gradient's opposite.
pub const DERIVATIVES: &[Closed] = &[
    row(
        "grad(exp(-sqnorm2(p_i) / 2), p_i)",
        "Grad",
        Gives::Reals,
        |q| reals(q.p.iter().map(|p| -p * bump(q))),
    ),
    row(
        "jvp(exp(-sqnorm2(p_i) / 2), p_i, t_i)",
        "Diff",
        Gives::Real,
        |q| real(-bump(q) * q.p.iter().zip(&q.t).map(|(p, t)| p * t).sum::<f64>()),
    ),
    row(
        "jacobian(p_i * exp(-sqnorm2(p_i) / 2), p_i)",
        "GradMatrix",
        Gives::RealMatrix,
        |q| reals((0..9).map(|k| (one(k / 3, k % 3) - q.p[k / 3] * q.p[k % 3]) * bump(q))),
    ),
    row(
        "divergence(p_i * exp(-sqnorm2(p_i) / 2), p_i)",
        "Divergence",
        Gives::Real,
        |q| real((3.0 - q.p.iter().map(|p| p * p).sum::<f64>()) * bump(q)),
    ),
    row(
        "laplacian(exp(-sqnorm2(p_i) / 2), p_i)",
        "Laplacian",
        Gives::Real,
        |q| real((q.p.iter().map(|p| p * p).sum::<f64>() - 3.0) * bump(q)),
    ),
];

/// All of them, in the order of the page.
pub fn all() -> impl Iterator<Item = &'static Closed> {
    COMPLEX.iter().chain(DERIVATIVES)
}
