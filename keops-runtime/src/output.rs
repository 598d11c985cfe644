//! [`Value`]: one output of a function, and [`FromValue`], which makes it the array the user receives.
//!
//! Invariant: the numbers are row-major with `rows · shape.len()` elements, so making an array copies nothing.
use ndarray::{Array, Array1, Array2, Array3, Dimension};
use num_complex::Complex;

use crate::cuda::DeviceArray;
use crate::cuda::array::Numbers;
use crate::cuda::gpu::Gpu;
use crate::float::Float;
use crate::shape::Shape;

/// One output: rows of one shape, of values or of indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Value<T> {
    /// The number of rows; `None` when the output has no index and is one bare value.
    pub(crate) rows: Option<usize>,
    /// Shape of one row.
    pub(crate) shape: Shape,
    /// The numbers.
    pub(crate) data: Data<T>,
}

/// The numbers of an output, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data<T> {
    /// Values.
    Values(Vec<T>),
    /// Indices; `usize::MAX` where there is none.
    Indices(Vec<usize>),
    /// Values, or indices as `u32`, on a device.
    Device(&'static Gpu, Numbers),
}

impl<T: Copy> Data<T> {
    /// A copy. The error is the number of bytes that could not be allocated.
    pub(crate) fn try_clone(&self) -> Result<Self, usize> {
        fn copied<E: Copy>(from: &[E]) -> Result<Vec<E>, usize> {
            let mut to = Vec::new();
            to.try_reserve_exact(from.len())
                .map_err(|_| size_of_val(from))?;
            to.extend_from_slice(from);
            Ok(to)
        }
        Ok(match self {
            Data::Values(values) => Data::Values(copied(values)?),
            Data::Indices(indices) => Data::Indices(copied(indices)?),
            // Numbers on a device do not change and are shared.
            Data::Device(gpu, numbers) => Data::Device(gpu, numbers.clone()),
        })
    }
}

/// What an output is handed over as: `Array1` for scalars, `Array2` for vectors, `Array3` for matrices, one rank less
/// where the formula is left with no index; of `T`, or of `usize` for indices.
#[diagnostic::on_unimplemented(
    message = "an output of `{T}` cannot be received as `{Self}`",
    note = "scalars give `Array1<T>`, vectors `Array2<T>`, matrices `Array3<T>`, indices the same of `usize`",
    note = "without an index left: `T`, `Array1<T>`, `Array2<T>`"
)]
pub trait FromValue<T>: Sized {
    /// Converts without copying.
    ///
    /// # Panics
    /// When `Self` has another rank or element kind than the output; expansions never ask for that.
    fn from_value(value: Value<T>) -> Self;
}

impl<T: Copy> Value<T> {
    /// A copy. The error is the number of bytes that could not be allocated.
    pub(crate) fn try_clone(&self) -> Result<Self, usize> {
        Ok(Value {
            rows: self.rows,
            shape: self.shape,
            data: self.data.try_clone()?,
        })
    }
}

