//! The types that are rows: implementations of [`IntoRows`].
//!
//! Invariant: for a given `Self` and shape marker there is one implementation, so that the value type is inferred.
use super::*;
use ndarray::ArrayRef;

/// `IntoRows` for `&$array` and `&&$array`.
macro_rules! by_reference {
    ([$($generics:tt)*] $shape:ty, $array:ty, $x:ident => $rows:expr) => {
        impl<'a, T: Float, $($generics)*> IntoRows<'a, T, $shape> for &'a $array {
            fn into_rows(self) -> Rows<'a, T> {
                let $x = self;
                $rows
            }
        }
        impl<'a, T: Float, $($generics)*> IntoRows<'a, T, $shape> for &&'a $array {
            fn into_rows(self) -> Rows<'a, T> {
                let $x = *self;
                $rows
            }
        }
    };
}

/// `IntoRows` for a view passed by value. Views are invariant in their lifetime, so it is shortened by hand: the arguments
/// of one call share a lifetime.
macro_rules! by_value {
    ([$($generics:tt)*] $shape:ty, $View:ident, $x:ident => $rows:expr) => {
        impl<'a, 'b: 'a, T: Float, $($generics)*> IntoRows<'a, T, $shape> for $View<'b, T> {
            fn into_rows(self) -> Rows<'a, T> {
                let $x: $View<'a, T> = self.reborrow();
                $rows
            }
        }
    };
}

by_reference!([S: Data<Elem = T>] Scalar, ArrayBase<S, Ix1>, x => Rows::scalars(x.view()));
by_reference!([] Scalar, ArrayRef<T, Ix1>, x => Rows::scalars(x.view()));
by_reference!([] Scalar, [T], x => Rows::flat(x, x.len(), 1, 1));
by_reference!([] Scalar, Vec<T>, x => Rows::flat(x, x.len(), 1, 1));
by_reference!([const N: usize] Scalar, [T; N], x => Rows::flat(x, N, 1, 1));
by_value!([] Scalar, ArrayView1, x => Rows::scalars(x));

by_reference!([S: Data<Elem = T>, const D: usize] Vector<D>, ArrayBase<S, Ix2>, x => Rows::vectors(x.view()));
by_reference!([const D: usize] Vector<D>, ArrayRef<T, Ix2>, x => Rows::vectors(x.view()));
by_reference!([const D: usize] Vector<D>, [[T; D]], x => Rows::flat(x.as_flattened(), x.len(), 1, D));
by_reference!([const D: usize] Vector<D>, Vec<[T; D]>, x => Rows::flat(x.as_flattened(), x.len(), 1, D));
by_reference!([const D: usize, const N: usize] Vector<D>, [[T; D]; N], x => Rows::flat(x.as_flattened(), N, 1, D));
by_value!([const D: usize] Vector<D>, ArrayView2, x => Rows::vectors(x));

by_reference!(
    [S: Data<Elem = T>, const R: usize, const C: usize] Matrix<R, C>, ArrayBase<S, Ix3>, x => Rows::view(x.view())
);
by_reference!([const R: usize, const C: usize] Matrix<R, C>, ArrayRef<T, Ix3>, x => Rows::view(x.view()));
by_reference!(
    [const R: usize, const C: usize] Matrix<R, C>, [[[T; C]; R]],
    x => Rows::flat(x.as_flattened().as_flattened(), x.len(), R, C)
);
by_reference!(
    [const R: usize, const C: usize] Matrix<R, C>, Vec<[[T; C]; R]>,
    x => Rows::flat(x.as_flattened().as_flattened(), x.len(), R, C)
);
by_reference!(
    [const R: usize, const C: usize, const N: usize] Matrix<R, C>, [[[T; C]; R]; N],
    x => Rows::flat(x.as_flattened().as_flattened(), N, R, C)
);
by_value!([const R: usize, const C: usize] Matrix<R, C>, ArrayView3, x => Rows::view(x));

