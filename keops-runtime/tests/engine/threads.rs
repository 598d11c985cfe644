//! Results do not depend on the number of threads, to the bit.
use keops_runtime::__private::{Function, Level, Rows, Table, table};
use keops_runtime::Options;

use crate::data::{Number, Variable, random, run_at};
use crate::functions::{GAUSS, GRADIENT, NEAREST_4, SOFTMAX};
use crate::kernels::{Gauss, Gradient, Nearest, Softmax};

fn same<T: Number>(function: &'static Function, table: Table<T>, inputs: &[&Rows<'_, T>]) {
    for level in Level::supported() {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let tables = std::slice::from_ref(&table);
            pool.install(|| run_at(function, tables, inputs, Options::new().level(level)))
        };
        let one = on(1);
        assert_eq!(one, on(2), "{} {level:?}", function.name);
        assert_eq!(one, on(3), "{} {level:?}", function.name);
    }
}

fn all<T: Number>(m: usize, n: usize) {
    let (x, y) = (random(1, 3 * m), random(2, 3 * n));
    let (x1, y1) = (Variable::<T>::new(&x[..m], 1), Variable::new(&y[..n], 1));
    let (x, y) = (Variable::<T>::new(&x, 3), Variable::new(&y, 3));
    let (b, e) = (
        Variable::new(&random(3, n), 1),
        Variable::new(&random(4, m), 1),
    );
    let (x, y, b, e) = (x.rows(), y.rows(), b.rows(), e.rows());
    same(&GAUSS, table::<T, Gauss<3>>(), &[&x, &y, &b]);
    same(&GRADIENT, table::<T, Gradient>(), &[&x, &y, &b, &e]);
    same(&NEAREST_4, table::<T, Nearest<4>>(), &[&x, &y, &b]);
    same(
        &SOFTMAX,
        table::<T, Softmax>(),
        &[&x1.rows(), &y1.rows(), &b],
    );
}

#[test]
fn many_outer_rows() {
    all::<f32>(3000, 500);
    all::<f64>(1500, 500);
}

#[test]
fn few_outer_rows() {
    all::<f32>(1, 400_000);
    all::<f64>(5, 100_000);
}
