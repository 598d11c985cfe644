//! Errors found before a pass runs, and their texts.
use keops_runtime::__private::{IntoParameter, IntoRows, Scalar, Vector, run, table};
use keops_runtime::ndarray::{Array1, Array2, ArrayView2};
use keops_runtime::{Options, Shape};

use crate::functions::{GAUSS, HOISTED, MAP};
use crate::kernels::{Gauss, Hoisted, Map};

/// The message for these arrays.
fn gauss(x: ArrayView2<'_, f32>, y: ArrayView2<'_, f32>, b: usize) -> String {
    let b = Array1::<f32>::zeros(b);
    let inputs = [
        &IntoRows::<f32, Vector<3>>::into_rows(x),
        &IntoRows::<f32, Vector<3>>::into_rows(y),
        &IntoRows::<f32, Scalar>::into_rows(&b),
    ];
    run(
        &GAUSS,
        &[table::<f32, Gauss<3>>()],
        &inputs,
        &Options::new(),
    )
    .unwrap_err()
    .to_string()
}

#[test]
fn wrong_columns() {
    let (right, wrong) = (Array2::zeros((4, 3)), Array2::zeros((3, 4)));
    assert_eq!(
        gauss(wrong.view(), right.view(), 4),
        "gauss: x_i holds 4 columns but is declared with 3 columns; pass an array of shape [rows, 3]"
    );
    assert_eq!(
        gauss(
            right.view(),
            right.slice(keops_runtime::ndarray::s![.., ..1]),
            4
        ),
        "gauss: y_j holds 1 column but is declared with 3 columns; pass an array of shape [rows, 3]"
    );
}

#[test]
fn different_numbers_of_rows() {
    let x = Array2::zeros((4, 3));
    assert_eq!(
        gauss(x.view(), x.view(), 5),
        "gauss: y_j has 4 rows but b_j has 5; all variables indexed by j need the same number of rows"
    );
}

#[test]
fn wrong_parameters() {
    let (x, p) = (Array2::<f32>::zeros((2, 2)), Array1::<f32>::zeros(5));
    let inputs = [
        &IntoRows::<f32, Vector<2>>::into_rows(&x),
        &IntoParameter::<f32, Vector<2>>::into_parameter(&p),
    ];
    let error = run(&MAP, &[table::<f32, Map>()], &inputs, &Options::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "shift: p holds 5 columns but is declared with 2 columns; pass an array of shape [2]"
    );
}

#[test]
fn rows_of_the_outer_axis_are_compared_too() {
    let (x, y) = (Array2::<f64>::zeros((3, 2)), Array2::<f64>::zeros((5, 2)));
    let (a, b) = (Array1::zeros(2), Array1::zeros(5));
    let inputs = [
        &IntoRows::<f64, Vector<2>>::into_rows(&x),
        &IntoRows::<f64, Scalar>::into_rows(&a),
        &IntoRows::<f64, Vector<2>>::into_rows(&y),
        &IntoRows::<f64, Scalar>::into_rows(&b),
        &IntoParameter::<f64, Scalar>::into_parameter(1.0),
    ];
    let error = run(
        &HOISTED,
        &[table::<f64, Hoisted>()],
        &inputs,
        &Options::new(),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "hoisted: x_i has 3 rows but a_i has 2; all variables indexed by i need the same number of rows"
    );
}

#[test]
fn more_than_can_be_counted_or_allocated() {
    // A broadcast array of more rows than memory has bytes.
    let one = Array2::<f32>::zeros((1, 3));
    let many = one.broadcast((1 << 33, 3)).unwrap();
    assert_eq!(
        gauss(many, one.view(), 1),
        "gauss: x_i has 8589934592 rows, more than 4294967295; split the array and combine the results"
    );
    let x = Array2::<f64>::zeros((1, 2));
    let many = x.broadcast((u32::MAX as usize, 2)).unwrap();
    let inputs = [
        &IntoRows::<f64, Vector<2>>::into_rows(many),
        &IntoParameter::<f64, Vector<2>>::into_parameter([0.0; 2]),
    ];
    // Allocating 64 GiB may succeed where memory is overcommitted; then this would take long. Only ask where it fails.
    let mut probe: Vec<u8> = Vec::new();
    if probe.try_reserve_exact(u32::MAX as usize * 16).is_err() {
        let error = run(&MAP, &[table::<f64, Map>()], &inputs, &Options::new())
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(
                "shift: out of memory: 68719476720 bytes of output cannot be allocated"
            ),
            "{error}"
        );
    }
}

#[test]
fn shapes_read_like_the_declaration() {
    assert_eq!(Shape::Matrix(2, 3).to_string(), "2×3 matrices");
    assert_eq!(Shape::Scalar.to_string(), "scalars");
}
