//! [`Isa`]: what one instruction set can do with one vector of lanes.
//!
//! A token `s: I` stands for the instruction set; values have no methods of their own. The CPU engine implements it for
//! AVX-512, AVX2+FMA, SSE2, NEON and plain scalars, the device crate for one GPU thread, and
//! [`Tile`](crate::tile::Tile) for a register tile of any of them. Emitted formulas are generic over it.
//!
//! Invariants: every operation is lane-wise; a mask is only made by comparisons and mask operations; comparisons with
//! NaN are false; no operation panics.
use crate::math;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;
use crate::real::Real;

/// One instruction set at one value type.
pub trait Isa: Copy {
    /// The value type of a lane.
    type T: Real;
    /// A vector of lanes.
    type F: Copy;
    /// A mask, one truth value per lane.
    type M: Copy;
    /// Lanes of a vector.
    const LANES: usize;
    /// Whether [`fma`](Isa::fma) rounds once.
    const FMA: bool;
    /// Whether [`scale`](Isa::scale) is one instruction that also handles overflow, underflow, NaN, and exponents that are no
    /// integers, which it rounds down; and [`root`](Isa::root) is one instruction too.
    const SCALEF: bool;
    /// Whether the elementary functions are the instruction set's own (GPU): a tile then maps them lane by lane
    /// instead of evaluating the polynomials of [`math`] stage by stage.
    const NATIVE: bool;

    /// `x` in every lane.
    fn splat(self, x: Self::T) -> Self::F;
    /// The constant nearest to `x` in every lane.
    #[inline(always)]
    fn lit(self, x: f64) -> Self::F {
        self.splat(<Self::T as Real>::of(x))
    }

    /// `n`, the turns of a loop that is not to be written out: a device's compiler does not learn how many they are.
    #[inline(always)]
    fn count(self, n: usize) -> usize {
        n
    }

