//! A few formulas of each way to run them, so that the long runs (`cargo xtask differential`) keep working.

use keops_differential::batch::Sums;
use keops_differential::{On, Settings, run};

fn few(on: On, seed: u64, count: u64) -> Sums {
    let settings = Settings {
        count,
        seed,
        batch: count,
        on,
    };
    let sums = run(&settings, &mut |line| println!("{line}")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(sums.compared, count);
    assert!(sums.functions["gradient"] > 0 && sums.numbers > 10 * count);
    sums
}

#[test]
fn on_one_lane() {
    let sums = few(On::Scalar, 81, 20);
    // Formulas are small, but some have as many rows as it takes for the pairs of a minimum to be run alone.
    assert!(sums.listed > 0, "no pass of listed pairs: {sums}");
    for function in ["tangent", "value and gradient"] {
        assert!(sums.functions.contains_key(function), "{function}: {sums}");
    }
}

#[test]
fn on_vectors() {
    few(On::Vector, 1, 5);
}

#[test]
fn through_ptx() {
    few(On::Ptx, 1, 1);
}
