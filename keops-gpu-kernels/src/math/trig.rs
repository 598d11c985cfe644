//! Sine, cosine and tangent, accurate for every finite argument.
//!
//! The angle is first taken modulo π/2: a = n·π/2 + r, |r| ≤ π/4, r rounded once however much cancels; then two
//! polynomials and n modulo 4 give the result. Moderate angles subtract three parts of π/2 (Cody-Waite with exact
//! products); where a lane holds a larger one, the words of 2/π that matter for its exponent are multiplied out
//! (Payne-Hanek). (One polynomial modulo π would be shorter, but misses cos 0 = 1.)
use super::double::{fast_two_sum, mul_pairs, two_product, two_sum};
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// 2/π
const FRAC_2_PI: f64 = 0.636_619_772_367_581_4;

/// sin r for |r| ≤ 0.79, z = r².
#[inline(always)]
fn sine<S: Isa>(s: S, r: S::F, z: S::F) -> S::F {
    s.fma(s.mul(r, z), beyond_linear(s, z), r)
}

/// (sin r − r)/r³ in z = r²: minimax fits (relative error of the sine 4.2e-9 to r⁷, 4.1e-18 to r¹³).
#[inline(always)]
fn beyond_linear<S: Isa>(s: S, z: S::F) -> S::F {
    if S::T::IS_F64 {
        horner!(
            s,
            z,
            -0.166_666_666_666_666_27,
            0.008_333_333_333_321_128,
            -0.000_198_412_698_287_716_98,
            2.755_731_333_004_059_6e-6,
            -2.505_070_107_040_790_4e-8,
            1.589_346_694_883_639_8e-10
        )
    } else {
        horner!(
            s,
            z,
            -0.166_666_537_523_269_65,
            0.008_332_106_284_797_192,
            -0.000_195_078_726_392_239_33
        )
    }
}

/// cos r for |r| ≤ 0.79, z = r².
#[inline(always)]
fn cosine<S: Isa>(s: S, z: S::F) -> S::F {
    s.fma(
        s.mul(z, z),
        beyond_square(s, z),
        s.fnma(z, s.lit(0.5), s.lit(1.0)),
    )
}

/// (cos r − 1 + z/2)/z² in z = r²: minimax fits (relative error of the cosine 1.3e-10 to r⁸, 7.5e-20 to r¹⁴).
#[inline(always)]
fn beyond_square<S: Isa>(s: S, z: S::F) -> S::F {
    if S::T::IS_F64 {
        horner!(
            s,
            z,
            0.041_666_666_666_666_59,
            -0.001_388_888_888_887_216_7,
            2.480_158_728_827_483_4e-5,
            -2.755_731_400_740_001_7e-7,
            2.087_567_684_613_451_5e-9,
            -1.135_726_432_486_338_3e-11
        )
    } else {
        horner!(
            s,
            z,
            0.041_666_645_556_688_31,
            -0.001_388_730_364_851_653_6,
            2.443_120_683_892_63e-5
        )
    }
}

/// a − n·π/2 as a pair, for an integer n with n·π/2 near a.
#[inline(always)]
fn subtract_quarters<S: Isa>(s: S, a: S::F, n: S::F) -> (S::F, S::F) {
    // π/2 in three parts of full precision.
    let (one, two, three) = if S::T::IS_F64 {
        (
            1.570_796_326_794_896_6,
            6.123_233_995_736_766e-17,
            -1.497_384_904_859_169_8e-33,
        )
    } else {
        (
            1.570_796_370_506_286_6,
            -4.371_138_828_673_793e-8,
            -1.715_124_510_005_881_9e-15,
        )
    };
    // The first difference is exact: n·one is near a, and both are multiples of a small enough unit. The second one
    // is rounded, and what it lost joins the third.
    let first = if S::FMA {
        s.fnma(n, s.lit(one), a)
    } else {
        let (product, error) = two_product(s, n, s.lit(one));
        s.sub(s.sub(a, product), error)
    };
    let (product, error) = two_product(s, n, s.lit(two));
    let second = s.sub(first, product);
    let rest = s.sub(s.sub(s.sub(first, second), product), error);
    fast_two_sum(s, second, s.fnma(n, s.lit(three), rest))
}

