//! The error function and its complement.
//!
//! Two pieces serve both: an odd polynomial around 0, and e^−x²·p(t)/(1 + 2x) with t = (x − k)/(x + k) for the tail, whose
//! factors are pairs (hi, lo), because each factor's rounding would be one of the result's two units.
use super::double::{fast_two_sum, two_product, two_sum};
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// erf a for |a| ≤ 1: a + a·P(a²), minimax fits (relative error 1.3e-9 with 7 terms, 1.5e-17 with 13).
#[inline(always)]
fn central<S: Isa>(s: S, a: S::F) -> S::F {
    let z = s.mul(a, a);
    let p = if S::T::IS_F64 {
        horner!(
            s,
            z,
            0.128_379_167_095_512_6,
            -0.376_126_389_031_837_5,
            0.112_837_916_709_548_85,
            -0.026_866_170_645_077_875,
            0.005_223_977_624_828_431,
            -0.000_854_832_698_142_554_2,
            0.000_120_553_311_329_558_2,
            -1.492_559_577_218_090_6e-5,
            1.646_100_847_780_27e-6,
            -1.635_039_622_286_461_7e-7,
            1.466_032_872_274_226e-8,
            -1.137_495_573_607_015e-9,
            5.960_685_338_520_971e-11
        )
    } else {
        horner!(
            s,
            z,
            0.128_379_166_126_251_22,
            -0.376_126_289_367_675_8,
            0.112_836_182_117_462_16,
            -0.026_855_126_023_292_54,
            0.005_190_733_820_199_966,
            -0.000_803_075_672_592_967_7,
            7.920_317_148_091_272e-5
        )
    };
    s.fma(a, p, a)
}

/// Where [`tail`] starts.
const TAIL: f64 = 0.4375;

/// erfc x for x ≥ [`TAIL`]; smaller x are taken as that.
///
/// p: minimax fits of e^x²·erfc x·(1 + 2x) in t, up to where erfc vanishes (relative error 2.8e-9 with 10 terms and k = 5/2,
/// 4.6e-17 with 20 terms and k = 7/2).
#[inline(always)]
fn tail<S: Isa>(s: S, x: S::F) -> S::F {
    let (end, k) = if S::T::IS_F64 {
        (28.0, 3.5)
    } else {
        (11.0, 2.5)
    };
    let x = s.pick_min(s.lit(end), s.pick_max(s.lit(TAIL), x));
    let t = s.div(s.sub(x, s.lit(k)), s.add(x, s.lit(k)));
    let (first, first_lo, q) = if S::T::IS_F64 {
        let q = horner!(
            s,
            t,
            -0.140_009_180_137_620_87,
            -0.010_555_596_332_217_683,
            0.097_519_095_153_433_75,
            -0.115_089_598_160_236_27,
            0.087_983_153_818_654_97,
            -0.048_823_325_826_734_48,
            0.019_099_331_043_395_913,
            -0.004_215_019_922_767_533,
            -0.000_302_268_780_468_212_9,
            0.000_564_384_525_280_220_7,
            -0.000_121_507_565_419_415_21,
            -4.278_269_322_312_347_5e-5,
            2.424_456_199_816_947_5e-5,
            2.329_518_114_393_277_6e-6,
            -3.779_536_028_530_36e-6,
            -4.612_154_796_906_304_4e-8,
            5.546_759_161_968_326e-7,
            -6.327_115_815_417_749e-9,
            -5.979_992_796_288_014e-8
        );
        (1.242_349_244_871_154_4, -1.174_778_726_697_318_1e-17, q)
    } else {
        let q = horner!(
            s,
            t,
            -0.122_356_772_422_790_53,
            -0.099_024_355_411_529_54,
            0.157_630_279_660_224_91,
            -0.102_970_883_250_236_51,
            0.032_755_769_789_218_9,
            0.000_959_417_026_024_311_8,
            -0.004_349_300_172_179_937,
            0.000_410_072_592_785_581_95,
            0.000_535_353_785_380_721_1
        );
        (1.264_838_218_688_964_8, -3.577_437_013_291_273_6e-8, q)
    };
    let (p, p_lo) = fast_two_sum(s, s.lit(first), s.mul(t, q));
    let p_lo = s.add(p_lo, s.lit(first_lo));

    // e^−x² = 2ⁿ·(e + e_lo)
    let (square, square_lo) = two_product(s, x, x);
    let (n, r) = super::exp::reduce_pair(s, s.neg(square), s.neg(square_lo));
    let (e, e_lo) = super::exp::polynomial_pair(s, r);

    let (product, product_lo) = two_product(s, e, p);
    let product_lo = s.add(product_lo, s.fma(e, p_lo, s.mul(e_lo, p)));
    let twice = s.add(x, x);
    let (divisor, divisor_lo) = two_sum(s, twice, s.lit(1.0));
    let quotient = s.div(product, divisor);
    let (back, back_lo) = two_product(s, quotient, divisor);
    let left = s.sub(s.sub(product, back), back_lo);
    let left = s.fnma(quotient, divisor_lo, s.add(left, product_lo));
    s.scale(s.add(quotient, s.div(left, divisor)), n)
}

/// erf a: odd, ±1 at ±inf.
#[inline(always)]
pub fn erf<S: Isa>(s: S, a: S::F) -> S::F {
    let size = s.abs(a);
    let small = central(s, size);
    let large = s.sub(s.lit(1.0), tail(s, size));
    // Not "size ≥ 1": NaN takes the polynomial.
    let far = s.le(s.lit(1.0), size);
    s.xor_sign(s.select(far, large, small), a)
}

/// erfc a = 1 − erf a without cancellation: 2 at −inf, 0 at +inf.
#[inline(always)]
pub fn erfc<S: Isa>(s: S, a: S::F) -> S::F {
    let size = s.abs(a);
    let near = s.sub(s.lit(1.0), central(s, a));
    let tail = tail(s, size);
    let outer = s.select(s.lt(a, s.lit(0.0)), s.sub(s.lit(2.0), tail), tail);
    let far = s.le(s.lit(TAIL), size);
    s.select(far, outer, near)
}