#[cfg(test)]
#[allow(
    clippy::needless_borrows_for_generic_args,
    reason = "references to references are what is tested"
)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2, Array3, ArrayView, CowArray, arr2, s};

    /// What an item's signature looks like: the value type must follow from the arguments alone.
    fn dim<'a, T: Float>(x: impl IntoRows<'a, T, Vector<2>>) -> ((usize, usize, usize), Vec<T>) {
        let rows = x.into_rows();
        (rows.source().dim(), rows.source().to_vec().unwrap())
    }
    fn dim1<'a, T: Float>(x: impl IntoRows<'a, T, Scalar>) -> (usize, usize, usize) {
        x.into_rows().source().dim()
    }
    fn dim3<'a, T: Float>(x: impl IntoRows<'a, T, Matrix<2, 3>>) -> (usize, usize, usize) {
        x.into_rows().source().dim()
    }

    #[test]
    fn vectors_from_arrays_views_and_slices() {
        let x = arr2(&[[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        let all = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(dim(&x), ((3, 1, 2), all.clone()));
        assert_eq!(dim(&&x).0, (3, 1, 2));
        assert_eq!(dim(x.view()).0, (3, 1, 2));
        assert_eq!(dim(&x.view()).0, (3, 1, 2));
        assert_eq!(dim(&CowArray::from(x.view())).0, (3, 1, 2));
        assert_eq!(dim(&x.to_shared()).0, (3, 1, 2));
        assert_eq!(dim(&*x).0, (3, 1, 2));
        assert_eq!(
            dim(x.slice(s![..;-1, ..])).1,
            vec![5.0, 6.0, 3.0, 4.0, 1.0, 2.0]
        );
        assert_eq!(dim(x.slice(s![..2, ..]).t()).1, vec![1.0, 3.0, 2.0, 4.0]);
        assert_eq!(
            dim(ArrayView::from(&[1.0f32, 2.0]).broadcast((3, 2)).unwrap()).0,
            (3, 1, 2)
        );
        let rows = [[1.0f64, 2.0], [3.0, 4.0]];
        assert_eq!(dim(&rows).1, vec![1.0, 2.0, 3.0, 4.0]);
        assert_eq!(dim(&rows[..1]).1, vec![1.0, 2.0]);
        assert_eq!(dim(&rows.to_vec()).0, (2, 1, 2));
        assert_eq!(dim(&&rows.to_vec()).0, (2, 1, 2));
        assert_eq!(dim(&Vec::<[f32; 2]>::new()).0, (0, 1, 2));
        assert_eq!(dim(&Array2::<f64>::zeros((0, 2))).0, (0, 1, 2));
    }

    /// Two arguments share a lifetime, views of different lifetimes must do.
    fn two<'a, T: Float>(
        x: impl IntoRows<'a, T, Vector<2>>,
        y: impl IntoRows<'a, T, Vector<2>>,
    ) -> usize {
        x.into_rows().source().dim().0 + y.into_rows().source().dim().0
    }
    fn with_a_local(x: ArrayView2<'static, f32>) -> usize {
        let local = vec![[0.0, 1.0]];
        two(x, &local) + two(&local, x) + two(&x, ArrayView2::from(&local[..]))
    }

    #[test]
    fn lifetimes_are_shortened() {
        static X: [[f32; 2]; 3] = [[0.0; 2]; 3];
        assert_eq!(with_a_local(ArrayView2::from(&X)), 12);
    }

    #[test]
    fn scalars_and_matrices() {
        let x = Array1::from(vec![1.0f32, 2.0]);
        assert_eq!(dim1(&x), (2, 1, 1));
        assert_eq!(dim1(x.view()), (2, 1, 1));
        assert_eq!(dim1(&&x), (2, 1, 1));
        assert_eq!(dim1(x.slice(s![..;2])), (1, 1, 1));
        assert_eq!(dim1(&[1.0f64, 2.0]), (2, 1, 1));
        assert_eq!(dim1(&vec![1.0f64, 2.0]), (2, 1, 1));
        assert_eq!(dim1(&vec![1.0f64, 2.0][..]), (2, 1, 1));
        let m = Array3::<f32>::zeros((4, 2, 3));
        assert_eq!(dim3(&m), (4, 2, 3));
        assert_eq!(dim3(m.view()), (4, 2, 3));
        assert_eq!(dim3(&[[[0.0f64; 3]; 2]; 5]), (5, 2, 3));
        assert_eq!(dim3(&vec![[[0.0f64; 3]; 2]; 5]), (5, 2, 3));
        assert_eq!(dim3(&vec![[[0.0f64; 3]; 2]; 5][1..]), (4, 2, 3));
    }
}