/// What is left of `word`, at most 2 in magnitude, when multiples of 4 are taken away.
#[inline(always)]
fn modulo_four<S: Isa>(s: S, word: S::F) -> S::F {
    s.fnma(s.rint(s.mul(word, s.lit(0.25))), s.lit(4.0), word)
}

/// Adds `word` to the expansion hi + mid + lo.
#[inline(always)]
fn accumulate<S: Isa>(s: S, sum: (S::F, S::F, S::F), word: S::F) -> (S::F, S::F, S::F) {
    let (hi, rest) = two_sum(s, sum.0, word);
    let (mid, rest) = two_sum(s, sum.1, rest);
    (hi, mid, s.add(sum.2, rest))
}

/// (n, r) with size = n·π/2 + r up to a multiple of 2π, for large finite positive sizes.
///
/// size = x·2^(w·b) with an integer x, so that only size·2/π modulo 4 = x·(2^(w·b)·2/π modulo 4) matters, whose second
/// factor comes from a table of four words. x is below 2^(p + w): four words leave some 60 (at f64: 120) bits behind
/// the point correct, more than the distance of any float from a multiple of π/2 takes, and its own bits.
#[inline(always)]
fn reduce_large<S: Isa>(s: S, size: S::F) -> (S::F, (S::F, S::F)) {
    // 2^(p + w) and 2^−w
    let (blocks, first, limit, step) = if S::T::IS_F64 {
        (
            BLOCKS_F64,
            TURNS_F64[0],
            1.934_281_311_383_406_7e25,
            2.328_306_436_538_696_3e-10,
        )
    } else {
        (BLOCKS_F32, TURNS_F32[0], 2_147_483_648.0, 0.003_906_25)
    };
    let mut x = size;
    let mut word = [
        s.lit(first[0]),
        s.lit(first[1]),
        s.lit(first[2]),
        s.lit(first[3]),
    ];
    let mut b = 1;
    while b < blocks {
        let row = if S::T::IS_F64 {
            TURNS_F64[b]
        } else {
            TURNS_F32[b]
        };
        let beyond = s.le(s.lit(limit), x);
        x = s.select(beyond, s.mul(x, s.lit(step)), x);
        word[0] = s.select(beyond, s.lit(row[0]), word[0]);
        word[1] = s.select(beyond, s.lit(row[1]), word[1]);
        word[2] = s.select(beyond, s.lit(row[2]), word[2]);
        word[3] = s.select(beyond, s.lit(row[3]), word[3]);
        b += 1;
    }
    let (p0, e0) = two_product(s, x, word[0]);
    let (p1, e1) = two_product(s, x, word[1]);
    let (p2, e2) = two_product(s, x, word[2]);
    let zero = s.lit(0.0);
    let sum = accumulate(s, (modulo_four(s, p0), zero, zero), modulo_four(s, e0));
    let sum = accumulate(s, sum, modulo_four(s, p1));
    let n = s.rint(sum.0);
    let sum = accumulate(s, (s.sub(sum.0, n), sum.1, sum.2), e1);
    let sum = accumulate(s, sum, p2);
    let sum = accumulate(s, sum, e2);
    let sum = accumulate(s, sum, s.mul(x, word[3]));
    let (hi, mid) = two_sum(s, sum.0, sum.1);
    let (hi, lo) = two_sum(s, hi, s.add(mid, sum.2));
    let quarter = if S::T::IS_F64 {
        (
            s.lit(1.570_796_326_794_896_6),
            s.lit(6.123_233_995_736_766e-17),
        )
    } else {
        (
            s.lit(1.570_796_370_506_286_6),
            s.lit(-4.371_138_828_673_793e-8),
        )
    };
    (n, mul_pairs(s, (hi, lo), quarter))
}

