//! The types that are parameters: implementations of [`IntoParameter`].
use super::*;

/// `IntoParameter` for `$value`.
macro_rules! parameter {
    ([$($generics:tt)*] $shape:ty, $value:ty, $x:ident => $rows:expr) => {
        impl<'a, T: Float, $($generics)*> IntoParameter<'a, T, $shape> for $value {
            fn into_parameter(self) -> Rows<'a, T> {
                let $x = self;
                $rows
            }
        }
    };
}

/// `IntoParameter` for a view passed by value, whose lifetime is shortened as for rows.
macro_rules! view {
    ([$($generics:tt)*] $shape:ty, $View:ident, $x:ident => $rows:expr) => {
        impl<'a, 'b: 'a, T: Float, $($generics)*> IntoParameter<'a, T, $shape> for $View<'b, T> {
            fn into_parameter(self) -> Rows<'a, T> {
                let $x: $View<'a, T> = self.reborrow();
                $rows
            }
        }
    };
}

/// A vector parameter as one row.
fn vector<T: Float>(x: ArrayView1<'_, T>) -> Rows<'_, T> {
    Rows::vectors(x.insert_axis(Dim(0)))
}

/// A matrix parameter as one row.
fn matrix<T: Float>(x: ArrayView2<'_, T>) -> Rows<'_, T> {
    Rows::view(x.insert_axis(Dim(0)))
}

parameter!([] Scalar, T, x => Rows { data: Numbers::One(x) });
parameter!([] Scalar, &T, x => Rows { data: Numbers::One(*x) });

parameter!([const D: usize] Vector<D>, [T; D], x => Rows { data: Numbers::Owned(x.to_vec(), 1, D) });
parameter!([const D: usize] Vector<D>, &'a [T; D], x => Rows::flat(x, 1, 1, D));
parameter!([const D: usize] Vector<D>, &&'a [T; D], x => Rows::flat(*x, 1, 1, D));
parameter!([S: Data<Elem = T>, const D: usize] Vector<D>, &'a ArrayBase<S, Ix1>, x => vector(x.view()));
parameter!([S: Data<Elem = T>, const D: usize] Vector<D>, &&'a ArrayBase<S, Ix1>, x => vector((*x).view()));
view!([const D: usize] Vector<D>, ArrayView1, x => vector(x));

parameter!(
    [const R: usize, const C: usize] Matrix<R, C>, [[T; C]; R],
    x => Rows { data: Numbers::Owned(x.as_flattened().to_vec(), R, C) }
);
parameter!([const R: usize, const C: usize] Matrix<R, C>, &'a [[T; C]; R], x => Rows::flat(x.as_flattened(), 1, R, C));
parameter!(
    [const R: usize, const C: usize] Matrix<R, C>, &&'a [[T; C]; R],
    x => Rows::flat((*x).as_flattened(), 1, R, C)
);
parameter!(
    [S: Data<Elem = T>, const R: usize, const C: usize] Matrix<R, C>, &'a ArrayBase<S, Ix2>,
    x => matrix(x.view())
);
parameter!(
    [S: Data<Elem = T>, const R: usize, const C: usize] Matrix<R, C>, &&'a ArrayBase<S, Ix2>,
    x => matrix((*x).view())
);
view!([const R: usize, const C: usize] Matrix<R, C>, ArrayView2, x => matrix(x));

#[cfg(test)]
#[allow(
    clippy::needless_borrows_for_generic_args,
    reason = "references to references are what is tested"
)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2, s};

    fn scalar<'a, T: Float>(p: impl IntoParameter<'a, T, Scalar>) -> T {
        p.into_parameter().source().to_vec().unwrap()[0]
    }
    fn vector<'a, T: Float>(p: impl IntoParameter<'a, T, Vector<2>>) -> Vec<T> {
        let p = p.into_parameter();
        assert_eq!(p.source().dim(), (1, 1, 2));
        p.source().to_vec().unwrap()
    }
    fn matrix<'a, T: Float>(p: impl IntoParameter<'a, T, Matrix<1, 2>>) -> Vec<T> {
        let p = p.into_parameter();
        assert_eq!(p.source().dim(), (1, 1, 2));
        p.source().to_vec().unwrap()
    }
    /// As in `smooth<T>(x_i: [T; 2], radius: T)`.
    fn mixed<'a, T: Float>(
        x: impl IntoRows<'a, T, Vector<2>>,
        r: impl IntoParameter<'a, T, Scalar>,
    ) -> (usize, T) {
        (x.into_rows().source().dim().0, scalar_of(r))
    }
    fn scalar_of<'a, T: Float>(p: impl IntoParameter<'a, T, Scalar>) -> T {
        scalar(p)
    }

    #[test]
    fn values_and_references() {
        assert_eq!(scalar(0.5f32), 0.5);
        assert_eq!(scalar(&0.5f64), 0.5);
        assert_eq!(scalar(0.5), 0.5);
        assert_eq!(vector([1.0f32, 2.0]), [1.0, 2.0]);
        assert_eq!(vector(&[1.0f64, 2.0]), [1.0, 2.0]);
        let a = Array1::from(vec![1.0f32, 2.0, 3.0]);
        assert_eq!(vector(a.slice(s![..;2])), [1.0, 3.0]);
        assert_eq!(vector(&a.slice(s![1..])), [2.0, 3.0]);
        assert_eq!(matrix([[1.0f32, 2.0]]), [1.0, 2.0]);
        assert_eq!(matrix(&[[1.0f32, 2.0]]), [1.0, 2.0]);
        let m = Array2::<f64>::from_elem((2, 1), 7.0);
        assert_eq!(matrix(m.t()), [7.0, 7.0]);
        assert_eq!(matrix(&m.t()), [7.0, 7.0]);
    }

    #[test]
    fn value_type_follows_from_any_argument() {
        let x = Array2::<f32>::zeros((3, 2));
        assert_eq!(mixed(&x, 0.25f32), (3, 0.25f32));
        assert_eq!(mixed(&x, 0.25), (3, 0.25f32));
        assert_eq!(mixed(&vec![[1.0, 2.0]], 0.25f32), (1, 0.25f32));
        assert_eq!(mixed(x.mapv(f64::from).view(), &0.25), (3, 0.25f64));
    }
}
