//! [`IntoRows`] and [`IntoParameter`]: what a formula can be called with, and [`Rows`], the borrowed view they give.
//!
//! Invariants: nothing is copied (a parameter passed by value is moved); any strides are accepted, negative and zero ones
//! too. The rank is checked by the types, the number of columns by [`Rows::check`] before anything runs.
use ndarray::{
    ArrayBase, ArrayView1, ArrayView2, ArrayView3, Axis as Dim, Data, Dimension, Ix0, Ix1, Ix2,
    Ix3, ShapeBuilder as _,
};
use num_complex::Complex;

use crate::cpu::pack::Source;
use crate::cuda::DeviceArray;
use crate::cuda::array::Numbers as DeviceNumbers;
use crate::cuda::gpu::Gpu;
use crate::error::Error;
use crate::float::Float;
use crate::plan::Input;
use crate::shape::{ComplexMatrix, ComplexScalar, ComplexVector, Matrix, Scalar, Shape, Vector};

mod complex;
mod device;
mod parameters;
mod rows;

/// One variable or parameter as a formula reads it: rows of one static rank, borrowed.
///
/// Made by [`IntoRows`] and [`IntoParameter`]; there is nothing to do with it but to pass it on.
#[derive(Clone, Debug)]
pub struct Rows<'a, T> {
    data: Numbers<'a, T>,
}