/// (n, (r, lo)) with size = n·π/2 + r + lo up to a multiple of 2π, for size ≥ 0; NaN at +inf.
#[inline(always)]
fn reduce<S: Isa>(s: S, size: S::F) -> (S::F, (S::F, S::F)) {
    let n = s.rint(s.mul(size, s.lit(FRAC_2_PI)));
    let r = subtract_quarters(s, size, n);
    let limit = if S::T::IS_F64 { 1e9 } else { 1e5 };
    let large = s.and(s.lt(s.lit(limit), size), s.lt(size, s.lit(f64::INFINITY)));
    if !s.any(large) {
        return (n, r);
    }
    let (large_n, large_r) = reduce_large(s, size);
    let r = (
        s.select(large, large_r.0, r.0),
        s.select(large, large_r.1, r.1),
    );
    (s.select(large, large_n, n), r)
}

/// sin(n·π/2 + r)
#[inline(always)]
fn quarters<S: Isa>(s: S, n: S::F, r: S::F) -> S::F {
    let n = modulo_four(s, n);
    let z = s.mul(r, r);
    let odd = s.eq(s.abs(n), s.lit(1.0));
    let size = s.select(odd, cosine(s, z), sine(s, r, z));
    // Positive for n = 0 and 1, negative for −1 and ±2.
    let sign = s.sub(s.lit(1.0), s.abs(s.sub(n, s.lit(0.5))));
    s.xor_sign(size, sign)
}

/// sin a, a in radians; NaN at ±inf.
#[inline(always)]
pub fn sin<S: Isa>(s: S, a: S::F) -> S::F {
    let (n, (r, _)) = reduce(s, s.abs(a));
    s.xor_sign(quarters(s, n, r), a)
}

/// cos a, a in radians; NaN at ±inf.
#[inline(always)]
pub fn cos<S: Isa>(s: S, a: S::F) -> S::F {
    let (n, (r, _)) = reduce(s, s.abs(a));
    quarters(s, s.add(n, s.lit(1.0)), r)
}

/// tan a, a in radians; NaN at ±inf.
///
/// sin/cos of the reduced angle, −cos/sin in odd quarters, all in pairs: the roundings of sine, cosine and quotient would add
/// up to three units.
#[inline(always)]
pub fn tan<S: Isa>(s: S, a: S::F) -> S::F {
    let (n, (r, lo)) = reduce(s, s.abs(a));
    let (z, z_lo) = two_product(s, r, r);
    let half = s.lit(0.5);
    // sin(r + lo) = r + (r³·p + lo·cos r), with cos r = 1 − z/2 as far as it matters.
    let low = s.fnma(s.mul(z, half), lo, lo);
    let sine = fast_two_sum(s, r, s.fma(s.mul(r, z), beyond_linear(s, z), low));
    // cos(r + lo) = (1 − z/2) + (z²·p − lo·r)
    let (main, rest) = fast_two_sum(s, s.lit(1.0), s.mul(z, s.lit(-0.5)));
    let rest = s.fnma(z_lo, half, s.fnma(r, lo, rest));
    let cosine = fast_two_sum(s, main, s.fma(s.mul(z, z), beyond_square(s, z), rest));

    let halves = s.mul(n, half);
    let odd = s.not(s.eq(s.rint(halves), halves));
    let top = (
        s.select(odd, s.neg(cosine.0), sine.0),
        s.select(odd, s.neg(cosine.1), sine.1),
    );
    let bottom = (
        s.select(odd, sine.0, cosine.0),
        s.select(odd, sine.1, cosine.1),
    );
    let q = s.div(top.0, bottom.0);
    let (back, back_lo) = two_product(s, q, bottom.0);
    let left = s.sub(s.sub(top.0, back), back_lo);
    let left = s.fnma(q, bottom.1, s.add(left, top.1));
    // At 0 the correction would lose the sign of −0, and subnormal products their errors.
    let tiny = s.lt(s.abs(r), s.lit(S::T::MIN_POSITIVE * 1e20));
    let plain = s.and(tiny, s.not(odd));
    let tan = s.select(plain, q, s.add(q, s.div(left, bottom.0)));
    s.xor_sign(tan, a)
}

/// Rows of [`TURNS_F32`], [`TURNS_F64`] (the device has no `len`).
const BLOCKS_F32: usize = 14;
const BLOCKS_F64: usize = 31;

