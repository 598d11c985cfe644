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
