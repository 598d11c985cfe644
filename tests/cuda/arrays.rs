//! Arrays that stay on a device, and what the driver is asked for then.

use crate::driver::StandIn;
use crate::harness::{array, close};
use keops::cuda::{DeviceArray, DeviceArray0, DeviceArray1, DeviceArray2};
use keops::ndarray::{Array0, Array1, Array2, Array3, arr0, s};
use keops::{Backend, Error, keops};

keops! {
    fn gauss(x_i: [f32; 3], y_j: [f32; 3], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    fn scaled(x_i: [f64; 2], y_j: [f64; 2], a: [[f64; 2]; 2], r: f64) = sum_j matvec(a, x_i) * exp(-r * sqdist(x_i, y_j));
    fn closest(x_i: [f64; 2], y_j: [f64; 2]) = (argmin_j sqdist(x_i, y_j), min_j sqdist(x_i, y_j));
    fn energy(y_j: [f64; 2]) = sum_j sqnorm2(y_j);
    fn place_of_least(y_j: f64) = argmin_j y_j;
}

const CPU: Backend = Backend::Cpu;

/// Lines of the trace since it was `before` bytes long, without its numbers.
fn trace(path: &str, before: usize) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a trace");
    text[before..]
        .lines()
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.split(['(', ' ']).nth(1).unwrap_or_default().to_owned())
        .collect()
}

fn trace_path(name: &str) -> String {
    std::env::temp_dir()
        .join(format!("keops-{name}-{}.trace", std::process::id()))
        .to_string_lossy()
        .into_owned()
}

