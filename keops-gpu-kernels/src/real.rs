//! The two value types of a kernel, `f32` and `f64`, and how integers travel inside their bits.
//!
//! Invariant: an index is an unsigned 32-bit integer stored as the *bit pattern* of the value type, so it uses the same
//! registers, loads and blends as a value, and no index is ever rounded. [`NONE`] marks "no index".
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;

/// The index that stands for "none": a row with only NaN, or fewer rows than K. The host reports it as `usize::MAX`.
pub const NONE: u32 = 0xffff_ffff;

/// `f32` or `f64`.
pub trait Real: Copy + 'static {
    /// Whether this is `f64`: chooses polynomials and range reductions at compile time.
    const IS_F64: bool;
    /// Bits of the stored fraction: 23 or 52.
    const FRACTION_BITS: u32;
    /// Largest finite value, as `f64`.
    const MAX: f64;
    /// Smallest positive normal value, as `f64`.
    const MIN_POSITIVE: f64;
    /// 1.5·2^23 or 1.5·2^52: adding it rounds a small number to an integer in the low bits.
    const MAGIC: f64;
    /// log2 of the number of roots in [`Isa::root`](crate::isa::Isa::root): 5 or 4, as many as two vectors of 512 bits hold.
    const ROOT_BITS: u32;
    /// The value nearest to `x`.
    fn of(x: f64) -> Self;
    /// The same number.
    fn to_f64(self) -> f64;
    /// The index `j` as a bit pattern.
    fn from_index(j: u32) -> Self;
    /// The index that [`Real::from_index`] stored.
    fn to_index(self) -> u32;
}

impl Real for f32 {
    const IS_F64: bool = false;
    const FRACTION_BITS: u32 = 23;
    const MAX: f64 = 3.402_823_466_385_288_6e38;
    const MIN_POSITIVE: f64 = 1.175_494_350_822_287_5e-38;
    const MAGIC: f64 = 12_582_912.0;
    const ROOT_BITS: u32 = 5;
    #[inline(always)]
    fn of(x: f64) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self as f64
    }
    #[inline(always)]
    fn from_index(j: u32) -> f32 {
        f32::from_bits(j)
    }
    #[inline(always)]
    fn to_index(self) -> u32 {
        self.to_bits()
    }
}

impl Real for f64 {
    const IS_F64: bool = true;
    const FRACTION_BITS: u32 = 52;
    const MAX: f64 = 1.797_693_134_862_315_7e308;
    const MIN_POSITIVE: f64 = 2.225_073_858_507_201_4e-308;
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    const ROOT_BITS: u32 = 4;
    #[inline(always)]
    fn of(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn from_index(j: u32) -> f64 {
        f64::from_bits(j as u64)
    }
    #[inline(always)]
    fn to_index(self) -> u32 {
        self.to_bits() as u32
    }
}
