//! Value and gradients from one call, `value_and_vjp`: see `tests/conformance/main.rs`.

#[macro_use]
#[path = "../conformance/harness.rs"]
mod harness;

use crate::harness::engines;
use keops::keops;
use keops::ndarray::{Array1, array};

case!(together gaussian(i x_i: [T; 3], j y_j: [T; 3], j b_j: T) = sum_j exp(-sqdist(x_i, y_j)) * b_j);
case!(together quotient(i x_i: [T; 2], j y_j: [T; 2], j b_j: [T; 4], p s: T) = { let k = exp(-s * sqdist(x_i, y_j)); (sum_j k * b_j) / (sum_j k) });
// The derivative reads what an earlier pass has made, which is the value here.
case!(together through_the_value(i x_i: [T; 2], j y_j: [T; 2]) = logsumexp_j(x_i | y_j));
case!(together through_an_index(i x_i: [T; 2], j y_j: [T; 2]) = min_j sqdist(x_i, y_j));
case!(together down_the_columns(i x_i: [T; 2], i w_i: T, j y_j: [T; 2]) = sum_i w_i / (1.0 + sqdist(x_i, y_j)));
case!(together of_parameters(p a: [[T; 2]; 2], i x_i: [T; 2], j y_j: [T; 2]) = sum_j tanh(matvec(a, x_i)) * y_j);
// All gradients but one need no pass over pairs.
case!(together of_sums(i x_i: [T; 2], j y_j: [T; 2], p s: T) = s * sqnorm2(x_i) + sum_j y_j[0] * y_j[1]);

keops! {
    fn several(x_i: f64, y_j: f64) = (sum_j x_i * y_j, argmin_j abs(x_i - y_j), max_j x_i - y_j);
    fn squares(x_i: f64, y_j: f64) = sum_j square(x_i - y_j);
    fn derived = grad(squares, x_i);
}

#[test]
fn tuples_keep_their_order() {
    let (x, y) = (array![1.0, 2.0], array![3.0, 0.5, 1.75]);
    for engine in engines() {
        let e = (array![1.0, 1.0], (), array![0.5, 0.25]);
        let call = on!(engine, several(&x, &y));
        let (value, g) = call.value_and_vjp((&e.0, e.1, &e.2)).unwrap();
        assert_eq!(value.0, array![5.25, 10.5]);
        assert_eq!(value.1, array![1, 2]);
        assert_eq!(value.2, array![0.5, 1.5]);
        assert_eq!(g.x_i, array![5.75, 5.5]);
        assert_eq!(g.y_j, array![3.0, 2.25, 3.0]);
    }
}

/// An item that is a derivative has the method as well, and its arguments include the cotangent of the first.
#[test]
fn derivatives_have_it_too() {
    let (x, y, e) = (array![1.0, 2.0], array![3.0, 0.5, 1.75], array![1.0, 2.0]);
    for engine in engines() {
        let (value, g) = on!(engine, derived(&x, &y, &e))
            .value_and_vjp(&array![1.0, 1.0])
            .unwrap();
        // 2 e_i Σ_j (x_i - y_j), and its derivatives.
        assert_eq!(value, array![-4.5, 3.0]);
        assert_eq!(g.x_i, array![6.0, 12.0]);
        assert_eq!(g.y_j, array![-6.0, -6.0, -6.0]);
        assert_eq!(g.e_i, array![-4.5, 1.5]);
    }
}

/// Shapes are checked before anything runs, also that of the cotangent.
#[test]
fn cotangents_are_checked() {
    let (x, y) = (array![1.0, 2.0], array![3.0, 0.5, 1.75]);
    let short: Array1<f64> = array![1.0];
    for engine in engines() {
        let error = on!(engine, squares(&x, &y))
            .value_and_vjp(&short)
            .unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("squares") && message.contains("e_i"),
            "{message}"
        );
    }
}
