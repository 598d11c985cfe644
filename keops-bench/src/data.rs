//! Inputs of the cases, and the two number types.
//!
//! Invariant: numbers are drawn as f64 from a fixed seed and rounded to the type, so both types see the same points.

use rand::{RngExt, SeedableRng, rngs::SmallRng};
use rand_distr::StandardNormal;

/// `f32` or `f64`, with what plain loops need.
pub(crate) trait Number:
    keops::Float
    + Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
{
    /// Its name in the JSON lines.
    const NAME: &'static str;
    /// Rounded from f64.
    fn round(x: f64) -> Self;
    /// Exactly this, as f64.
    fn wide(self) -> f64;
    /// e to this.
    fn e(self) -> Self;
    /// Natural logarithm.
    fn log(self) -> Self;
    /// Square root.
    fn root(self) -> Self;
}

macro_rules! number {
    ($t:ident, $name:literal) => {
        impl Number for $t {
            const NAME: &'static str = $name;
            fn round(x: f64) -> $t {
                x as $t
            }
            fn wide(self) -> f64 {
                self.into()
            }
            fn e(self) -> $t {
                self.exp()
            }
            fn log(self) -> $t {
                self.ln()
            }
            fn root(self) -> $t {
                self.sqrt()
            }
        }
    };
}
number!(f32, "float32");
number!(f64, "float64");

/// The points of a case.
#[derive(Clone)]
pub(crate) struct Data<T, const D: usize> {
    pub(crate) x: Vec<[T; D]>,
    pub(crate) y: Vec<[T; D]>,
    pub(crate) b: Vec<T>,
    pub(crate) b2: Vec<[T; 2]>,
    pub(crate) e: Vec<T>,
}

impl<T: Number, const D: usize> Data<T, D> {
    /// Uniform on [0, 1).
    pub(crate) fn uniform(m: usize, n: usize) -> Self {
        Self::new(m, n, |random| random.random())
    }

    /// Points twice standard normal; the rest uniform on [0, 1).
    pub(crate) fn normal(m: usize, n: usize) -> Self {
        Self::new(m, n, |random| 2.0 * random.sample::<f64, _>(StandardNormal))
    }

    fn new(m: usize, n: usize, coordinate: impl Fn(&mut SmallRng) -> f64) -> Self {
        let mut random = SmallRng::seed_from_u64(0);
        let mut points = |rows| {
            let row = |_| std::array::from_fn(|_| T::round(coordinate(&mut random)));
            (0..rows).map(row).collect::<Vec<[T; D]>>()
        };
        let (x, y) = (points(m), points(n));
        let mut number = || T::round(random.random());
        let b = (0..n).map(|_| number()).collect();
        let b2 = (0..n).map(|_| [number(), number()]).collect();
        let e = (0..m).map(|_| number()).collect();
        Data { x, y, b, b2, e }
    }

    /// The same numbers as f64.
    pub(crate) fn wide(&self) -> Data<f64, D> {
        let points = |p: &[[T; D]]| p.iter().map(|row| row.map(T::wide)).collect();
        let numbers = |v: &[T]| v.iter().map(|v| v.wide()).collect();
        Data {
            x: points(&self.x),
            y: points(&self.y),
            b: numbers(&self.b),
            b2: self.b2.iter().map(|row| row.map(T::wide)).collect(),
            e: numbers(&self.e),
        }
    }
}
