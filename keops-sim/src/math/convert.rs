//! `cvt`: between integers, floats, and both.
use super::float::{flush, saturate};
use super::round::{Rounding, f32_of_f64, f32_of_int, f64_of_int};
use crate::ptx::types::Type;

/// Everything a conversion depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub(crate) to: Type,
    pub(crate) from: Type,
    /// `.rn` and the like, or their integer forms `.rni`.
    pub(crate) rounding: Rounding,
    /// Round a float to an integral value of the same type.
    pub(crate) integral: bool,
    pub(crate) ftz: bool,
    pub(crate) sat: bool,
}

/// The integer that `x` is at type `ty`.
pub(crate) fn integer(x: u64, ty: Type) -> i128 {
    match (ty.size(), ty.is_signed()) {
        (1, false) => i128::from(x as u8),
        (2, false) => i128::from(x as u16),
        (4, false) => i128::from(x as u32),
        (_, false) => i128::from(x),
        (1, true) => i128::from(x as i8),
        (2, true) => i128::from(x as i16),
        (4, true) => i128::from(x as i32),
        (_, true) => i128::from(x as i64),
    }
}

/// The lowest bits that a value of type `ty` has.
pub(crate) fn truncate(x: u64, ty: Type) -> u64 {
    match ty.size() {
        1 => x & 0xff,
        2 => x & 0xffff,
        4 => x & 0xffff_ffff,
        _ => x,
    }
}

/// Smallest and largest value of an integer type.
fn range(ty: Type) -> (i128, i128) {
    let bits = 8 * ty.size() as u32;
    if ty.is_signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

fn integral(x: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => x.round_ties_even(),
        Rounding::Zero => x.trunc(),
        Rounding::Down => x.floor(),
        Rounding::Up => x.ceil(),
    }
}