/// Where the numbers are.
#[derive(Clone, Debug)]
enum Numbers<'a, T> {
    /// In an array of the caller, with its shape (rows, r, c): a scalar is 1 × 1, a vector 1 × D.
    View(Source<'a, T>),
    /// In a complex array of the caller: a number is 1 × 2, a vector 2 × D, the real parts first.
    Complex(Source<'a, T>),
    /// In a complex array of the caller: a matrix is 2·R × C, the real parts above.
    ComplexMatrix(Source<'a, T>),
    /// Here: a complex parameter passed by value, in the same order.
    OwnedComplex(Vec<T>, usize, usize),
    /// Here: a complex matrix passed by value.
    OwnedComplexMatrix(Vec<T>, usize, usize),
    /// Here: a parameter passed by value, of r × c numbers, row-major.
    Owned(Vec<T>, usize, usize),
    /// Here: one number.
    One(T),
    /// On a device, row-major: rows × r × c.
    Device(OnDevice),
}

/// Numbers on a device.
#[derive(Clone, Debug)]
struct OnDevice {
    gpu: &'static Gpu,
    numbers: DeviceNumbers,
    dim: [usize; 3],
    /// Of complex ones, how they lie.
    split: Option<Split>,
    /// Whether they are complex matrices.
    matrices: bool,
}

/// How many complex numbers of an array on a device lie together, first their real parts and then the imaginary ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// In the array.
    pub(crate) found: usize,
    /// For the formula: those of a row or of a parameter.
    pub(crate) wanted: usize,
}

impl<'a, T: Float> Rows<'a, T> {
    fn view(view: ArrayView3<'a, T>) -> Self {
        Rows {
            data: Numbers::View(Source::values(view)),
        }
    }
    /// From `flat`, which holds `rows` × `r` × `c` numbers.
    fn flat(flat: &'a [T], rows: usize, r: usize, c: usize) -> Self {
        Rows {
            data: Numbers::View(Source::contiguous(flat, rows, r, c)),
        }
    }
    fn complex(view: ArrayView2<'a, Complex<T>>) -> Self {
        Rows {
            data: Numbers::Complex(Source::complex(view)),
        }
    }
    fn complex_scalars(view: ArrayView1<'a, Complex<T>>) -> Self {
        Rows {
            data: Numbers::Complex(Source::complex_scalars(view)),
        }
    }
    fn complex_matrices(view: ArrayView3<'a, Complex<T>>) -> Self {
        Rows {
            data: Numbers::ComplexMatrix(Source::complex_matrices(view)),
        }
    }
    fn scalars(view: ArrayView1<'a, T>) -> Self {
        Self::view(view.insert_axis(Dim(1)).insert_axis(Dim(2)))
    }
    fn vectors(view: ArrayView2<'a, T>) -> Self {
        Self::view(view.insert_axis(Dim(1)))
    }

    /// From an array on a device, of this shape as rows.
    fn device<D: Dimension>(array: &DeviceArray<T, D>, dim: [usize; 3]) -> Self {
        Rows {
            data: Numbers::Device(OnDevice {
                gpu: array.gpu(),
                numbers: array.numbers().clone(),
                dim,
                split: None,
                matrices: false,
            }),
        }
    }
    /// The same of complex numbers, as many of which are a row as `together`.
    fn complex_device<D: Dimension>(
        array: &DeviceArray<Complex<T>, D>,
        dim: [usize; 3],
        together: usize,
        matrices: bool,
    ) -> Self {
        let (found, wanted) = (array.split(), together);
        Rows {
            data: Numbers::Device(OnDevice {
                gpu: array.gpu(),
                numbers: array.numbers().clone(),
                dim,
                split: Some(Split { found, wanted }),
                matrices,
            }),
        }
    }

    /// Number of rows, and the two dimensions of a row.
    pub(crate) fn dim(&self) -> (usize, usize, usize) {
        match &self.data {
            Numbers::Device(there) => there.dim.into(),
            _ => self.source().dim(),
        }
    }

    /// Where on a device the numbers are.
    pub(crate) fn on_device(&self) -> Option<&DeviceNumbers> {
        match &self.data {
            Numbers::Device(there) => Some(&there.numbers),
            _ => None,
        }
    }

    /// How the parts of complex numbers on a device lie, where that is not as the formula reads them.
    pub(crate) fn split(&self) -> Option<Split> {
        match &self.data {
            Numbers::Device(there) => there.split.filter(|split| split.found != split.wanted),
            _ => None,
        }
    }

    /// The device that holds the numbers.
    pub(crate) fn gpu(&self) -> Option<&'static Gpu> {
        match &self.data {
            Numbers::Device(there) => Some(there.gpu),
            _ => None,
        }
    }

    /// The numbers, for reading on the host.
    ///
    /// # Panics
    /// When they are on a device: what reads them on the host is not run then.
    pub(crate) fn source(&self) -> Source<'_, T> {
        match &self.data {
            Numbers::View(source) | Numbers::Complex(source) | Numbers::ComplexMatrix(source) => {
                *source
            }
            Numbers::Owned(numbers, r, c)
            | Numbers::OwnedComplex(numbers, r, c)
            | Numbers::OwnedComplexMatrix(numbers, r, c) => Source::contiguous(numbers, 1, *r, *c),
            Numbers::One(x) => Source::contiguous(std::slice::from_ref(x), 1, 1, 1),
            Numbers::Device(..) => panic!("numbers of a device are read on the host"),
        }
    }

    /// One number in the shape of other rows: a view with strides of zero.
    pub(crate) fn repeated(like: &Rows<'_, T>, number: &'a [T; 1]) -> Self {
        let shape = like.dim().strides((0, 0, 0));
        Self::view(ArrayView3::from_shape(shape, number).expect("every element is the one number"))
    }

    /// Compares with the declaration, and returns the number of rows (1 for a parameter).
    pub(crate) fn check(&self, function: &'static str, input: &Input) -> Result<usize, Error> {
        let (rows, r, c) = self.dim();
        let fits = match input.shape {
            Shape::Scalar => (r, c) == (1, 1),
            Shape::Vector(d) => (r, c) == (1, d),
            Shape::Matrix(a, b) => (r, c) == (a, b),
        };
        if !fits {
            let of_matrices = match &self.data {
                Numbers::Complex(_) | Numbers::OwnedComplex(..) => Some(false),
                Numbers::ComplexMatrix(_) | Numbers::OwnedComplexMatrix(..) => Some(true),
                Numbers::Device(there) => there.split.map(|_| there.matrices),
                _ => None,
            };
            let (expected, found) = match (of_matrices, input.shape) {
                // In complex numbers, as the caller sees them.
                (Some(false), Shape::Matrix(_, d)) => (Shape::Vector(d), Shape::Vector(c)),
                (Some(true), Shape::Matrix(a, b)) => {
                    (Shape::Matrix(a / 2, b), Shape::Matrix(r / 2, c))
                }
                (_, expected @ Shape::Matrix(..)) => (expected, Shape::Matrix(r, c)),
                (_, expected) => (expected, Shape::Vector(c)),
            };
            return Err(Error::Columns {
                function,
                variable: input.name,
                axis: input.axis.map(|axis| axis.letter()),
                expected,
                found,
            });
        }
        // The last index must differ from the one that means "none".
        if rows > u32::MAX as usize {
            return Err(Error::TooManyRows {
                function,
                variable: input.name,
                rows,
            });
        }
        Ok(rows)
    }
}