on_stand_in! {
    fn there_and_back() {
        let x: Array2<f32> = array(1, (7, 3));
        let on_device = DeviceArray::from_host(0, &x.slice(s![..;-2, ..2])).unwrap();
        assert_eq!((on_device.dim(), on_device.device(), on_device.len()), ((4, 2), 0, 8));
        assert_eq!(on_device.clone().to_host().unwrap(), x.slice(s![..;-2, ..2]));
        assert_eq!(DeviceArray::from_host(0, &arr0(0.5f64)).unwrap().to_host().unwrap(), arr0(0.5));
        let indices = Array3::from_elem((2, 2, 2), 7u32);
        assert_eq!(DeviceArray::from_host(0, &indices).unwrap().to_host().unwrap(), indices);
        let none: Array1<f64> = Array1::zeros(0);
        assert_eq!(DeviceArray::from_host(0, &none).unwrap().to_host().unwrap(), none);
        // More than a chunk of 8 MiB.
        let large: Array1<f64> = array(2, 1_100_000);
        assert_eq!(DeviceArray::from_host(0, &large).unwrap().to_host().unwrap(), large);
        let error = DeviceArray::from_host(1, &none).unwrap_err();
        assert_eq!(error, Error::NoDevice { function: "DeviceArray::from_host", device: 1, count: 1 });
        drop((on_device, large));
        assert_eq!(StandIn::open().leaks(), "");
    }

    fn inputs_of_every_kind() {
        let (x, y) = (array::<f64, _>(1, (40, 2)), array::<f64, _>(2, (50, 2)));
        let (a, r): (Array2<f64>, Array0<f64>) = (array(3, (2, 2)), arr0(0.5));
        let (dx, dy, da, dr) = (
            DeviceArray::from_host(0, &x).unwrap(),
            DeviceArray::from_host(0, &y).unwrap(),
            DeviceArray::from_host(0, &a).unwrap(),
            DeviceArray::from_host(0, &r).unwrap(),
        );
        let expected = scaled(&x, &y, &a, 0.5).on(CPU).eval().unwrap();
        // They decide where it runs; the result comes to the host.
        close(&scaled(&dx, &dy, &da, &dr).eval().unwrap(), &expected);
        close(&scaled(&dx, &y, a.view(), 0.5).eval().unwrap(), &expected);
        close(&scaled(&x, &y, &da, 0.5).eval().unwrap(), &expected);
        let call = scaled(&x, &dy, &a, &dr);
        assert_eq!(call.backend().unwrap().backend, Backend::Cuda(0));
        close(&call.eval().unwrap(), &expected);
        let stays: DeviceArray2<f64> = scaled(&dx, &dy, &a, &dr).on_device(0).eval().unwrap();
        close(&stays.to_host().unwrap(), &expected);
        let host = scaled(&x, &y, &a, 0.5).on(CPU);
        let expected = host.vjp(&expected).unwrap();
        let g = scaled(&dx, &dy, &da, 0.5).on_device(0).vjp(&stays).unwrap();
        close(&g.x_i.to_host().unwrap(), &expected.x_i);
        close(&g.y_j.to_host().unwrap(), &expected.y_j);
        close(&g.a.to_host().unwrap(), &expected.a);
        close(&g.r.to_host().unwrap(), &arr0(expected.r));
        let only: DeviceArray2<f64> = scaled(&x, &dy, &da, &dr).on_device(0).grad_a(&stays).unwrap();
        close(&only.to_host().unwrap(), &expected.a);
        let t = ScaledDeviceTangent { x_i: Some(&dx), a: Some(&g.a), ..Default::default() };
        let on_host = ScaledTangent { x_i: Some(&x), a: Some(&expected.a), ..Default::default() };
        let moved = host.jvp(on_host).unwrap();
        close(&scaled(&dx, &dy, &da, 0.5).on_device(0).jvp(t).unwrap().to_host().unwrap(), &moved);
        // Tangents of either kind, results of either kind.
        close(&scaled(&x, &y, &a, 0.5).on(Backend::Cuda(0)).jvp(t).unwrap(), &moved);
        close(&scaled(&dx, &y, &a, 0.5).jvp(on_host).unwrap(), &moved);
        // Without rows left.
        let total: DeviceArray0<f64> = energy(&dy).on_device(0).eval().unwrap();
        close(&total.to_host().unwrap(), &arr0(energy(&y).on(CPU).eval().unwrap()));
        let least: DeviceArray0<u32> = place_of_least(y.column(0)).on_device(0).eval().unwrap();
        assert_eq!(least.to_host().unwrap()[()] as usize, place_of_least(y.column(0)).on(CPU).eval().unwrap());
        drop((dx, dy, da, dr, stays, g, only, total, least, call));
        assert_eq!(StandIn::open().leaks(), "");
    }

    fn indices_stay_too() {
        let (x, y) = (array::<f64, _>(4, (30, 2)), array::<f64, _>(5, (20, 2)));
        let (indices, values): (DeviceArray1<u32>, DeviceArray1<f64>) = closest(&x, &y).on_device(0).eval().unwrap();
        let (expected, least) = closest(&x, &y).on(CPU).eval().unwrap();
        assert_eq!(indices.to_host().unwrap().mapv(|j| j as usize), expected);
        close(&values.to_host().unwrap(), &least);
    }

    fn another_device_is_an_error("KEOPS_SIM_DEVICES" = "2") {
        let (x, y, b) = (array::<f32, _>(1, (9, 3)), array::<f32, _>(2, (8, 3)), array::<f32, _>(3, 8));
        let (x0, y1) = (DeviceArray::from_host(0, &x).unwrap(), DeviceArray::from_host(1, &y).unwrap());
        let elsewhere = |backend| Error::Elsewhere { function: "gauss", variable: "y_j", device: 1, backend };
        assert_eq!(gauss(&x0, &y1, &b).eval().unwrap_err(), elsewhere(Backend::Cuda(0)));
        for backend in [Backend::Cpu, Backend::Cuda(0), Backend::CudaAll] {
            assert_eq!(gauss(&x, &y1, &b).on(backend).eval().unwrap_err(), elsewhere(backend));
        }
        assert_eq!(gauss(&x, &y1, &b).on_device(0).eval().unwrap_err(), elsewhere(Backend::Cuda(0)));
        let expected = gauss(&x, &y, &b).on(CPU).eval().unwrap();
        close(&gauss(&x, &y1, &b).eval().unwrap(), &expected);
        let on_1 = gauss(&x, &y1, &b).on_device(1).eval().unwrap();
        assert_eq!(on_1.device(), 1);
        close(&on_1.to_host().unwrap(), &expected);
    }

    fn resident_data_is_neither_copied_nor_allocated("KEOPS_SIM_TRACE" = trace_path("resident").as_str()) {
        let path = std::env::var("KEOPS_SIM_TRACE").expect("set above");
        let length = || std::fs::metadata(&path).expect("a trace").len() as usize;
        let (x, y, b) = (array::<f32, _>(1, (300, 3)), array::<f32, _>(2, (200, 3)), array::<f32, _>(3, 200));
        let (dx, dy, db) = (
            DeviceArray::from_host(0, &x).unwrap(),
            DeviceArray::from_host(0, &y).unwrap(),
            DeviceArray::from_host(0, &b).unwrap(),
        );
        let eval = || gauss(&dx, &dy, &db).on_device(0).eval().unwrap();
        let bound = |calls: Vec<String>| -> Vec<String> {
            calls.into_iter().filter(|call| !call.starts_with("cuCtx")).collect()
        };
        // The first call loads the module.
        let first = eval();
        let before = length();
        let second = eval();
        assert_eq!(bound(trace(&path, before)), ["cuMemAlloc_v2", "cuLaunchKernel"]);
        // Of a result that is dropped the memory serves again.
        drop(first);
        let before = length();
        let third = eval();
        assert_eq!(bound(trace(&path, before)), ["cuLaunchKernel"]);
        // One gradient: one pass of the two of the fused derivative.
        let before = length();
        let gradient = gauss(&dx, &dy, &db).on_device(0).grad_x_i(&third).unwrap();
        let calls = bound(trace(&path, before));
        assert_eq!(calls, ["cuMemAlloc_v2", "cuModuleGetFunction", "cuLaunchKernel"]);
        // From the host and back: one copy of all inputs, one launch, one copy of the result, one wait.
        let _ = gauss(&x, &y, &b).on(Backend::Cuda(0)).eval().unwrap();
        let before = length();
        let on_host = gauss(&x, &y, &b).on(Backend::Cuda(0)).eval().unwrap();
        let expected = ["cuMemcpyHtoDAsync_v2", "cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"];
        assert_eq!(bound(trace(&path, before)), expected);
        assert_eq!(second.to_host().unwrap(), on_host);
        assert_eq!(third.to_host().unwrap(), on_host);
        close(&gradient.to_host().unwrap(), &gauss(&x, &y, &b).on(CPU).grad_x_i(&on_host).unwrap());
        std::fs::remove_file(&path).expect("the trace is ours");
    }
}