    /// a + b
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    /// a − b
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    /// a · b
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    /// a / b, correctly rounded
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    /// a · b + c, in one rounding where [`Isa::FMA`]
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// c − a · b, in one rounding where [`Isa::FMA`]
    fn fnma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// a²
    #[inline(always)]
    fn square(self, a: Self::F) -> Self::F {
        self.mul(a, a)
    }
    /// (a − b)² + c, the square fused into the sum where [`Isa::FMA`]. One operation, so that a tile keeps no differences:
    /// a distance over many dimensions then needs a register per pair, not two.
    #[inline(always)]
    fn sqdiff_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        let d = self.sub(a, b);
        self.fma(d, d, c)
    }
    /// −a (flips the sign bit, of NaN and zero too)
    fn neg(self, a: Self::F) -> Self::F;
    /// |a| (clears the sign bit)
    fn abs(self, a: Self::F) -> Self::F;
    /// a with its sign flipped where b is negative (exclusive or of the sign bits)
    fn xor_sign(self, a: Self::F, b: Self::F) -> Self::F;
    /// √a, correctly rounded
    fn sqrt(self, a: Self::F) -> Self::F;
    /// `if a < b { a } else { b }`: the second operand when either is NaN (one x86 instruction)
    fn pick_min(self, a: Self::F, b: Self::F) -> Self::F;
    /// `if a > b { a } else { b }`: the second operand when either is NaN
    fn pick_max(self, a: Self::F, b: Self::F) -> Self::F;
    /// The smaller of a value and an accumulator that is not NaN; the accumulator where the value is NaN. Of zeros either.
    #[inline(always)]
    fn least(self, v: Self::F, acc: Self::F) -> Self::F {
        self.pick_min(v, acc)
    }
    /// The larger of a value and an accumulator that is not NaN; the accumulator where the value is NaN. Of zeros either.
    #[inline(always)]
    fn greatest(self, v: Self::F, acc: Self::F) -> Self::F {
        self.pick_max(v, acc)
    }
    /// The nearest integer, ties to even; any magnitude, NaN and infinities unchanged
    fn rint(self, a: Self::F) -> Self::F;

    /// a < b
    fn lt(self, a: Self::F, b: Self::F) -> Self::M;
    /// a ≤ b
    fn le(self, a: Self::F, b: Self::F) -> Self::M;
    /// a = b
    fn eq(self, a: Self::F, b: Self::F) -> Self::M;
    /// Equality of two indices (bit patterns, see [`Real::from_index`])
    fn index_eq(self, a: Self::F, b: Self::F) -> Self::M;
    /// Unsigned order of two indices
    fn index_lt(self, a: Self::F, b: Self::F) -> Self::M;
    /// The low 16 bits of an index, as a number
    fn index_low(self, a: Self::F) -> Self::F;
    /// The high 16 bits of an index, as a number
    fn index_high(self, a: Self::F) -> Self::F;
    /// Logical and
    fn and(self, a: Self::M, b: Self::M) -> Self::M;
    /// Logical or
    fn or(self, a: Self::M, b: Self::M) -> Self::M;
    /// Logical not
    fn not(self, a: Self::M) -> Self::M;
    /// `if m { a } else { b }`, bit-exact
    fn select(self, m: Self::M, a: Self::F, b: Self::F) -> Self::F;
    /// Whether any lane of the mask is true
    fn any(self, m: Self::M) -> bool;

    /// `bits(p) + (bits(n + MAGIC) << fraction bits)`, that is p · 2^n for integral n as long as the result is normal.
    /// `m` is n + [`Real::MAGIC`], not n.
    fn add_exponent(self, p: Self::F, m: Self::F) -> Self::F;
    /// p · 2^n for integral n with overflow, gradual underflow, infinities and NaN right. Only where [`Isa::SCALEF`]
    /// is this a single instruction; elsewhere two multiplications.
    fn scale(self, p: Self::F, n: Self::F) -> Self::F;
    /// [`scale`](Isa::scale), but 0 where n < emin, the exponent of the smallest normal number: subnormal numbers take some processors a
    /// hundred cycles each. By default they stay.
    #[inline(always)]
    fn scale_normal(self, p: Self::F, n: Self::F) -> Self::F {
        self.scale(p, n)
    }
    /// 2^(k/2^b) for the number k in the lowest b = [`Real::ROOT_BITS`] bits of `m`: where [`Isa::SCALEF`], one permutation of a
    /// table in registers, correctly rounded. It pays only there.
    #[inline(always)]
    fn root(self, m: Self::F) -> Self::F {
        math::root(self, m)
    }
    /// The unbiased exponent of a positive normal number, as a value: floor(log2 a)
    fn exponent(self, a: Self::F) -> Self::F;
    /// The significand of a positive normal number, in [1, 2)
    fn significand(self, a: Self::F) -> Self::F;

    /// 1/√a; +inf at 0, NaN below
    #[inline(always)]
    fn rsqrt(self, a: Self::F) -> Self::F {
        math::rsqrt(self, a)
    }
    /// eᵃ
    #[inline(always)]
    fn exp(self, a: Self::F) -> Self::F {
        math::exp(self, a)
    }
    /// 2ᵃ for an argument that is itself a rounded sum: error relative to the rounding of `a`, see [`math::exp2_sum`]
    #[inline(always)]
    fn exp2_sum(self, a: Self::F) -> Self::F {
        math::exp2_sum(self, a)
    }
    /// 2^(a·c) for a ≥ 0 or NaN and c in −10³⁰ … −10⁻³⁰: [`Isa::exp2_sum`] without overflow, the product in one rounding where
    /// [`Isa::FMA`]
    #[inline(always)]
    fn exp2_sum_nonpositive(self, a: Self::F, c: Self::F) -> Self::F {
        math::exp2_sum_nonpositive(self, a, c)
    }
    /// natural logarithm; −inf at 0, NaN below
    #[inline(always)]
    fn log(self, a: Self::F) -> Self::F {
        math::log(self, a)
    }
    /// sine, a in radians
    #[inline(always)]
    fn sin(self, a: Self::F) -> Self::F {
        math::sin(self, a)
    }
    /// cosine, a in radians
    #[inline(always)]
    fn cos(self, a: Self::F) -> Self::F {
        math::cos(self, a)
    }
    /// hyperbolic tangent
    #[inline(always)]
    fn tanh(self, a: Self::F) -> Self::F {
        math::tanh(self, a)
    }
    /// 2ᵃ to the last place
    #[inline(always)]
    fn exp2(self, a: Self::F) -> Self::F {
        math::exp2(self, a)
    }
    /// eᵃ − 1, without cancellation
    #[inline(always)]
    fn expm1(self, a: Self::F) -> Self::F {
        math::expm1(self, a)
    }
    /// logarithm to base 2, exact at powers of two; −inf at 0, NaN below
    #[inline(always)]
    fn log2(self, a: Self::F) -> Self::F {
        math::log2(self, a)
    }
    /// log(1 + a), without cancellation; −inf at −1, NaN below
    #[inline(always)]
    fn log1p(self, a: Self::F) -> Self::F {
        math::log1p(self, a)
    }
    /// tangent, a in radians
    #[inline(always)]
    fn tan(self, a: Self::F) -> Self::F {
        math::tan(self, a)
    }
    /// inverse sine; NaN beyond ±1
    #[inline(always)]
    fn asin(self, a: Self::F) -> Self::F {
        math::asin(self, a)
    }
    /// inverse cosine; NaN beyond ±1
    #[inline(always)]
    fn acos(self, a: Self::F) -> Self::F {
        math::acos(self, a)
    }
    /// hyperbolic sine
    #[inline(always)]
    fn sinh(self, a: Self::F) -> Self::F {
        math::sinh(self, a)
    }
    /// hyperbolic cosine
    #[inline(always)]
    fn cosh(self, a: Self::F) -> Self::F {
        math::cosh(self, a)
    }
    /// error function
    #[inline(always)]
    fn erf(self, a: Self::F) -> Self::F {
        math::erf(self, a)
    }
    /// 1 − erf a, without cancellation
    #[inline(always)]
    fn erfc(self, a: Self::F) -> Self::F {
        math::erfc(self, a)
    }
    /// the angle of the point (b, a), with C99 `atan2`'s special values
    #[inline(always)]
    fn atan2(self, a: Self::F, b: Self::F) -> Self::F {
        math::atan2(self, a, b)
    }
    /// aᵇ with C99 `pow`'s special values
    #[inline(always)]
    fn powf(self, a: Self::F, b: Self::F) -> Self::F {
        math::powf(self, a, b)
    }
}
