//! SSE2, the baseline of x86-64: 4 lanes of f32 or 2 of f64, masks as all-ones lanes, no fused multiply-add, no
//! rounding and no blend instruction.
use std::arch::x86_64::*;

use keops_gpu_kernels::isa::Isa;

use super::called::{functions, with_functions};
use super::scale_in_two;

token_type! {
    /// SSE2.
    Sse2, Sse2
}

/// 2^23: numbers of at least this magnitude are integers at f32.
const TWO_23: f32 = 8_388_608.0;
/// 2^52: likewise at f64, and the number whose low bits count in ones.
const TWO_52: f64 = 4_503_599_627_370_496.0;

token! {
    Sse2: f32, __m128, __m128, lanes 4, fma false, scalef false;
    splat(x) = _mm_set1_ps(x);
    any(m) = _mm_movemask_ps(m) != 0;
    select(m, a, b) = _mm_or_ps(_mm_and_ps(m, a), _mm_andnot_ps(m, b));
    masks {
        and(a, b) = _mm_and_ps(a, b);
        or(a, b) = _mm_or_ps(a, b);
        not(a) = _mm_xor_ps(a, _mm_castsi128_ps(_mm_set1_epi32(-1)));
    }
    tests {
        lt(a, b) = _mm_cmplt_ps(a, b);
        le(a, b) = _mm_cmple_ps(a, b);
        eq(a, b) = _mm_cmpeq_ps(a, b);
        index_eq(a, b) = _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_castps_si128(a), _mm_castps_si128(b)));
        // Flipping the top bits turns the signed comparison into an unsigned one.
        index_lt(a, b) = {
            let top = _mm_set1_epi32(i32::MIN);
            _mm_castsi128_ps(_mm_cmpgt_epi32(
                _mm_xor_si128(_mm_castps_si128(b), top),
                _mm_xor_si128(_mm_castps_si128(a), top),
            ))
        };
    }
    values {
        add(s, a, b) = _mm_add_ps(a, b);
        sub(s, a, b) = _mm_sub_ps(a, b);
        mul(s, a, b) = _mm_mul_ps(a, b);
        div(s, a, b) = _mm_div_ps(a, b);
        fma(s, a, b, c) = _mm_add_ps(_mm_mul_ps(a, b), c);
        fnma(s, a, b, c) = _mm_sub_ps(c, _mm_mul_ps(a, b));
        neg(s, a) = _mm_xor_ps(a, _mm_set1_ps(-0.0));
        abs(s, a) = _mm_andnot_ps(_mm_set1_ps(-0.0), a);
        xor_sign(s, a, b) = _mm_xor_ps(a, _mm_and_ps(b, _mm_set1_ps(-0.0)));
        sqrt(s, a) = _mm_sqrt_ps(a);
        pick_min(s, a, b) = _mm_min_ps(a, b);
        pick_max(s, a, b) = _mm_max_ps(a, b);
        // Adding and subtracting 2^23 rounds magnitudes below it; larger ones are integers, infinite or NaN already.
        rint(s, a) = {
            let size = _mm_andnot_ps(_mm_set1_ps(-0.0), a);
            let magic = _mm_set1_ps(TWO_23);
            let rounded = _mm_sub_ps(_mm_add_ps(size, magic), magic);
            let signed = _mm_or_ps(rounded, _mm_and_ps(a, _mm_set1_ps(-0.0)));
            s.select(_mm_cmplt_ps(size, magic), signed, a)
        };
        index_low(s, a) = _mm_cvtepi32_ps(_mm_and_si128(_mm_castps_si128(a), _mm_set1_epi32(0xffff)));
        index_high(s, a) = _mm_cvtepi32_ps(_mm_srli_epi32::<16>(_mm_castps_si128(a)));
        add_exponent(s, p, m) = _mm_castsi128_ps(_mm_add_epi32(
            _mm_castps_si128(p),
            _mm_slli_epi32::<23>(_mm_castps_si128(m)),
        ));
        scale(s, p, n) = scale_in_two(s, p, n);
        exponent(s, a) = _mm_sub_ps(
            _mm_cvtepi32_ps(_mm_srli_epi32::<23>(_mm_castps_si128(a))),
            _mm_set1_ps(127.0),
        );
        significand(s, a) = _mm_or_ps(
            _mm_and_ps(a, _mm_castsi128_ps(_mm_set1_epi32(0x007f_ffff))),
            _mm_set1_ps(1.0),
        );
    }
}

