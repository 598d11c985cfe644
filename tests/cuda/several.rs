//! Several devices, several threads, parts of the inner rows, and the choice of a backend.

use crate::harness::{From64, array, close};
use keops::ndarray::{Array1, Array2};
use keops::{Backend, Float, keops};

keops! {
    fn smooth<T>(x_i: [T; 2], y_j: [T; 2], b_j: [T; 2], radius: T) = {
        let k = exp(-sqdist(x_i, y_j) / (2.0 * radius * radius));
        (sum_j k * b_j) / (sum_j k)
    };
    fn nearest<T>(x_i: [T; 2], y_j: [T; 2]) = min_j sqdist(x_i, y_j);
    fn largest<T>(y_j: T, w: T) = max_j w * y_j;
    fn same_row<T>(x_i: T, y_j: T) = argmin_j abs(x_i - y_j);
}

/// The same bits on all devices as on one.
fn all_equal_one<T: Float + From64>() {
    for (m, n) in [(0, 7), (1, 3000), (129, 40), (600, 300)] {
        let (x, y, b) = (
            array::<T, _>(1, (m, 2)),
            array::<T, _>(2, (n, 2)),
            array::<T, _>(3, (n, 2)),
        );
        let e: Array2<T> = array(4, (m, 2));
        let on = |backend| smooth(&x, &y, &b, T::from64(0.8)).on(backend);
        assert_eq!(
            on(Backend::CudaAll).eval().unwrap(),
            on(Backend::Cuda(0)).eval().unwrap()
        );
        let (all, one) = (
            on(Backend::CudaAll).vjp(&e).unwrap(),
            on(Backend::Cuda(0)).vjp(&e).unwrap(),
        );
        assert_eq!(all.x_i, one.x_i);
        assert_eq!(all.y_j, one.y_j);
        assert_eq!(all.b_j, one.b_j);
        assert_eq!(all.radius, one.radius);
        let tangent = SmoothTangent {
            y_j: Some(&y),
            ..Default::default()
        };
        assert_eq!(
            on(Backend::CudaAll).jvp(tangent).unwrap(),
            on(Backend::Cuda(1)).jvp(tangent).unwrap()
        );
        // The second pass reads indices that the first has made of the other axis.
        let on = |backend| nearest(&x, &y).on(backend);
        let e: Array1<T> = array(5, m);
        let (all, one) = (
            on(Backend::CudaAll).vjp(&e).unwrap(),
            on(Backend::Cuda(0)).vjp(&e).unwrap(),
        );
        assert_eq!(all.x_i, one.x_i);
        assert_eq!(all.y_j, one.y_j);
        // Indices are those of all rows, not those of a device's.
        let (x, y) = (x.column(0), x.column(0));
        if m > 0 {
            let found = same_row(x, y).on(Backend::CudaAll).eval().unwrap();
            assert_eq!(found, same_row(x, y).on(Backend::Cpu).eval().unwrap());
        }
    }
    // Where listed pairs only are run, a block folds what any of its rows needs.
    let (x, y) = (array::<T, _>(9, (1300, 2)), array::<T, _>(10, (2600, 2)));
    let e: Array1<T> = array(11, 1300);
    let on = |backend| nearest(&x, &y).on(backend);
    let (all, one) = (
        on(Backend::CudaAll).vjp(&e).unwrap(),
        on(Backend::Cuda(0)).vjp(&e).unwrap(),
    );
    assert_eq!(all.x_i, one.x_i);
    assert_eq!(all.y_j, one.y_j);
    // A parameter that one device has made.
    let y: Array1<T> = array(8, 300);
    let on = |backend| largest(&y, T::from64(0.5)).on(backend);
    let e = T::from64(2.0);
    let (all, one) = (
        on(Backend::CudaAll).vjp(e).unwrap(),
        on(Backend::Cuda(0)).vjp(e).unwrap(),
    );
    assert_eq!(all.y_j, one.y_j);
    assert_eq!(all.w, one.w);
}

on_stand_in! {
    fn all_devices_equal_one_at_f32("KEOPS_SIM_DEVICES" = "3") { all_equal_one::<f32>() }
    fn all_devices_equal_one_at_f64("KEOPS_SIM_DEVICES" = "2") { all_equal_one::<f64>() }

    fn the_number_of_multiprocessors_only_moves_the_last_bits("KEOPS_SIM_SMS" = "200") {
        let (x, y, b) = (array::<f64, _>(1, (3, 2)), array::<f64, _>(2, (6000, 2)), array::<f64, _>(3, (6000, 2)));
        let on = |backend| smooth(&x, &y, &b, 0.5).on(backend).eval().unwrap();
        close(&on(Backend::Cuda(0)), &on(Backend::Cpu));
        let nearest = |backend| nearest(&x, &y).on(backend).eval().unwrap();
        close(&nearest(Backend::Cuda(0)), &nearest(Backend::Cpu));
    }

    fn calls_of_several_threads("KEOPS_SIM_DEVICES" = "2") {
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                scope.spawn(move || {
                    for n in 0..20usize {
                        let (x, y) = (array::<f32, _>(thread, (20 + n, 2)), array::<f32, _>(7, (30, 2)));
                        let on = |backend| nearest(&x, &y).on(backend).eval().unwrap();
                        close(&on(Backend::Cuda(n % 2)), &on(Backend::Cpu));
                    }
                });
            }
        });
    }

    fn auto_takes_the_gpu_for_many_pairs() {
        let (x, y) = (Array1::<f32>::zeros(2048), Array1::<f32>::zeros(2048));
        let choice = same_row(&x, &y).backend().unwrap();
        assert_eq!((choice.backend, &*choice.reason), (Backend::Cuda(0), "it is there"));
        assert_eq!(same_row(&x, &y).eval().unwrap(), Array1::<usize>::zeros(2048));
        let choice = same_row(&x, &[0.0f32]).backend().unwrap();
        assert_eq!(choice.backend, Backend::Cpu);
        assert!(choice.reason.contains("too few pairs"), "{choice}");
    }

    fn the_environment_chooses("KEOPS_BACKEND" = "cuda:1", "KEOPS_SIM_DEVICES" = "2") {
        let choice = same_row(&[0.5f32], &[0.5]).backend().unwrap();
        assert_eq!((choice.backend, &*choice.reason), (Backend::Cuda(1), "KEOPS_BACKEND says so"));
        assert_eq!(same_row(&[0.5f32], &[0.0, 0.5]).eval().unwrap().to_vec(), [1]);
        let choice = same_row(&[0.5f32], &[0.5]).on(Backend::Cpu).backend().unwrap();
        assert_eq!((choice.backend, &*choice.reason), (Backend::Cpu, "it was asked for"));
    }

    fn auto_falls_back_where_memory_is_short("KEOPS_SIM_MEMORY" = "4K") {
        let (x, y) = (Array1::<f32>::zeros(2048), Array1::<f32>::zeros(2048));
        assert_eq!(same_row(&x, &y).backend().unwrap().backend, Backend::Cuda(0));
        assert_eq!(same_row(&x, &y).eval().unwrap(), Array1::<usize>::zeros(2048));
        assert!(same_row(&x, &y).on(Backend::Cuda(0)).eval().is_err());
    }
}
