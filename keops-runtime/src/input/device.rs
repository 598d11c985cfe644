//! Arrays on a device as rows and as parameters.
use super::*;

/// `IntoRows` or `IntoParameter` for references to arrays of `$Ix` dimensions.
macro_rules! device {
    ($Trait:ident $method:ident [$($generics:tt)*] $shape:ty, $Ix:ty, $x:ident => $dim:expr) => {
        impl<'a, T: Float, $($generics)*> $Trait<'a, T, $shape> for &DeviceArray<T, $Ix> {
            fn $method(self) -> Rows<'a, T> {
                let $x = self.dim();
                Rows::device(self, $dim)
            }
        }
        impl<'a, T: Float, $($generics)*> $Trait<'a, T, $shape> for &&DeviceArray<T, $Ix> {
            fn $method(self) -> Rows<'a, T> {
                let $x = self.dim();
                Rows::device(self, $dim)
            }
        }
    };
}

device!(IntoRows into_rows [] Scalar, Ix1, n => [n, 1, 1]);
device!(IntoRows into_rows [const D: usize] Vector<D>, Ix2, d => [d.0, 1, d.1]);
device!(IntoRows into_rows [const R: usize, const C: usize] Matrix<R, C>, Ix3, d => [d.0, d.1, d.2]);
device!(IntoParameter into_parameter [] Scalar, Ix0, _d => [1, 1, 1]);
device!(IntoParameter into_parameter [const D: usize] Vector<D>, Ix1, n => [1, 1, n]);
device!(IntoParameter into_parameter [const R: usize, const C: usize] Matrix<R, C>, Ix2, d => [1, d.0, d.1]);

/// The same for complex ones: the shape as rows, and how many elements a row is.
macro_rules! complex {
    ($Trait:ident $method:ident [$($generics:tt)*] $shape:ty, $Ix:ty, $x:ident => $dim:expr, $together:expr, $matrices:literal) => {
        impl<'a, T: Float, $($generics)*> $Trait<'a, T, $shape> for &DeviceArray<Complex<T>, $Ix> {
            fn $method(self) -> Rows<'a, T> {
                let $x = self.dim();
                Rows::complex_device(self, $dim, $together, $matrices)
            }
        }
        impl<'a, T: Float, $($generics)*> $Trait<'a, T, $shape> for &&DeviceArray<Complex<T>, $Ix> {
            fn $method(self) -> Rows<'a, T> {
                let $x = self.dim();
                Rows::complex_device(self, $dim, $together, $matrices)
            }
        }
    };
}

complex!(IntoRows into_rows [] ComplexScalar, Ix1, n => [n, 1, 2], 1, false);
complex!(IntoRows into_rows [const D: usize] ComplexVector<D>, Ix2, d => [d.0, 2, d.1], d.1, false);
complex!(IntoRows into_rows [const R: usize, const C: usize] ComplexMatrix<R, C>, Ix3, d => [d.0, 2 * d.1, d.2], d.1 * d.2, true);
complex!(IntoParameter into_parameter [] ComplexScalar, Ix0, _d => [1, 1, 2], 1, false);
complex!(IntoParameter into_parameter [const D: usize] ComplexVector<D>, Ix1, n => [1, 2, n], n, false);
complex!(IntoParameter into_parameter [const R: usize, const C: usize] ComplexMatrix<R, C>, Ix2, d => [1, 2 * d.0, d.1], d.0 * d.1, true);
