//! All derivative methods, several passes, and derivatives as items.

use crate::harness::{From64, array, close};
use keops::ndarray::{Array1, Array2};
use keops::{Accumulate, Backend, Float, keops};

keops! {
    fn smooth<T>(x_i: [T; 2], y_j: [T; 2], b_j: [T; 2], radius: T) = {
        let k = exp(-sqdist(x_i, y_j) / (2.0 * radius * radius));
        (sum_j k * b_j) / (sum_j k)
    };
    fn smooth_dx = grad(smooth, x_i);
    fn nearest<T>(x_i: [T; 2], y_j: [T; 2]) = min_j sqdist(x_i, y_j);
    fn largest<T>(y_j: T, w: T) = max_j w * y_j;
    fn pair(x_i: f32, y_j: f32) = (sum_j x_i * y_j, argmin_j abs(x_i - y_j), logsumexp_j(x_i * y_j));
}

const GPU: Backend = Backend::Cuda(0);
const CPU: Backend = Backend::Cpu;

fn every_method<T: Float + From64>() {
    let (m, n) = (70, 130);
    let (x, y, b) = (
        array::<T, _>(1, (m, 2)),
        array::<T, _>(2, (n, 2)),
        array::<T, _>(3, (n, 2)),
    );
    let e: Array2<T> = array(4, (m, 2));
    let radius = T::from64(0.8);
    let on = |backend| smooth(&x, &y, &b, radius).on(backend);
    let (found, expected) = (on(GPU).vjp(&e).unwrap(), on(CPU).vjp(&e).unwrap());
    close(&found.x_i, &expected.x_i);
    close(&found.y_j, &expected.y_j);
    close(&found.b_j, &expected.b_j);
    close(
        &Array1::from(vec![found.radius]),
        &Array1::from(vec![expected.radius]),
    );
    let (value, both) = on(GPU).value_and_vjp(&e).unwrap();
    close(&value, &on(CPU).eval().unwrap());
    close(&both.x_i, &expected.x_i);
    close(&both.y_j, &expected.y_j);
    // One at a time, by the passes of the fused derivative.
    close(&on(GPU).grad_x_i(&e).unwrap(), &expected.x_i);
    close(&on(GPU).grad_y_j(&e).unwrap(), &expected.y_j);
    close(&on(GPU).grad_b_j(&e).unwrap(), &expected.b_j);
    close(
        &Array1::from(vec![on(GPU).grad_radius(&e).unwrap()]),
        &Array1::from(vec![expected.radius]),
    );
    let tangent = || SmoothTangent {
        x_i: Some(&x),
        radius: Some(radius),
        ..Default::default()
    };
    close(
        &on(GPU).jvp(tangent()).unwrap(),
        &on(CPU).jvp(tangent()).unwrap(),
    );
    close(
        &smooth_dx(&x, &y, &b, radius, &e).on(GPU).eval().unwrap(),
        &expected.x_i,
    );
    let second = smooth_dx(&x, &y, &b, radius, &e)
        .on(GPU)
        .grad_y_j(&x)
        .unwrap();
    close(
        &second,
        &smooth_dx(&x, &y, &b, radius, &e)
            .on(CPU)
            .grad_y_j(&x)
            .unwrap(),
    );
    for accumulate in [Accumulate::Kahan, Accumulate::F64] {
        close(
            &on(GPU).accumulate(accumulate).eval().unwrap(),
            &on(CPU).accumulate(accumulate).eval().unwrap(),
        );
    }
}

/// The derivative of a minimum reads the index that an earlier pass has made.
fn through_indices<T: Float + From64>() {
    let (x, y) = (array::<T, _>(5, (40, 2)), array::<T, _>(6, (60, 2)));
    let e: Array1<T> = array(7, 40);
    let on = |backend| nearest(&x, &y).on(backend);
    let (found, expected) = (on(GPU).vjp(&e).unwrap(), on(CPU).vjp(&e).unwrap());
    close(&found.x_i, &expected.x_i);
    close(&found.y_j, &expected.y_j);
    // Here it is a parameter.
    let y: Array1<T> = array(8, 300);
    let (w, e) = (T::from64(0.5), T::from64(2.0));
    let on = |backend| largest(&y, w).on(backend);
    let (found, expected) = (on(GPU).vjp(e).unwrap(), on(CPU).vjp(e).unwrap());
    close(&found.y_j, &expected.y_j);
    assert_eq!(found.y_j.iter().filter(|g| g.to64() != 0.0).count(), 1);
    close(
        &Array1::from(vec![found.w]),
        &Array1::from(vec![expected.w]),
    );
}

on_stand_in! {
    fn every_method_at_f32() { every_method::<f32>() }
    fn every_method_at_f64() { every_method::<f64>() }
    fn through_indices_at_f32() { through_indices::<f32>() }
    fn through_indices_at_f64() { through_indices::<f64>() }

    fn tuples_with_indices() {
        let (x, y) = (array::<f32, _>(9, 33), array::<f32, _>(10, 44));
        let on = |backend| pair(&x, &y).on(backend);
        let (found, expected) = (on(GPU).eval().unwrap(), on(CPU).eval().unwrap());
        close(&found.0, &expected.0);
        assert_eq!(found.1, expected.1);
        close(&found.2, &expected.2);
        let (value, both) = on(GPU).value_and_vjp((&x, (), &x)).unwrap();
        assert_eq!(value.1, expected.1);
        let (found, expected) = (on(GPU).vjp((&x, (), &x)).unwrap(), on(CPU).vjp((&x, (), &x)).unwrap());
        close(&both.y_j, &expected.y_j);
        close(&found.x_i, &expected.x_i);
        close(&found.y_j, &expected.y_j);
    }
}
