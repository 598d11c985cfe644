//! Derivatives of minima and maxima on a device: only the chosen pairs are run, where that pays, and the result is that of all pairs.
//!
//! What ran is read from the stand-in driver's trace, which counts instructions.

use crate::harness::{From64, array, close};
use keops::ndarray::{Array1, Array2};
use keops::{Accumulate, Backend, Float, keops};

keops! {
    fn nearest<T>(x_i: [T; 2], y_j: [T; 2]) = min_j sqdist(x_i, y_j);
    fn farthest<T>(x_i: [T; 2], y_j: [T; 2]) = max_i sqdist(x_i, y_j);
    // Two lists in each pass, of either axis, with several columns.
    fn spread<T>(x_i: [T; 2], y_j: [T; 2], s: T) = (min_j s * abs(x_i - y_j), kmin_j::<3> sqdist(x_i, y_j));
    fn slope = grad(nearest, x_i);
    // Rows that a condition excludes are not looked at.
    fn later<T>(x_i: [T; 2], y_j: [T; 2]) = min_j if i + 100 < j { sqdist(x_i, y_j) } else { 9.0 + y_j[0] };
}

const GPU: Backend = Backend::Cuda(0);
const CPU: Backend = Backend::Cpu;

/// Rows of i and of j: one block of i, lists in all passes, and in none.
const SIZES: [(usize, usize); 3] = [(5, 9000), (300, 3100), (40, 60)];

fn trace_path(name: &str) -> String {
    std::env::temp_dir()
        .join(format!("keops-{name}-{}.trace", std::process::id()))
        .to_string_lossy()
        .into_owned()
}

fn every_derivative<T: Float + From64>() {
    for (m, n) in SIZES {
        let (x, y) = (array::<T, _>(1, (m, 2)), array::<T, _>(2, (n, 2)));
        let (e, f) = (array::<T, _>(3, m), array::<T, _>(4, n));
        let on = |backend| nearest(&x, &y).on(backend);
        let (found, expected) = (on(GPU).vjp(&e).unwrap(), on(CPU).vjp(&e).unwrap());
        close(&found.x_i, &expected.x_i);
        close(&found.y_j, &expected.y_j);
        let kahan = on(GPU).accumulate(Accumulate::Kahan).vjp(&e).unwrap();
        close(&kahan.x_i, &expected.x_i);
        close(&kahan.y_j, &expected.y_j);
        let tangent = || NearestTangent {
            x_i: Some(&x),
            y_j: Some(&y),
            ..Default::default()
        };
        close(
            &on(GPU).jvp(tangent()).unwrap(),
            &on(CPU).jvp(tangent()).unwrap(),
        );
        let on = |backend| farthest(&x, &y).on(backend);
        let (found, expected) = (on(GPU).vjp(&f).unwrap(), on(CPU).vjp(&f).unwrap());
        close(&found.x_i, &expected.x_i);
        close(&found.y_j, &expected.y_j);
        let on = |backend| spread(&x, &y, T::from64(0.75)).on(backend);
        let (a, b): (Array2<T>, Array2<T>) = (array(5, (m, 2)), array(6, (m, 3)));
        let (found, expected) = (
            on(GPU).vjp((&a, &b)).unwrap(),
            on(CPU).vjp((&a, &b)).unwrap(),
        );
        close(&found.x_i, &expected.x_i);
        close(&found.y_j, &expected.y_j);
        close(
            &Array1::from(vec![found.s]),
            &Array1::from(vec![expected.s]),
        );
        let on = |backend| slope(&x, &y, &e).on(backend);
        let (found, expected) = (on(GPU).vjp(&x).unwrap(), on(CPU).vjp(&x).unwrap());
        close(&found.x_i, &expected.x_i);
        close(&found.y_j, &expected.y_j);
        let on = |backend| later(&x, &y).on(backend);
        let (found, expected) = (on(GPU).vjp(&e).unwrap(), on(CPU).vjp(&e).unwrap());
        close(&found.x_i, &expected.x_i);
        close(&found.y_j, &expected.y_j);
    }
}

/// All rows of i choose the same row of j, all of them their own, or none.
fn extreme_lists<T: Float + From64>() {
    let (m, n) = (600, 2100);
    let x = array::<T, _>(7, (m, 2));
    let same = Array2::from_shape_fn(
        (n, 2),
        |(j, c)| if j == 7 { x[[0, c]] } else { T::from64(50.0) },
    );
    let own = Array2::from_shape_fn((n, 2), |(j, c)| {
        if j < m {
            x[[m - 1 - j, c]]
        } else {
            T::from64(50.0)
        }
    });
    let nan = Array2::from_elem((n, 2), T::from64(f64::NAN));
    let e = array::<T, _>(8, m);
    for y in [same, own, nan] {
        let on = |backend| nearest(&x, &y).on(backend);
        let (found, expected) = (on(GPU).vjp(&e).unwrap(), on(CPU).vjp(&e).unwrap());
        close(&found.x_i, &expected.x_i);
        close(&found.y_j, &expected.y_j);
    }
}

/// Instructions that the entry took when it ran last.
fn instructions(path: &str, entry: &str) -> usize {
    let text = std::fs::read_to_string(path).expect("a trace");
    let line = text
        .lines()
        .rfind(|line| line.contains(&format!(" ran {entry} ")));
    let words = line.expect("the entry ran").split([':', ' ']);
    words
        .filter_map(|word| word.parse().ok())
        .nth(1)
        .expect("instructions")
}

on_stand_in! {
    fn derivatives_at_f32() { every_derivative::<f32>() }
    fn derivatives_at_f64() { every_derivative::<f64>() }
    fn lists_with_many_and_none_at_f32("KEOPS_SIM_SMS" = "1") { extreme_lists::<f32>() }
    fn lists_with_many_and_none_at_f64() { extreme_lists::<f64>() }

    fn only_chosen_pairs_are_run("KEOPS_SIM_TRACE" = trace_path("chosen").as_str()) {
        let path = std::env::var("KEOPS_SIM_TRACE").expect("set above");
        // Less than one instruction for each pair, of the rows that each pass sums for, and then of all pairs in fewer rows.
        let taken = |m: usize, n: usize| {
            let (x, y, e) = (array::<f32, _>(1, (m, 2)), array::<f32, _>(2, (n, 2)), array::<f32, _>(3, m));
            nearest(&x, &y).on(GPU).vjp(&e).unwrap();
            ["nearest_vjp_pass1_f32", "nearest_vjp_pass2_f32"].map(|entry| instructions(&path, entry))
        };
        let (m, n) = (2048, 4096);
        let [rows_of_j, rows_of_i] = taken(m, n);
        assert!(rows_of_j < m * n && rows_of_i < m * n, "{rows_of_j} and {rows_of_i} for {m} by {n}");
        let (m, n) = (200, 200);
        let [rows_of_j, rows_of_i] = taken(m, n);
        assert!(rows_of_j > m * n && rows_of_i > m * n, "{rows_of_j} and {rows_of_i} for {m} by {n}");
        std::fs::remove_file(&path).expect("the trace is ours");
    }
}
