//! [`Place`]: where the results of a call are left, on the host or on a device, as a type.
use std::fmt::Debug;

use ndarray::{Array, Dimension, Ix0};
use num_complex::Complex;

use crate::cuda::DeviceArray;
use crate::float::Float;
use crate::output::{FromValue, Value};

/// Where a call leaves its results: [`Host`] or [`Device`]. It decides which arrays they are.
pub trait Place: Copy + Debug + sealed::Sealed + 'static {
    /// One number, of an output without rows.
    type Scalar<E: Clone + Debug>: Clone + Debug;
    /// An array.
    type Array<E: Clone + Debug, D: Dimension>: Clone + Debug;
    /// An index.
    type Index: Copy + Debug;
    /// An array of complex matrices, which `D` counts the axes of.
    type ComplexMatrices<T: Float, D: Dimension>: Clone + Debug;
    /// One complex number, of an output without rows.
    type ComplexScalar<T: Float>: Clone + Debug;
    /// An array of complex numbers, which `D` counts the axes of.
    type ComplexArray<T: Float, D: Dimension>: Clone + Debug;
    /// An output that is one value.
    #[doc(hidden)]
    fn scalar<T: Float>(value: Value<T>) -> Self::Scalar<T>;
    /// An output that is one index.
    #[doc(hidden)]
    fn scalar_index<T: Float>(value: Value<T>) -> Self::Scalar<Self::Index>;
    /// An output of values.
    #[doc(hidden)]
    fn array<T: Float, D: Dimension>(value: Value<T>) -> Self::Array<T, D>;
    /// An output of indices.
    #[doc(hidden)]
    fn array_index<T: Float, D: Dimension>(value: Value<T>) -> Self::Array<Self::Index, D>;
    /// An output that is one complex number.
    #[doc(hidden)]
    fn complex_scalar<T: Float>(value: Value<T>) -> Self::ComplexScalar<T>;
    /// An output of complex matrices.
    #[doc(hidden)]
    fn complex_matrices<T: Float, D: Dimension>(value: Value<T>) -> Self::ComplexMatrices<T, D>;
    /// An output of complex numbers or vectors.
    #[doc(hidden)]
    fn complex_array<T: Float, D: Dimension>(value: Value<T>) -> Self::ComplexArray<T, D>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Host {}
    impl Sealed for super::Device {}
}

/// Results are arrays of the host: `T` or `usize`, `Array1`, `Array2`, `Array3`.
#[derive(Clone, Copy, Debug)]
pub enum Host {}

/// Results stay on the device that made them, as [`DeviceArray`]s of `T`, of `Complex<T>` or, for indices, of `u32`.
#[derive(Clone, Copy, Debug)]
pub enum Device {}

impl Place for Host {
    type Scalar<E: Clone + Debug> = E;
    type Array<E: Clone + Debug, D: Dimension> = Array<E, D>;
    type Index = usize;
    type ComplexScalar<T: Float> = Complex<T>;
    type ComplexArray<T: Float, D: Dimension> = Array<Complex<T>, D>;
    type ComplexMatrices<T: Float, D: Dimension> = Array<Complex<T>, D>;
    fn complex_matrices<T: Float, D: Dimension>(value: Value<T>) -> Array<Complex<T>, D> {
        value.host_array(Value::complex_matrices)
    }
    fn complex_scalar<T: Float>(value: Value<T>) -> Complex<T> {
        value.complex().2[0]
    }
    fn complex_array<T: Float, D: Dimension>(value: Value<T>) -> Array<Complex<T>, D> {
        value.host_array(Value::complex)
    }
    fn scalar<T: Float>(value: Value<T>) -> T {
        T::from_value(value)
    }
    fn scalar_index<T: Float>(value: Value<T>) -> usize {
        <usize as FromValue<T>>::from_value(value)
    }
    fn array<T: Float, D: Dimension>(value: Value<T>) -> Array<T, D> {
        value.host_array(Value::values)
    }
    fn array_index<T: Float, D: Dimension>(value: Value<T>) -> Array<usize, D> {
        value.host_array(Value::indices)
    }
}

impl Place for Device {
    type Scalar<E: Clone + Debug> = DeviceArray<E, Ix0>;
    type Array<E: Clone + Debug, D: Dimension> = DeviceArray<E, D>;
    type Index = u32;
    type ComplexScalar<T: Float> = DeviceArray<Complex<T>, Ix0>;
    type ComplexArray<T: Float, D: Dimension> = DeviceArray<Complex<T>, D>;
    type ComplexMatrices<T: Float, D: Dimension> = DeviceArray<Complex<T>, D>;
    fn complex_matrices<T: Float, D: Dimension>(value: Value<T>) -> DeviceArray<Complex<T>, D> {
        value.complex_device_matrices()
    }
    fn complex_scalar<T: Float>(value: Value<T>) -> DeviceArray<Complex<T>, Ix0> {
        value.complex_device_array()
    }
    fn complex_array<T: Float, D: Dimension>(value: Value<T>) -> DeviceArray<Complex<T>, D> {
        value.complex_device_array()
    }
    fn scalar<T: Float>(value: Value<T>) -> DeviceArray<T, Ix0> {
        value.device_array()
    }
    fn scalar_index<T: Float>(value: Value<T>) -> DeviceArray<u32, Ix0> {
        value.device_array()
    }
    fn array<T: Float, D: Dimension>(value: Value<T>) -> DeviceArray<T, D> {
        value.device_array()
    }
    fn array_index<T: Float, D: Dimension>(value: Value<T>) -> DeviceArray<u32, D> {
        value.device_array()
    }
}
