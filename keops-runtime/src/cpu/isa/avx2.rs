//! AVX2 with FMA: 8 lanes of f32 or 4 of f64, masks as all-ones lanes.
use std::arch::x86_64::*;

use keops_gpu_kernels::isa::Isa;

use super::called::{functions, with_functions};
use super::scale_in_two;

token_type! {
    /// AVX2 and FMA.
    Avx2, Avx2
}

/// 2^52: an integer below 2^52 in the low bits of its pattern makes the number 2^52 + that integer.
const TWO_52: f64 = 4_503_599_627_370_496.0;

token! {
    Avx2: f32, __m256, __m256, lanes 8, fma true, scalef false;
    splat(x) = _mm256_set1_ps(x);
    any(m) = _mm256_movemask_ps(m) != 0;
    select(m, a, b) = _mm256_blendv_ps(b, a, m);
    masks {
        and(a, b) = _mm256_and_ps(a, b);
        or(a, b) = _mm256_or_ps(a, b);
        not(a) = _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
    }
    tests {
        lt(a, b) = _mm256_cmp_ps::<_CMP_LT_OQ>(a, b);
        le(a, b) = _mm256_cmp_ps::<_CMP_LE_OQ>(a, b);
        eq(a, b) = _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b);
        index_eq(a, b) = _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
        // Flipping the top bits turns the signed comparison into an unsigned one.
        index_lt(a, b) = {
            let top = _mm256_set1_epi32(i32::MIN);
            _mm256_castsi256_ps(_mm256_cmpgt_epi32(
                _mm256_xor_si256(_mm256_castps_si256(b), top),
                _mm256_xor_si256(_mm256_castps_si256(a), top),
            ))
        };
    }
    values {
        add(s, a, b) = _mm256_add_ps(a, b);
        sub(s, a, b) = _mm256_sub_ps(a, b);
        mul(s, a, b) = _mm256_mul_ps(a, b);
        div(s, a, b) = _mm256_div_ps(a, b);
        fma(s, a, b, c) = _mm256_fmadd_ps(a, b, c);
        fnma(s, a, b, c) = _mm256_fnmadd_ps(a, b, c);
        neg(s, a) = _mm256_xor_ps(a, _mm256_set1_ps(-0.0));
        abs(s, a) = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
        xor_sign(s, a, b) = _mm256_xor_ps(a, _mm256_and_ps(b, _mm256_set1_ps(-0.0)));
        sqrt(s, a) = _mm256_sqrt_ps(a);
        pick_min(s, a, b) = _mm256_min_ps(a, b);
        pick_max(s, a, b) = _mm256_max_ps(a, b);
        rint(s, a) = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a);
        index_low(s, a) = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_castps_si256(a), _mm256_set1_epi32(0xffff)));
        index_high(s, a) = _mm256_cvtepi32_ps(_mm256_srli_epi32::<16>(_mm256_castps_si256(a)));
        add_exponent(s, p, m) = _mm256_castsi256_ps(_mm256_add_epi32(
            _mm256_castps_si256(p),
            _mm256_slli_epi32::<23>(_mm256_castps_si256(m)),
        ));
        scale(s, p, n) = scale_in_two(s, p, n);
        exponent(s, a) = _mm256_sub_ps(
            _mm256_cvtepi32_ps(_mm256_srli_epi32::<23>(_mm256_castps_si256(a))),
            _mm256_set1_ps(127.0),
        );
        significand(s, a) = _mm256_or_ps(
            _mm256_and_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(0x007f_ffff))),
            _mm256_set1_ps(1.0),
        );
    }
}

token! {
    Avx2: f64, __m256d, __m256d, lanes 4, fma true, scalef false;
    splat(x) = _mm256_set1_pd(x);
    any(m) = _mm256_movemask_pd(m) != 0;
    select(m, a, b) = _mm256_blendv_pd(b, a, m);
    masks {
        and(a, b) = _mm256_and_pd(a, b);
        or(a, b) = _mm256_or_pd(a, b);
        not(a) = _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)));
    }
    tests {
        lt(a, b) = _mm256_cmp_pd::<_CMP_LT_OQ>(a, b);
        le(a, b) = _mm256_cmp_pd::<_CMP_LE_OQ>(a, b);
        eq(a, b) = _mm256_cmp_pd::<_CMP_EQ_OQ>(a, b);
        index_eq(a, b) = _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_castpd_si256(a), _mm256_castpd_si256(b)));
        // Indices are below 2^32: as 64-bit integers they are never negative.
        index_lt(a, b) = _mm256_castsi256_pd(_mm256_cmpgt_epi64(_mm256_castpd_si256(b), _mm256_castpd_si256(a)));
    }
    values {
        add(s, a, b) = _mm256_add_pd(a, b);
        sub(s, a, b) = _mm256_sub_pd(a, b);
        mul(s, a, b) = _mm256_mul_pd(a, b);
        div(s, a, b) = _mm256_div_pd(a, b);
        fma(s, a, b, c) = _mm256_fmadd_pd(a, b, c);
        fnma(s, a, b, c) = _mm256_fnmadd_pd(a, b, c);
        neg(s, a) = _mm256_xor_pd(a, _mm256_set1_pd(-0.0));
        abs(s, a) = _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
        xor_sign(s, a, b) = _mm256_xor_pd(a, _mm256_and_pd(b, _mm256_set1_pd(-0.0)));
        sqrt(s, a) = _mm256_sqrt_pd(a);
        pick_min(s, a, b) = _mm256_min_pd(a, b);
        pick_max(s, a, b) = _mm256_max_pd(a, b);
        rint(s, a) = _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a);
        index_low(s, a) = _mm256_sub_pd(
            _mm256_or_pd(
                _mm256_and_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(0xffff))),
                _mm256_set1_pd(TWO_52),
            ),
            _mm256_set1_pd(TWO_52),
        );
        index_high(s, a) = _mm256_sub_pd(
            _mm256_or_pd(
                _mm256_castsi256_pd(_mm256_srli_epi64::<16>(_mm256_castpd_si256(a))),
                _mm256_set1_pd(TWO_52),
            ),
            _mm256_set1_pd(TWO_52),
        );
        add_exponent(s, p, m) = _mm256_castsi256_pd(_mm256_add_epi64(
            _mm256_castpd_si256(p),
            _mm256_slli_epi64::<52>(_mm256_castpd_si256(m)),
        ));
        scale(s, p, n) = scale_in_two(s, p, n);
        // There is no conversion from 64-bit integers: the exponent goes into the fraction of 2^52 instead.
        exponent(s, a) = _mm256_sub_pd(
            _mm256_or_pd(
                _mm256_castsi256_pd(_mm256_srli_epi64::<52>(_mm256_castpd_si256(a))),
                _mm256_set1_pd(TWO_52),
            ),
            _mm256_set1_pd(TWO_52 + 1023.0),
        );
        significand(s, a) = _mm256_or_pd(
            _mm256_and_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(0x000f_ffff_ffff_ffff))),
            _mm256_set1_pd(1.0),
        );
    }
}

with_functions!(functions (Avx2<f32>, __m256, Avx2::<f32>::new_unchecked(), target_feature(enable = "avx2,fma")));
with_functions!(functions (Avx2<f64>, __m256d, Avx2::<f64>::new_unchecked(), target_feature(enable = "avx2,fma")));
