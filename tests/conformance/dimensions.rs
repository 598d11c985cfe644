//! Const parameters: each formula at several dimensions, against the interpreter at the same numbers.

use crate::harness::{Case, Cotangent, Data, Engine, Flat, M, N, engines};
use keops::keops;
use keops::ndarray::{Array1, Array2};

/// `dimensions!(name [values, …] fn f(…) = …; |data| (inputs))`: a formula over `D` and `E`, and its data.
macro_rules! dimensions {
    ($name:ident [$($d:literal $e:literal),*] $(#[keops($($device:tt)*)])? ($($var:ident: $ty:tt),*) = ($($formula:tt)*)
        |$data:ident| ($($made:expr),*)) => {
        mod $name {
            use super::*;
            keops! { $(#[keops($($device)*)])? pub(super) fn formula<const D: usize, const E: usize>($($var: $ty),*) = $($formula)*; }

            #[test]
            fn agrees() {
                $(at::<$d, $e>();)*
            }
            fn at<const D: usize, const E: usize>() {
                let case = Case::at(
                    stringify!(fn formula<const D: usize, const E: usize>($($var: $ty),*) = $($formula)*;),
                    &[D, E],
                );
                let mut $data = Data::new((D * 100 + E) as u64);
                $(let $var = $made;)*
                let inputs = [$($var.flat()),*];
                for engine in engines() {
                    if matches!(engine, Engine::Gpu) && Formula::ptx::<D, E>().is_err() {
                        continue;
                    }
                    let call = || on!(engine, formula::<D, E>($(&$var),*));
                    let result = call().eval().expect("evaluates");
                    case.value::<f64>(&inputs, &result.flat(), engine);
                    let cotangent = result.cotangent(&mut $data);
                    let gradients = call().vjp(&cotangent).expect("differentiates");
                    let found = [$(gradients.$var.flat()),*];
                    case.gradients::<f64>(&inputs, &cotangent.flat(), &found, engine);
                }
            }
        }
    };
}

// Device code is required of the first: without it the suite for a GPU would pass without running any.
dimensions!(gauss [1 1, 3 2, 12 70] #[keops(D = [1, 3], E = [1, 2])]
    (x_i: [f64; D], y_j: [f64; D], b_j: [f64; E]) = (sum_j exp(-sqdist(x_i, y_j) / D) * b_j)
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));
// The same sum of distances by products, on both sides of the lengths that are expanded.
dimensions!(expanded [7 1, 8 1, 12 2, 70 1] #[keops(expand, D = [12, 70], E = [1, 2])]
    (x_i: [f64; D], y_j: [f64; D], b_j: [f64; E]) = (sum_j exp(-sqdist(x_i, y_j) / D) * b_j)
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));
// Lengths that are sums and products.
dimensions!(pieces [2 1, 3 1, 3 5]
    (x_i: [f64; D], y_j: [f64; E]) = (sum_j concat(x_i, y_j, x_i[..2]) * concat(y_j, [x_i[1], 1.0], x_i) * mean(x_i))
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, E))));
dimensions!(layers [1 1, 1 3, 2 3, 5 4, 11 2]
    (a: [[f64; D]; E], x_i: [f64; D], y_j: [f64; E]) = (sum_j outer(y_j, x_i) * (tanh(0.1 * matvec(a, x_i)) | y_j))
    |data| (data.array::<_, f64>((E, D)), data.array::<_, f64>((M, D)), data.array::<_, f64>((N, E))));
dimensions!(attention [1 2, 9 3]
    (q_i: [f64; D], k_j: [f64; D], v_j: [f64; E]) = (sumsoftmaxweight_j((q_i | k_j) / sqrt(D), v_j))
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));
dimensions!(smallest [1 1, 1 2, 2 2, 4 3]
    (x_i: [f64; D], y_j: [f64; D], z_j: [f64; E]) = (kmin_j::<3> sqdist(x_i, y_j) * z_j)
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));
// The least values at which these numbers and slices are there, where some are all there is.
dimensions!(numbers [2 1, 3 1, 3 2, 12 3]
    (x_i: [f64; D], y_j: [f64; D], z_j: [f64; E]) = (sum_j x_i[1] * square(y_j) * y_j[0] * z_j[0])
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));
dimensions!(slices [3 2, 4 2, 12 3]
    (x_i: [f64; D], y_j: [f64; D], z_j: [f64; E]) = (sum_j concat(square(x_i[..3]) * y_j[0..3], x_i[1..3] | y_j[1..3], z_j[..2]) * norm2(x_i[..]))
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));
// Matrices of one row, one column, one number.
dimensions!(tensor [1 1, 1 2, 2 1, 3 3, 12 2]
    (x_i: [f64; D], y_j: [f64; E]) = (sum_j outer(sin(x_i), y_j) * exp(x_i[0] * y_j[0]))
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, E))));
dimensions!(matrices [1 1, 1 2, 2 1, 3 2, 11 3]
    (a: [[f64; D]; E], b_j: [[f64; E]; D], x_i: [f64; D]) = (sum_j matvec(matmul(a, tanh(b_j)), vecmat(x_i, b_j)) * trace(matmul(a, b_j)) + a[0][0] * b_j[0])
    |data| (data.array::<_, f64>((E, D)), data.array::<_, f64>((N, D, E)), data.array::<_, f64>((M, D))));
