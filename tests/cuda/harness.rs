//! Tests in a process with the stand-in driver, data, and the comparison of results.

use keops::Float;
use keops::ndarray::{Array, Dimension, ShapeBuilder};

/// `on_stand_in! { fn name("SETTING" = "value", …) { … } }`: a test that runs on the stand-in driver.
macro_rules! on_stand_in {
    ($(fn $name:ident($($setting:literal = $value:expr),*) $body:block)*) => {$(
        #[test]
        fn $name() {
            let test = concat!(module_path!(), "::", stringify!($name));
            // Without the crate's name, as the test program knows it.
            let test = test.split_once("::").map_or(test, |(_, test)| test);
            if keops_sim::stand_in::on_stand_in(test, &[("KEOPS_SIM_LEAKS", "report"), $(($setting, $value)),*]) {
                $body
            }
        }
    )*};
}

/// Numbers in [0.25, 1.25], by a generator.
pub(crate) fn array<T: Float + From64, D: Dimension>(
    seed: u64,
    shape: impl ShapeBuilder<Dim = D>,
) -> Array<T, D> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    Array::from_shape_simple_fn(shape, || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        T::from64(0.25 + (state >> 40) as f64 / (1u64 << 24) as f64)
    })
}

/// To and from f64.
pub(crate) trait From64 {
    const TOLERANCE: f64;
    fn from64(x: f64) -> Self;
    fn to64(&self) -> f64;
}
impl From64 for f32 {
    const TOLERANCE: f64 = 4e-6;
    fn from64(x: f64) -> f32 {
        x as f32
    }
    fn to64(&self) -> f64 {
        f64::from(*self)
    }
}
impl From64 for f64 {
    const TOLERANCE: f64 = 2e-14;
    fn from64(x: f64) -> f64 {
        x
    }
    fn to64(&self) -> f64 {
        *self
    }
}

/// Asserts that two arrays agree, relative to the largest number.
#[track_caller]
pub(crate) fn close<T: From64, D: Dimension>(found: &Array<T, D>, expected: &Array<T, D>) {
    assert_eq!(found.shape(), expected.shape());
    let scale = expected.iter().fold(1.0, |m: f64, x| m.max(x.to64().abs()));
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        let (f, e) = (f.to64(), e.to64());
        let same = f == e || f.is_nan() && e.is_nan() || (f - e).abs() <= T::TOLERANCE * scale;
        assert!(same, "number {k}: {f:e}, expected {e:e} (of {scale:e})");
    }
}