impl<T> Value<T> {
    /// The number of rows (if it has an index), the shape of one, and the values, or else the indices.
    #[doc(hidden)]
    pub fn into_parts(self) -> (Option<usize>, Shape, Result<Vec<T>, Vec<usize>>) {
        let numbers = match self.data {
            Data::Values(values) => Ok(values),
            Data::Indices(indices) => Err(indices),
            Data::Device(..) => panic!("the output is on a device"),
        };
        (self.rows, self.shape, numbers)
    }
    /// Rows (if any), shape and the values.
    pub(crate) fn values(self) -> (Option<usize>, Shape, Vec<T>) {
        match self.data {
            Data::Values(values) => (self.rows, self.shape, values),
            _ => panic!("the output does not hold values of the host"),
        }
    }
    /// Rows (if any), shape and the numbers of complex values, whose parts are two vectors (or numbers) side by side.
    pub(crate) fn complex(self) -> (Option<usize>, Shape, Vec<Complex<T>>)
    where
        T: Copy,
    {
        let shape = complex(self.shape);
        self.complex_of(shape)
    }
    /// The same of matrices, whose parts are one above the other.
    pub(crate) fn complex_matrices(self) -> (Option<usize>, Shape, Vec<Complex<T>>)
    where
        T: Copy,
    {
        let shape = complex_matrix(self.shape);
        self.complex_of(shape)
    }
    fn complex_of(self, shape: Shape) -> (Option<usize>, Shape, Vec<Complex<T>>)
    where
        T: Copy,
    {
        let (rows, _, values) = self.values();
        let n = shape.len();
        let row = |row: &[T]| {
            let (re, im) = row.split_at(n);
            let parts = re.iter().zip(im).map(|(&re, &im)| Complex { re, im });
            parts.collect::<Vec<_>>()
        };
        (
            rows,
            shape,
            values.chunks_exact(2 * n).flat_map(row).collect(),
        )
    }
    /// Rows (if any), shape and the indices.
    pub(crate) fn indices(self) -> (Option<usize>, Shape, Vec<usize>) {
        match self.data {
            Data::Indices(indices) => (self.rows, self.shape, indices),
            _ => panic!("the output does not hold indices of the host"),
        }
    }
}

impl<T: Float> Value<T> {
    /// As an array of the host, of the numbers that `take` takes out.
    pub(crate) fn host_array<E, D: Dimension>(
        self,
        take: impl FnOnce(Self) -> (Option<usize>, Shape, Vec<E>),
    ) -> Array<E, D> {
        let (rows, shape, numbers) = take(self);
        Array::from_shape_vec(dimension::<D>(rows, shape), numbers)
            .expect("rows times columns numbers")
    }
    /// As an array on the device that it is on.
    pub(crate) fn device_array<E, D: Dimension>(self) -> DeviceArray<E, D> {
        match self.data {
            Data::Device(gpu, numbers) => {
                DeviceArray::new(gpu, numbers, dimension(self.rows, self.shape), 1)
            }
            _ => panic!("the output is not on a device"),
        }
    }
    /// As an array of complex numbers or vectors on the device that it is on.
    pub(crate) fn complex_device_array<D: Dimension>(self) -> DeviceArray<Complex<T>, D> {
        let shape = complex(self.shape);
        self.device_array_of(shape)
    }
    /// As an array of complex matrices on the device that it is on.
    pub(crate) fn complex_device_matrices<D: Dimension>(self) -> DeviceArray<Complex<T>, D> {
        let shape = complex_matrix(self.shape);
        self.device_array_of(shape)
    }
    fn device_array_of<D: Dimension>(self, shape: Shape) -> DeviceArray<Complex<T>, D> {
        match self.data {
            Data::Device(gpu, numbers) => {
                DeviceArray::new(gpu, numbers, dimension(self.rows, shape), shape.len())
            }
            _ => panic!("the output is not on a device"),
        }
    }
}

/// The shape of complex numbers or vectors, whose parts are two numbers or vectors side by side.
fn complex(parts: Shape) -> Shape {
    match parts {
        Shape::Matrix(_, n) => Shape::Vector(n),
        _ => Shape::Scalar,
    }
}

/// The shape of complex matrices, whose parts are one above the other.
fn complex_matrix(parts: Shape) -> Shape {
    match parts {
        Shape::Matrix(r, c) => Shape::Matrix(r / 2, c),
        _ => panic!("the output does not hold complex matrices"),
    }
}

