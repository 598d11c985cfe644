//! AArch64 Advanced SIMD: 4 lanes of f32 or 2 of f64, masks as all-ones integer lanes.
//!
//! `vminq` and `vmaxq` return NaN when either operand is NaN, so the picks are comparisons and selections.
use std::arch::aarch64::*;

use keops_gpu_kernels::isa::Isa;

use super::called::{functions, with_functions};
use super::scale_in_two;

token_type! {
    /// AArch64 Advanced SIMD.
    Neon, Neon
}

token! {
    Neon: f32, float32x4_t, uint32x4_t, lanes 4, fma true, scalef false;
    splat(x) = vdupq_n_f32(x);
    any(m) = vmaxvq_u32(m) != 0;
    select(m, a, b) = vbslq_f32(m, a, b);
    masks {
        and(a, b) = vandq_u32(a, b);
        or(a, b) = vorrq_u32(a, b);
        not(a) = vmvnq_u32(a);
    }
    tests {
        lt(a, b) = vcltq_f32(a, b);
        le(a, b) = vcleq_f32(a, b);
        eq(a, b) = vceqq_f32(a, b);
        index_eq(a, b) = vceqq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b));
        index_lt(a, b) = vcltq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b));
    }
    values {
        add(s, a, b) = vaddq_f32(a, b);
        sub(s, a, b) = vsubq_f32(a, b);
        mul(s, a, b) = vmulq_f32(a, b);
        div(s, a, b) = vdivq_f32(a, b);
        fma(s, a, b, c) = vfmaq_f32(c, a, b);
        fnma(s, a, b, c) = vfmsq_f32(c, a, b);
        neg(s, a) = vnegq_f32(a);
        abs(s, a) = vabsq_f32(a);
        xor_sign(s, a, b) = vreinterpretq_f32_u32(veorq_u32(
            vreinterpretq_u32_f32(a),
            vandq_u32(vreinterpretq_u32_f32(b), vdupq_n_u32(0x8000_0000)),
        ));
        sqrt(s, a) = vsqrtq_f32(a);
        pick_min(s, a, b) = vbslq_f32(vcltq_f32(a, b), a, b);
        pick_max(s, a, b) = vbslq_f32(vcgtq_f32(a, b), a, b);
        rint(s, a) = vrndnq_f32(a);
        index_low(s, a) = vcvtq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a), vdupq_n_u32(0xffff)));
        index_high(s, a) = vcvtq_f32_u32(vshrq_n_u32::<16>(vreinterpretq_u32_f32(a)));
        add_exponent(s, p, m) = vreinterpretq_f32_u32(vaddq_u32(
            vreinterpretq_u32_f32(p),
            vshlq_n_u32::<23>(vreinterpretq_u32_f32(m)),
        ));
        scale(s, p, n) = scale_in_two(s, p, n);
        exponent(s, a) = vsubq_f32(
            vcvtq_f32_u32(vshrq_n_u32::<23>(vreinterpretq_u32_f32(a))),
            vdupq_n_f32(127.0),
        );
        significand(s, a) = vreinterpretq_f32_u32(vorrq_u32(
            vandq_u32(vreinterpretq_u32_f32(a), vdupq_n_u32(0x007f_ffff)),
            vdupq_n_u32(0x3f80_0000),
        ));
    }
}

token! {
    Neon: f64, float64x2_t, uint64x2_t, lanes 2, fma true, scalef false;
    splat(x) = vdupq_n_f64(x);
    any(m) = vmaxvq_u32(vreinterpretq_u32_u64(m)) != 0;
    select(m, a, b) = vbslq_f64(m, a, b);
    masks {
        and(a, b) = vandq_u64(a, b);
        or(a, b) = vorrq_u64(a, b);
        not(a) = vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(a)));
    }
    tests {
        lt(a, b) = vcltq_f64(a, b);
        le(a, b) = vcleq_f64(a, b);
        eq(a, b) = vceqq_f64(a, b);
        index_eq(a, b) = vceqq_u64(vreinterpretq_u64_f64(a), vreinterpretq_u64_f64(b));
        index_lt(a, b) = vcltq_u64(vreinterpretq_u64_f64(a), vreinterpretq_u64_f64(b));
    }
    values {
        add(s, a, b) = vaddq_f64(a, b);
        sub(s, a, b) = vsubq_f64(a, b);
        mul(s, a, b) = vmulq_f64(a, b);
        div(s, a, b) = vdivq_f64(a, b);
        fma(s, a, b, c) = vfmaq_f64(c, a, b);
        fnma(s, a, b, c) = vfmsq_f64(c, a, b);
        neg(s, a) = vnegq_f64(a);
        abs(s, a) = vabsq_f64(a);
        xor_sign(s, a, b) = vreinterpretq_f64_u64(veorq_u64(
            vreinterpretq_u64_f64(a),
            vandq_u64(vreinterpretq_u64_f64(b), vdupq_n_u64(0x8000_0000_0000_0000)),
        ));
        sqrt(s, a) = vsqrtq_f64(a);
        pick_min(s, a, b) = vbslq_f64(vcltq_f64(a, b), a, b);
        pick_max(s, a, b) = vbslq_f64(vcgtq_f64(a, b), a, b);
        rint(s, a) = vrndnq_f64(a);
        index_low(s, a) = vcvtq_f64_u64(vandq_u64(vreinterpretq_u64_f64(a), vdupq_n_u64(0xffff)));
        index_high(s, a) = vcvtq_f64_u64(vshrq_n_u64::<16>(vreinterpretq_u64_f64(a)));
        add_exponent(s, p, m) = vreinterpretq_f64_u64(vaddq_u64(
            vreinterpretq_u64_f64(p),
            vshlq_n_u64::<52>(vreinterpretq_u64_f64(m)),
        ));
        scale(s, p, n) = scale_in_two(s, p, n);
        exponent(s, a) = vsubq_f64(
            vcvtq_f64_u64(vshrq_n_u64::<52>(vreinterpretq_u64_f64(a))),
            vdupq_n_f64(1023.0),
        );
        significand(s, a) = vreinterpretq_f64_u64(vorrq_u64(
            vandq_u64(vreinterpretq_u64_f64(a), vdupq_n_u64(0x000f_ffff_ffff_ffff)),
            vdupq_n_u64(0x3ff0_0000_0000_0000),
        ));
    }
}

with_functions!(functions (Neon<f32>, float32x4_t, Neon::<f32>::new_unchecked(), target_feature(enable = "neon")));
with_functions!(functions (Neon<f64>, float64x2_t, Neon::<f64>::new_unchecked(), target_feature(enable = "neon")));
