//! Floating-point arithmetic other than the approximate instructions.
//!
//! At `f32`: FTZ flushes subnormal arguments and results to zero, SAT clamps the result to [0, 1] with NaN to 0, and a NaN
//! result is the canonical one, as on the hardware.
use super::round::{Rounding, add_f32, f32_of_f64};
use super::{Binary, Ternary, Unary};

/// The NaN that `f32` instructions return.
const NAN: u32 = 0x7fff_ffff;

fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn d(x: u64) -> f64 {
    f64::from_bits(x)
}

/// Subnormals to zero.
pub(crate) fn flush(x: f32) -> f32 {
    if x.is_subnormal() {
        0f32.copysign(x)
    } else {
        x
    }
}

fn argument<const FTZ: bool>(x: u64) -> f32 {
    if FTZ { flush(f(x)) } else { f(x) }
}

fn result<const FTZ: bool, const SAT: bool>(x: f32) -> u64 {
    let x = if FTZ { flush(x) } else { x };
    u64::from(if SAT {
        saturate(x).to_bits()
    } else if x.is_nan() {
        NAN
    } else {
        x.to_bits()
    })
}

/// Clamped to [0, 1]; NaN to +0.
pub(crate) fn saturate(x: f32) -> f32 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// The variant of a function for what is known when the instruction is decoded.
macro_rules! variant {
    ($function:ident, $ftz:expr, $sat:expr) => {
        match ($ftz, $sat) {
            (false, false) => $function::<false, false>,
            (true, false) => $function::<true, false>,
            (false, true) => $function::<false, true>,
            (true, true) => $function::<true, true>,
        }
    };
}

macro_rules! rounded {
    ($function:ident, $ftz:expr, $sat:expr, $rounding:expr) => {
        match ($rounding, $ftz, $sat) {
            (Rounding::Zero, false, false) => $function::<1, false, false>,
            (Rounding::Zero, true, false) => $function::<1, true, false>,
            (Rounding::Zero, false, true) => $function::<1, false, true>,
            (Rounding::Zero, true, true) => $function::<1, true, true>,
            (Rounding::Down, false, false) => $function::<2, false, false>,
            (Rounding::Down, true, false) => $function::<2, true, false>,
            (Rounding::Down, false, true) => $function::<2, false, true>,
            (Rounding::Down, true, true) => $function::<2, true, true>,
            (_, false, false) => $function::<3, false, false>,
            (_, true, false) => $function::<3, true, false>,
            (_, false, true) => $function::<3, false, true>,
            (_, true, true) => $function::<3, true, true>,
        }
    };
}

const fn rounding(number: u8) -> Rounding {
    match number {
        0 => Rounding::Nearest,
        1 => Rounding::Zero,
        2 => Rounding::Down,
        _ => Rounding::Up,
    }
}

fn add_rn<const Z: bool, const S: bool>(a: u64, b: u64) -> u64 {
    result::<Z, S>(argument::<Z>(a) + argument::<Z>(b))
}

fn add_directed<const R: u8, const Z: bool, const S: bool>(a: u64, b: u64) -> u64 {
    result::<Z, S>(add_f32(
        argument::<Z>(a).into(),
        argument::<Z>(b).into(),
        rounding(R),
    ))
}

fn sub_rn<const Z: bool, const S: bool>(a: u64, b: u64) -> u64 {
    result::<Z, S>(argument::<Z>(a) - argument::<Z>(b))
}

fn sub_directed<const R: u8, const Z: bool, const S: bool>(a: u64, b: u64) -> u64 {
    result::<Z, S>(add_f32(
        argument::<Z>(a).into(),
        (-argument::<Z>(b)).into(),
        rounding(R),
    ))
}

fn mul_rn<const Z: bool, const S: bool>(a: u64, b: u64) -> u64 {
    result::<Z, S>(argument::<Z>(a) * argument::<Z>(b))
}

fn mul_directed<const R: u8, const Z: bool, const S: bool>(a: u64, b: u64) -> u64 {
    // The product of two floats is exact in double precision, but for subnormal doubles, which no float product reaches.
    result::<Z, S>(f32_of_f64(
        f64::from(argument::<Z>(a)) * f64::from(argument::<Z>(b)),
        rounding(R),
    ))
}

fn fma_rn<const Z: bool, const S: bool>(a: u64, b: u64, c: u64) -> u64 {
    result::<Z, S>(argument::<Z>(a).mul_add(argument::<Z>(b), argument::<Z>(c)))
}

fn fma_directed<const R: u8, const Z: bool, const S: bool>(a: u64, b: u64, c: u64) -> u64 {
    let product = f64::from(argument::<Z>(a)) * f64::from(argument::<Z>(b));
    result::<Z, S>(add_f32(product, argument::<Z>(c).into(), rounding(R)))
}