token! {
    Sse2: f64, __m128d, __m128d, lanes 2, fma false, scalef false;
    splat(x) = _mm_set1_pd(x);
    any(m) = _mm_movemask_pd(m) != 0;
    select(m, a, b) = _mm_or_pd(_mm_and_pd(m, a), _mm_andnot_pd(m, b));
    masks {
        and(a, b) = _mm_and_pd(a, b);
        or(a, b) = _mm_or_pd(a, b);
        not(a) = _mm_xor_pd(a, _mm_castsi128_pd(_mm_set1_epi32(-1)));
    }
    tests {
        lt(a, b) = _mm_cmplt_pd(a, b);
        le(a, b) = _mm_cmple_pd(a, b);
        eq(a, b) = _mm_cmpeq_pd(a, b);
        // Only 32-bit comparisons exist. Indices are below 2^32, so the low half decides and is copied to the high one.
        index_eq(a, b) = _mm_castsi128_pd(_mm_shuffle_epi32::<0b10_10_00_00>(_mm_cmpeq_epi32(
            _mm_castpd_si128(a),
            _mm_castpd_si128(b),
        )));
        index_lt(a, b) = {
            let top = _mm_set1_epi32(i32::MIN);
            _mm_castsi128_pd(_mm_shuffle_epi32::<0b10_10_00_00>(_mm_cmpgt_epi32(
                _mm_xor_si128(_mm_castpd_si128(b), top),
                _mm_xor_si128(_mm_castpd_si128(a), top),
            )))
        };
    }
    values {
        add(s, a, b) = _mm_add_pd(a, b);
        sub(s, a, b) = _mm_sub_pd(a, b);
        mul(s, a, b) = _mm_mul_pd(a, b);
        div(s, a, b) = _mm_div_pd(a, b);
        fma(s, a, b, c) = _mm_add_pd(_mm_mul_pd(a, b), c);
        fnma(s, a, b, c) = _mm_sub_pd(c, _mm_mul_pd(a, b));
        neg(s, a) = _mm_xor_pd(a, _mm_set1_pd(-0.0));
        abs(s, a) = _mm_andnot_pd(_mm_set1_pd(-0.0), a);
        xor_sign(s, a, b) = _mm_xor_pd(a, _mm_and_pd(b, _mm_set1_pd(-0.0)));
        sqrt(s, a) = _mm_sqrt_pd(a);
        pick_min(s, a, b) = _mm_min_pd(a, b);
        pick_max(s, a, b) = _mm_max_pd(a, b);
        rint(s, a) = {
            let size = _mm_andnot_pd(_mm_set1_pd(-0.0), a);
            let magic = _mm_set1_pd(TWO_52);
            let rounded = _mm_sub_pd(_mm_add_pd(size, magic), magic);
            let signed = _mm_or_pd(rounded, _mm_and_pd(a, _mm_set1_pd(-0.0)));
            s.select(_mm_cmplt_pd(size, magic), signed, a)
        };
        index_low(s, a) = _mm_sub_pd(
            _mm_or_pd(_mm_and_pd(a, _mm_castsi128_pd(_mm_set1_epi64x(0xffff))), _mm_set1_pd(TWO_52)),
            _mm_set1_pd(TWO_52),
        );
        index_high(s, a) = _mm_sub_pd(
            _mm_or_pd(
                _mm_castsi128_pd(_mm_srli_epi64::<16>(_mm_castpd_si128(a))),
                _mm_set1_pd(TWO_52),
            ),
            _mm_set1_pd(TWO_52),
        );
        add_exponent(s, p, m) = _mm_castsi128_pd(_mm_add_epi64(
            _mm_castpd_si128(p),
            _mm_slli_epi64::<52>(_mm_castpd_si128(m)),
        ));
        scale(s, p, n) = scale_in_two(s, p, n);
        exponent(s, a) = _mm_sub_pd(
            _mm_or_pd(_mm_castsi128_pd(_mm_srli_epi64::<52>(_mm_castpd_si128(a))), _mm_set1_pd(TWO_52)),
            _mm_set1_pd(TWO_52 + 1023.0),
        );
        significand(s, a) = _mm_or_pd(
            _mm_and_pd(a, _mm_castsi128_pd(_mm_set1_epi64x(0x000f_ffff_ffff_ffff))),
            _mm_set1_pd(1.0),
        );
    }
}

with_functions!(functions (Sse2<f32>, __m128, Sse2::<f32>::new_unchecked(), target_feature(enable = "sse2")));
with_functions!(functions (Sse2<f64>, __m128d, Sse2::<f64>::new_unchecked(), target_feature(enable = "sse2")));
