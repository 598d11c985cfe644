//! A few formulas of each way to run them, so that the long runs (`cargo xtask differential`) keep working.

use keops_differential::{On, Settings, run};

fn few(on: On, count: u64) {
    let settings = Settings {
        count,
        seed: 1,
        batch: count,
        on,
    };
    let sums = run(&settings, &mut |line| println!("{line}")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(sums.compared, count);
    assert!(sums.derived > 0 && sums.numbers > 10 * count);
}

#[test]
fn on_one_lane() {
    few(On::Scalar, 20);
}

#[test]
fn on_vectors() {
    few(On::Vector, 5);
}

#[test]
fn through_ptx() {
    few(On::Ptx, 1);
}
