//! eᵃ to the last place, and 2ᵃ at the least cost for arguments that are rounded sums.
use crate::isa::Isa;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// √2
const SQRT_2: f64 = 1.414_213_562_373_095_1;
/// log2 e
const LOG2_E: f64 = 1.442_695_040_888_963_4;

/// eᵃ: 0 at −inf, +inf at +inf and beyond the range, gradual underflow, NaN at NaN.
///
/// a = n·ln 2 + r, then 2ⁿ·p(r).
#[inline(always)]
pub fn exp<S: Isa>(s: S, a: S::F) -> S::F {
    // Beyond these the result is 0 or +inf anyway; within them n stays where `scale` is exact. NaN passes both.
    let (low, high) = if S::T::IS_F64 {
        (-746.0, 710.0)
    } else {
        (-104.5, 89.0)
    };
    let a = s.pick_min(s.lit(high), s.pick_max(s.lit(low), a));
    if S::SCALEF {
        let magic = root_magic(s);
        let m = s.fma(a, s.lit(LOG2_E), magic);
        let n = s.sub(m, magic);
        let (upper, lower) = ln_2::<S>();
        let r = s.fnma(n, s.lit(lower), s.fnma(n, s.lit(upper), a));
        return s.scale(near_root(s, m, r, near_zero(s, r)), n);
    }
    let (n, r) = reduce(s, a);
    s.scale(polynomial(s, r), n)
}

/// What rounds a small number to a multiple of 1/32 (1/16 at f64) in the low bits of the sum with it.
#[inline(always)]
fn root_magic<S: Isa>(s: S) -> S::F {
    s.lit(S::T::MAGIC / (1_u32 << S::T::ROOT_BITS) as f64)
}

/// 2^(k/2^b) for the number k in the lowest b bits of m, within 2 units in the last place.
#[inline(always)]
pub fn root<S: Isa>(s: S, m: S::F) -> S::F {
    let count = (1_u32 << S::T::ROOT_BITS) as f64;
    let low = s.mul(s.index_low(m), s.lit(1.0 / count));
    // Rounding down is rounding after a shift that leaves no ties.
    let whole = s.rint(s.add(low, s.lit(0.5 / count - 0.5)));
    exp2_fraction(s, s.sub(s.sub(low, whole), s.lit(0.5)), SQRT_2)
}

/// A root of two times 1 + r·slope: what is left of a power when the whole part of its exponent n = m − magic, a multiple of 1/32,
/// is applied by scaling, which rounds n down.
///
/// The root is rounded, the polynomial's part beside it is small: their sum is within about one unit in the last place.
#[inline(always)]
fn near_root<S: Isa>(s: S, m: S::F, r: S::F, slope: S::F) -> S::F {
    let root = s.root(m);
    s.fma(s.mul(root, r), slope, root)
}

/// (eʳ − 1)/r for |r| ≤ ln 2 / 64 (ln 2 / 32 at f64): Remez fits, relative error of eʳ 9.2e-9 and 1.2e-17.
#[inline(always)]
fn near_zero<S: Isa>(s: S, r: S::F) -> S::F {
    if S::T::IS_F64 {
        horner!(
            s,
            r,
            1.0,
            0.499_999_999_999_996,
            0.166_666_666_644_088_6,
            0.041_666_666_693_526_46,
            0.008_333_472_201_193_99,
            0.001_388_859_008_392_060_2
        )
    } else {
        horner!(s, r, 1.0, 0.500_004_053_115_844_7, 0.159_485_504_031_181_34)
    }
}

/// (2^f − 1)/f for |f| ≤ 1/64 (1/32 at f64): relative error of 2^f 5.3e-8 (Remez) and 1.5e-17 (interpolation at Chebyshev's
/// points).
#[inline(always)]
fn near_zero_exp2<S: Isa>(s: S, f: S::F) -> S::F {
    if S::T::IS_F64 {
        horner!(
            s,
            f,
            0.693_147_180_559_945_7,
            0.240_226_506_959_100_75,
            0.055_504_108_656_639_3,
            0.009_618_129_106_919_537,
            0.001_333_378_157_778_427,
            0.000_154_037_239_807_492_56
        )
    } else {
        horner!(s, f, 0.693_157_374_858_856_2, 0.240_229_964_256_286_62)
    }
}