pub(crate) fn add_32(rounding: Rounding, ftz: bool, sat: bool) -> Binary {
    if rounding == Rounding::Nearest {
        variant!(add_rn, ftz, sat)
    } else {
        rounded!(add_directed, ftz, sat, rounding)
    }
}

pub(crate) fn sub_32(rounding: Rounding, ftz: bool, sat: bool) -> Binary {
    if rounding == Rounding::Nearest {
        variant!(sub_rn, ftz, sat)
    } else {
        rounded!(sub_directed, ftz, sat, rounding)
    }
}

pub(crate) fn mul_32(rounding: Rounding, ftz: bool, sat: bool) -> Binary {
    if rounding == Rounding::Nearest {
        variant!(mul_rn, ftz, sat)
    } else {
        rounded!(mul_directed, ftz, sat, rounding)
    }
}

pub(crate) fn fma_32(rounding: Rounding, ftz: bool, sat: bool) -> Ternary {
    if rounding == Rounding::Nearest {
        variant!(fma_rn, ftz, sat)
    } else {
        rounded!(fma_directed, ftz, sat, rounding)
    }
}

/// Correctly rounded quotient.
pub(crate) fn div_32(ftz: bool) -> Binary {
    fn div<const Z: bool, const S: bool>(a: u64, b: u64) -> u64 {
        result::<Z, S>(argument::<Z>(a) / argument::<Z>(b))
    }
    variant!(div, ftz, false)
}

/// Correctly rounded square root.
pub(crate) fn sqrt_32(ftz: bool) -> Unary {
    fn sqrt<const Z: bool, const S: bool>(a: u64) -> u64 {
        result::<Z, S>(argument::<Z>(a).sqrt())
    }
    variant!(sqrt, ftz, false)
}

/// Correctly rounded reciprocal.
pub(crate) fn rcp_32(ftz: bool) -> Unary {
    fn rcp<const Z: bool, const S: bool>(a: u64) -> u64 {
        result::<Z, S>(1.0 / argument::<Z>(a))
    }
    variant!(rcp, ftz, false)
}

/// −a; a NaN keeps being one.
pub(crate) fn neg_32(ftz: bool) -> Unary {
    fn neg<const Z: bool, const S: bool>(a: u64) -> u64 {
        u64::from((-argument::<Z>(a)).to_bits())
    }
    variant!(neg, ftz, false)
}

/// |a|
pub(crate) fn abs_32(ftz: bool) -> Unary {
    fn abs<const Z: bool, const S: bool>(a: u64) -> u64 {
        u64::from(argument::<Z>(a).abs().to_bits())
    }
    variant!(abs, ftz, false)
}

/// The smaller or the larger, −0 below +0; of one NaN and a number, the number, or with NAN the NaN.
macro_rules! extremum {
    ($float:ident, $name:ident, $pick:ident) => {
        fn $name(a: $float, b: $float, nan: bool) -> $float {
            if a.is_nan() || b.is_nan() {
                let keep_a = a.is_nan() == nan;
                return if keep_a { a } else { b };
            }
            if a == b {
                // Zeros of two signs, or equal values.
                return if (a.is_sign_negative()) == (stringify!($pick) == "min") {
                    a
                } else {
                    b
                };
            }
            a.$pick(b)
        }
    };
}
extremum!(f32, smaller_32, min);
extremum!(f32, larger_32, max);
extremum!(f64, smaller_64, min);
extremum!(f64, larger_64, max);

pub(crate) fn min_32(ftz: bool, nan: bool) -> Binary {
    fn min<const Z: bool, const N: bool>(a: u64, b: u64) -> u64 {
        result::<Z, false>(smaller_32(argument::<Z>(a), argument::<Z>(b), N))
    }
    variant!(min, ftz, nan)
}

pub(crate) fn max_32(ftz: bool, nan: bool) -> Binary {
    fn max<const Z: bool, const N: bool>(a: u64, b: u64) -> u64 {
        result::<Z, false>(larger_32(argument::<Z>(a), argument::<Z>(b), N))
    }
    variant!(max, ftz, nan)
}

/// The magnitude of b with the sign of a.
pub(crate) fn copysign_32(a: u64, b: u64) -> u64 {
    u64::from(f(b).copysign(f(a)).to_bits())
}

/// a where c ≥ 0, else b; −0 counts as 0, NaN selects b.
pub(crate) fn slct_f32(a: u64, b: u64, c: u64) -> u64 {
    if f(c) >= 0.0 { a } else { b }
}

