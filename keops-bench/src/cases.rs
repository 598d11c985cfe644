//! The cases: each a formula of keops, a plain loop, and the plain loop at f64 as the reference.

use crate::data::{Data, Number};
use crate::measure::Output;
use crate::plain;
use keops::keops;
use keops::ndarray::Array2;
use std::sync::Arc;

keops! {
    fn gauss_3<T>(x_i: [T; 3], y_j: [T; 3], b_j: T) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    fn gauss_narrow<T>(x_i: [T; 3], y_j: [T; 3], b_j: T) = sum_j exp(-1e5 * sqdist(x_i, y_j)) * b_j;
    fn gauss_10<T>(x_i: [T; 10], y_j: [T; 10], b_j: T) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    fn gauss_64<T>(x_i: [T; 64], y_j: [T; 64], b_j: T) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    fn logsumexp_3<T>(x_i: [T; 3], y_j: [T; 3]) = logsumexp_j(-sqdist(x_i, y_j));
    fn argmin_3<T>(x_i: [T; 3], y_j: [T; 3]) = argmin_j sqdist(x_i, y_j);
    fn argmin_64<T>(x_i: [T; 64], y_j: [T; 64]) = argmin_j sqdist(x_i, y_j);
    fn gauss_512<T>(x_i: [T; 512], y_j: [T; 512], b_j: T) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    #[keops(expand)]
    fn gauss_expanded_64<T>(x_i: [T; 64], y_j: [T; 64], b_j: T) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    #[keops(expand)]
    fn gauss_expanded_512<T>(x_i: [T; 512], y_j: [T; 512], b_j: T) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    #[keops(expand)]
    fn argmin_expanded_64<T>(x_i: [T; 64], y_j: [T; 64]) = argmin_j sqdist(x_i, y_j);
    fn argkmin_3<T>(x_i: [T; 3], y_j: [T; 3]) = argkmin_j::<10> sqdist(x_i, y_j);
    fn dist_3<T>(x_i: [T; 3], y_j: [T; 3], b_j: T) = sum_j dist(x_i, y_j) * b_j;
    fn laplace_3<T>(x_i: [T; 3], y_j: [T; 3], b_j: T) = sum_j exp(-dist(x_i, y_j)) * b_j;
    fn cauchy_3<T>(x_i: [T; 3], y_j: [T; 3], b_j: T) = sum_j b_j / (1.0 + sqdist(x_i, y_j));
    fn gauss_wide<T>(x_i: [T; 3], y_j: [T; 3], b_j: [T; 100]) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    fn softmaxweight_3<T>(x_i: [T; 3], y_j: [T; 3], b_j: [T; 2]) = sumsoftmaxweight_j(sqdist(x_i, y_j), b_j);
}

/// For messages.
pub(crate) const NAMES: &str = "gauss (D = 3, 10, 64, 512, and at f32 those of sweep.rs), gauss_expanded (64, 512), argmin_expanded (64), gauss_grad, gauss_gradients (all three), \
                                gauss_and_gradients (and the value), gauss_narrow (zero beyond 0.03), gauss_columns (b of 100 columns), logsumexp, argmin (3, 64), argkmin10, dist, laplace, cauchy \
                                and softmaxweight (3)";

/// Something to run.
pub(crate) type Run = Box<dyn Fn() -> Output + Send + Sync>;

/// A case with its inputs.
pub(crate) struct Case<T> {
    pub(crate) keops: Run,
    pub(crate) plain: Run,
    pub(crate) reference: Run,
    type_: std::marker::PhantomData<T>,
}

