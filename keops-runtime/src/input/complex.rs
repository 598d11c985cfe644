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

by_reference!(
    [S: Data<Elem = Complex<T>>, const R: usize, const C: usize] ComplexMatrix<R, C>, ArrayBase<S, Ix3>,
    x => Rows::complex_matrices(x.view())
);
by_reference!(
    [const R: usize, const C: usize] ComplexMatrix<R, C>, ArrayRef<Complex<T>, Ix3>,
    x => Rows::complex_matrices(x.view())
);
by_reference!(
    [const R: usize, const C: usize] ComplexMatrix<R, C>, [[[Complex<T>; C]; R]],
    x => blocks(x)
);
by_reference!(
    [const R: usize, const C: usize] ComplexMatrix<R, C>, Vec<[[Complex<T>; C]; R]>,
    x => blocks(x.as_slice())
);
by_reference!(
    [const R: usize, const C: usize, const N: usize] ComplexMatrix<R, C>, [[[Complex<T>; C]; R]; N],
    x => blocks(x.as_slice())
);

impl<'a, 'b: 'a, T: Float, const R: usize, const C: usize> IntoRows<'a, T, ComplexMatrix<R, C>>
    for ArrayView3<'b, Complex<T>>
{
    fn into_rows(self) -> Rows<'a, T> {
        let x: ArrayView3<'a, Complex<T>> = self.reborrow();
        Rows::complex_matrices(x)
    }
}
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

/// Matrices one behind another.
fn blocks<T: Float, const R: usize, const C: usize>(x: &[[[Complex<T>; C]; R]]) -> Rows<'_, T> {
    let all = x.as_flattened().as_flattened();
    let view = ArrayView3::from_shape((x.len(), R, C), all);
    Rows::complex_matrices(view.expect("as many numbers as there are"))
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

parameter!([const R: usize, const C: usize] ComplexMatrix<R, C>, [[Complex<T>; C]; R], z => {
    let all = z.as_flattened();
    let numbers = all.iter().map(|z| z.re).chain(all.iter().map(|z| z.im)).collect();
    Rows { data: Numbers::OwnedComplexMatrix(numbers, 2 * R, C) }
});
parameter!(
    [const R: usize, const C: usize] ComplexMatrix<R, C>, &'a [[Complex<T>; C]; R],
    z => Rows::complex_matrices(ArrayView2::from(z.as_slice()).insert_axis(Dim(0)))
);
parameter!(
    [S: Data<Elem = Complex<T>>, const R: usize, const C: usize] ComplexMatrix<R, C>, &'a ArrayBase<S, Ix2>,
    z => Rows::complex_matrices(z.view().insert_axis(Dim(0)))
);
impl<'a, 'b: 'a, T: Float, const R: usize, const C: usize> IntoParameter<'a, T, ComplexMatrix<R, C>>
    for ArrayView2<'b, Complex<T>>
{
    fn into_parameter(self) -> Rows<'a, T> {
        let z: ArrayView2<'a, Complex<T>> = self.reborrow();
        Rows::complex_matrices(z.insert_axis(Dim(0)))
    }
}

#[cfg(test)]
#[allow(
    clippy::needless_borrows_for_generic_args,
    reason = "references are what is tested"
)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2, Array3, s};

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
    fn matrices_have_their_parts_one_above_the_other() {
        fn matrices<'a, T: Float>(
            x: impl IntoRows<'a, T, ComplexMatrix<2, 3>>,
        ) -> ((usize, usize, usize), Vec<T>) {
            let rows = x.into_rows();
            (rows.source().dim(), rows.source().to_vec().unwrap())
        }
        fn parameter<'a, T: Float>(x: impl IntoParameter<'a, T, ComplexMatrix<2, 3>>) -> Vec<T> {
            x.into_parameter().source().to_vec().unwrap()
        }
        let m = Array3::from_shape_fn((4, 2, 3), |(k, r, c)| {
            Complex::new(
                (100 * k + 10 * r + c) as f64,
                -((100 * k + 10 * r + c) as f64),
            )
        });
        let one = |k: f64| {
            let re = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0].map(|x| 100.0 * k + x);
            [re, re.map(|x| -x)].concat()
        };
        let all: Vec<f64> = (0..4).flat_map(|k| one(f64::from(k))).collect();
        assert_eq!(matrices(&m), ((4, 4, 3), all.clone()));
        assert_eq!(matrices(m.view()).1, all);
        let back = m.slice(s![..;-2, .., ..]);
        assert_eq!(matrices(back).1, [one(3.0), one(1.0)].concat());
        // Strides that are nobody's: the transpose of an array of other axes.
        let turned = m.clone().permuted_axes([1, 2, 0]);
        let turned = turned.as_standard_layout().into_owned();
        assert_eq!(matrices(turned.view().permuted_axes([2, 0, 1])).1, all);
        let rows = vec![[[Complex::new(1.0f32, 2.0); 3]; 2]; 5];
        assert_eq!(matrices(&rows).0, (5, 4, 3));
        assert_eq!(matrices(&rows[..1]).1, [[1.0; 6], [2.0; 6]].concat());
        let first = m.index_axis(ndarray::Axis(0), 0);
        assert_eq!(parameter(first), one(0.0));
        assert_eq!(parameter(&first.to_owned()), one(0.0));
        let array = [[Complex::new(1.0, 2.0); 3]; 2];
        assert_eq!(parameter(array), parameter(&array));
        assert_eq!(parameter(array), [[1.0; 6], [2.0; 6]].concat());
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
