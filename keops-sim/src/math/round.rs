//! Directed rounding, and neighbours of floats.
//!
//! The host rounds to nearest only. A directed result follows from the nearest one and the sign of its error.

/// `.rn`, `.rz`, `.rm`, `.rp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
}

/// A double, rounded to a float.
pub(crate) fn f32_of_f64(x: f64, rounding: Rounding) -> f32 {
    let nearest = x as f32;
    if !x.is_finite() {
        return nearest;
    }
    let order = f64::from(nearest).total_cmp(&x);
    step(
        nearest,
        order,
        x > 0.0,
        rounding,
        f32::next_down,
        f32::next_up,
    )
}

/// x + y of two doubles, rounded to a float once.
pub(crate) fn add_f32(x: f64, y: f64, rounding: Rounding) -> f32 {
    let sum = x + y;
    if sum == 0.0 || !sum.is_finite() {
        // An exact zero of opposite terms is −0 only when rounding down.
        let opposite = x == -y && x.is_sign_positive() != y.is_sign_positive();
        return if opposite && rounding == Rounding::Down {
            -0.0
        } else {
            sum as f32
        };
    }
    // Knuth's TwoSum: the error of the sum, exactly.
    let t = sum - x;
    let error = (x - (sum - t)) + (y - t);
    // Round to odd, so that the second rounding cannot go wrong.
    let odd = if error != 0.0 && sum.to_bits() & 1 == 0 {
        if (error > 0.0) == (sum > 0.0) {
            f64::from_bits(sum.to_bits() + 1)
        } else {
            f64::from_bits(sum.to_bits() - 1)
        }
    } else {
        sum
    };
    f32_of_f64(odd, rounding)
}

/// An integer, rounded to a float.
pub(crate) fn f32_of_int(x: i128, rounding: Rounding) -> f32 {
    let nearest = x as f32;
    step(
        nearest,
        (nearest as i128).cmp(&x),
        x > 0,
        rounding,
        f32::next_down,
        f32::next_up,
    )
}

/// An integer, rounded to a double.
pub(crate) fn f64_of_int(x: i128, rounding: Rounding) -> f64 {
    let nearest = x as f64;
    step(
        nearest,
        (nearest as i128).cmp(&x),
        x > 0,
        rounding,
        f64::next_down,
        f64::next_up,
    )
}

fn step<F>(
    nearest: F,
    order: std::cmp::Ordering,
    positive: bool,
    rounding: Rounding,
    down: fn(F) -> F,
    up: fn(F) -> F,
) -> F {
    let want_down = rounding == Rounding::Down || (rounding == Rounding::Zero && positive);
    let want_up = rounding == Rounding::Up || (rounding == Rounding::Zero && !positive);
    match order {
        std::cmp::Ordering::Greater if want_down => down(nearest),
        std::cmp::Ordering::Less if want_up => up(nearest),
        _ => nearest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Rounding::*;

    #[test]
    fn directed_conversions_bracket_the_number() {
        for x in [
            1.0 + 1e-12,
            -1.0 - 1e-12,
            0.1,
            -0.1,
            1e-50,
            -1e-50,
            3.5e38,
            -3.5e38,
            1e300,
            16777217.0,
            5e-45,
        ] {
            let (down, up) = (f32_of_f64(x, Down), f32_of_f64(x, Up));
            assert!(f64::from(down) < x && x < f64::from(up), "{x}");
            assert_eq!(down.next_up().to_bits() << 1, up.to_bits() << 1, "{x}");
            assert_eq!(f32_of_f64(x, Zero), if x > 0.0 { down } else { up }, "{x}");
            assert_eq!(f32_of_f64(x, Nearest), x as f32);
        }
        for rounding in [Nearest, Zero, Down, Up] {
            assert_eq!(f32_of_f64(0.5, rounding), 0.5);
            assert!(f32_of_f64(f64::NAN, rounding).is_nan());
            assert_eq!(f32_of_f64(f64::NEG_INFINITY, rounding), f32::NEG_INFINITY);
        }
    }

    #[test]
    fn sums_round_once() {
        // 1 + 2⁻²⁴ + a little: twice rounded, the tie would go to even.
        let y = f64::from(2f32.powi(-24)) + 2f64.powi(-70);
        assert_eq!(add_f32(1.0, y, Nearest), 1.0f32.next_up());
        assert_eq!(add_f32(1.0, 1e-30, Up), 1.0f32.next_up());
        assert_eq!(add_f32(1.0, 1e-30, Down), 1.0);
        assert_eq!(add_f32(1.0, -1e-30, Down), 1.0f32.next_down());
        assert_eq!(add_f32(1.0, -1e-30, Zero), 1.0f32.next_down());
        assert_eq!(add_f32(-1.0, 1e-30, Zero), (-1.0f32).next_up());
        assert!(add_f32(1.0, -1.0, Down).is_sign_negative());
        assert!(add_f32(1.0, -1.0, Up).is_sign_positive());
    }

    #[test]
    fn integers() {
        assert_eq!(f32_of_int(16_777_217, Up), 16_777_218.0);
        assert_eq!(f32_of_int(16_777_219, Down), 16_777_218.0);
        assert_eq!(f32_of_int(-16_777_217, Zero), -16_777_216.0);
        assert_eq!(
            f64_of_int(i128::from(u64::MAX), Zero),
            18_446_744_073_709_549_568.0
        );
        assert_eq!(f64_of_int(5, Nearest), 5.0);
    }
}
