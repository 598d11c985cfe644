//! Integer arithmetic, one module per type. Sign-agnostic operations exist in both of a width.

/// One integer type: its module, itself, one twice as wide, its unsigned counterpart and the shift that moves the upper
/// half of a wide product down.
macro_rules! word {
    ($module:ident $int:ident $wide:ident $unsigned:ident $unsigned_wide:ident) => {
        #[allow(dead_code, reason = "not every operation exists in PTX at every type")]
        pub(crate) mod $module {
            fn get(x: u64) -> $int {
                x as $int
            }
            fn put(x: $int) -> u64 {
                x as $unsigned as u64
            }
            pub(crate) fn add(a: u64, b: u64) -> u64 {
                put(get(a).wrapping_add(get(b)))
            }
            pub(crate) fn sub(a: u64, b: u64) -> u64 {
                put(get(a).wrapping_sub(get(b)))
            }
            pub(crate) fn mul_lo(a: u64, b: u64) -> u64 {
                put(get(a).wrapping_mul(get(b)))
            }
            pub(crate) fn mul_hi(a: u64, b: u64) -> u64 {
                put(((get(a) as $wide * get(b) as $wide) >> $int::BITS) as $int)
            }
            /// The whole product, twice as wide (at 64 bits there is none in PTX).
            pub(crate) fn mul_wide(a: u64, b: u64) -> u64 {
                (get(a) as $wide * get(b) as $wide) as $unsigned_wide as u64
            }
            pub(crate) fn mad_lo(a: u64, b: u64, c: u64) -> u64 {
                add(mul_lo(a, b), c)
            }
            pub(crate) fn mad_hi(a: u64, b: u64, c: u64) -> u64 {
                add(mul_hi(a, b), c)
            }
            pub(crate) fn mad_wide(a: u64, b: u64, c: u64) -> u64 {
                (mul_wide(a, b) as $unsigned_wide).wrapping_add(c as $unsigned_wide) as u64
            }
            /// The divisor is not zero.
            pub(crate) fn div(a: u64, b: u64) -> u64 {
                put(get(a).checked_div(get(b)).unwrap_or($int::MIN))
            }
            /// The divisor is not zero.
            pub(crate) fn rem(a: u64, b: u64) -> u64 {
                put(get(a).checked_rem(get(b)).unwrap_or(0))
            }
            pub(crate) fn min(a: u64, b: u64) -> u64 {
                put(get(a).min(get(b)))
            }
            pub(crate) fn max(a: u64, b: u64) -> u64 {
                put(get(a).max(get(b)))
            }
            pub(crate) fn neg(a: u64) -> u64 {
                put(get(a).wrapping_neg())
            }
            pub(crate) fn abs(a: u64) -> u64 {
                let a = get(a);
                #[allow(unused_comparisons, reason = "unsigned types have no `abs`")]
                put(if a < 0 { a.wrapping_neg() } else { a })
            }
            pub(crate) fn and(a: u64, b: u64) -> u64 {
                put(get(a) & get(b))
            }
            pub(crate) fn or(a: u64, b: u64) -> u64 {
                put(get(a) | get(b))
            }
            pub(crate) fn xor(a: u64, b: u64) -> u64 {
                put(get(a) ^ get(b))
            }
            pub(crate) fn not(a: u64) -> u64 {
                put(!get(a))
            }
            /// Shift amounts are 32-bit; beyond the width they clamp to it.
            pub(crate) fn shl(a: u64, b: u64) -> u64 {
                put(get(a).checked_shl(b as u32).unwrap_or(0))
            }
            pub(crate) fn shr(a: u64, b: u64) -> u64 {
                let b = (b as u32).min($int::BITS);
                put(if b == $int::BITS {
                    (get(a) >> (b - 1)) >> 1
                } else {
                    get(a) >> b
                })
            }
            pub(crate) fn eq(a: u64, b: u64) -> u64 {
                u64::from(get(a) == get(b))
            }
            pub(crate) fn ne(a: u64, b: u64) -> u64 {
                u64::from(get(a) != get(b))
            }
            pub(crate) fn lt(a: u64, b: u64) -> u64 {
                u64::from(get(a) < get(b))
            }
            pub(crate) fn le(a: u64, b: u64) -> u64 {
                u64::from(get(a) <= get(b))
            }
            pub(crate) fn gt(a: u64, b: u64) -> u64 {
                u64::from(get(a) > get(b))
            }
            pub(crate) fn ge(a: u64, b: u64) -> u64 {
                u64::from(get(a) >= get(b))
            }
            /// |a − b| + c
            pub(crate) fn sad(a: u64, b: u64, c: u64) -> u64 {
                add(put(get(a).abs_diff(get(b)) as $int), c)
            }
        }
    };
}
word!(u16 u16 u32 u16 u32);
word!(s16 i16 i32 u16 u32);
word!(u32 u32 u64 u32 u64);
word!(s32 i32 i64 u32 u64);
word!(u64 u64 u128 u64 u128);
word!(s64 i64 i128 u64 u128);

