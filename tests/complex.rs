//! Complex values through the macro: arrays of `num_complex` in and out, against dense complex arithmetic.

use keops::__private::Level;
use keops::ndarray::{Array1, Array2, Array3, Axis, s};
use keops::{Complex, Error, keops};

type Z = Complex<f64>;

keops! {
    /// A non-uniform Fourier sum.
    fn fourier<T>(x_i: [T; 2], y_j: [T; 2], b_j: Complex<T>) = sum_j exp1j(x_i | y_j) * b_j;
    fn filtered(z_i: [Complex<f64>; 2], w_j: [Complex<f64>; 2], p: Complex<f64>) = (
        mean_j conj(z_i) * w_j / p,
        sum_j abs(sum(z_i * w_j)),
    );
    fn total(w_j: [Complex<f32>; 3], p: [Complex<f32>; 3]) = sum_j w_j * p;
    /// Matrices of any shape in the middle.
    fn products<const D: usize>(a_i: [[Complex<f64>; 2]; 3], b_j: [[Complex<f64>; D]; 2], p: [[Complex<f64>; 2]; 2]) =
        sum_j matmul(a_i, matmul(p, b_j));
    fn products_dp = grad(products, p);
    fn sums(b_j: [[Complex<f32>; 3]; 2], w_j: [Complex<f32>; 3]) = (sum_j b_j, sum_j matvec(b_j, w_j), sum_j w_j | w_j);
    fn fourier_db = grad(fourier, b_j);
    fn fourier_along = jvp(fourier, b_j);
}

fn point(k: usize, d: usize) -> f64 {
    ((k * 7 + d * 3) % 11) as f64 / 5.0 - 1.0
}
fn number(k: usize) -> Z {
    Z::new(point(k, 0), point(k + 1, 1))
}
fn near(a: Z, b: Z) {
    assert!((a - b).norm() < 1e-12 * (1.0 + b.norm()), "{a}, not {b}");
}

#[test]
fn fourier_sums() -> Result<(), Error> {
    let (m, n) = (21, 75);
    let x = Array2::from_shape_fn((m, 2), |(i, d)| point(i, d));
    let y = Array2::from_shape_fn((n, 2), |(j, d)| point(3 * j, d));
    let b = Array1::from_shape_fn(n, number);
    let e = Array1::from_shape_fn(m, |i| number(2 * i));
    let wave = |i: usize, j: usize| Z::new(0.0, x.row(i).dot(&y.row(j))).exp();
    for level in Level::supported() {
        let sums: Array1<Z> = fourier(&x, &y, &b).level(level).eval()?;
        for (i, &sum) in sums.iter().enumerate() {
            near(sum, (0..n).map(|j| wave(i, j) * b[j]).sum());
        }
        // The gradient of Re Σ conj(e)·a: ∂/∂re + i ∂/∂im.
        let gradient: Array1<Z> = fourier(&x, &y, &b).level(level).grad_b_j(&e)?;
        for (j, &g) in gradient.iter().enumerate() {
            near(g, (0..m).map(|i| wave(i, j).conj() * e[i]).sum());
        }
        let all = fourier(&x, &y, &b).level(level).vjp(&e)?;
        for (j, &g) in all.b_j.iter().enumerate() {
            near(g, gradient[j]);
        }
        for i in 0..m {
            for d in 0..2 {
                let slope: f64 = (0..n)
                    .map(|j| (e[i].conj() * Z::new(0.0, y[[j, d]]) * wave(i, j) * b[j]).re)
                    .sum();
                assert!((all.x_i[[i, d]] - slope).abs() < 1e-11);
            }
        }
    }
    // Views with strides, derivative items, tangents.
    let wide = Array2::from_shape_fn((n, 2), |(j, d)| number(j + d));
    let column = wide.slice(s![..;-1, 1]);
    let sums: Array1<Z> = fourier(&x, &y, column).eval()?;
    near(sums[3], (0..n).map(|j| wave(3, j) * column[j]).sum());
    let item: Array1<Z> = fourier_db(&x, &y, &b, &e).eval()?;
    near(item[5], (0..m).map(|i| wave(i, 5).conj() * e[i]).sum());
    let along: Array1<Z> = fourier_along(&x, &y, &b, column).eval()?;
    near(along[3], sums[3]);
    let tangent = column.to_owned();
    let t = FourierTangent {
        b_j: Some(&tangent),
        ..Default::default()
    };
    near(fourier(&x, &y, &b).jvp(t)?[3], sums[3]);
    Ok(())
}

