//! Functions of several passes, passes without pairs, slots that are returned.
use keops_runtime::__private::{
    Code, IntoParameter, IntoRows, Scalar, Vector, launch, run, table, take,
};
use keops_runtime::ndarray::{Array1, Array2, array};
use keops_runtime::{Backend, Error, Options};

use crate::data::{Number, Variable, assert_near, random, run_all, sqdist};
use crate::functions::{CHOSEN, MAP, TWO_PASSES};
use crate::kernels::{ArgMin, Gather, Gauss, Map};

fn two_passes<T: Number>(m: usize, n: usize) {
    let (x, y, b) = (random(1, 3 * m), random(2, 3 * n), random(3, n));
    let first: Vec<f64> = x
        .chunks(3)
        .map(|x| {
            y.chunks(3)
                .zip(&b)
                .map(|(y, b)| (-sqdist(x, y)).exp() * b)
                .sum()
        })
        .collect();
    let second: Vec<(f64, f64)> = y
        .chunks(3)
        .map(|y| {
            (
                x.chunks(3)
                    .zip(&first)
                    .map(|(x, s)| (-sqdist(x, y)).exp() * s)
                    .sum(),
                (m * n) as f64,
            )
        })
        .collect();
    let (x, y, b) = (
        Variable::<T>::new(&x, 3),
        Variable::new(&y, 3),
        Variable::new(&b, 1),
    );
    let tables = [table::<T, Gauss<3>>(), table::<T, Gauss<3>>()];
    for (level, found) in run_all(&TWO_PASSES, &tables, &[&x.rows(), &y.rows(), &b.rows()]) {
        assert_near(found[0].values(), &second, T::TOLERANCE, &(level, m, n));
        let first: Vec<_> = first.iter().map(|&s| (s, n as f64)).collect();
        assert_near(found[1].values(), &first, T::TOLERANCE, &(level, m, n));
    }
}

#[test]
fn a_pass_folds_what_another_made() {
    for (m, n) in [(1, 1), (3, 20), (20, 3), (100, 300), (0, 5), (5, 0)] {
        two_passes::<f32>(m, n);
        two_passes::<f64>(m, n);
    }
}

#[test]
fn indices_of_a_pass_are_read_by_another() {
    let (m, n) = (50, 300);
    let (x, y) = (random(1, 3 * m), random(2, 3 * n));
    let (xs, ys) = (Variable::<f64>::new(&x, 3), Variable::new(&y, 3));
    let tables = [table::<f64, ArgMin>(), table::<f64, Gather>()];
    for (level, found) in run_all(&CHOSEN, &tables, &[&xs.rows(), &ys.rows()]) {
        let indices = found[1].indices();
        assert_eq!(found[2].indices(), indices);
        assert_eq!(found[3].values(), x);
        let chosen: Vec<f64> = indices
            .iter()
            .flat_map(|&j| y[3 * j..3 * j + 3].to_vec())
            .collect();
        assert_eq!(found[0].values(), chosen, "{level:?}");
    }
}

#[test]
fn a_pass_without_pairs_maps_rows() {
    let x: Array2<f32> = Array2::from_shape_fn((100, 2), |(i, c)| (2 * i + c) as f32);
    let (rows, p) = (IntoRows::<f32, Vector<2>>::into_rows(&x), [1.0f32, -1.0]);
    let p = IntoParameter::<f32, Vector<2>>::into_parameter(p);
    for level in keops_runtime::__private::Level::supported() {
        let options = Options::new().level(level);
        let mut found = run(&MAP, &[table::<f32, Map>()], &[&rows, &p], &options)
            .unwrap()
            .into_iter();
        let found: Array2<f32> = take(&mut found);
        assert_eq!(found, &x + &array![1.0, -1.0]);
    }
}

#[test]
fn what_an_expansion_calls() {
    // The shape of an expansion: a generic function whose tables are a constant.
    fn eval<'a, T: keops_runtime::Float>(
        x_i: impl IntoRows<'a, T, Vector<3>>,
        y_j: impl IntoRows<'a, T, Vector<3>>,
        b_j: impl IntoRows<'a, T, Scalar>,
    ) -> Result<Array1<T>, Error> {
        let inputs = [&x_i.into_rows(), &y_j.into_rows(), &b_j.into_rows()];
        let code = Code {
            cpu: &crate::functions::GAUSS,
            tables: const { &[table::<T, Gauss<3>>()] },
            device: &crate::functions::GAUSS,
            launches: const { &[launch::<T, Gauss<3>>(["gauss_f32", "gauss_f64"])] },
        };
        let mut values = keops_runtime::__private::call(&code, &inputs, &Options::new())?;
        Ok(take(&mut values))
    }
    let x = array![[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0]];
    let found = eval(&x, &[[0.0, 0.0, 0.0]], &[2.0]).unwrap();
    assert_eq!(found.len(), 2);
    assert!((found[1] - 2.0 * (-1f32).exp()).abs() < 1e-6);
}

#[test]
fn the_gpu_is_refused_with_the_reason() {
    let x = Array2::<f32>::zeros((1, 2));
    let (rows, p) = (IntoRows::<f32, Vector<2>>::into_rows(&x), [0.0f32; 2]);
    let p = IntoParameter::<f32, Vector<2>>::into_parameter(p);
    let found = run(
        &MAP,
        &[table::<f32, Map>()],
        &[&rows, &p],
        &Options::new().on(Backend::Cuda(0)),
    );
    assert_eq!(
        found.unwrap_err(),
        Error::NoPtx {
            function: "shift",
            reason: "it was called without one"
        }
    );
    let (x, y) = (
        Variable::<f32>::new(&[0.0; 3], 3),
        Variable::new(&[0.0; 3], 3),
    );
    let options = Options::new().on(Backend::CudaAll);
    let found = run(
        &crate::functions::ARGMIN,
        &[table::<f32, ArgMin>()],
        &[&x.rows(), &y.rows()],
        &options,
    );
    assert_eq!(
        found.unwrap_err(),
        Error::NoPtx {
            function: "closest",
            reason: "written by hand"
        }
    );
}
