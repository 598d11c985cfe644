//! Special arguments of the elementary functions: zeros, infinities, NaN of any payload, the edges of the range.
use keops_gpu_kernels::isa::Isa;

use super::accuracy::{
    Acos, Asin, Atan2, Cos, Cosh, Erf, Erfc, Exp, Exp2, Exp2Sum, Exp2SumNonpositive, Expm1, Log,
    Log1p, Log2, Powf, Rsqrt, Sin, Sinh, Tan, Tanh,
};
use super::{Function, Level, Machine, choose, functions, machines, run, run1};

functions! {
    LogOfExp(s, a, b) = s.log(s.exp(a));
}

macro_rules! specials {
    ($module:ident, $t:ty, nan_payloads $payloads:expr) => {
        mod $module {
            use super::*;

            const INF: $t = <$t>::INFINITY;
            const NAN: $t = <$t>::NAN;

            /// Exact values; NaN stands for any NaN.
            fn check<E: Function>(name: &str, cases: &[($t, $t)]) {
                let a: Vec<$t> = cases.iter().map(|c| c.0).collect();
                for machine in machines() {
                    for (found, &(a, expected)) in run1::<E, $t>(machine, &a).into_iter().zip(cases)
                    {
                        let same = found.to_bits() == expected.to_bits()
                            || found.is_nan() && expected.is_nan();
                        assert!(
                            same,
                            "{name}({a:e}) on {machine:?}: {found:e}, not {expected:e}"
                        );
                    }
                }
            }

            #[test]
            fn values_at_special_arguments() {
                let max = <$t>::MAX;
                let tiny = <$t>::from_bits(1);
                check::<Exp>(
                    "exp",
                    &[
                        (0.0, 1.0),
                        (-0.0, 1.0),
                        (INF, INF),
                        (-INF, 0.0),
                        (max, INF),
                        (-max, 0.0),
                        (tiny, 1.0),
                    ],
                );
                check::<Log>(
                    "log",
                    &[
                        (0.0, -INF),
                        (-0.0, -INF),
                        (1.0, 0.0),
                        (INF, INF),
                        (-INF, NAN),
                        (-1.0, NAN),
                        (-tiny, NAN),
                    ],
                );
                check::<Sin>(
                    "sin",
                    &[
                        (0.0, 0.0),
                        (-0.0, -0.0),
                        (INF, NAN),
                        (-INF, NAN),
                        (tiny, tiny),
                    ],
                );
                check::<Cos>(
                    "cos",
                    &[
                        (0.0, 1.0),
                        (-0.0, 1.0),
                        (INF, NAN),
                        (-INF, NAN),
                        (tiny, 1.0),
                    ],
                );
                check::<Tanh>(
                    "tanh",
                    &[
                        (0.0, 0.0),
                        (-0.0, -0.0),
                        (INF, 1.0),
                        (-INF, -1.0),
                        (max, 1.0),
                        (-50.0, -1.0),
                    ],
                );
                check::<Rsqrt>(
                    "rsqrt",
                    &[
                        (0.0, INF),
                        (-0.0, -INF),
                        (INF, 0.0),
                        (-1.0, NAN),
                        (-INF, NAN),
                        (1.0, 1.0),
                    ],
                );
            }

            #[test]
            fn more_values_at_special_arguments() {
                let max = <$t>::MAX;
                let tiny = <$t>::from_bits(1);
                check::<Exp2>(
                    "exp2",
                    &[
                        (0.0, 1.0),
                        (-0.0, 1.0),
                        (INF, INF),
                        (-INF, 0.0),
                        (max, INF),
                        (-max, 0.0),
                        (3.0, 8.0),
                        ((2 - <$t>::MAX_EXP) as $t, <$t>::MIN_POSITIVE),
                        (<$t>::MAX_EXP as $t, INF),
                        (
                            (3 - <$t>::MAX_EXP - <$t>::MANTISSA_DIGITS as i32) as $t,
                            tiny,
                        ),
                    ],
                );
                check::<Expm1>(
                    "expm1",
                    &[
                        (0.0, 0.0),
                        (-0.0, -0.0),
                        (INF, INF),
                        (-INF, -1.0),
                        (max, INF),
                        (-max, -1.0),
                        (tiny, tiny),
                        (-tiny, -tiny),
                    ],
                );
                check::<Log2>(
                    "log2",
                    &[
                        (0.0, -INF),
                        (-0.0, -INF),
                        (1.0, 0.0),
                        (8.0, 3.0),
                        (0.125, -3.0),
                        (<$t>::MIN_POSITIVE, (<$t>::MIN_EXP - 1) as $t),
                        (tiny, (<$t>::MIN_EXP - <$t>::MANTISSA_DIGITS as i32) as $t),
                        (INF, INF),
                        (-INF, NAN),
                        (-tiny, NAN),
                    ],
                );
                check::<Log1p>(
                    "log1p",
                    &[
                        (0.0, 0.0),
                        (-0.0, -0.0),
                        (-1.0, -INF),
                        (-2.0, NAN),
                        (INF, INF),
                        (-INF, NAN),
                        (tiny, tiny),
                        (-tiny, -tiny),
                    ],
                );
                check::<Tan>(
                    "tan",
                    &[
                        (0.0, 0.0),
                        (-0.0, -0.0),
                        (INF, NAN),
                        (-INF, NAN),
                        (tiny, tiny),
                        (-tiny, -tiny),
                    ],
                );
                let (half_pi, pi) = (
                    std::f64::consts::FRAC_PI_2 as $t,
                    std::f64::consts::PI as $t,
                );
                check::<Asin>(
                    "asin",
                    &[
                        (0.0, 0.0),
                        (-0.0, -0.0),
                        (1.0, half_pi),
                        (-1.0, -half_pi),
                        (1.5, NAN),
                        (-INF, NAN),
                        (tiny, tiny),
                    ],
                );
                check::<Acos>(
                    "acos",
                    &[
                        (1.0, 0.0),
                        (-1.0, pi),
                        (0.0, half_pi),
                        (-0.0, half_pi),
                        (1.5, NAN),
                        (INF, NAN),
                    ],
                );
                check::<Sinh>(
                    "sinh",
                    &[
                        (0.0, 0.0),
                        (-0.0, -0.0),
                        (INF, INF),
                        (-INF, -INF),
                        (max, INF),
                        (tiny, tiny),
                    ],
                );
                check::<Cosh>(
                    "cosh",
                    &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (max, INF)],
                );
                check::<Erf>(
                    "erf",
                    &[
                        (0.0, 0.0),
                        (-0.0, -0.0),
                        (INF, 1.0),
                        (-INF, -1.0),
                        (max, 1.0),
                    ],
                );
                check::<Erfc>(
                    "erfc",
                    &[(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (max, 0.0)],
                );
            }

            #[test]
            fn angles_of_special_points() {
                let of = [
                    0.0,
                    -0.0,
                    1.0,
                    -1.0,
                    INF,
                    -INF,
                    NAN,
                    <$t>::MAX,
                    -<$t>::MAX,
                    <$t>::MIN_POSITIVE,
                    -<$t>::MIN_POSITIVE,
                    <$t>::from_bits(1),
                    <$t>::from_bits(3),
                ];
                let y: Vec<$t> = of.iter().flat_map(|&y| of.iter().map(move |_| y)).collect();
                let x: Vec<$t> = of.iter().flat_map(|_| of.iter().copied()).collect();
                for machine in machines() {
                    for ((found, &y), &x) in run::<Atan2, $t>(machine, &y, &x)
                        .into_iter()
                        .zip(&y)
                        .zip(&x)
                    {
                        let expected = y.atan2(x);
                        // Quotients that underflow keep only some bits.
                        let bound = (2.0 * <$t>::EPSILON * expected.abs()).max(<$t>::from_bits(1));
                        let close = (found - expected).abs() <= bound
                            && found.is_sign_negative() == expected.is_sign_negative();
                        assert!(
                            close || found.is_nan() && expected.is_nan(),
                            "atan2({y:e}, {x:e}) on {machine:?}: {found:e}, not {expected:e}"
                        );
                    }
                }
            }

            #[test]
            fn nan_stays_nan_whatever_its_payload() {
                let payloads: Vec<$t> = $payloads;
                assert!(payloads.iter().all(|x| x.is_nan()));
                for machine in machines() {
                    let all_nan = |name: &str, values: Vec<$t>| {
                        assert!(
                            values.iter().all(|x| x.is_nan()),
                            "{name} of NaN on {machine:?}: {values:?}"
                        );
                    };
                    all_nan("exp", run1::<Exp, $t>(machine, &payloads));
                    all_nan("exp2_sum", run1::<Exp2Sum, $t>(machine, &payloads));
                    all_nan(
                        "exp2_sum_nonpositive",
                        run1::<Exp2SumNonpositive, $t>(machine, &payloads),
                    );
                    all_nan("log", run1::<Log, $t>(machine, &payloads));
                    all_nan("sin", run1::<Sin, $t>(machine, &payloads));
                    all_nan("cos", run1::<Cos, $t>(machine, &payloads));
                    all_nan("tanh", run1::<Tanh, $t>(machine, &payloads));
                    all_nan("rsqrt", run1::<Rsqrt, $t>(machine, &payloads));
                    all_nan("exp2", run1::<Exp2, $t>(machine, &payloads));
                    all_nan("expm1", run1::<Expm1, $t>(machine, &payloads));
                    all_nan("log2", run1::<Log2, $t>(machine, &payloads));
                    all_nan("log1p", run1::<Log1p, $t>(machine, &payloads));
                    all_nan("tan", run1::<Tan, $t>(machine, &payloads));
                    all_nan("asin", run1::<Asin, $t>(machine, &payloads));
                    all_nan("acos", run1::<Acos, $t>(machine, &payloads));
                    all_nan("sinh", run1::<Sinh, $t>(machine, &payloads));
                    all_nan("cosh", run1::<Cosh, $t>(machine, &payloads));
                    all_nan("erf", run1::<Erf, $t>(machine, &payloads));
                    all_nan("erfc", run1::<Erfc, $t>(machine, &payloads));
                    all_nan("atan2", run1::<Atan2, $t>(machine, &payloads));
                    all_nan(
                        "powf",
                        run::<Powf, $t>(machine, &payloads, &vec![2.5; payloads.len()]),
                    );
                    all_nan(
                        "powf",
                        run::<Powf, $t>(machine, &vec![2.5; payloads.len()], &payloads),
                    );
                    all_nan("log of exp", run1::<LogOfExp, $t>(machine, &payloads));
                }
            }

            #[test]
            fn fast_powers_of_two() {
                let emax = <$t>::MAX_EXP as $t;
                let below = |x: $t| x - x.abs() * <$t>::EPSILON;
                let mut cases = vec![
                    (0.0, 1.0),
                    (-0.0, 1.0),
                    (-INF, 0.0),
                    (-<$t>::MAX, 0.0),
                    (-emax - 100.0, 0.0),
                ];
                // Whole powers are exact down to the smallest that is promised.
                cases.extend((2 - <$t>::MAX_EXP + 1..=0).map(|n| (n as $t, (2.0 as $t).powi(n))));
                check::<Exp2Sum>("exp2_sum", &cases);
                check::<Exp2SumNonpositive>("exp2_sum_nonpositive", &cases);
                let mut cases = vec![
                    (INF, INF),
                    (<$t>::MAX, INF),
                    (emax, INF),
                    (emax + 0.25, INF),
                    (1e4, INF),
                ];
                cases.extend((0..<$t>::MAX_EXP).map(|n| (n as $t, (2.0 as $t).powi(n))));
                check::<Exp2Sum>("exp2_sum", &cases);
                for machine in machines() {
                    let top =
                        run1::<Exp2Sum, $t>(machine, &[below(emax), emax - 0.49, emax - 0.51]);
                    assert!(
                        top.iter().all(|x| x.is_finite() && *x > <$t>::MAX / 2.0),
                        "{top:?} on {machine:?}"
                    );
                    // What would be subnormal may be flushed, but is neither negative nor large.
                    let low: Vec<$t> = (0..200).map(|k| 2.0 - emax - (k as $t) * 0.25).collect();
                    for found in [
                        run1::<Exp2Sum, $t>(machine, &low),
                        run1::<Exp2SumNonpositive, $t>(machine, &low),
                    ] {
                        assert!(
                            found
                                .iter()
                                .all(|x| (0.0..=<$t>::MIN_POSITIVE * 1.0001).contains(x)
                                    && x.is_sign_positive()),
                            "{found:?} on {machine:?}"
                        );
                    }
                }
            }

            #[test]
            fn powers_at_special_arguments() {
                let mut of = vec![
                    0.0,
                    0.25,
                    0.5,
                    1.0,
                    2.0,
                    2.5,
                    3.0,
                    1e15,
                    1e30,
                    <$t>::MAX,
                    INF,
                    NAN,
                    0.999,
                    1.001,
                    7.0,
                ];
                of.extend([
                    <$t>::from_bits(1),
                    <$t>::MIN_POSITIVE,
                    1.0 / <$t>::EPSILON - 1.0,
                    1.0 / <$t>::EPSILON,
                    1e-30,
                ]);
                let negative: Vec<$t> = of.iter().map(|x| -x).collect();
                of.extend(negative);
                let a: Vec<$t> = of.iter().flat_map(|&a| of.iter().map(move |_| a)).collect();
                let b: Vec<$t> = of.iter().flat_map(|_| of.iter().copied()).collect();
                for machine in machines() {
                    for ((found, &a), &b) in
                        run::<Powf, $t>(machine, &a, &b).into_iter().zip(&a).zip(&b)
                    {
                        // `std` is C's pow here.
                        let expected = a.powf(b);
                        let close = expected.is_finite()
                            && expected != 0.0
                            && (found - expected).abs()
                                <= (3.0 * <$t>::EPSILON * expected.abs())
                                    .max(2.0 * <$t>::from_bits(1));
                        let same = found.to_bits() == expected.to_bits()
                            || found.is_nan() && expected.is_nan();
                        assert!(
                            same || close,
                            "powf({a:e}, {b:e}) on {machine:?}: {found:e}, not {expected:e}"
                        );
                    }
                }
            }

            #[test]
            fn tanh_and_sin_are_odd_and_cos_is_even() {
                let a: Vec<$t> = (1..2000).map(|k| (k as $t) * (k as $t) * 0.013).collect();
                let minus: Vec<$t> = a.iter().map(|x| -x).collect();
                for machine in machines() {
                    let negated =
                        |values: Vec<$t>| values.into_iter().map(|x| -x).collect::<Vec<_>>();
                    assert_eq!(
                        run1::<Sin, $t>(machine, &minus),
                        negated(run1::<Sin, $t>(machine, &a))
                    );
                    assert_eq!(
                        run1::<Tanh, $t>(machine, &minus),
                        negated(run1::<Tanh, $t>(machine, &a))
                    );
                    let cosines = run1::<Cos, $t>(machine, &a);
                    assert_eq!(run1::<Cos, $t>(machine, &minus), cosines);
                    assert!(cosines.iter().all(|x| x.abs() <= 1.0));
                }
            }
        }
    };
}

