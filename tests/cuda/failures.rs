//! What is missing or fails: a typed error, nothing lost, and the next call works.

use crate::driver::StandIn;
use crate::harness::{array, close};
use keops::cuda::{DeviceArray, device_count};
use keops::ndarray::{Array1, Array2};
use keops::{Backend, Error, keops};

keops! {
    fn gauss(x_i: [f32; 3], y_j: [f32; 3], b_j: f32, r: f32) = sum_j exp(-r * sqdist(x_i, y_j)) * b_j;
}

const GPU: Backend = Backend::Cuda(0);

struct Data {
    x: Array2<f32>,
    y: Array2<f32>,
    b: Array1<f32>,
    expected: Array1<f32>,
}

fn data(m: usize, n: usize) -> Data {
    let (x, y, b) = (
        array::<f32, _>(1, (m, 3)),
        array::<f32, _>(2, (n, 3)),
        array::<f32, _>(3, n),
    );
    let expected = gauss(&x, &y, &b, 0.5).on(Backend::Cpu).eval().unwrap();
    Data { x, y, b, expected }
}

fn eval(d: &Data) -> Result<Array1<f32>, Error> {
    gauss(&d.x, &d.y, &d.b, 0.5).on(GPU).eval()
}

/// Everything a program does with a device: arrays, results that stay, all derivatives.
fn everything(d: &Data) -> Result<(), Error> {
    let x = DeviceArray::from_host(0, &d.x)?;
    let a = gauss(&x, &d.y, &d.b, 0.5).on_device(0).eval()?;
    let g = gauss(&d.x, &d.y, &d.b, 0.5).on_device(0).vjp(&a)?;
    close(&a.to_host()?, &d.expected);
    close(&eval(d)?, &d.expected);
    drop(g);
    let t = GaussTangent {
        x_i: Some(&d.x),
        ..Default::default()
    };
    gauss(&x, &d.y, &d.b, 0.5).jvp(t)?;
    Ok(())
}