/// The operations at `f64`, round to nearest.
pub(crate) mod double {
    use super::{d, larger_64, smaller_64};

    pub(crate) fn add(a: u64, b: u64) -> u64 {
        (d(a) + d(b)).to_bits()
    }
    pub(crate) fn sub(a: u64, b: u64) -> u64 {
        (d(a) - d(b)).to_bits()
    }
    pub(crate) fn mul(a: u64, b: u64) -> u64 {
        (d(a) * d(b)).to_bits()
    }
    pub(crate) fn fma(a: u64, b: u64, c: u64) -> u64 {
        d(a).mul_add(d(b), d(c)).to_bits()
    }
    pub(crate) fn div(a: u64, b: u64) -> u64 {
        (d(a) / d(b)).to_bits()
    }
    pub(crate) fn sqrt(a: u64) -> u64 {
        d(a).sqrt().to_bits()
    }
    pub(crate) fn rcp(a: u64) -> u64 {
        (1.0 / d(a)).to_bits()
    }
    pub(crate) fn neg(a: u64) -> u64 {
        (-d(a)).to_bits()
    }
    pub(crate) fn abs(a: u64) -> u64 {
        d(a).abs().to_bits()
    }
    pub(crate) fn min(a: u64, b: u64) -> u64 {
        smaller_64(d(a), d(b), false).to_bits()
    }
    pub(crate) fn max(a: u64, b: u64) -> u64 {
        larger_64(d(a), d(b), false).to_bits()
    }
    pub(crate) fn copysign(a: u64, b: u64) -> u64 {
        d(b).copysign(d(a)).to_bits()
    }
}

