//! Complex vectors and matrices on a device: what goes up, what comes down, and what stays.

use crate::harness::{array, close};
use keops::ndarray::{Array2, Array3, Axis};
use keops::{Backend, Complex, keops};

type Z = Complex<f64>;

keops! {
    fn products(a_i: [[Complex<f64>; 2]; 3], b_j: [[Complex<f64>; 3]; 2], w_j: [Complex<f64>; 3]) =
        (sum_j matmul(a_i, b_j), sum_j matvec(b_j, w_j * trace(matmul(a_i, b_j))));
}

fn numbers(seed: u64, shape: (usize, usize, usize)) -> Array3<Z> {
    let (re, im) = (
        array::<f64, _>(seed, shape),
        array::<f64, _>(seed + 1, shape),
    );
    Array3::from_shape_fn(shape, |at| Complex::new(re[at], im[at]))
}

/// The parts side by side.
fn parts(z: &Array3<Z>) -> Array3<f64> {
    keops::ndarray::concatenate![Axis(1), z.mapv(|z| z.re), z.mapv(|z| z.im)]
}

on_stand_in! {
    fn matrices_of_complex_numbers() {
        let (a, b, w) = (numbers(1, (40, 3, 2)), numbers(3, (50, 2, 3)), numbers(5, (50, 1, 3)));
        let w: Array2<Z> = w.index_axis_move(Axis(1), 0);
        // Any strides.
        let turned = b.clone().reversed_axes().as_standard_layout().into_owned();
        let call = || products(&a, turned.t(), &w);
        let (value, vector) = call().on(Backend::Cpu).eval().unwrap();
        let (found, of_vector) = call().on(Backend::Cuda(0)).eval().unwrap();
        close(&parts(&found), &parts(&value));
        let wide = |v: &Array2<Z>| parts(&v.clone().insert_axis(Axis(1)));
        close(&wide(&of_vector), &wide(&vector));
        let (left, _) = call().on_device(0).eval().unwrap();
        assert_eq!(left.to_host().unwrap(), found);
        let e = (&value, &vector);
        let (on_cpu, on_gpu) = (call().on(Backend::Cpu).vjp(e).unwrap(), call().on(Backend::Cuda(0)).vjp(e).unwrap());
        close(&parts(&on_gpu.a_i), &parts(&on_cpu.a_i));
        close(&parts(&on_gpu.b_j), &parts(&on_cpu.b_j));
        close(&wide(&on_gpu.w_j), &wide(&on_cpu.w_j));
    }
}
