//! Sizes, strides, axes and value types.

use crate::harness::{array, close};
use keops::ndarray::{Array1, Array2, s};
use keops::{Backend, keops};

keops! {
    fn gauss<T>(x_i: [T; 3], y_j: [T; 3], b_j: T, radius: T) = sum_j exp(-sqdist(x_i, y_j) / radius) * b_j;
    fn nearest<T>(x_i: [T; 2], y_j: [T; 2]) = (min_j sqdist(x_i, y_j), argkmin_j::<3> sqdist(x_i, y_j));
    fn total<T>(y_j: [T; 2], w: [T; 2]) = mean_j dot(y_j, w) * y_j;
    fn centred<T>(x_i: [T; 2], y_j: [T; 2]) = (sum_j x_i | y_j) / (sum_j y_j[0]) - x_i[1];
    fn counts(x_i: f32, y_j: f32) = sum_i step(x_i - y_j);
}

keops! {
    // Written out at 7 the pair part is long; at 20 it has arrays in scratch memory.
    #[keops(D = [7, 20])]
    fn layer<T, const D: usize>(a: [[T; D]; D], x_i: [T; D], y_j: [T; D]) =
        sum_j dot(tanh(matvec(a, x_i * y_j)), y_j) * exp(-sqdist(x_i, y_j));
}

const GPU: Backend = Backend::Cuda(0);

fn all_sizes<T: keops::Float + crate::harness::From64>() {
    let radius = T::from64(0.7);
    for (m, n) in [(0, 5), (5, 0), (1, 1), (129, 300), (700, 3), (2, 2500)] {
        let (x, y, b) = (
            array::<T, _>(1, (m, 3)),
            array::<T, _>(2, (n, 3)),
            array::<T, _>(3, n),
        );
        let call = || gauss(&x, &y, &b, radius);
        close(
            &call().on(GPU).eval().unwrap(),
            &call().on(Backend::Cpu).eval().unwrap(),
        );
        let (x, y) = (x.slice(s![.., ..2]), y.slice(s![..;-1, 1..]));
        let call = || nearest(x, y);
        let (values, indices) = call().on(GPU).eval().unwrap();
        let (expected, expected_indices) = call().on(Backend::Cpu).eval().unwrap();
        close(&values, &expected);
        assert_eq!(indices, expected_indices, "{m} x {n}");
        if n > 0 {
            let w = [T::from64(0.5), T::from64(-2.0)];
            let call = || total(y, w);
            close(
                &call().on(GPU).eval().unwrap(),
                &call().on(Backend::Cpu).eval().unwrap(),
            );
            let call = || centred(x, y);
            close(
                &call().on(GPU).eval().unwrap(),
                &call().on(Backend::Cpu).eval().unwrap(),
            );
        }
    }
}

/// The device's code is made for numbers, which may need another launch than code for any D does.
fn listed<const D: usize>() {
    assert!(Layer::ptx::<D>().is_ok());
    let (a, x, y) = (
        array::<f64, _>(1, (D, D)),
        array::<f64, _>(2, (150, D)),
        array::<f64, _>(3, (9, D)),
    );
    let (a, x) = (a / (D as f64), x / (D as f64));
    let call = || layer::<f64, D>(&a, &x, &y);
    let (on_gpu, on_cpu) = (
        call().on(GPU).eval().unwrap(),
        call().on(Backend::Cpu).eval().unwrap(),
    );
    close(&on_gpu, &on_cpu);
    let [gpu, cpu] = [GPU, Backend::Cpu].map(|backend| call().on(backend).vjp(&on_cpu).unwrap());
    close(&gpu.a, &cpu.a);
    close(&gpu.x_i, &cpu.x_i);
    close(&gpu.y_j, &cpu.y_j);
}

on_stand_in! {
    fn const_parameters() { listed::<7>(); listed::<20>() }
    fn at_f32() { all_sizes::<f32>() }
    fn at_f64() { all_sizes::<f64>() }

    fn broadcast_rows_and_the_other_axis() {
        let (x, y) = (Array1::from(vec![0.5f32, 1.5, 2.5]), Array1::from(vec![0.0f32, 1.0, 2.0, 3.0]));
        let found = counts(x.broadcast(3).unwrap(), &y).on(GPU).eval().unwrap();
        assert_eq!(found.to_vec(), [3.0, 2.0, 1.0, 0.0]);
        let row = Array2::from_elem((1, 2), 0.5f64);
        let rows = row.broadcast((40, 2)).unwrap();
        let (values, indices) = nearest(rows, rows).on(GPU).eval().unwrap();
        assert!(values.iter().all(|value| *value == 0.0));
        assert!(indices.rows().into_iter().all(|row| row.to_vec() == [0, 1, 2]));
    }
}
