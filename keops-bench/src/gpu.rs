//! `keops-bench gpu`: the cases on a CUDA device, as JSON lines of two systems.
//!
//! "keops-rs" has inputs and results on the device, and its `seconds` are the device's own, from the first kernel's start to
//! the last one's end. "keops-rs-host" has them on the host: its `seconds` are those of a whole call. Both are medians; the
//! first call, which lets the driver compile the module, is printed on standard error. `rel_err` compares the first rows with
//! those of the CPU.

use crate::data::{Data, Number};
use keops::cuda::{DeviceArray, DeviceArray1, DeviceArray2, busy_seconds};
use keops::ndarray::{Array, ArrayView1, ArrayView2, Dimension};
use keops::{Backend, Error, keops};
use std::time::Instant;

keops! {
    fn gauss_3<T>(x_i: [T; 3], y_j: [T; 3], b_j: T) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    fn gauss_10(x_i: [f32; 10], y_j: [f32; 10], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    fn gauss_64(x_i: [f32; 64], y_j: [f32; 64], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
    fn logsumexp_3(x_i: [f32; 3], y_j: [f32; 3]) = logsumexp_j(-sqdist(x_i, y_j));
    fn argmin_3(x_i: [f32; 3], y_j: [f32; 3]) = argmin_j sqdist(x_i, y_j);
    fn argkmin_3(x_i: [f32; 3], y_j: [f32; 3]) = argkmin_j::<10> sqdist(x_i, y_j);
    fn laplace_3(x_i: [f32; 3], y_j: [f32; 3], b_j: f32) = sum_j exp(-dist(x_i, y_j)) * b_j;
    fn softmaxweight_3(x_i: [f32; 3], y_j: [f32; 3], b_j: [f32; 2]) = sumsoftmaxweight_j(sqdist(x_i, y_j), b_j);
}

/// Rows that are compared with the CPU's.
const COMPARED: usize = 100;

/// The points of a case, on a device.
struct OnDevice<T> {
    x: DeviceArray2<T>,
    y: DeviceArray2<T>,
    b: DeviceArray1<T>,
    b2: DeviceArray2<T>,
    e: DeviceArray1<T>,
}

impl<T: Number + keops::cuda::Element> OnDevice<T> {
    fn new<const D: usize>(device: usize, data: &Data<T, D>) -> Result<Self, Error> {
        let points = |p: &[[T; D]]| DeviceArray::from_host(device, &ArrayView2::from(p));
        Ok(OnDevice {
            x: points(&data.x)?,
            y: points(&data.y)?,
            b: DeviceArray::from_host(device, &ArrayView1::from(&data.b[..]))?,
            b2: DeviceArray::from_host(device, &ArrayView2::from(&data.b2[..]))?,
            e: DeviceArray::from_host(device, &ArrayView1::from(&data.e[..]))?,
        })
    }
}

/// The numbers of the first rows.
fn head<E: Copy, D: Dimension>(array: &Array<E, D>, rows: usize, number: fn(E) -> f64) -> Vec<f64> {
    let columns = array.len() / array.shape()[0].max(1);
    array
        .iter()
        .take(rows * columns)
        .map(|&x| number(x))
        .collect()
}

/// Relative L2 error.
fn error(found: &[f64], expected: &[f64]) -> f64 {
    let square = |x: f64| x * x;
    let difference: f64 = found.iter().zip(expected).map(|(a, b)| square(a - b)).sum();
    let size: f64 = expected.iter().map(|b| square(*b)).sum();
    (difference / size.max(f64::MIN_POSITIVE)).sqrt()
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// What the command line says.
struct Settings {
    device: usize,
    m: usize,
    n: usize,
    runs: usize,
}

fn line(system: &str, case: (&str, usize, &str), s: &Settings, seconds: f64, relative: f64) {
    let (name, d, dtype) = case;
    let (m, n) = (s.m, s.n);
    println!(
        "{{\"system\": \"{system}\", \"case\": \"{name}\", \"dtype\": \"{dtype}\", \"M\": {m}, \"N\": {n}, \"D\": {d}, \
         \"seconds\": {seconds:.6e}, \"gpairs_per_s\": {:.4e}, \"runs\": {}, \"rel_err\": {relative:.3e}}}",
        m as f64 * n as f64 / seconds / 1e9,
        s.runs
    );
}

/// Measures one case: a call of `$p`, which is the data on the device or on the host, and a method of it.
macro_rules! case {
    ($s:ident, $name:literal, $d:literal, $t:ident, $data:ident, |$p:ident| $call:expr, $method:ident($($e:ident)?), $on_device:expr, $on_host:expr) => {{
        let host = Data::<$t, $d>::$data($s.m, $s.n);
        let device = OnDevice::new($s.device, &host)?;
        let resident = || {
            let $p = &device;
            $call.on_device($s.device).$method($(&$p.$e)?)
        };
        let first = Instant::now();
        let result = resident()?.to_host()?;
        eprintln!("{} D = {} {}: first call {:.3} s", $name, $d, <$t>::NAME, first.elapsed().as_secs_f64());
        let mut seconds = Vec::new();
        for _ in 0..$s.runs {
            seconds.push(busy_seconds($s.device, resident)?.1);
        }
        let rows = COMPARED.min($s.m);
        let few = Data { x: host.x[..rows].to_vec(), e: host.e[..rows].to_vec(), ..host.clone() };
        let expected = {
            let $p = &few;
            $call.on(Backend::Cpu).$method($(&$p.$e)?)?
        };
        let relative = error(&head(&result, rows, $on_device), &head(&expected, rows, $on_host));
        let case = ($name, $d, <$t>::NAME);
        line("keops-rs", case, $s, median(seconds), relative);
        let from_host = || {
            let $p = &host;
            $call.on(Backend::Cuda($s.device)).$method($(&$p.$e)?)
        };
        from_host()?;
        let mut seconds = Vec::new();
        for _ in 0..$s.runs {
            let start = Instant::now();
            std::hint::black_box(from_host()?);
            seconds.push(start.elapsed().as_secs_f64());
        }
        line("keops-rs-host", case, $s, median(seconds), relative);
    }};
}

/// All cases.
fn all(s: &Settings) -> Result<(), Error> {
    let index = |j: u32| f64::from(j);
    let on_host = |j: usize| j as f64;
    case!(
        s,
        "gauss",
        3,
        f32,
        uniform,
        |p| gauss_3(&p.x, &p.y, &p.b),
        eval(),
        f32::wide,
        f32::wide
    );
    case!(
        s,
        "gauss",
        3,
        f64,
        uniform,
        |p| gauss_3(&p.x, &p.y, &p.b),
        eval(),
        f64::wide,
        f64::wide
    );
    case!(
        s,
        "gauss_grad",
        3,
        f32,
        uniform,
        |p| gauss_3(&p.x, &p.y, &p.b),
        grad_x_i(e),
        f32::wide,
        f32::wide
    );
    case!(
        s,
        "gauss_grad",
        3,
        f64,
        uniform,
        |p| gauss_3(&p.x, &p.y, &p.b),
        grad_x_i(e),
        f64::wide,
        f64::wide
    );
    case!(
        s,
        "gauss",
        10,
        f32,
        uniform,
        |p| gauss_10(&p.x, &p.y, &p.b),
        eval(),
        f32::wide,
        f32::wide
    );
    case!(
        s,
        "gauss",
        64,
        f32,
        uniform,
        |p| gauss_64(&p.x, &p.y, &p.b),
        eval(),
        f32::wide,
        f32::wide
    );
    case!(
        s,
        "logsumexp",
        3,
        f32,
        uniform,
        |p| logsumexp_3(&p.x, &p.y),
        eval(),
        f32::wide,
        f32::wide
    );
    case!(
        s,
        "argmin",
        3,
        f32,
        uniform,
        |p| argmin_3(&p.x, &p.y),
        eval(),
        index,
        on_host
    );
    case!(
        s,
        "argkmin10",
        3,
        f32,
        uniform,
        |p| argkmin_3(&p.x, &p.y),
        eval(),
        index,
        on_host
    );
    case!(
        s,
        "laplace",
        3,
        f32,
        uniform,
        |p| laplace_3(&p.x, &p.y, &p.b),
        eval(),
        f32::wide,
        f32::wide
    );
    case!(
        s,
        "softmaxweight",
        3,
        f32,
        normal,
        |p| softmaxweight_3(&p.x, &p.y, &p.b2),
        eval(),
        f32::wide,
        f32::wide
    );
    Ok(())
}

/// Measures all cases.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let mut settings = Settings {
        device: 0,
        m: 100_000,
        n: 100_000,
        runs: 5,
    };
    for pair in words.chunks(2) {
        let [word, value] = pair else {
            return Err(format!("{} needs a value", pair[0]));
        };
        let number = value
            .parse::<usize>()
            .map_err(|_| format!("{word} needs a number, not {value}"))?;
        match word.as_str() {
            "--device" => settings.device = number,
            "--m" => settings.m = number,
            "--n" => settings.n = number,
            "--runs" => settings.runs = number.max(1),
            _ => {
                return Err(format!(
                    "{word} is not known; see the top of keops-bench/src/main.rs"
                ));
            }
        }
    }
    all(&settings).map_err(|error| error.to_string())
}
