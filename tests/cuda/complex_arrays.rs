//! Complex arrays on a device: the same numbers as from arrays of the host, to the bit.

use crate::driver::StandIn;
use crate::harness::{From64, array};
use keops::cuda::{DeviceArray, DeviceArray0, DeviceArray1, DeviceArray2, DeviceArray3, Element};
use keops::ndarray::{
    Array, Array0, Array1, Array2, Array3, Dimension, ShapeBuilder, Zip, arr0, s,
};
use keops::{Backend, Complex, Error, Float, keops};

keops! {
    /// Complex scalars by row.
    fn fourier<T>(x_i: [T; 2], y_j: [T; 2], b_j: Complex<T>) = sum_j exp1j(x_i | y_j) * b_j;
    /// Vectors by row, a vector and a number as parameters, and results of both kinds.
    fn filtered<T>(z_i: [Complex<T>; 3], w_j: [Complex<T>; 3], p: [Complex<T>; 3], r: Complex<T>) = (
        sum_j conj(z_i) * w_j * p / r,
        mean_j sum(z_i * w_j),
    );
    /// Matrices by row and as a parameter.
    #[keops(D = [4])]
    fn products<const D: usize>(a_i: [[Complex<f64>; 2]; 3], b_j: [[Complex<f64>; D]; 2], p: [[Complex<f64>; 2]; 2]) =
        sum_j matmul(a_i, matmul(p, b_j));
    /// Nothing left of an index: a vector, a number and a matrix.
    fn totals(w_j: [Complex<f32>; 3], p: [Complex<f32>; 3], m: [[Complex<f32>; 3]; 2]) = (sum_j w_j * p, sum_j w_j | p, sum_j matvec(m, w_j));
    fn scaled_total(w_j: [Complex<f32>; 3], m: [[Complex<f32>; 3]; 2]) = sum_j exp(re(w_j)[0]) * m;
}

type C32 = Complex<f32>;
type C64 = Complex<f64>;

/// A value type.
trait Value: Float + From64 + Element {}
impl Value for f32 {}
impl Value for f64 {}

const GPU: Backend = Backend::Cuda(0);

fn complex<T: Value, D: Dimension>(
    seed: u64,
    shape: impl ShapeBuilder<Dim = D> + Clone,
) -> Array<Complex<T>, D> {
    let (re, im): (Array<T, D>, Array<T, D>) =
        (array(seed, shape.clone()), array(seed + 100, shape));
    Zip::from(&re)
        .and(&im)
        .map_collect(|&re, &im| Complex::new(re, T::from64(-im.to64())))
}

fn device<E: Element, D: Dimension>(host: &Array<E, D>) -> DeviceArray<E, D> {
    DeviceArray::from_host(0, host).expect("a device")
}

/// The numbers of a device, compared to the bit.
#[track_caller]
fn same<E: Element + PartialEq, D: Dimension>(found: &DeviceArray<E, D>, expected: &Array<E, D>) {
    assert_eq!(found.to_host().expect("comes back"), *expected);
}

fn scalars<T: Value>() {
    let (x, y): (Array2<T>, Array2<T>) = (array(1, (150, 2)), array(2, (33, 2)));
    let (b, e): (Array1<Complex<T>>, Array1<Complex<T>>) = (complex(3, 33), complex(4, 150));
    let (dx, dy, db, de) = (device(&x), device(&y), device(&b), device(&e));
    let host = || fourier(&x, &y, &b).on(GPU);
    let expected: Array1<Complex<T>> = host().eval().unwrap();
    let stays: DeviceArray1<Complex<T>> = fourier(&dx, &dy, &db).on_device(0).eval().unwrap();
    same(&stays, &expected);
    assert_eq!(fourier(&dx, &dy, &db).eval().unwrap(), expected);
    let gradients = host().vjp(&e).unwrap();
    let found = fourier(&dx, &dy, &db).on_device(0).vjp(&de).unwrap();
    same(&found.x_i, &gradients.x_i);
    same(&found.y_j, &gradients.y_j);
    same(&found.b_j, &gradients.b_j);
    let only: DeviceArray1<Complex<T>> = fourier(&x, &dy, &db).on_device(0).grad_b_j(&de).unwrap();
    same(&only, &gradients.b_j);
    // A result is an argument: a cotangent, and a tangent.
    let again = fourier(&dx, &dy, &db).on_device(0).vjp(&stays).unwrap();
    same(&again.b_j, &host().vjp(&expected).unwrap().b_j);
    let along = FourierDeviceTangent {
        b_j: Some(&found.b_j),
        ..Default::default()
    };
    let on_host = FourierTangent {
        b_j: Some(&gradients.b_j),
        ..Default::default()
    };
    same(
        &fourier(&dx, &dy, &db).on_device(0).jvp(along).unwrap(),
        &host().jvp(on_host).unwrap(),
    );
}

