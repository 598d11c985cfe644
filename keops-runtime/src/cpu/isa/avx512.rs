//! AVX-512 (F, BW, CD, DQ, VL): 16 lanes of f32 or 8 of f64, masks in mask registers, scaling in one instruction.
use std::arch::x86_64::*;

use keops_gpu_kernels::isa::Isa;

use super::called::{functions, with_functions};
use super::{Memory, ROOTS_F32, ROOTS_F64};

token_type! {
    /// AVX-512 F, BW, CD, DQ, VL.
    Avx512, Avx512
}

token! {
    Avx512: f32, __m512, __mmask16, lanes 16, fma true, scalef true;
    splat(x) = _mm512_set1_ps(x);
    any(m) = m != 0;
    select(m, a, b) = _mm512_mask_blend_ps(m, b, a);
    masks {
        and(a, b) = a & b;
        or(a, b) = a | b;
        not(a) = !a;
    }
    tests {
        lt(a, b) = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
        le(a, b) = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
        eq(a, b) = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b);
        index_eq(a, b) = _mm512_cmpeq_epi32_mask(_mm512_castps_si512(a), _mm512_castps_si512(b));
        index_lt(a, b) = _mm512_cmplt_epu32_mask(_mm512_castps_si512(a), _mm512_castps_si512(b));
    }
    values {
        add(s, a, b) = _mm512_add_ps(a, b);
        sub(s, a, b) = _mm512_sub_ps(a, b);
        mul(s, a, b) = _mm512_mul_ps(a, b);
        div(s, a, b) = _mm512_div_ps(a, b);
        fma(s, a, b, c) = _mm512_fmadd_ps(a, b, c);
        fnma(s, a, b, c) = _mm512_fnmadd_ps(a, b, c);
        neg(s, a) = _mm512_xor_ps(a, _mm512_set1_ps(-0.0));
        abs(s, a) = _mm512_andnot_ps(_mm512_set1_ps(-0.0), a);
        xor_sign(s, a, b) = _mm512_xor_ps(a, _mm512_and_ps(b, _mm512_set1_ps(-0.0)));
        sqrt(s, a) = _mm512_sqrt_ps(a);
        pick_min(s, a, b) = _mm512_min_ps(a, b);
        pick_max(s, a, b) = _mm512_max_ps(a, b);
        rint(s, a) = _mm512_roundscale_ps::<_MM_FROUND_TO_NEAREST_INT>(a);
        index_low(s, a) = _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(0xffff)));
        index_high(s, a) = _mm512_cvtepi32_ps(_mm512_srli_epi32::<16>(_mm512_castps_si512(a)));
        add_exponent(s, p, m) = _mm512_castsi512_ps(_mm512_add_epi32(
            _mm512_castps_si512(p),
            _mm512_slli_epi32::<23>(_mm512_castps_si512(m)),
        ));
        scale(s, p, n) = _mm512_scalef_ps(p, n);
        scale_normal(s, p, n) = _mm512_maskz_scalef_ps(
            _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(n, _mm512_set1_ps(-126.0)),
            p,
            n,
        );
        root(s, m) = _mm512_permutex2var_ps(
            s.load(ROOTS_F32.as_ptr()),
            _mm512_castps_si512(m),
            s.load(ROOTS_F32.as_ptr().add(16)),
        );
        exponent(s, a) = _mm512_getexp_ps(a);
        significand(s, a) = _mm512_getmant_ps::<_MM_MANT_NORM_1_2, _MM_MANT_SIGN_SRC>(a);
    }
}

/// The exponent field of 2^−256.
const LEAST: i64 = (1023 - 256) << 52;
/// The bits of an exponent field less [`LEAST`] that are clear where the number is below 2^256 and not below 2^−256, in magnitude: the
/// products, residues and approximations of the functions below are normal numbers then.
const BEYOND: i64 = 0b11 << 61;

/// a / b by the multiply-add units in two thirds of the divider's time, which divides what is very small or large, not finite, or 0.
///
/// An iteration of third order and one of second order from 14 bits give 1/b to 2^−84 before it is rounded, so that it is the nearest
/// number, and a residue in one rounding corrects the quotient to the nearest number then (P. Markstein, Computation of elementary
/// functions on the IBM RISC System/6000 processor, 1990), but for the number before a power of two, which is left to the divider.
///
/// # Safety
/// The machine has AVX-512.
#[inline(always)]
unsafe fn quotient(a: __m512d, b: __m512d) -> __m512d {
    // SAFETY: the caller's machine; registers only.
    unsafe {
        let least = _mm512_set1_epi64(LEAST);
        let [a_bits, b_bits] = [_mm512_castpd_si512(a), _mm512_castpd_si512(b)];
        let either = _mm512_or_si512(
            _mm512_sub_epi64(a_bits, least),
            _mm512_sub_epi64(b_bits, least),
        );
        let moderate = _mm512_testn_epi64_mask(either, _mm512_set1_epi64(BEYOND));
        let fraction = _mm512_set1_epi64((1 << 52) - 1);
        let b_fraction = _mm512_and_si512(b_bits, fraction);
        if _mm512_mask_cmpneq_epi64_mask(moderate, b_fraction, fraction) != 0xff {
            return _mm512_div_pd(a, b);
        }
        let one = _mm512_set1_pd(1.0);
        let mut inverse = _mm512_rcp14_pd(b);
        let rest = _mm512_fnmadd_pd(b, inverse, one);
        inverse = _mm512_fmadd_pd(inverse, _mm512_fmadd_pd(rest, rest, rest), inverse);
        inverse = _mm512_fmadd_pd(inverse, _mm512_fnmadd_pd(b, inverse, one), inverse);
        let quotient = _mm512_mul_pd(a, inverse);
        _mm512_fmadd_pd(_mm512_fnmadd_pd(b, quotient, a), inverse, quotient)
    }
}