/// The dimensions of an array for these rows of this shape.
fn dimension<D: Dimension>(rows: Option<usize>, shape: Shape) -> D {
    let mut dim = D::zeros(D::NDIM.unwrap_or(0));
    match dim.ndim() {
        0 => {
            let [] = dimensions(rows, shape);
        }
        1 => dim
            .slice_mut()
            .copy_from_slice(&dimensions::<1>(rows, shape)),
        2 => dim
            .slice_mut()
            .copy_from_slice(&dimensions::<2>(rows, shape)),
        _ => dim
            .slice_mut()
            .copy_from_slice(&dimensions::<3>(rows, shape)),
    }
    dim
}

/// The dimensions of an array of `N` axes for these rows of this shape.
fn dimensions<const N: usize>(rows: Option<usize>, shape: Shape) -> [usize; N] {
    let (r, c);
    let dims: &[usize] = match shape {
        Shape::Scalar => &[],
        Shape::Vector(n) => {
            r = [n];
            &r
        }
        Shape::Matrix(a, b) => {
            c = [a, b];
            &c
        }
    };
    let mut out = [0; N];
    let mut axes = rows.into_iter().chain(dims.iter().copied());
    for axis in &mut out {
        *axis = axes.next().expect("an output has the rank of its type");
    }
    assert!(axes.next().is_none(), "an output has the rank of its type");
    out
}

/// `FromValue` for arrays of `$element` at value type `$t`.
macro_rules! arrays {
    ([$($generics:tt)*] $t:ty, $element:ty, $numbers:ident) => {
        impl<$($generics)*> FromValue<$t> for $element {
            fn from_value(value: Value<$t>) -> Self {
                let (rows, shape, numbers) = value.$numbers();
                let [] = dimensions(rows, shape);
                numbers[0]
            }
        }
        impl<$($generics)*> FromValue<$t> for Array1<$element> {
            fn from_value(value: Value<$t>) -> Self {
                let (rows, shape, numbers) = value.$numbers();
                let [n] = dimensions(rows, shape);
                Array1::from_shape_vec(n, numbers).expect("rows times columns numbers")
            }
        }
        impl<$($generics)*> FromValue<$t> for Array2<$element> {
            fn from_value(value: Value<$t>) -> Self {
                let (rows, shape, numbers) = value.$numbers();
                let [n, c] = dimensions(rows, shape);
                Array2::from_shape_vec((n, c), numbers).expect("rows times columns numbers")
            }
        }
        impl<$($generics)*> FromValue<$t> for Array3<$element> {
            fn from_value(value: Value<$t>) -> Self {
                let (rows, shape, numbers) = value.$numbers();
                let [n, r, c] = dimensions(rows, shape);
                Array3::from_shape_vec((n, r, c), numbers).expect("rows times columns numbers")
            }
        }
    };
}

arrays!([T: Float] T, T, values);
arrays!([T: Float] T, usize, indices);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_follows_rows_and_shape() {
        let value = |rows, shape, n| Value {
            rows,
            shape,
            data: Data::Values(vec![2.0f32; n]),
        };
        assert_eq!(f32::from_value(value(None, Shape::Scalar, 1)), 2.0);
        assert_eq!(
            Array1::<f32>::from_value(value(Some(4), Shape::Scalar, 4)).dim(),
            4
        );
        assert_eq!(
            Array1::<f32>::from_value(value(None, Shape::Vector(3), 3)).dim(),
            3
        );
        assert_eq!(
            Array2::<f32>::from_value(value(Some(0), Shape::Vector(3), 0)).dim(),
            (0, 3)
        );
        assert_eq!(
            Array2::<f32>::from_value(value(None, Shape::Matrix(2, 3), 6)).dim(),
            (2, 3)
        );
        assert_eq!(
            Array3::<f32>::from_value(value(Some(4), Shape::Matrix(2, 3), 24)).dim(),
            (4, 2, 3)
        );
        let index: Value<f64> = Value {
            rows: Some(1),
            shape: Shape::Scalar,
            data: Data::Indices(vec![usize::MAX]),
        };
        assert_eq!(
            Array1::<usize>::from_value(index),
            Array1::from(vec![usize::MAX])
        );
    }
}
