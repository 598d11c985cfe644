//! Inputs of any strides give what contiguous ones give, to the bit.
use keops_runtime::__private::{IntoRows, Rows, Scalar, Vector, table};
use keops_runtime::ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder, s};

use crate::data::{Number, random, run_all, to};
use crate::functions::{GAUSS, HOISTED};
use crate::kernels::{Gauss, Hoisted};

fn vectors<T: Number>(view: ArrayView2<'_, T>) -> Rows<'_, T> {
    IntoRows::<T, Vector<3>>::into_rows(view)
}

fn check<T: Number>(m: usize, n: usize) {
    let x = Array2::from_shape_vec((m, 3), to::<T>(&random(1, 3 * m))).unwrap();
    let y = Array2::from_shape_vec((n, 3), to::<T>(&random(2, 3 * n))).unwrap();
    let b = Array1::from(to::<T>(&random(3, n)));
    let b_rows = IntoRows::<T, Scalar>::into_rows(&b);
    let tables = [table::<T, Gauss<3>>()];
    let expected = run_all(
        &GAUSS,
        &tables,
        &[&vectors(x.view()), &vectors(y.view()), &b_rows],
    );

    // Column-major, that is a transposed array.
    let mut columns = Array2::from_elem((n, 3).f(), T::default());
    columns.assign(&y);
    // Every second row, every third column, from a larger array.
    let mut spread = Array2::from_elem((2 * n, 9), T::default());
    spread.slice_mut(s![..;2, ..;3]).assign(&y);
    // Negative strides: stored backwards, read backwards.
    let backwards = y.slice(s![..;-1, ..;-1]).to_owned();
    for y in [
        columns.view(),
        spread.slice(s![..;2, ..;3]),
        backwards.slice(s![..;-1, ..;-1]),
    ] {
        assert_eq!(
            run_all(&GAUSS, &tables, &[&vectors(x.view()), &vectors(y), &b_rows]),
            expected,
            "{m} {n}"
        );
    }
    let mut spread = Array2::from_elem((3, 2 * m), T::default());
    spread.slice_mut(s![.., ..;2]).assign(&x.t());
    let view = spread.slice(s![.., ..;2]);
    assert_eq!(
        run_all(
            &GAUSS,
            &tables,
            &[&vectors(view.t()), &vectors(y.view()), &b_rows]
        ),
        expected,
        "{m} {n}"
    );
}

#[test]
fn strides_do_not_matter() {
    for (m, n) in [(1, 1), (1, 300), (5, 70), (20, 300), (300, 20)] {
        check::<f32>(m, n);
        check::<f64>(m, n);
    }
}

#[test]
fn broadcast_rows() {
    let (m, n) = (40, 300);
    let x = Array2::from_shape_vec((m, 2), to::<f32>(&random(1, 2 * m))).unwrap();
    let (y, a) = (
        Array2::from_elem((1, 2), 0.25f32),
        Array1::from_elem(1, 0.5f32),
    );
    let r = keops_runtime::IntoParameter::<f32, Scalar>::into_parameter(1.0f32);
    let tables = [table::<f32, Hoisted>()];
    let run = |y: ArrayView2<'_, f32>, a: &Array1<f32>, b: &Array1<f32>| {
        let x = IntoRows::<f32, Vector<2>>::into_rows(&x);
        let y = IntoRows::<f32, Vector<2>>::into_rows(y);
        let a = a.broadcast(m).unwrap();
        let (a, b) = (
            IntoRows::<f32, Scalar>::into_rows(a),
            IntoRows::<f32, Scalar>::into_rows(b),
        );
        run_all(&HOISTED, &tables, &[&x, &a, &y, &b, &r])
    };
    let b = Array1::from(to::<f32>(&random(3, n)));
    let broadcast = run(y.broadcast((n, 2)).unwrap(), &a, &b);
    let copied = run(
        y.broadcast((n, 2)).unwrap().to_owned().view(),
        &Array1::from_elem(m, 0.5),
        &b,
    );
    assert_eq!(broadcast, copied);
    let one_row = y.index_axis(Axis(0), 0);
    assert_eq!(run(one_row.broadcast((n, 2)).unwrap(), &a, &b), copied);
}
