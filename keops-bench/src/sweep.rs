//! gauss at many dimensions, f32: whether speed falls at some of them. Behind a feature, because each is a kernel to compile.

use crate::cases::Run;
use crate::data::Data;
use crate::measure::Output;
use keops::keops;

macro_rules! sweep {
    ($($d:tt)*) => {
        /// The dimensions.
        pub(crate) const DIMS: &[usize] = &[$($d),*];

        /// The case at one of them.
        pub(crate) fn gauss(d: usize, m: usize, n: usize) -> Option<Run> {
            match d {
                $($d => {
                    keops! {
                        fn gauss(x_i: [f32; $d], y_j: [f32; $d], b_j: f32) = sum_j exp(-sqdist(x_i, y_j)) * b_j;
                    }
                    let p = Data::<f32, $d>::uniform(m, n);
                    Some(Box::new(move || Output::of(gauss(&p.x, &p.y, &p.b).eval())))
                })*
                _ => None,
            }
        }
    };
}

sweep! { 1 2 3 4 5 6 7 8 9 10 12 15 16 17 24 32 33 48 63 64 65 96 100 127 128 129 130 255 256 257 512 1000 }