/// The case of this name and dimension for M × N pairs.
pub(crate) fn case<T: Number>(name: &str, d: usize, m: usize, n: usize) -> Option<Case<T>> {
    macro_rules! cases {
        ($($name:literal, $d:literal, $data:ident: $keops:expr, $plain:ident;)*) => {
            match (name, d) {
                $(($name, $d) => {
                    let data = Arc::new(Data::<T, $d>::$data(m, n));
                    let (same, exact) = (data.clone(), data.wide());
                    let keops: fn(&Data<T, $d>) -> Output = $keops;
                    Some(Case {
                        keops: Box::new(move || keops(&data)),
                        plain: Box::new(move || plain::$plain(&same)),
                        reference: Box::new(move || plain::$plain(&exact)),
                        type_: std::marker::PhantomData,
                    })
                })*
                _ => None,
            }
        };
    }
    if (name, d) == ("gauss_columns", 3) {
        let data = Arc::new((Data::<T, 3>::uniform(m, n), columns::<T>(n)));
        let (same, exact) = (data.clone(), (data.0.wide(), data.1.mapv(T::wide)));
        return Some(Case {
            keops: Box::new(move || {
                let (p, b) = &*data;
                Output::of(gauss_wide(&p.x, &p.y, b).eval())
            }),
            plain: Box::new(move || plain::gauss_columns(&same.0, &same.1)),
            reference: Box::new(move || plain::gauss_columns(&exact.0, &exact.1)),
            type_: std::marker::PhantomData,
        });
    }
    cases! {
        "gauss", 3, uniform: |p| Output::of(gauss_3(&p.x, &p.y, &p.b).eval()), gauss;
        "gauss", 10, uniform: |p| Output::of(gauss_10(&p.x, &p.y, &p.b).eval()), gauss;
        "gauss", 64, uniform: |p| Output::of(gauss_64(&p.x, &p.y, &p.b).eval()), gauss;
        "gauss", 512, uniform: |p| Output::of(gauss_512(&p.x, &p.y, &p.b).eval()), gauss;
        "gauss_expanded", 64, uniform: |p| Output::of(gauss_expanded_64(&p.x, &p.y, &p.b).eval()), gauss;
        "gauss_expanded", 512, uniform: |p| Output::of(gauss_expanded_512(&p.x, &p.y, &p.b).eval()), gauss;
        "argmin_expanded", 64, uniform: |p| Output::of_indices(argmin_expanded_64(&p.x, &p.y).eval()), argmin;
        "gauss_grad", 3, uniform: |p| Output::of(gauss_3(&p.x, &p.y, &p.b).grad_x_i(&p.e)), gauss_grad;
        "gauss_gradients", 3, uniform: |p| {
            let g = gauss_3(&p.x, &p.y, &p.b).vjp(&p.e).unwrap_or_else(|e| panic!("{e}"));
            Output::Kept(Box::new(move || Output::values(g.x_i.into_iter().chain(g.y_j).chain(g.b_j))))
        }, gauss_gradients;
        "gauss_and_gradients", 3, uniform: |p| {
            let (a, g) = gauss_3(&p.x, &p.y, &p.b).value_and_vjp(&p.e).unwrap_or_else(|e| panic!("{e}"));
            Output::Kept(Box::new(move || Output::values(a.into_iter().chain(g.x_i).chain(g.y_j).chain(g.b_j))))
        }, gauss_and_gradients;
        "gauss_narrow", 3, uniform: |p| Output::of(gauss_narrow(&p.x, &p.y, &p.b).eval()), gauss_narrow;
        "logsumexp", 3, uniform: |p| Output::of(logsumexp_3(&p.x, &p.y).eval()), logsumexp;
        "argmin", 3, uniform: |p| Output::of_indices(argmin_3(&p.x, &p.y).eval()), argmin;
        "argmin", 64, uniform: |p| Output::of_indices(argmin_64(&p.x, &p.y).eval()), argmin;
        "argkmin10", 3, uniform: |p| Output::of_indices(argkmin_3(&p.x, &p.y).eval()), argkmin10;
        "dist", 3, uniform: |p| Output::of(dist_3(&p.x, &p.y, &p.b).eval()), dist;
        "laplace", 3, uniform: |p| Output::of(laplace_3(&p.x, &p.y, &p.b).eval()), laplace;
        "cauchy", 3, uniform: |p| Output::of(cauchy_3(&p.x, &p.y, &p.b).eval()), cauchy;
        "softmaxweight", 3, normal: |p| Output::of(softmaxweight_3(&p.x, &p.y, &p.b2).eval()), softmaxweight;
    }
}

/// Right-hand sides of 100 columns, uniform on [0, 1).
fn columns<T: Number>(n: usize) -> Array2<T> {
    let flat = Data::<T, 1>::uniform(n * 100, 0).x;
    Array2::from_shape_fn((n, 100), |(j, c)| flat[j * 100 + c][0])
}