/// The converted bits, at the width of `to`.
pub(crate) fn run(c: Conversion, x: u64) -> u64 {
    if !c.from.is_float() {
        let value = integer(x, c.from);
        return match c.to {
            Type::F32 => {
                let value = f32_of_int(value, c.rounding);
                u64::from(if c.sat { saturate(value) } else { value }.to_bits())
            }
            Type::F64 => f64_of_int(value, c.rounding).to_bits(),
            to => {
                let (least, most) = range(to);
                truncate(
                    if c.sat {
                        value.clamp(least, most)
                    } else {
                        value
                    } as u64,
                    to,
                )
            }
        };
    }
    let value = if c.from == Type::F32 {
        let value = f32::from_bits(x as u32);
        f64::from(if c.ftz { flush(value) } else { value })
    } else {
        f64::from_bits(x)
    };
    match c.to {
        Type::F32 => {
            let out = if c.integral {
                integral(value, c.rounding) as f32
            } else {
                f32_of_f64(value, c.rounding)
            };
            let out = if c.ftz { flush(out) } else { out };
            let out = if c.sat { saturate(out) } else { out };
            u64::from(if out.is_nan() {
                0x7fff_ffff
            } else {
                out.to_bits()
            })
        }
        Type::F64 => {
            let out = if c.integral {
                integral(value, c.rounding)
            } else {
                value
            };
            let out = if c.sat {
                if out > 0.0 { out.min(1.0) } else { 0.0 }
            } else {
                out
            };
            out.to_bits()
        }
        to => {
            if value.is_nan() {
                // Documented: 0, except where either side is 64 bits wide.
                let wide = c.from == Type::F64 || to.size() == 8;
                return if wide { 1 << (8 * to.size() - 1) } else { 0 };
            }
            let (least, most) = range(to);
            // Out of range it clamps; `as` does that for i128, far outside.
            truncate(
                (integral(value, c.rounding) as i128).clamp(least, most) as u64,
                to,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Type::*;

    fn plain(to: Type, from: Type) -> Conversion {
        Conversion {
            to,
            from,
            rounding: Rounding::Zero,
            integral: false,
            ftz: false,
            sat: false,
        }
    }

    #[test]
    fn integers() {
        let all = [U8, U16, U32, U64, S8, S16, S32, S64];
        for x in [
            0u64,
            1,
            0x7f,
            0x80,
            0xff80,
            0x8000_0000,
            u64::MAX,
            0x1_2345_6789,
        ] {
            for from in all {
                for to in all {
                    let ours = run(plain(to, from), x);
                    assert_eq!(
                        ours,
                        truncate(integer(x, from) as u64, to),
                        "{to:?} {from:?} {x:x}"
                    );
                    let clamped = run(
                        Conversion {
                            sat: true,
                            ..plain(to, from)
                        },
                        x,
                    );
                    let (least, most) = range(to);
                    assert_eq!(integer(clamped, to), integer(x, from).clamp(least, most));
                }
            }
        }
        assert_eq!(run(plain(S64, S32), 0xffff_ffff), u64::MAX);
        assert_eq!(run(plain(U64, U32), 0xffff_ffff), 0xffff_ffff);
    }

    #[test]
    fn floats_to_integers() {
        let values = [
            0.5f32,
            -0.5,
            1.5,
            2.5,
            -1.5,
            3e9,
            -3e9,
            1e20,
            f32::INFINITY,
            f32::NEG_INFINITY,
        ];
        for x in values {
            let bits = u64::from(x.to_bits());
            assert_eq!(run(plain(S32, F32), bits), u64::from(x as i32 as u32));
            assert_eq!(run(plain(U32, F32), bits), u64::from(x as u32));
            assert_eq!(run(plain(U64, F32), bits), x as u64);
            assert_eq!(
                run(plain(S64, F64), f64::from(x).to_bits()),
                f64::from(x) as i64 as u64
            );
            let nearest = Conversion {
                rounding: Rounding::Nearest,
                ..plain(S32, F32)
            };
            assert_eq!(
                run(nearest, bits),
                u64::from(x.round_ties_even() as i32 as u32)
            );
            let down = Conversion {
                rounding: Rounding::Down,
                ..plain(S32, F32)
            };
            assert_eq!(run(down, bits), u64::from(x.floor() as i32 as u32));
        }
        assert_eq!(run(plain(S32, F32), u64::from(f32::NAN.to_bits())), 0);
        assert_eq!(run(plain(S32, F64), f64::NAN.to_bits()), 0x8000_0000);
    }

    #[test]
    fn floats_and_integers_to_floats() {
        let nearest = |to, from| Conversion {
            rounding: Rounding::Nearest,
            ..plain(to, from)
        };
        for x in [0u64, 1, 16_777_217, 0xffff_ffff, 0x8000_0001, u64::MAX] {
            assert_eq!(
                run(nearest(F32, U32), x),
                u64::from((x as u32 as f32).to_bits())
            );
            assert_eq!(
                run(nearest(F32, S32), x),
                u64::from((x as u32 as i32 as f32).to_bits())
            );
            assert_eq!(run(nearest(F64, S64), x), (x as i64 as f64).to_bits());
            assert_eq!(run(nearest(F32, U64), x), u64::from((x as f32).to_bits()));
        }
        for x in [0.1f64, 1e300, -1e-310, f64::INFINITY, 2.5] {
            assert_eq!(
                run(nearest(F32, F64), x.to_bits()),
                u64::from((x as f32).to_bits())
            );
            let rint = Conversion {
                integral: true,
                ..nearest(F64, F64)
            };
            assert_eq!(run(rint, x.to_bits()), x.round_ties_even().to_bits());
        }
        let sat = Conversion {
            sat: true,
            ..nearest(F32, F32)
        };
        assert_eq!(
            run(sat, u64::from(7f32.to_bits())),
            u64::from(1f32.to_bits())
        );
        assert_eq!(run(sat, u64::from(f32::NAN.to_bits())), 0);
    }
}
