//! Complex arrays as rows and parameters: implementations of [`IntoRows`] and [`IntoParameter`].
//!
//! Nothing is copied but parameters passed by value: the parts of a complex number are two numbers side by side, which a
//! row reads with strides of two.
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

by_reference!(
    [S: Data<Elem = Complex<T>>] ComplexScalar, ArrayBase<S, Ix1>, x => Rows::complex_scalars(x.view())
);
by_reference!([] ComplexScalar, ArrayRef<Complex<T>, Ix1>, x => Rows::complex_scalars(x.view()));
by_reference!([] ComplexScalar, [Complex<T>], x => Rows::complex_scalars(ArrayView1::from(x)));
by_reference!([] ComplexScalar, Vec<Complex<T>>, x => Rows::complex_scalars(ArrayView1::from(x)));
by_reference!(
    [const N: usize] ComplexScalar, [Complex<T>; N], x => Rows::complex_scalars(ArrayView1::from(x))
);
by_reference!(
    [S: Data<Elem = Complex<T>>, const D: usize] ComplexVector<D>, ArrayBase<S, Ix2>, x => Rows::complex(x.view())
);
by_reference!([const D: usize] ComplexVector<D>, ArrayRef<Complex<T>, Ix2>, x => Rows::complex(x.view()));
by_reference!([const D: usize] ComplexVector<D>, [[Complex<T>; D]], x => Rows::complex(ArrayView2::from(x)));
by_reference!(
    [const D: usize] ComplexVector<D>, Vec<[Complex<T>; D]>, x => Rows::complex(ArrayView2::from(x.as_slice()))
);
by_reference!(
    [const D: usize, const N: usize] ComplexVector<D>, [[Complex<T>; D]; N],
    x => Rows::complex(ArrayView2::from(x.as_slice()))
);

impl<'a, 'b: 'a, T: Float> IntoRows<'a, T, ComplexScalar> for ArrayView1<'b, Complex<T>> {
    fn into_rows(self) -> Rows<'a, T> {
        let x: ArrayView1<'a, Complex<T>> = self.reborrow();
        Rows::complex_scalars(x)
    }
}
impl<'a, 'b: 'a, T: Float, const D: usize> IntoRows<'a, T, ComplexVector<D>>
    for ArrayView2<'b, Complex<T>>
{
    fn into_rows(self) -> Rows<'a, T> {
        let x: ArrayView2<'a, Complex<T>> = self.reborrow();
        Rows::complex(x)
    }
}

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

fn one<'a, T: Float>(z: Complex<T>) -> Rows<'a, T> {
    Rows {
        data: Numbers::OwnedComplex(vec![z.re, z.im], 1, 2),
    }
}

parameter!([] ComplexScalar, Complex<T>, z => one(z));
parameter!([] ComplexScalar, &Complex<T>, z => one(*z));
parameter!([const D: usize] ComplexVector<D>, [Complex<T>; D], z => {
    let numbers = z.iter().map(|z| z.re).chain(z.iter().map(|z| z.im)).collect();
    Rows { data: Numbers::OwnedComplex(numbers, 2, D) }
});
parameter!(
    [const D: usize] ComplexVector<D>, &'a [Complex<T>; D],
    z => Rows::complex(ArrayView1::from(z).insert_axis(Dim(0)))
);
parameter!(
    [S: Data<Elem = Complex<T>>, const D: usize] ComplexVector<D>, &'a ArrayBase<S, Ix1>,
    z => Rows::complex(z.view().insert_axis(Dim(0)))
);
impl<'a, 'b: 'a, T: Float, const D: usize> IntoParameter<'a, T, ComplexVector<D>>
    for ArrayView1<'b, Complex<T>>
{
    fn into_parameter(self) -> Rows<'a, T> {
        let z: ArrayView1<'a, Complex<T>> = self.reborrow();
        Rows::complex(z.insert_axis(Dim(0)))
    }
}

#[cfg(test)]
#[allow(
    clippy::needless_borrows_for_generic_args,
    reason = "references are what is tested"
)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2, s};

    fn scalars<'a, T: Float>(x: impl IntoRows<'a, T, ComplexScalar>) -> Vec<T> {
        x.into_rows().source().to_vec().unwrap()
    }
    fn vectors<'a, T: Float>(
        x: impl IntoRows<'a, T, ComplexVector<2>>,
    ) -> ((usize, usize, usize), Vec<T>) {
        let rows = x.into_rows();
        (rows.source().dim(), rows.source().to_vec().unwrap())
    }

    #[test]
    fn parts_are_rows_of_their_own() {
        let z = |re: f32, im: f32| Complex::new(re, im);
        let x = Array1::from(vec![z(1.0, 2.0), z(3.0, 4.0), z(5.0, 6.0)]);
        assert_eq!(scalars(&x), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(scalars(x.slice(s![..;-2])), [5.0, 6.0, 1.0, 2.0]);
        assert_eq!(scalars(&x.to_vec()[1..]), [3.0, 4.0, 5.0, 6.0]);
        let m = Array2::from_shape_fn((3, 2), |(i, d)| z(i as f32, 10.0 * d as f32));
        let all = [
            0.0, 0.0, 0.0, 10.0, 1.0, 1.0, 0.0, 10.0, 2.0, 2.0, 0.0, 10.0,
        ];
        assert_eq!(vectors(&m), ((3, 2, 2), all.to_vec()));
        let t = m.slice(s![..2, ..]);
        assert_eq!(vectors(t.t()).1, [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 10.0, 10.0]);
        assert_eq!(
            vectors(&vec![[z(1.0, 2.0), z(3.0, 4.0)]]).1,
            [1.0, 3.0, 2.0, 4.0]
        );
        assert_eq!(vectors(&Array2::<Complex<f64>>::zeros((0, 2))).0, (0, 2, 2));
    }

    #[test]
    fn parameters_by_value_and_by_reference() {
        fn vector<'a, T: Float>(p: impl IntoParameter<'a, T, ComplexVector<2>>) -> Vec<T> {
            p.into_parameter().source().to_vec().unwrap()
        }
        fn scalar<'a, T: Float>(p: impl IntoParameter<'a, T, ComplexScalar>) -> Vec<T> {
            p.into_parameter().source().to_vec().unwrap()
        }
        let z = [Complex::new(1.0, 2.0), Complex::new(3.0, 4.0)];
        assert_eq!(vector(z), [1.0, 3.0, 2.0, 4.0]);
        assert_eq!(vector(&z), [1.0, 3.0, 2.0, 4.0]);
        assert_eq!(vector(&Array1::from(z.to_vec())), [1.0, 3.0, 2.0, 4.0]);
        assert_eq!(scalar(z[1]), [3.0, 4.0]);
        assert_eq!(scalar(&z[0]), [1.0, 2.0]);
    }
}