/// (n, a − n·ln 2) for the nearest n, by Cody-Waite with ln 2 in two parts; a within the range of `scale`.
#[inline(always)]
pub(super) fn reduce<S: Isa>(s: S, a: S::F) -> (S::F, S::F) {
    let n = s.rint(s.mul(a, s.lit(LOG2_E)));
    let (upper, lower) = ln_2::<S>();
    (n, s.fnma(n, s.lit(lower), s.fnma(n, s.lit(upper), a)))
}

/// The same of a pair.
#[inline(always)]
pub(super) fn reduce_pair<S: Isa>(s: S, a: S::F, lo: S::F) -> (S::F, S::F) {
    let n = s.rint(s.mul(a, s.lit(LOG2_E)));
    let (upper, lower) = ln_2::<S>();
    // The difference is exact, as n·upper is near a.
    let first = s.fnma(n, s.lit(upper), a);
    (n, s.add(first, s.fnma(n, s.lit(lower), lo)))
}

/// ln 2 in two parts.
#[inline(always)]
fn ln_2<S: Isa>() -> (f64, f64) {
    // Without a fused operation n times the upper part must be exact: that part then ends in zeros.
    if S::T::IS_F64 {
        if S::FMA {
            (0.693_147_180_559_945_3, 2.319_046_813_846_299_6e-17)
        } else {
            (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10)
        }
    } else if S::FMA {
        (0.693_147_182_464_599_6, -1.904_654_212_125_933_6e-9)
    } else {
        (0.693_359_375, -2.121_944_400_546_905_8e-4)
    }
}

/// eʳ for |r| ≤ ln 2 / 2: fpminimax fits (relative error 3.8e-9 at degree 6, 3.8e-18 at degree 11).
#[inline(always)]
pub(super) fn polynomial<S: Isa>(s: S, r: S::F) -> S::F {
    let one = s.lit(1.0);
    s.fma(s.fma(beyond_linear(s, r), r, one), r, one)
}

/// The same as a pair.
#[inline(always)]
pub(super) fn polynomial_pair<S: Isa>(s: S, r: S::F) -> (S::F, S::F) {
    let grown = s.fma(s.mul(r, r), beyond_linear(s, r), r);
    super::double::fast_two_sum(s, s.lit(1.0), grown)
}

/// (eʳ − 1 − r)/r²
#[inline(always)]
fn beyond_linear<S: Isa>(s: S, r: S::F) -> S::F {
    if S::T::IS_F64 {
        horner!(
            s,
            r,
            0.500_000_000_000_001_1,
            0.166_666_666_666_664_16,
            4.166_666_666_652_632e-2,
            8.333_333_333_491_804e-3,
            1.388_888_894_463_658e-3,
            1.984_126_951_355_063e-4,
            2.480_149_204_334_893_7e-5,
            2.755_757_896_531_205_4e-6,
            2.763_063_191_332_509_4e-7,
            2.500_279_730_561_357_4e-8
        )
    } else {
        horner!(
            s,
            r,
            0.499_999_880_790_710_45,
            0.166_665_166_616_439_82,
            4.166_962_206_363_678e-2,
            8.369_114_249_944_687e-3,
            1.374_805_229_716_003e-3
        )
    }
}

/// 2ᵃ: exact for integers, 0 at −inf, +inf at +inf and beyond the range, gradual underflow, NaN at NaN.
///
/// a = n + f exactly, then 2ⁿ·p(f) with the fits of [`powf`](super::powf).
#[inline(always)]
pub fn exp2<S: Isa>(s: S, a: S::F) -> S::F {
    let (low, high) = if S::T::IS_F64 {
        (-1080.0, 1025.0)
    } else {
        (-155.0, 129.0)
    };
    let a = s.pick_min(s.lit(high), s.pick_max(s.lit(low), a));
    let n = s.rint(a);
    s.scale(super::pow::exp2_fraction(s, s.sub(a, n)), n)
}