#[test]
fn no_driver() {
    // Not on the stand-in: where there is a real driver this cannot be seen.
    if keops_sim::stand_in::is_rerun() || device_count().is_ok() {
        return;
    }
    let d = data(5, 6);
    let error = eval(&d).unwrap_err();
    assert!(
        matches!(
            error,
            Error::NoDriver {
                function: "gauss",
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("libcuda"), "{error}");
    assert!(matches!(
        DeviceArray::from_host(0, &d.x),
        Err(Error::NoDriver { .. })
    ));
    let (x, y, b) = (
        Array2::zeros((4096, 3)),
        Array2::zeros((1024, 3)),
        Array1::zeros(1024),
    );
    let choice = gauss(&x, &y, &b, 0.5).backend().unwrap();
    assert_eq!(choice.backend, Backend::Cpu);
    assert!(
        choice.reason.starts_with("there is no CUDA driver"),
        "{choice}"
    );
}

on_stand_in! {
    fn no_device("KEOPS_SIM_DEVICES" = "0") {
        assert_eq!(device_count(), Ok(0));
        let d = data(5, 6);
        let none = |device| Error::NoDevice { function: "gauss", device, count: 0 };
        assert_eq!(eval(&d).unwrap_err(), none(0));
        assert_eq!(gauss(&d.x, &d.y, &d.b, 0.5).on(Backend::Cuda(3)).eval().unwrap_err(), none(3));
        assert_eq!(gauss(&d.x, &d.y, &d.b, 0.5).on(Backend::CudaAll).eval().unwrap_err(), none(0));
        let (x, y, b) = (Array2::zeros((4096, 3)), Array2::zeros((1024, 3)), Array1::zeros(1024));
        let choice = gauss(&x, &y, &b, 0.5).backend().unwrap();
        assert_eq!((choice.backend, &*choice.reason), (Backend::Cpu, "there is no CUDA device"));
    }

    fn an_old_device("KEOPS_SIM_CC" = "7.0") {
        let error = eval(&data(5, 6)).unwrap_err();
        assert!(matches!(error, Error::Refused { function: "gauss", device: 0, .. }), "{error}");
        assert!(error.to_string().contains("7.0"), "{error}");
    }

    fn refused_code("KEOPS_SIM_FAIL_AT" = "cuModuleLoadDataEx:1", "KEOPS_SIM_FAIL_CODE" = "218") {
        let d = data(5, 6);
        let error = eval(&d).unwrap_err();
        assert!(matches!(error, Error::Refused { function: "gauss", device: 0, .. }), "{error}");
        assert!(error.to_string().contains("CUDA_ERROR_INVALID_PTX"), "{error}");
        // It is not compiled again.
        assert_eq!(eval(&d).unwrap_err(), error);
        let (x, y, b) = (Array2::zeros((4096, 3)), Array2::zeros((1024, 3)), Array1::zeros(1024));
        let choice = gauss(&x, &y, &b, 0.5).backend().unwrap();
        assert_eq!(choice.backend, Backend::Cpu);
        assert!(choice.reason.contains("refused the kernel"), "{choice}");
    }

    fn too_little_memory("KEOPS_SIM_MEMORY" = "64K") {
        let d = data(100, 8000);
        let error = eval(&d).unwrap_err();
        assert!(
            matches!(error, Error::OutOfMemory { function: "gauss", purpose: "of device memory", .. }),
            "{error}"
        );
        let x: Array2<f32> = Array2::zeros((6000, 3));
        assert!(matches!(DeviceArray::from_host(0, &x), Err(Error::OutOfMemory { .. })));
        let small = data(50, 60);
        close(&eval(&small).unwrap(), &small.expected);
        // What is kept for later calls makes way.
        let blocks: Vec<_> = (1..9).map(|n| DeviceArray::from_host(0, &Array1::<f32>::zeros(n * 300)).unwrap()).collect();
        drop(blocks);
        assert!(DeviceArray::from_host(0, &Array1::<f32>::zeros(12_000)).is_ok());
        assert_eq!(StandIn::open().leaks(), "");
    }

    fn a_failure_at_every_call() {
        let d = data(40, 30);
        let stand_in = StandIn::open();
        let mut n = 1;
        let mut failures = 0;
        loop {
            // Each round allocates anew.
            assert_eq!(stand_in.leaks(), "", "before call {n} fails");
            stand_in.fail_at(n, 999);
            let result = everything(&d);
            let done = stand_in.calls() < n;
            stand_in.fail_at(0, 0);
            match result {
                Err(Error::Cuda { reason, .. } | Error::NoDriver { reason, .. }) => {
                    assert!(reason.contains("CUDA_ERROR_UNKNOWN"), "call {n}: {reason}");
                    failures += 1;
                }
                Err(other) => panic!("call {n}: {other}"),
                // A failure to release is nobody's.
                Ok(()) => {}
            }
            if n % 8 == 0 || done {
                everything(&d).unwrap_or_else(|error| panic!("after a failure of call {n}: {error}"));
            }
            if done {
                break;
            }
            n += 1;
        }
        assert_eq!(stand_in.leaks(), "");
        assert!(failures > 30, "{failures} failures in {n} rounds");
    }

    fn a_failure_while_the_device_is_opened() {
        // Each of these calls is made once in a process that succeeds.
        let d = data(4, 3);
        let stand_in = StandIn::open();
        for n in 1..40 {
            stand_in.fail_at(n, 999);
            let failed = eval(&d).is_err();
            stand_in.fail_at(0, 0);
            if failed && n > 12 {
                break;
            }
        }
        close(&eval(&d).unwrap(), &d.expected);
        assert_eq!(stand_in.leaks(), "");
    }

    fn memory_is_flat() {
        let d = data(3, 4);
        let stand_in = StandIn::open();
        let x = DeviceArray::from_host(0, &d.x).unwrap();
        let call = |n: usize| {
            if n.is_multiple_of(2) {
                eval(&d).unwrap();
            } else {
                gauss(&x, &d.y, &d.b, 0.5).on_device(0).eval().unwrap();
            }
        };
        (0..10).for_each(call);
        let before = stand_in.allocated();
        (0..10_000).for_each(call);
        assert_eq!(stand_in.allocated(), before);
        drop(x);
        assert_eq!(stand_in.leaks(), "");
    }
}