#[test]
fn vectors_parameters_and_tuples() -> Result<(), Error> {
    let z = Array2::from_shape_fn((5, 2), |(i, d)| number(i + d));
    let w = Array2::from_shape_fn((40, 2), |(j, d)| number(2 * j + d));
    let p = Z::new(0.5, -1.5);
    let (means, sizes): (Array2<Z>, Array1<f64>) = filtered(&z, &w, p).eval()?;
    for i in 0..5 {
        for d in 0..2 {
            let mean: Z = (0..40)
                .map(|j| z[[i, d]].conj() * w[[j, d]] / p / 40.0)
                .sum();
            near(means[[i, d]], mean);
        }
        let size: f64 = (0..40)
            .map(|j| (z[[i, 0]] * w[[j, 0]] + z[[i, 1]] * w[[j, 1]]).norm())
            .sum();
        assert!((sizes[i] - size).abs() < 1e-11);
    }
    // Nothing left of an index: one value. And f32, from rows of arrays.
    let rows = vec![
        [
            Complex::new(1.0f32, 2.0),
            Complex::new(0.0, 1.0),
            Complex::new(3.0, 0.0)
        ];
        4
    ];
    let ones = [
        Complex::new(1.0f32, 0.0),
        Complex::new(0.0, 1.0),
        Complex::new(2.0, 0.0),
    ];
    let sum: Array1<Complex<f32>> = total(&rows, ones).eval()?;
    assert_eq!(
        sum.to_vec(),
        [
            Complex::new(4.0, 8.0),
            Complex::new(-4.0, 0.0),
            Complex::new(24.0, 0.0)
        ]
    );
    Ok(())
}

fn matrices(rows: usize, r: usize, c: usize) -> Array3<Z> {
    Array3::from_shape_fn((rows, r, c), |(k, a, b)| number(5 * k + 3 * a + b))
}

#[test]
fn matrices_in_and_out() -> Result<(), Error> {
    let (m, n, d) = (19, 23, 4);
    let (a, b, p) = (matrices(m, 3, 2), matrices(n, 2, d), matrices(1, 2, 2));
    let p = p.index_axis(Axis(0), 0);
    let e = matrices(m, 3, d);
    let all = b.sum_axis(Axis(0));
    let conj = |x: &Array2<Z>| x.mapv(|z| z.conj());
    for level in Level::supported() {
        let found: Array3<Z> = products::<4>(&a, &b, p).level(level).eval()?;
        for (i, found) in found.outer_iter().enumerate() {
            let expected = a.index_axis(Axis(0), i).dot(&p.dot(&all));
            found.iter().zip(&expected).for_each(|(f, e)| near(*f, *e));
        }
        let gradients = products::<4>(&a, &b, p).level(level).vjp(&e)?;
        let mut of_p = Array2::zeros((2, 2));
        for i in 0..m {
            let (a, e) = (
                a.index_axis(Axis(0), i).to_owned(),
                e.index_axis(Axis(0), i),
            );
            let expected = e.dot(&conj(&p.dot(&all)).t());
            let found = gradients.a_i.index_axis(Axis(0), i);
            found.iter().zip(&expected).for_each(|(f, e)| near(*f, *e));
            of_p = of_p + conj(&a).t().dot(&e).dot(&conj(&all).t());
        }
        gradients
            .p
            .iter()
            .zip(&of_p)
            .for_each(|(f, e)| near(*f, *e));
        let found: Array2<Z> = products_dp::<4>(&a, &b, p, &e).level(level).eval()?;
        found.iter().zip(&of_p).for_each(|(f, e)| near(*f, *e));
        // The value is linear in a_i: along itself it is itself.
        let tangent = ProductsTangent {
            a_i: Some(&a),
            ..Default::default()
        };
        let along: Array3<Z> = products::<4>(&a, &b, p).level(level).jvp(tangent)?;
        let value = products::<4>(&a, &b, p).level(level).eval()?;
        along.iter().zip(&value).for_each(|(f, e)| near(*f, *e));
    }
    // Any strides, and arrays of arrays.
    let turned = a.clone().reversed_axes();
    let turned = turned.as_standard_layout().into_owned();
    let (value, other) = (
        products::<4>(&a, &b, p).eval()?,
        products::<4>(turned.t(), &b, p).eval()?,
    );
    assert_eq!(value, other);
    Ok(())
}

#[test]
fn bare_matrices_and_scalar_products() -> Result<(), Error> {
    let z = |re: f32, im: f32| Complex::new(re, im);
    let b = [[[z(1.0, 2.0); 3], [z(0.0, 1.0); 3]]; 5];
    let w = [[z(1.0, 1.0), z(2.0, 0.0), z(0.0, -1.0)]; 5];
    let (sum, products, dot) = sums(&b, &w).eval()?;
    assert_eq!(sum.row(0).to_vec(), [z(5.0, 10.0); 3]);
    assert_eq!(sum.row(1).to_vec(), [z(0.0, 5.0); 3]);
    // (1 + 2i)·3 and i·3, five times; (1 + i)² + 4 + (−i)² = 3 + 2i, without conjugates
    assert_eq!(products.to_vec(), [z(15.0, 30.0), z(0.0, 15.0)]);
    assert_eq!(dot, z(15.0, 10.0));
    let error = sums(&ndarray_of(2), &w).eval().unwrap_err().to_string();
    assert!(
        error.contains("2×3 matrices") && error.contains("2×2 matrices"),
        "{error}"
    );
    Ok(())
}

fn ndarray_of(columns: usize) -> Array3<Complex<f32>> {
    Array3::zeros((5, 2, columns))
}

#[test]
fn shapes_are_named_in_complex_numbers() {
    let z = Array2::from_elem((5, 3), Z::new(1.0, 0.0));
    let w = Array2::from_elem((4, 2), Z::new(1.0, 0.0));
    let error = filtered(&z, &w, Z::new(1.0, 0.0))
        .eval()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("z_i") && error.contains("3 columns") && error.contains("2 columns"),
        "{error}"
    );
}