fn vectors<T: Value>() {
    let (z, w): (Array2<Complex<T>>, Array2<Complex<T>>) =
        (complex(1, (5, 3)), complex(2, (40, 3)));
    let (p, r): (Array1<Complex<T>>, Array0<Complex<T>>) = (complex(3, 3), complex(4, ()));
    let (dz, dw, dp, dr) = (device(&z), device(&w), device(&p), device(&r));
    let host = || filtered(&z, &w, &p, r[()]).on(GPU);
    let there = || filtered(&dz, &dw, &dp, &dr).on_device(0);
    let expected = host().eval().unwrap();
    let found: (DeviceArray2<Complex<T>>, DeviceArray1<Complex<T>>) = there().eval().unwrap();
    same(&found.0, &expected.0);
    same(&found.1, &expected.1);
    let gradients = host().vjp((&expected.0, &expected.1)).unwrap();
    let g = there().vjp((&found.0, &found.1)).unwrap();
    same(&g.z_i, &gradients.z_i);
    same(&g.w_j, &gradients.w_j);
    same(&g.p, &gradients.p);
    same(&g.r, &arr0(gradients.r));
    // A parameter's gradient is laid out as a parameter, an array of the host as rows; each is either.
    let along = FilteredDeviceTangent {
        p: Some(&g.p),
        ..Default::default()
    };
    let on_host = FilteredTangent {
        p: Some(&gradients.p),
        ..Default::default()
    };
    let (moved, expected) = (there().jvp(along).unwrap(), host().jvp(on_host).unwrap());
    same(&moved.0, &expected.0);
    same(&moved.1, &expected.1);
    let (x, y): (Array2<T>, Array2<T>) = (array(5, (4, 2)), array(6, (3, 2)));
    let expected = fourier(&x, &y, &gradients.p).on(GPU).eval().unwrap();
    same(
        &fourier(&x, &y, &g.p).on_device(0).eval().unwrap(),
        &expected,
    );
}

on_stand_in! {
    fn there_and_back() {
        let z: Array3<C32> = complex(1, (4, 2, 3));
        assert_eq!(device(&z).to_host().unwrap(), z);
        let back = z.slice(s![..;-2, .., 1..]);
        assert_eq!(DeviceArray::from_host(0, &back).unwrap().to_host().unwrap(), back);
        let one: Array0<C64> = complex(2, ());
        assert_eq!(device(&one).to_host().unwrap(), one);
        let none: Array2<C64> = Array2::zeros((0, 3));
        assert_eq!(device(&none).to_host().unwrap(), none);
        let empty: Array2<C64> = Array2::zeros((3, 0));
        assert_eq!(device(&empty).to_host().unwrap(), empty);
        // More than a chunk of 8 MiB, whose end is within a row.
        let large: Array2<C32> = complex(3, (400_000, 3));
        assert_eq!(device(&large).to_host().unwrap(), large);
        drop((one, large));
        assert_eq!(StandIn::open().leaks(), "");
    }

    fn rows_of_numbers() { scalars::<f32>(); scalars::<f64>() }
    fn rows_of_vectors_and_parameters() { vectors::<f32>(); vectors::<f64>() }

    fn matrices() {
        let (a, b, p): (Array3<C64>, Array3<C64>, Array2<C64>) =
            (complex(1, (4, 3, 2)), complex(2, (9, 2, 4)), complex(3, (2, 2)));
        let (da, db, dp) = (device(&a), device(&b), device(&p));
        let host = || products::<4>(&a, &b, &p).on(GPU);
        let there = || products::<4>(&da, &db, &dp).on_device(0);
        let expected = host().eval().unwrap();
        let found: DeviceArray3<C64> = there().eval().unwrap();
        same(&found, &expected);
        let (g, gradients) = (there().vjp(&found).unwrap(), host().vjp(&expected).unwrap());
        same(&g.a_i, &gradients.a_i);
        same(&g.b_j, &gradients.b_j);
        same(&g.p, &gradients.p);
        let along = ProductsDeviceTangent { p: Some(&g.p), a_i: Some(&g.a_i), ..Default::default() };
        let on_host = ProductsTangent { p: Some(&gradients.p), a_i: Some(&gradients.a_i), ..Default::default() };
        same(&there().jvp(along).unwrap(), &host().jvp(on_host).unwrap());
    }

    fn without_rows() {
        let (w, p, m): (Array2<C32>, Array1<C32>, Array2<C32>) =
            (complex(1, (40, 3)), complex(2, 3), complex(3, (2, 3)));
        let (dw, dp, dm) = (device(&w), device(&p), device(&m));
        let expected = totals(&w, &p, &m).on(GPU).eval().unwrap();
        let found: (DeviceArray1<C32>, DeviceArray0<C32>, DeviceArray1<C32>) =
            totals(&dw, &dp, &dm).on_device(0).eval().unwrap();
        same(&found.0, &expected.0);
        same(&found.1, &arr0(expected.1));
        same(&found.2, &expected.2);
        // A matrix that is a result, as a parameter and as rows; rows as a matrix.
        let matrix: DeviceArray2<C32> = scaled_total(&dw, &dm).on_device(0).eval().unwrap();
        let on_host = scaled_total(&w, &m).on(GPU).eval().unwrap();
        same(&matrix, &on_host);
        let again = scaled_total(&matrix, &matrix).on_device(0).eval().unwrap();
        same(&again, &scaled_total(&on_host, &on_host).on(GPU).eval().unwrap());
    }

    fn wrong_shapes_are_told_in_complex_numbers() {
        let (z, w): (Array2<C64>, Array2<C64>) = (complex(1, (5, 3)), complex(2, (40, 2)));
        let p: Array1<C64> = complex(3, 3);
        let one = Complex::new(1.0, 0.0);
        let on_device = filtered(&device(&z), &device(&w), &p, one).eval().unwrap_err();
        let on_host = filtered(&z, &w, &p, one).eval().unwrap_err();
        assert!(matches!(on_device, Error::Columns { variable: "w_j", .. }));
        assert_eq!(on_device.to_string(), on_host.to_string());
    }
}