/// 2^(8·b)·2/π modulo 4, b = 0, 1, …, each as a sum of four words of 24 bits.
#[rustfmt::skip]
const TURNS_F32: [[f64; 4]; BLOCKS_F32] = [
    [0.636_619_746_685_028_1, 2.568_255_297_319_410_6e-08, 2.937_095_479_631_555e-16, 6.074_026_627_379_602e-24],
    [-1.025_338_292_121_887_2, 1.822_271_045_170_964_5e-08, 5.826_585_590_045_05e-16, 1.970_356_500_087_884_4e-23],
    [1.513_401_865_959_167_5, 1.585_173_237_117_487_6e-08, -5.337_836_197_474_09e-17, 1.619_485_585_878_621_3e-24],
    [-0.569_118_261_337_280_3, 4.927_628_527_440_22e-09, 1.019_052_567_172_990_9e-16, -2.310_721_897_242_525e-24],
    [-1.694_273_591_041_565, -4.982_925_716_490_172e-08, 1.218_749_332_750_350_6e-15, 4.372_991_421_296_968_4e-23],
    [-1.734_052_062_034_607, -8.955_403_085_764_146e-10, 2.717_045_948_317_218e-17, -2.040_261_281_014_147_3e-25],
    [0.082_671_888_172_626_5, 1.709_686_503_481_577_8e-09, -3.876_748_038_596_765e-17, 7.088_714_941_153_459e-25],
    [1.164_003_849_029_541, -3.915_742_396_998_212e-08, 7.336_662_164_124_624e-16, 2.265_242_015_018_180_2e-23],
    [1.984_975_337_982_177_7, -1.072_002_664_415_094_8e-08, 4.129_106_417_456_810_7e-16, 2.137_740_280_730_435_4e-24],
    [0.153_683_781_623_840_33, -2.513_055_541_442_099_6e-09, 1.189_289_017_301_588_7e-17, -3.320_503_151_059_261_6e-25],
    [-0.656_952_559_947_967_5, 1.230_887_658_465_462_7e-08, 3.800_445_457_823_525_4e-16, -5.595_541_073_165_534e-24],
    [-0.179_852_202_534_675_6, 6.927_491_025_265_908e-09, 3.586_533_044_171_515e-17, 2.183_094_655_184_759_6e-25],
    [1.957_837_939_262_390_1, -1.470_163_191_186_202_3e-08, 2.997_404_490_173_857e-16, 2.947_663_969_336_074_5e-24],
    [1.206_508_636_474_609_4, 5.107_957_434_802_301_6e-08, -1.426_145_244_006_447_6e-15, 1.344_812_679_213_873_4e-23],
];

