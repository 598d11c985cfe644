//! Hyperbolic tangent.
use super::exp::exp;
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// tanh a: odd, ±1 at large arguments.
///
/// On |a|, with a's sign at the end (which keeps −0). |a| < 5/8: a + a·z·T(z), z = a², T a minimax fit (relative error 1.8e-10 with 6 terms, 1e-18 with 12). Elsewhere
/// 1 − 2/(e^2|a| + 1), which no longer cancels.
#[inline(always)]
pub fn tanh<S: Isa>(s: S, a: S::F) -> S::F {
    let size = s.abs(a);
    let z = s.mul(a, a);
    let t = if S::T::IS_F64 {
        horner!(
            s,
            z,
            -0.333_333_333_333_333_15,
            0.133_333_333_333_299_6,
            -0.053_968_253_966_149_654,
            0.021_869_488_470_708_496,
            -0.008_863_234_338_931_032,
            0.003_592_114_224_328_441,
            -0.001_455_727_222_411_157_4,
            0.000_589_456_673_464_667_5,
            -0.000_237_024_143_489_331_92,
            9.157_858_317_176_295e-5,
            -3.020_613_316_892_565_3e-5,
            6.050_244_682_388_706e-6
        )
    } else {
        horner!(
            s,
            z,
            -0.333_333_313_465_118_4,
            0.133_332_207_798_957_82,
            -0.053_948_178_887_367_25,
            0.021_706_894_040_107_727,
            -0.008_190_016_262_233_257,
            0.002_152_693_225_070_834
        )
    };
    let small = s.fma(s.mul(size, z), t, size);
    let grown = s.add(exp(s, s.add(size, size)), s.lit(1.0));
    let large = s.sub(s.lit(1.0), s.div(s.lit(2.0), grown));
    s.xor_sign(s.select(s.lt(size, s.lit(0.625)), small, large), a)
}
