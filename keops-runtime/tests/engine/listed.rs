//! Passes whose pairs an earlier one has listed give what the same passes over all pairs give, to the bit.
use keops_runtime::__private::{Function, Level, table};
use keops_runtime::Options;

use crate::data::{Number, Numbers, Variable, random, run_all, run_at};
use crate::functions::{CHOSEN, CHOSEN_LISTED, RETURNED, RETURNED_LISTED};
use crate::kernels::{ArgMin, Gather, Scatter};

/// Sums of numbers with few digits are exact in any order.
fn grid(seed: u64, count: usize) -> Vec<f64> {
    let numbers = random(seed, count);
    numbers.iter().map(|x| (x * 8.0).round() / 8.0).collect()
}

fn check<T: Number>(m: usize, n: usize, disturb: impl Fn(&mut Vec<f64>, &mut Vec<f64>)) {
    let (mut x, mut y) = (grid(1, 3 * m), grid(2, 3 * n));
    disturb(&mut x, &mut y);
    let (x, y) = (Variable::<T>::new(&x, 3), Variable::new(&y, 3));
    let inputs = [&x.rows(), &y.rows()];
    let run = |function: &'static Function, scatter: bool| {
        let second = if scatter {
            table::<T, Scatter>()
        } else {
            table::<T, Gather>()
        };
        run_all(function, &[table::<T, ArgMin>(), second], &inputs)
    };
    let debug = |found: Vec<(Level, Vec<Numbers>)>| format!("{found:?}");
    let all = [
        (&CHOSEN, &CHOSEN_LISTED, false),
        (&RETURNED, &RETURNED_LISTED, true),
    ];
    for (whole, listed, scatter) in all {
        let same = debug(run(whole, scatter)) == debug(run(listed, scatter));
        assert!(same, "{m} by {n}, scattered: {scatter}");
    }
}

#[test]
fn listed_pairs_are_all_that_matters() {
    let sizes = [(1, 1), (40, 3000), (3000, 40), (700, 1500), (5, 9000)];
    for (m, n) in sizes {
        check::<f32>(m, n, |_, _| {});
        check::<f64>(m, n, |_, _| {});
    }
}

#[test]
fn rows_without_an_index_list_nothing() {
    check::<f64>(700, 1500, |x, _| x[30..90].fill(f64::NAN));
    check::<f64>(700, 1500, |_, y| y[..4200].fill(f64::NAN));
    check::<f64>(700, 1500, |_, y| y.fill(f64::NAN));
}

#[test]
fn one_row_may_be_listed_by_all() {
    // More than are gathered at a time.
    check::<f32>(5000, 1500, |_, y| y[3..].fill(100.0));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (x, y) = (random(1, 3 * 3000), random(2, 3 * 2500));
    let (x, y) = (Variable::<f32>::new(&x, 3), Variable::new(&y, 3));
    let tables = [table::<f32, ArgMin>(), table::<f32, Scatter>()];
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("threads");
        pool.install(|| {
            run_at(
                &RETURNED_LISTED,
                &tables,
                &[&x.rows(), &y.rows()],
                Options::new(),
            )
        })
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(3));
}