dimensions!(extrema [1 1, 1 3, 2 2, 3 1, 9 2]
    (x_i: [f64; D], y_j: [f64; D], z_j: [f64; E]) = ((min_j (x_i - y_j)) * (prod_j (x_i + y_j)) * (logsumexp_j z_j[0] * x_i) * max_j (x_i | y_j))
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));
// Places counted from the end, and static arguments made of parameters.
dimensions!(from_the_end [2 1, 3 2, 12 3]
    (x_i: [f64; D], y_j: [f64; D], z_j: [f64; E]) = (sum_j concat(x_i[D - 1] * y_j[..D - 1], square(x_i[1..D])) * sumt(z_j[0], 2 * (D - 1)))
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));
dimensions!(static_arguments [1 1, 2 1, 3 2, 8 3]
    (x_i: [f64; D], y_j: [f64; E]) = (sum_j concat(sumt(x_i[0], D + 1), y_j) * concat(1.5, elemt(y_j[0], 2 * D + E, D)[D..2 * D + E]))
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, E))));
// The two places meet at D = 5 only, which is refused: there the derivative has another form.
dimensions!(two_places [3 1, 4 1, 6 1, 12 1]
    (x_i: [f64; D], z_j: [f64; E]) = (sum_j grad(square(x_i[2]) * sin(x_i[D - 3]), x_i)[D - 3] * z_j)
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, E))));

// Derivatives with respect to all numbers of a row.
dimensions!(bump [1 1, 3 2, 7 2, 64 1] #[keops(D = [1, 3, 64], E = [1, 2])]
    (x_i: [f64; D], y_j: [f64; D], b_j: [f64; E]) = (sum_j laplacian(exp(-sqdist(x_i, y_j) / D), x_i) * b_j)
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));
dimensions!(stein [1 1, 2 1, 7 1, 64 1]
    (x_i: [f64; D], y_j: [f64; D], b_j: [f64; E]) = (sum_j divergence(grad(1.0 / (1.0 + sqdist(x_i, y_j) / D), x_i), y_j) * b_j)
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));
dimensions!(hessian [2 1, 3 1, 12 1] #[keops(D = [3, 12], E = [1])]
    (x_i: [f64; D], y_j: [f64; D], b_j: [f64; E]) = (sum_j jacobian(grad(exp(-sqdist(x_i, y_j)), x_i), x_i) * sum(b_j))
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));

// A matrix that each pair keeps in memory.
dimensions!(squares [2 1, 9 1] #[keops(D = [3], E = [1])]
    (x_i: [f64; D], y_j: [f64; D], b_j: [f64; E]) = (sum_j sum(square(matmul(outer(x_i, y_j), outer(y_j, x_i) * 0.1))) * b_j)
    |data| (data.array::<_, f64>((M, D)), data.array::<_, f64>((N, D)), data.array::<_, f64>((N, E))));

keops! {
    fn gauss_of<T, const D: usize>(x_i: [T; D], y_j: [T; D], b_j: T) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    fn gauss_of_dx = grad(gauss_of, x_i);
    fn of_three(x_i: [f32; 3], y_j: [f32; 3], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    fn third<T, const D: usize>(x_i: [T; D]) = sum_i x_i[2];
}

#[test]
fn value_types_derived_items_and_tangents() {
    let mut data = Data::new(1);
    let (x, y, b): (Array2<f32>, Array2<f32>, Array1<f32>) =
        (data.array((M, 3)), data.array((N, 3)), data.array(N));
    let e: Array1<f32> = data.array(M);
    let fixed = of_three(&x, &y, &b);
    let free = gauss_of::<f32, 3>(&x, &y, &b);
    // Loops round in another order than straight-line code.
    let close = |a: &[f64], b: &[f64]| {
        let scale = b.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        assert_eq!(a.len(), b.len());
        assert!(
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 4e-6 * scale),
            "{a:?} {b:?}"
        );
    };
    close(&free.eval().unwrap().flat(), &fixed.eval().unwrap().flat());
    let expected = fixed.grad_x_i(&e).unwrap().flat();
    close(&free.grad_x_i(&e).unwrap().flat(), &expected);
    let dx = gauss_of_dx::<f32, 3>(&x, &y, &b, &e).eval().unwrap();
    close(&dx.flat(), &expected);
    let tangent = GaussOfTangent {
        x_i: Some(&*x),
        ..Default::default()
    };
    let expected = fixed.jvp(OfThreeTangent {
        x_i: Some(&*x),
        ..Default::default()
    });
    close(
        &free.jvp(tangent).unwrap().flat(),
        &expected.unwrap().flat(),
    );
    // Arrays of arrays say their dimension themselves.
    let rows = vec![[1.0f64, 2.0, 3.0, 4.0]; 2];
    assert_eq!(third(&rows).eval().unwrap(), 6.0);
}

#[test]
fn columns_are_checked_when_called() {
    let x = Array2::<f64>::zeros((4, 3));
    let error = gauss_of::<f64, 2>(&x, &x, &Array1::zeros(4))
        .eval()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "gauss_of: x_i holds 3 columns but is declared with 2 columns; pass an array of shape [rows, 2]"
    );
}

#[test]
fn listed_values_have_device_code() {
    if matches!(engines()[..], [Engine::Gpu]) {
        assert!(gauss::Formula::ptx::<3, 2>().is_ok());
    }
    let error = gauss::Formula::ptx::<12, 70>().unwrap_err().to_string();
    assert!(
        error.contains("D = 1, E = 1; D = 1, E = 2; D = 3, E = 1; D = 3, E = 2"),
        "{error}"
    );
}