/// Comparisons. An unordered one is true of NaN.
macro_rules! compare {
    ($module:ident $get:ident) => {
        pub(crate) mod $module {
            use super::$get;
            compare!(@ $get eq a b: a == b);
            compare!(@ $get ne a b: a < b || a > b);
            compare!(@ $get lt a b: a < b);
            compare!(@ $get le a b: a <= b);
            compare!(@ $get gt a b: a > b);
            compare!(@ $get ge a b: a >= b);
            compare!(@ $get equ a b: !(a < b || a > b));
            compare!(@ $get neu a b: a != b);
            compare!(@ $get ltu a b: !(a >= b));
            compare!(@ $get leu a b: !(a > b));
            compare!(@ $get gtu a b: !(a <= b));
            compare!(@ $get geu a b: !(a < b));
            compare!(@ $get num a b: !a.is_nan() && !b.is_nan());
            compare!(@ $get nan a b: a.is_nan() || b.is_nan());
        }
    };
    (@ $get:ident $name:ident $a:ident $b:ident: $test:expr) => {
        #[allow(clippy::neg_cmp_op_on_partial_ord, clippy::double_comparisons, reason = "they are about NaN")]
        pub(crate) fn $name(a: u64, b: u64) -> u64 {
            let ($a, $b) = ($get(a), $get(b));
            u64::from($test)
        }
    };
}
compare!(single f);
compare!(double_cmp d);
fn flushed(x: u64) -> f32 {
    flush(f(x))
}
compare!(single_ftz flushed);

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f32; 14] = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        1e-40,
        -1e-40,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        0.3,
        1e30,
        16_777_216.0,
    ];

    fn same(ours: u64, theirs: f32) {
        assert!(
            ours == u64::from(theirs.to_bits()) || (theirs.is_nan() && ours == u64::from(NAN)),
            "{ours:x} {theirs}"
        );
    }

    #[test]
    fn nearest_arithmetic_is_the_hosts() {
        for a in VALUES {
            let x = u64::from(a.to_bits());
            same(sqrt_32(false)(x), a.sqrt());
            same(rcp_32(false)(x), 1.0 / a);
            for b in VALUES {
                let y = u64::from(b.to_bits());
                same(add_32(Rounding::Nearest, false, false)(x, y), a + b);
                same(sub_32(Rounding::Nearest, false, false)(x, y), a - b);
                same(mul_32(Rounding::Nearest, false, false)(x, y), a * b);
                same(div_32(false)(x, y), a / b);
                same(
                    fma_32(Rounding::Nearest, false, false)(x, y, u64::from(0.7f32.to_bits())),
                    a.mul_add(b, 0.7),
                );
                let (p, q) = (f64::from(a) * 1.1, f64::from(b) * 0.9);
                let d = |x: u64| f64::from_bits(x);
                for (ours, theirs) in [
                    (double::add(p.to_bits(), q.to_bits()), p + q),
                    (double::mul(p.to_bits(), q.to_bits()), p * q),
                    (double::div(p.to_bits(), q.to_bits()), p / q),
                    (
                        double::fma(p.to_bits(), q.to_bits(), p.to_bits()),
                        p.mul_add(q, p),
                    ),
                ] {
                    assert!(
                        d(ours).to_bits() == theirs.to_bits()
                            || (d(ours).is_nan() && theirs.is_nan())
                    );
                }
            }
        }
    }

    #[test]
    fn flushing_and_saturation() {
        let tiny = u64::from(1e-40f32.to_bits());
        let one = u64::from(1f32.to_bits());
        assert_eq!(mul_32(Rounding::Nearest, true, false)(tiny, one), 0);
        assert_eq!(mul_32(Rounding::Nearest, false, false)(tiny, one), tiny);
        assert_eq!(
            mul_32(Rounding::Nearest, true, false)(tiny | 1 << 31, one),
            1 << 31
        );
        let add = add_32(Rounding::Nearest, false, true);
        same(add(one, one), 1.0);
        same(add(u64::from((-2f32).to_bits()), one), 0.0);
        same(add(u64::from(NAN), one), 0.0);
    }

    #[test]
    fn directed_rounding_brackets_the_exact_value() {
        let (a, b, c) = (0.1f32, 0.7f32, 1e-3f32);
        let bits = |x: f32| u64::from(x.to_bits());
        let exact = f64::from(a) * f64::from(b) + f64::from(c);
        let get =
            |rounding| f64::from(f(fma_32(rounding, false, false)(bits(a), bits(b), bits(c))));
        assert!(get(Rounding::Down) < exact && exact < get(Rounding::Up));
        assert_eq!(get(Rounding::Zero), get(Rounding::Down));
        let sum = |rounding| f64::from(f(add_32(rounding, false, false)(bits(a), bits(c))));
        assert!(sum(Rounding::Down) < sum(Rounding::Up));
        let product = |rounding| f64::from(f(mul_32(rounding, false, false)(bits(a), bits(-b))));
        assert!(product(Rounding::Down) < product(Rounding::Up));
        assert_eq!(product(Rounding::Zero), product(Rounding::Up));
        let difference = |rounding| f(sub_32(rounding, false, false)(bits(a), bits(c)));
        assert_eq!(
            difference(Rounding::Down).next_up(),
            difference(Rounding::Up)
        );
    }

    #[test]
    fn extrema_and_signs() {
        let bits = |x: f32| u64::from(x.to_bits());
        let (min, max) = (min_32(false, false), max_32(false, false));
        same(min(bits(0.0), bits(-0.0)), -0.0);
        same(max(bits(-0.0), bits(0.0)), 0.0);
        same(min(bits(f32::NAN), bits(2.0)), 2.0);
        same(max(bits(2.0), bits(f32::NAN)), 2.0);
        same(min(bits(f32::NAN), bits(f32::NAN)), f32::NAN);
        same(min_32(false, true)(bits(2.0), bits(f32::NAN)), f32::NAN);
        same(min(bits(3.0), bits(-4.0)), -4.0);
        same(copysign_32(bits(-1.0), bits(3.0)), -3.0);
        same(neg_32(false)(bits(3.0)), -3.0);
        same(abs_32(false)(bits(-3.0)), 3.0);
        assert_eq!(slct_f32(1, 2, bits(-0.0)), 1);
        assert_eq!(slct_f32(1, 2, bits(f32::NAN)), 2);
    }

    #[test]
    fn comparisons_with_nan() {
        let bits = |x: f32| u64::from(x.to_bits());
        let (one, two, nan) = (bits(1.0), bits(2.0), bits(f32::NAN));
        for (ordered, unordered, less, equal, greater) in [
            (single::eq as Binary, single::equ as Binary, 0, 1, 0),
            (single::ne, single::neu, 1, 0, 1),
            (single::lt, single::ltu, 1, 0, 0),
            (single::le, single::leu, 1, 1, 0),
            (single::gt, single::gtu, 0, 0, 1),
            (single::ge, single::geu, 0, 1, 1),
        ] {
            for function in [ordered, unordered] {
                assert_eq!(
                    (function(one, two), function(one, one), function(two, one)),
                    (less, equal, greater)
                );
            }
            assert_eq!(
                (ordered(one, nan), unordered(one, nan), unordered(nan, nan)),
                (0, 1, 1)
            );
        }
        assert_eq!(
            (
                single::num(one, two),
                single::num(one, nan),
                single::nan(nan, one)
            ),
            (1, 0, 1)
        );
        assert_eq!(single_ftz::eq(bits(1e-40), 0), 1);
        assert_eq!(double_cmp::lt(1f64.to_bits(), 2f64.to_bits()), 1);
    }
}
