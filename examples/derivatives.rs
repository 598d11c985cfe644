//! Derivatives of the first, second and third order, written as items and checked against finite differences.
//!
//! ```sh
//! cargo run --release --example derivatives
//! ```
//!
//! `grad(item, v)` is itself an item: it takes what `item` takes, then the cotangent of its value, and can be derived
//! again. All of them are compiled with the program.

use keops::{Error, keops};
use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use rand_distr::StandardNormal;

const M: usize = 300;
const N: usize = 400;
const H: f64 = 1e-5;

keops! {
    /// Gaussian kernel sum, a_i = Σ_j exp(−|x_i − y_j|²) b_j.
    fn gauss(x_i: [f64; 3], y_j: [f64; 3], b_j: f64) = sum_j exp(-sqdist(x_i, y_j)) * b_j;

    /// First order: the gradient in x_i of e_i a_i.
    fn gauss_dx = grad(gauss, x_i);
    /// Second order: the gradient in x_i of ⟨e2_i, gauss_dx⟩.
    fn gauss_dxx = grad(gauss_dx, x_i);
    /// Second order, mixed: the gradient in y_j of ⟨e2_i, gauss_dx⟩.
    fn gauss_dxy = grad(gauss_dx, y_j);
    /// Third order: the gradient in x_i of ⟨e3_i, gauss_dxx⟩.
    fn gauss_dxxx = grad(gauss_dxx, x_i);
}

/// Σ of the products.
fn inner(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    (a * b).sum()
}

/// Compares ⟨`gradient`, d⟩ with the central difference of `f` along d at `at`.
fn check(
    name: &str,
    gradient: &Array2<f64>,
    at: &Array2<f64>,
    d: &Array2<f64>,
    f: impl Fn(&Array2<f64>) -> Result<f64, Error>,
) -> Result<(), Error> {
    let exact = inner(gradient, d);
    let difference = (f(&(at + d * H))? - f(&(at - d * H))?) / (2.0 * H);
    let error = (exact - difference).abs() / exact.abs();
    println!("{name:26} {exact:16.9} differences {difference:16.9} relative {error:.1e}");
    assert!(error < 1e-7, "{name}: {exact} is not {difference}");
    Ok(())
}

fn main() -> Result<(), Error> {
    let mut random = SmallRng::seed_from_u64(1);
    let mut normal =
        |rows| Array2::from_shape_simple_fn((rows, 3), || random.sample::<f64, _>(StandardNormal));
    let (x, y, dx, dy) = (normal(M), normal(N), normal(M), normal(N));
    let (e2, e3) = (normal(M), normal(M));
    let b = Array1::from_shape_simple_fn(N, || random.random::<f64>());
    let e = Array1::from_shape_simple_fn(M, || random.random::<f64>());

    let first = gauss_dx(&x, &y, &b, &e).eval()?;
    check("gauss_dx", &first, &x, &dx, |x| {
        Ok((gauss(x, &y, &b).eval()? * &e).sum())
    })?;

    let method: Array2<f64> = gauss(&x, &y, &b).grad_x_i(&e)?;
    let largest = (&method - &first).fold(0.0, |a: f64, v| a.max(v.abs()));
    println!("grad_x_i differs from the item gauss_dx by {largest:.1e}");
    assert!(largest < 1e-12);

    let second = gauss_dxx(&x, &y, &b, &e, &e2).eval()?;
    check("gauss_dxx", &second, &x, &dx, |x| {
        Ok(inner(&gauss_dx(x, &y, &b, &e).eval()?, &e2))
    })?;

    let mixed = gauss_dxy(&x, &y, &b, &e, &e2).eval()?;
    check("gauss_dxy", &mixed, &y, &dy, |y| {
        Ok(inner(&gauss_dx(&x, y, &b, &e).eval()?, &e2))
    })?;

    let third = gauss_dxxx(&x, &y, &b, &e, &e2, &e3).eval()?;
    check("gauss_dxxx", &third, &x, &dx, |x| {
        Ok(inner(&gauss_dxx(x, &y, &b, &e, &e2).eval()?, &e3))
    })?;

    // All first derivatives at once.
    let g = gauss(&x, &y, &b).vjp(&e)?;
    check("vjp, y_j", &g.y_j, &y, &dy, |y| {
        Ok((gauss(&x, y, &b).eval()? * &e).sum())
    })?;
    println!(
        "a_i is linear in b_j: ⟨vjp.b_j, b⟩ − ⟨e, a⟩ = {:.1e}",
        (g.b_j * &b).sum() - (gauss(&x, &y, &b).eval()? * &e).sum()
    );
    Ok(())
}