/// 2^(32·b)·2/π modulo 4, b = 0, 1, …, each as a sum of four words of 53 bits.
#[rustfmt::skip]
const TURNS_F64: [[f64; 4]; BLOCKS_F64] = [
    [0.636_619_772_367_581_4, -3.935_735_335_036_497e-17, -2.144_287_256_578_600_8e-33, 1.610_712_785_318_822_4e-49],
    [-1.694_273_640_870_821, 1.085_263_518_551_096_1e-16, -5.665_244_373_482_231e-33, -4.495_785_048_513_143e-51],
    [1.984_975_327_262_151_5, -3.117_856_596_664_125_7e-17, 6.863_064_799_465_887e-34, -3.385_108_475_271_734e-51],
    [1.957_837_924_560_758_4, 7.769_584_704_001_829e-17, 3.349_065_308_216_34e-33, -1.947_314_708_713_576_4e-49],
    [0.856_973_028_098_094_7, 3.577_510_976_413_712e-18, -4.409_950_693_639_701e-35, 8.125_176_617_421_835e-52],
    [1.235_405_937_301_327_8, 5.095_045_764_731_626_6e-17, 8.532_979_878_662_327e-34, 1.680_065_713_191_082_3e-50],
    [1.993_429_402_790_510_2, 7.468_610_146_763_042e-17, 2.662_353_717_448_655_4e-33, 2.624_290_316_405_018e-50],
    [-0.129_947_341_579_152_36, 3.158_226_718_119_009e-18, -1.572_986_638_428_735_6e-34, -5.033_166_681_025_912e-51],
    [1.715_399_636_481_655_7, 3.989_997_103_266_016e-17, -2.778_971_522_716_871e-33, 1.314_003_515_760_171e-49],
    [-1.741_000_004_107_003_5, -1.506_833_102_055_178_4e-17, -4.009_003_146_197_899_5e-34, 2.274_158_157_701_92e-50],
    [0.024_554_187_906_522_78, 1.571_694_381_556_215_8e-18, -6.677_128_753_021_848e-35, -3.390_363_894_770_571e-51],
    [-1.961_645_954_057_424_3, -6.783_354_033_487_134e-17, 4.257_792_839_986_927e-34, 2.568_817_226_516_546e-50],
    [0.992_644_018_654_721_3, -1.046_752_545_434_213_7e-17, 6.293_270_923_234_803e-34, -3.107_618_117_377_890_6e-50],
    [0.692_041_828_974_205_3, -2.834_199_102_743_052_6e-17, -6.859_988_001_438_987e-34, -1.718_674_557_699_605_8e-50],
    [-1.091_763_141_289_692_2, 6.271_635_464_139_531e-17, 6.065_366_370_750_208_5e-33, -3.332_266_647_196_140_7e-49],
    [1.182_544_977_616_645_2, 2.098_179_600_458_306e-18, -3.142_827_266_686_098_4e-35, 1.382_040_965_367_383_4e-51],
    [0.912_543_305_825_577_6, -2.421_972_770_216_662e-17, 6.213_798_655_161_652e-34, -5.416_972_084_971_054e-51],
    [-1.295_417_889_667_469_7, 8.638_451_221_074_821e-17, 8.422_526_993_579_9e-34, 8.545_114_584_385_982e-50],
    [1.224_881_543_198_830_7, -8.388_410_436_886_892e-17, -1.317_884_553_263_391_5e-33, 8.024_134_531_623_681e-50],
    [1.512_988_683_909_968_2, -6.302_354_304_316_678e-18, 1.143_517_003_979_767_9e-34, -2.181_346_300_488_934_7e-51],
    [0.611_394_855_133_742_8, 3.205_166_546_102_185_6e-18, -7.819_407_725_650_19e-35, -5.236_674_178_479_329e-51],
    [-0.257_916_913_571_561, -7.195_152_808_990_792e-21, -3.427_984_807_540_385_6e-37, -1.570_929_526_316_849e-53],
    [-0.875_113_010_437_397_1, 8.638_007_821_401_913e-19, -1.420_165_679_151_919_7e-35, -5.529_495_675_953_93e-52],
    [-0.132_727_142_438_685_52, -6.323_515_843_326_198_6e-18, -2.897_853_492_980_069e-34, -1.939_344_922_947_795_6e-51],
    [-0.065_688_041_189_750_29, 1.703_640_092_660_916_4e-18, 7.309_546_151_776_133e-36, -3.349_855_763_064_181e-52],
    [-0.648_278_407_886_016, -1.652_565_661_010_960_4e-17, 1.203_255_467_968_971_4e-33, -2.898_561_529_643_814_4e-50],
    [-0.573_387_216_973_248_5, 2.381_502_469_426_718_2e-17, -1.641_737_246_944_152_5e-35, -2.720_447_801_541_468_5e-52],
    [-0.844_558_136_698_402_1, -8.314_819_587_895_112e-18, -5.207_463_049_859_117e-35, 2.748_212_195_299_045_6e-51],
    [-0.690_334_355_780_237_6, 3.021_983_908_099_415e-17, 1.144_635_385_947_028e-33, 2.758_975_873_299_845e-50],
    [-1.381_348_956_968_254, -7.242_896_184_037_602e-17, 1.391_760_450_615_745e-33, -5.350_359_402_069_822e-50],
    [1.457_637_475_785_212, 2.055_855_439_861_155_6e-17, 4.957_130_847_852_647_5e-34, -1.196_861_860_890_493e-51],
];