/// a + b, clamped to the range of `s32`.
pub(crate) fn add_sat_s32(a: u64, b: u64) -> u64 {
    u64::from((a as i32).saturating_add(b as i32) as u32)
}

/// a − b, clamped to the range of `s32`.
pub(crate) fn sub_sat_s32(a: u64, b: u64) -> u64 {
    u64::from((a as i32).saturating_sub(b as i32) as u32)
}

/// a where c ≥ 0, else b.
pub(crate) fn slct_s32(a: u64, b: u64, c: u64) -> u64 {
    if (c as i32) >= 0 { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [u64; 12] = [
        0,
        1,
        2,
        31,
        32,
        0x7fff,
        0x8000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x8000_0000_0000_0000,
        0xffff_ffff_ffff_fffe,
    ];

    macro_rules! compare_with_host {
        ($module:ident $int:ident $unsigned:ident $wide:ident) => {
            for a in VALUES {
                for b in VALUES {
                    let (x, y) = (a as $int, b as $int);
                    let put = |x: $int| x as $unsigned as u64;
                    assert_eq!($module::add(a, b), put(x.wrapping_add(y)));
                    assert_eq!($module::sub(a, b), put(x.wrapping_sub(y)));
                    assert_eq!($module::mul_lo(a, b), put(x.wrapping_mul(y)));
                    let product = (x as $wide).wrapping_mul(y as $wide);
                    assert_eq!($module::mul_hi(a, b), put((product >> $int::BITS) as $int));
                    assert_eq!(
                        $module::mad_lo(a, b, 7),
                        put(x.wrapping_mul(y).wrapping_add(7))
                    );
                    if y != 0 {
                        assert_eq!($module::div(a, b), put(x.wrapping_div(y)));
                        assert_eq!($module::rem(a, b), put(x.wrapping_rem(y)));
                    }
                    assert_eq!($module::min(a, b), put(x.min(y)));
                    assert_eq!($module::max(a, b), put(x.max(y)));
                    assert_eq!($module::xor(a, b), put(x ^ y));
                    assert_eq!($module::lt(a, b), u64::from(x < y));
                    assert_eq!($module::ge(a, b), u64::from(x >= y));
                    assert_eq!(
                        $module::sad(a, b, 1),
                        put((x.abs_diff(y) as $int).wrapping_add(1))
                    );
                }
                let x = a as $int;
                for shift in [0, 1, 15, 31] {
                    if shift < $int::BITS {
                        assert_eq!(
                            $module::shl(a, shift.into()),
                            (x << shift) as $unsigned as u64
                        );
                        assert_eq!(
                            $module::shr(a, shift.into()),
                            (x >> shift) as $unsigned as u64
                        );
                    }
                }
                let gone = if x as i128 >= 0 {
                    0
                } else {
                    $unsigned::MAX as u64
                };
                assert_eq!($module::shr(a, 1000), gone);
                assert_eq!($module::shl(a, 1000), 0);
                assert_eq!($module::not(a), !x as $unsigned as u64);
                assert_eq!($module::neg(a), x.wrapping_neg() as $unsigned as u64);
            }
        };
    }

    #[test]
    fn every_type_is_the_hosts() {
        compare_with_host!(u16 u16 u16 u32);
        compare_with_host!(s16 i16 u16 i32);
        compare_with_host!(u32 u32 u32 u64);
        compare_with_host!(s32 i32 u32 i64);
        compare_with_host!(u64 u64 u64 u128);
        compare_with_host!(s64 i64 u64 i128);
    }

    #[test]
    fn wide_products_and_the_rest() {
        assert_eq!(
            u32::mul_wide(0xffff_ffff, 0xffff_ffff),
            0xffff_fffe_0000_0001
        );
        assert_eq!(s32::mul_wide(0xffff_ffff, 3), (-3i64) as u64);
        assert_eq!(s32::mad_wide(0xffff_ffff, 3, 5), 2);
        assert_eq!(s16::mul_wide(0xffff, 2), 0xffff_fffe);
        assert_eq!(s32::abs(0xffff_ffff), 1);
        assert_eq!(s32::div(0x8000_0000, 0xffff_ffff), 0x8000_0000);
        assert_eq!(add_sat_s32(0x7fff_ffff, 1), 0x7fff_ffff);
        assert_eq!(sub_sat_s32(0x8000_0000, 1), 0x8000_0000);
        assert_eq!((slct_s32(1, 2, 0), slct_s32(1, 2, 0xffff_ffff)), (1, 2));
    }
}
