//! Bit fields, permutations and counts.

pub(crate) fn popc_32(a: u64) -> u64 {
    u64::from((a as u32).count_ones())
}
pub(crate) fn popc_64(a: u64) -> u64 {
    u64::from(a.count_ones())
}
pub(crate) fn clz_32(a: u64) -> u64 {
    u64::from((a as u32).leading_zeros())
}
pub(crate) fn clz_64(a: u64) -> u64 {
    u64::from(a.leading_zeros())
}
pub(crate) fn brev_32(a: u64) -> u64 {
    u64::from((a as u32).reverse_bits())
}
pub(crate) fn brev_64(a: u64) -> u64 {
    a.reverse_bits()
}

/// Position of the highest bit that differs from the sign; all ones if there is none.
fn find(a: u64, width: u32) -> u64 {
    if a == 0 {
        0xffff_ffff
    } else {
        u64::from(width - 1 - (a.leading_zeros() - (64 - width)))
    }
}
pub(crate) fn bfind_u32(a: u64) -> u64 {
    find(a & 0xffff_ffff, 32)
}
pub(crate) fn bfind_s32(a: u64) -> u64 {
    let a = a as u32 as i32;
    find(u64::from(if a < 0 { !a } else { a } as u32), 32)
}
pub(crate) fn bfind_u64(a: u64) -> u64 {
    find(a, 64)
}
pub(crate) fn bfind_s64(a: u64) -> u64 {
    let a = a as i64;
    find(if a < 0 { !a } else { a } as u64, 64)
}

/// `length` ones.
fn ones(length: u64) -> u64 {
    if length >= 64 {
        u64::MAX
    } else {
        (1 << length) - 1
    }
}

/// Bits `position ..` of a, `length` of them, zero- or sign-extended; beyond the width a continues with zeros or its sign.
fn extract(a: u64, position: u64, length: u64, width: u32, signed: bool) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let all = ones(width.into());
    let a = if signed && width == 32 {
        a as u32 as i32 as i64 as u64
    } else {
        a
    };
    if length == 0 {
        return 0;
    }
    let shifted = if signed {
        ((a as i64) >> position.min(63)) as u64
    } else {
        a.checked_shr(position as u32).unwrap_or(0)
    };
    if length >= 64 {
        return shifted & all;
    }
    let field = shifted & ones(length);
    let extended = if signed && field >> (length - 1) & 1 == 1 {
        field | !ones(length)
    } else {
        field
    };
    extended & all
}
pub(crate) fn bfe_u32(a: u64, b: u64, c: u64) -> u64 {
    extract(a & 0xffff_ffff, b, c, 32, false)
}
pub(crate) fn bfe_s32(a: u64, b: u64, c: u64) -> u64 {
    extract(a, b, c, 32, true)
}
pub(crate) fn bfe_u64(a: u64, b: u64, c: u64) -> u64 {
    extract(a, b, c, 64, false)
}
pub(crate) fn bfe_s64(a: u64, b: u64, c: u64) -> u64 {
    extract(a, b, c, 64, true)
}

/// b with `length` bits from `position` on replaced by a's lowest.
pub(crate) fn bfi(a: u64, b: u64, position: u64, length: u64, width: u32) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let mask = ones(length).checked_shl(position as u32).unwrap_or(0) & ones(width.into());
    (b & !mask) | (a.checked_shl(position as u32).unwrap_or(0) & mask)
}

/// The bytes of b:a that the nibbles of c select; bit 3 of a nibble replicates the byte's sign.
pub(crate) fn prmt(a: u64, b: u64, c: u64) -> u64 {
    let bytes = (a & 0xffff_ffff) | b << 32;
    (0..4).fold(0, |out, n| {
        let selector = c >> (4 * n) & 0xf;
        let byte = bytes >> (8 * (selector & 7)) & 0xff;
        let byte = if selector & 8 == 0 {
            byte
        } else {
            (byte >> 7) * 0xff
        };
        out | byte << (8 * n)
    })
}