/// Anything viewable as rows of shape `S` of `T`: the argument for an i- or j-variable.
///
/// | declared | accepted |
/// |---|---|
/// | `T` ([`Scalar`]) | `&Array1<T>`, any `ArrayView1<T>`, `&[T]`, `&Vec<T>`, `&[T; N]`, `&DeviceArray1<T>` |
/// | `[T; D]` ([`Vector`]) | `&Array2<T>` of D columns, any `ArrayView2<T>`, `&[[T; D]]`, `&Vec<[T; D]>`, `&[[T; D]; N]`, `&DeviceArray2<T>` |
/// | `[[T; C]; R]` ([`Matrix`]) | `&Array3<T>` of shape (rows, R, C), any `ArrayView3<T>`, `&[[[T; C]; R]]`, `&Vec<[[T; C]; R]>`, `&[[[T; C]; R]; N]`, `&DeviceArray3<T>` |
///
/// and references to these references. `Complex<T>` takes the same of `Complex<T>`. Views may have any strides; nothing is copied.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read as rows of `{S}` of `{T}`",
    label = "expected rows of `{S}` of `{T}`",
    note = "a scalar variable takes `&Array1<T>`, `ArrayView1<T>`, `&[T]` or `&Vec<T>`",
    note = "a vector variable takes `&Array2<T>`, `ArrayView2<T>`, `&[[T; D]]` or `&Vec<[T; D]>`",
    note = "a matrix variable takes `&Array3<T>`, `ArrayView3<T>`, `&[[[T; C]; R]]` or `&Vec<[[T; C]; R]>`",
    note = "pass arrays by reference (`&x`)"
)]
pub trait IntoRows<'a, T, S> {
    /// Borrows the rows.
    fn into_rows(self) -> Rows<'a, T>;
}

/// Anything viewable as one value of shape `S` of `T`: the argument for a parameter.
///
/// | declared | accepted |
/// |---|---|
/// | `T` ([`Scalar`]) | `T`, `&T`, `&DeviceArray0<T>` |
/// | `[T; D]` ([`Vector`]) | `[T; D]`, `&[T; D]`, `&Array1<T>` of length D, any `ArrayView1<T>`, `&DeviceArray1<T>` |
/// | `[[T; C]; R]` ([`Matrix`]) | `[[T; C]; R]`, `&[[T; C]; R]`, `&Array2<T>` of shape (R, C), any `ArrayView2<T>`, `&DeviceArray2<T>` |
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read as a parameter of `{S}` of `{T}`",
    label = "expected a `{S}` of `{T}`",
    note = "a scalar parameter takes `T` or `&T`",
    note = "a vector parameter takes `[T; D]`, `&[T; D]`, `&Array1<T>` or `ArrayView1<T>`",
    note = "a matrix parameter takes `[[T; C]; R]`, `&[[T; C]; R]`, `&Array2<T>` or `ArrayView2<T>`"
)]
pub trait IntoParameter<'a, T, S> {
    /// Borrows (or, by value, takes) the numbers.
    fn into_parameter(self) -> Rows<'a, T>;
}

/// Tangents of the N inputs of a formula, none where they are zero: the argument of `jvp`, made by the formula's own types.
pub trait Tangents<'t, T, const N: usize> {
    /// Borrows them.
    fn into_rows(self) -> [Option<Rows<'t, T>>; N];
}