/// Every low byte pattern and the top of the fraction, both signs, quiet and signalling.
macro_rules! payloads {
    ($t:ty, $quiet_bit:expr) => {
        (0..2048)
            .flat_map(|low| {
                let quiet = <$t>::INFINITY.to_bits() | (1 << $quiet_bit) | low;
                let signalling = <$t>::INFINITY.to_bits() | (low << ($quiet_bit - 12)) | (low + 1);
                [
                    <$t>::from_bits(quiet),
                    -<$t>::from_bits(quiet),
                    <$t>::from_bits(signalling),
                ]
            })
            .collect()
    };
}

specials!(single, f32, nan_payloads payloads!(f32, 22));
specials!(double, f64, nan_payloads payloads!(f64, 51));

#[test]
fn an_unknown_or_unsupported_wish_is_ignored() {
    let best = Level::supported()[0];
    assert_eq!(choose(None), best);
    assert_eq!(choose(Some("mmx")), best);
    assert_eq!(choose(Some("")), best);
    for level in Level::ALL {
        let expected = if level.is_supported() { level } else { best };
        assert_eq!(choose(Some(level.name())), expected);
    }
}

#[test]
fn scalar_is_the_last_resort() {
    assert_eq!(Level::supported().last(), Some(&Level::Scalar));
    assert!(Level::supported().contains(&crate::cpu::isa::level()));
    assert!(machines().contains(&Machine::Real(Level::Scalar)));
}