/// √a likewise, by Goldschmidt's iteration for √a and 1/(2√a) together, in half of the time of the instruction.
///
/// # Safety
/// The machine has AVX-512.
#[inline(always)]
unsafe fn square_root(a: __m512d) -> __m512d {
    // SAFETY: the caller's machine; registers only.
    unsafe {
        // Negative numbers, too, are for the instruction.
        let above = _mm512_sub_epi64(_mm512_castpd_si512(a), _mm512_set1_epi64(LEAST));
        if _mm512_testn_epi64_mask(above, _mm512_set1_epi64(BEYOND | i64::MIN)) != 0xff {
            return _mm512_sqrt_pd(a);
        }
        let half = _mm512_set1_pd(0.5);
        let inverse = _mm512_rsqrt14_pd(a);
        let mut root = _mm512_mul_pd(a, inverse);
        let mut half_inverse = _mm512_mul_pd(inverse, half);
        let mut rest = _mm512_fnmadd_pd(root, half_inverse, half);
        root = _mm512_fmadd_pd(root, rest, root);
        half_inverse = _mm512_fmadd_pd(half_inverse, rest, half_inverse);
        rest = _mm512_fnmadd_pd(root, half_inverse, half);
        root = _mm512_fmadd_pd(root, rest, root);
        half_inverse = _mm512_fmadd_pd(half_inverse, rest, half_inverse);
        _mm512_fmadd_pd(_mm512_fnmadd_pd(root, root, a), half_inverse, root)
    }
}

token! {
    Avx512: f64, __m512d, __mmask8, lanes 8, fma true, scalef true;
    splat(x) = _mm512_set1_pd(x);
    any(m) = m != 0;
    select(m, a, b) = _mm512_mask_blend_pd(m, b, a);
    masks {
        and(a, b) = a & b;
        or(a, b) = a | b;
        not(a) = !a;
    }
    tests {
        lt(a, b) = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
        le(a, b) = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b);
        eq(a, b) = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b);
        index_eq(a, b) = _mm512_cmpeq_epi64_mask(_mm512_castpd_si512(a), _mm512_castpd_si512(b));
        index_lt(a, b) = _mm512_cmplt_epu64_mask(_mm512_castpd_si512(a), _mm512_castpd_si512(b));
    }
    values {
        add(s, a, b) = _mm512_add_pd(a, b);
        sub(s, a, b) = _mm512_sub_pd(a, b);
        mul(s, a, b) = _mm512_mul_pd(a, b);
        div(s, a, b) = quotient(a, b);
        fma(s, a, b, c) = _mm512_fmadd_pd(a, b, c);
        fnma(s, a, b, c) = _mm512_fnmadd_pd(a, b, c);
        neg(s, a) = _mm512_xor_pd(a, _mm512_set1_pd(-0.0));
        abs(s, a) = _mm512_andnot_pd(_mm512_set1_pd(-0.0), a);
        xor_sign(s, a, b) = _mm512_xor_pd(a, _mm512_and_pd(b, _mm512_set1_pd(-0.0)));
        sqrt(s, a) = square_root(a);
        pick_min(s, a, b) = _mm512_min_pd(a, b);
        pick_max(s, a, b) = _mm512_max_pd(a, b);
        rint(s, a) = _mm512_roundscale_pd::<_MM_FROUND_TO_NEAREST_INT>(a);
        index_low(s, a) = _mm512_cvtepi64_pd(_mm512_and_si512(_mm512_castpd_si512(a), _mm512_set1_epi64(0xffff)));
        index_high(s, a) = _mm512_cvtepi64_pd(_mm512_srli_epi64::<16>(_mm512_castpd_si512(a)));
        add_exponent(s, p, m) = _mm512_castsi512_pd(_mm512_add_epi64(
            _mm512_castpd_si512(p),
            _mm512_slli_epi64::<52>(_mm512_castpd_si512(m)),
        ));
        scale(s, p, n) = _mm512_scalef_pd(p, n);
        scale_normal(s, p, n) = _mm512_maskz_scalef_pd(
            _mm512_cmp_pd_mask::<_CMP_NLT_UQ>(n, _mm512_set1_pd(-1022.0)),
            p,
            n,
        );
        root(s, m) = _mm512_permutex2var_pd(
            s.load(ROOTS_F64.as_ptr()),
            _mm512_castpd_si512(m),
            s.load(ROOTS_F64.as_ptr().add(8)),
        );
        exponent(s, a) = _mm512_getexp_pd(a);
        significand(s, a) = _mm512_getmant_pd::<_MM_MANT_NORM_1_2, _MM_MANT_SIGN_SRC>(a);
    }
}

with_functions!(functions (Avx512<f32>, __m512, Avx512::<f32>::new_unchecked(), target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")));
with_functions!(functions (Avx512<f64>, __m512d, Avx512::<f64>::new_unchecked(), target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")));