/// factor · 2^f for |f| ≤ 1/2 and a factor of 1 or 2, exact at f = 0: relative error 9.6e-8 at f32 (fpminimax,
/// degree 5), 3.5e-17 at f64 (minimax of degree 11 with its constant scaled to 1; the rounding of ln 2 dominates).
#[inline(always)]
pub(super) fn exp2_fraction<S: Isa>(s: S, f: S::F, factor: f64) -> S::F {
    if S::T::IS_F64 {
        horner!(
            s,
            f,
            factor,
            factor * 0.693_147_180_559_945_3,
            factor * 0.240_226_506_959_101_55,
            factor * 0.055_504_108_664_819_925,
            factor * 0.009_618_129_107_588_335,
            factor * 0.001_333_355_814_678_991_6,
            factor * 0.000_154_035_304_625_126_03,
            factor * 1.525_273_348_999_729_2e-5,
            factor * 1.321_543_309_075_588_6e-6,
            factor * 1.017_819_801_735_094_3e-7,
            factor * 7.074_105_416_184_545e-9,
            factor * 4.435_283_378_920_851e-10
        )
    } else {
        horner!(
            s,
            f,
            factor,
            factor * 0.693_147_003_650_665_3,
            factor * 0.240_222_379_565_238_95,
            factor * 5.550_699_308_514_595e-2,
            factor * 9.671_763_516_962_528e-3,
            factor * 1.327_509_409_748_018e-3
        )
    }
}

/// t − n and 2^(n + bias − the value type's bias), n being the integer nearest to t, without a scaling instruction.
///
/// Adding the bias together with the magic number makes the shifted bits of the sum that power itself. Its *product*
/// with a polynomial keeps NaN a NaN whatever its payload; adding n to the polynomial's exponent would be as short but
/// turns some NaN into numbers.
#[inline(always)]
fn split<S: Isa>(s: S, t: S::F, bias: f64) -> (S::F, S::F) {
    let magic = s.lit(S::T::MAGIC + bias);
    let m = s.add(t, magic);
    let f = s.sub(t, s.sub(m, magic));
    (f, s.add_exponent(s.lit(0.0), m))
}

/// 2^t for an argument that is a rounded sum, such as −c·|x−y|²: the error of the argument dominates.
///
/// 0 at −inf, +inf at +inf and beyond the range, NaN at NaN, 1 at 0. Results below √2 times the smallest normal number
/// may be flushed to 0.
#[inline(always)]
pub fn exp2_sum<S: Isa>(s: S, t: S::F) -> S::F {
    if S::SCALEF {
        return scaled(s, t);
    }
    // 2^n is carried as 2·2^(n−1), so that the largest n has a finite power; n = emax then overflows for f = 0 only.
    let (low, high, bias) = if S::T::IS_F64 {
        (-1022.0, 1024.0, 1022.0)
    } else {
        (-126.0, 128.0, 126.0)
    };
    let t = s.pick_min(s.lit(high), s.pick_max(s.lit(low), t));
    let (f, power) = split(s, t, bias);
    s.mul(exp2_fraction(s, f, 2.0), power)
}

/// 2^(a·c) for a ≥ 0 or NaN, and c < 0 of a size that is nothing special: [`exp2_sum`] of a product that is not rounded by itself.
/// Results below 2^−126.5 (2^−1022.5 at f64) are 0.
#[inline(always)]
pub fn exp2_sum_nonpositive<S: Isa>(s: S, a: S::F, c: S::F) -> S::F {
    if S::SCALEF {
        // The product is only infinite or inexact beyond all that scaling leaves above 0.
        let magic = root_magic(s);
        let m = s.fma(a, c, magic);
        let n = s.sub(m, magic);
        let f = s.fma(a, c, s.neg(n));
        return s.scale_normal(near_root(s, m, f, near_zero_exp2(s, f)), n);
    }
    // At the lower end the biased exponent is 0, and the power exactly 0. `low / c` does not depend on the pair.
    let (low, bias) = if S::T::IS_F64 {
        (-1023.0, 1023.0)
    } else {
        (-127.0, 127.0)
    };
    let a = s.pick_min(s.div(s.lit(low), c), a);
    let magic = s.lit(S::T::MAGIC + bias);
    let m = s.fma(a, c, magic);
    let f = s.fma(a, c, s.sub(magic, m));
    s.mul(exp2_fraction(s, f, 1.0), s.add_exponent(s.lit(0.0), m))
}

/// 2^t with a scaling instruction, which lets an infinite exponent win over the NaN of inf − inf. Results below 2^emin are 0, but for a few next to it. Where t is so large that
/// adding the magic number rounds it, 2^t is 0 or +inf, and t − n is still small.
#[inline(always)]
fn scaled<S: Isa>(s: S, t: S::F) -> S::F {
    let magic = root_magic(s);
    let m = s.add(t, magic);
    let n = s.sub(m, magic);
    let f = s.sub(t, n);
    s.scale_normal(near_root(s, m, f, near_zero_exp2(s, f)), n)
}