/// The truth table `table` of three bits, bit by bit.
pub(crate) fn lop3(a: u64, b: u64, c: u64, table: u8) -> u64 {
    let out = (0..8u64)
        .filter(|row| table >> row & 1 == 1)
        .fold(0, |out, row| {
            let pick = |x: u64, bit: u64| if row >> bit & 1 == 1 { x } else { !x };
            out | (pick(a, 2) & pick(b, 1) & pick(c, 0))
        });
    out & 0xffff_ffff
}

/// The upper half of b:a shifted left; the amount wraps at 32 or clamps to it.
pub(crate) fn shf_l_wrap(a: u64, b: u64, c: u64) -> u64 {
    (((a & 0xffff_ffff) | b << 32) << (c & 31)) >> 32
}
pub(crate) fn shf_l_clamp(a: u64, b: u64, c: u64) -> u64 {
    let both = u128::from((a & 0xffff_ffff) | b << 32);
    ((both << (c & 0xffff_ffff).min(32)) >> 32) as u64 & 0xffff_ffff
}
/// The lower half of b:a shifted right.
pub(crate) fn shf_r_wrap(a: u64, b: u64, c: u64) -> u64 {
    ((a & 0xffff_ffff) | b << 32) >> (c & 31) & 0xffff_ffff
}
pub(crate) fn shf_r_clamp(a: u64, b: u64, c: u64) -> u64 {
    ((a & 0xffff_ffff) | b << 32) >> (c & 0xffff_ffff).min(32) & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_fields() {
        assert_eq!(
            (popc_32(0xf_0000_00ff), clz_32(1), clz_64(1), brev_32(1)),
            (8, 31, 63, 0x8000_0000)
        );
        assert_eq!((popc_64(u64::MAX), brev_64(1)), (64, 1 << 63));
        assert_eq!(
            (bfind_u32(0x10), bfind_u32(0), bfind_s32(0xffff_fff0)),
            (4, 0xffff_ffff, 3)
        );
        assert_eq!((bfind_u64(1 << 40), bfind_s64(u64::MAX)), (40, 0xffff_ffff));
        assert_eq!(bfe_u32(0xabcd_ef01, 8, 8), 0xef);
        assert_eq!(bfe_s32(0xabcd_ef01, 8, 8), 0xffff_ffef);
        assert_eq!(bfe_u32(0xffff_ffff, 4, 0), 0);
        assert_eq!(bfe_s32(0x8000_0000, 31, 200), 0xffff_ffff);
        assert_eq!(bfe_u64(0xff00_0000_0000_0000, 56, 8), 0xff);
        assert_eq!(bfe_s64(0xff00_0000_0000_0000, 56, 4), u64::MAX);
        assert_eq!(bfi(0xf, 0, 28, 8, 32), 0xf000_0000);
        assert_eq!(bfi(0, u64::MAX, 60, 4, 64), u64::MAX >> 4);
    }

    #[test]
    fn permutations() {
        assert_eq!(prmt(0x3322_1100, 0x7766_5544, 0x3210), 0x3322_1100);
        assert_eq!(prmt(0x3322_1100, 0xf766_5544, 0x7f40), 0xf7ff_4400);
        for table in [0x80u8, 0xfe, 0x96, 0xe8, 0x1e] {
            let (a, b, c) = (0xf0f0_f0f0, 0xcccc_cccc, 0xaaaa_aaaa);
            assert_eq!(
                lop3(a, b, c, table),
                u64::from(table) * 0x0101_0101,
                "{table:x}"
            );
        }
        assert_eq!(shf_l_wrap(0x8000_0000, 1, 33), 3);
        assert_eq!(shf_l_clamp(0x8000_0001, 1, 40), 0x8000_0001);
        assert_eq!(shf_r_wrap(0x8000_0000, 1, 1), 0xc000_0000);
        assert_eq!(shf_r_clamp(7, 9, 32), 9);
    }
}
