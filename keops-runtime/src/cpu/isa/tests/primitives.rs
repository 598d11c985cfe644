//! The operations of every instruction set against a model in plain Rust, lane by lane, over all pairs of awkward values.
use keops_gpu_kernels::isa::Isa;
use keops_gpu_kernels::real::{NONE, Real};

use super::{Function, Level, Machine, functions, machines, run};

functions! {
    Add(s, a, b) = s.add(a, b);
    Sub(s, a, b) = s.sub(a, b);
    Mul(s, a, b) = s.mul(a, b);
    Div(s, a, b) = s.div(a, b);
    Fma(s, a, b) = s.fma(a, b, a);
    Fnma(s, a, b) = s.fnma(a, b, a);
    Neg(s, a, b) = s.neg(a);
    Abs(s, a, b) = s.abs(a);
    XorSign(s, a, b) = s.xor_sign(a, b);
    Sqrt(s, a, b) = s.sqrt(a);
    PickMin(s, a, b) = s.pick_min(a, b);
    PickMax(s, a, b) = s.pick_max(a, b);
    Rint(s, a, b) = s.rint(a);
    Lt(s, a, b) = s.select(s.lt(a, b), s.lit(1.0), s.lit(0.0));
    Le(s, a, b) = s.select(s.le(a, b), s.lit(1.0), s.lit(0.0));
    Eq(s, a, b) = s.select(s.eq(a, b), s.lit(1.0), s.lit(0.0));
    And(s, a, b) = s.select(s.and(s.lt(a, b), s.lt(a, s.lit(1.0))), a, b);
    Or(s, a, b) = s.select(s.or(s.lt(a, b), s.lt(a, s.lit(1.0))), a, b);
    Not(s, a, b) = s.select(s.not(s.lt(a, b)), a, b);
    IndexEq(s, a, b) = s.select(s.index_eq(a, b), s.lit(1.0), s.lit(0.0));
    IndexLt(s, a, b) = s.select(s.index_lt(a, b), s.lit(1.0), s.lit(0.0));
    IndexLow(s, a, b) = s.index_low(a);
    IndexHigh(s, a, b) = s.index_high(a);
    AddExponent(s, a, b) = s.add_exponent(a, s.add(b, s.lit(S::T::MAGIC)));
    Scale(s, a, b) = s.scale(a, b);
    Root(s, a, b) = s.root(a);
    Exponent(s, a, b) = s.exponent(a);
    Significand(s, a, b) = s.significand(a);
    Lanes(s, a, b) = s.lit(S::LANES as f64);
    Any(s, a, b) = if s.any(s.lt(a, b)) { s.lit(1.0) } else { s.lit(0.0) };
}

/// Whether the machine's fma rounds once.
fn fused(machine: Machine) -> bool {
    !matches!(machine, Machine::Real(Level::Sse2 | Level::Scalar))
}

macro_rules! primitives {
    ($module:ident, $t:ty) => {
        mod $module {
            use super::*;

            /// Compares bits; any NaN will do for a NaN unless the operation moves bits only.
            fn check<E: Function>(
                name: &str,
                machine: Machine,
                pairs: &[($t, $t)],
                exact_nan: bool,
                model: impl Fn($t, $t) -> $t,
            ) {
                let a: Vec<$t> = pairs.iter().map(|p| p.0).collect();
                let b: Vec<$t> = pairs.iter().map(|p| p.1).collect();
                for (found, &(a, b)) in run::<E, $t>(machine, &a, &b).into_iter().zip(pairs) {
                    let expected = model(a, b);
                    let same = found.to_bits() == expected.to_bits()
                        || (!exact_nan && found.is_nan() && expected.is_nan());
                    assert!(
                        same,
                        "{name} on {machine:?} of {a:e} ({:#x}) and {b:e} ({:#x}): {found:e}, not {expected:e}",
                        a.to_bits(),
                        b.to_bits()
                    );
                }
            }

            fn awkward() -> Vec<$t> {
                let tiny = <$t>::from_bits(1);
                let quiet = <$t>::NAN.to_bits();
                let mut all = vec![0.0, tiny, tiny * 12345.0, <$t>::MIN_POSITIVE, <$t>::EPSILON, 0.1, 0.5, 0.75];
                all.extend([1.0, 1.5, 2.0, 2.5, 3.5, 100.49, 1e10, <$t>::MAX, <$t>::INFINITY, <$t>::NAN]);
                all.extend([<$t>::MAX / 2.0, 1.0 - <$t>::EPSILON / 2.0, 0.5 - <$t>::EPSILON / 4.0]);
                // Around the magnitudes where fractions end.
                for k in [<$t>::MANTISSA_DIGITS - 2, <$t>::MANTISSA_DIGITS - 1, <$t>::MANTISSA_DIGITS] {
                    let power = (1u64 << k) as $t;
                    all.extend([power - 0.5, power, power + 1.0, power * 3.0]);
                }
                all.extend([<$t>::from_bits(quiet | 1), <$t>::from_bits(quiet | 1954), <$t>::from_bits(quiet | 0xfff)]);
                let negative: Vec<_> = all.iter().map(|x| -x).collect();
                all.extend(negative);
                all
            }

            fn pairs(of: &[$t]) -> Vec<($t, $t)> {
                of.iter().flat_map(|&a| of.iter().map(move |&b| (a, b))).collect()
            }

            #[test]
            fn arithmetic() {
                let pairs = pairs(&awkward());
                for m in machines() {
                    check::<Add>("add", m, &pairs, false, |a, b| a + b);
                    check::<Sub>("sub", m, &pairs, false, |a, b| a - b);
                    check::<Mul>("mul", m, &pairs, false, |a, b| a * b);
                    check::<Div>("div", m, &pairs, false, |a, b| a / b);
                    check::<Sqrt>("sqrt", m, &pairs, false, |a, _| a.sqrt());
                    let once = fused(m);
                    check::<Fma>("fma", m, &pairs, false, |a, b| if once { a.mul_add(b, a) } else { a * b + a });
                    check::<Fnma>("fnma", m, &pairs, false, |a, b| if once { (-a).mul_add(b, a) } else { a - a * b });
                }
            }

            /// Numbers of moderate size, which some instruction sets divide and take roots of by multiplications; many quotients and
            /// roots are as near to the middle of two numbers as they can be.
            #[test]
            fn quotients_and_roots_are_the_nearest_numbers() {
                let mut seed = 1_u64;
                let mut random = || {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let fraction = (seed >> 11) as f64 / (1_u64 << 53) as f64;
                    ((1.0 + fraction) * 2f64.powi((seed % 41) as i32 - 20)) as $t
                };
                let sign = |k: usize| if k.is_multiple_of(3) { -1.0 } else { 1.0 };
                let pairs: Vec<($t, $t)> = (0..300_000)
                    .map(|k| {
                        let (a, b) = (random(), sign(k) * random());
                        let middle = f64::from(a) * (1.0 + f64::from(<$t>::EPSILON) / 2.0);
                        match k % 4 {
                            0 => (a, b),
                            // The quotient is a, or nearly between a and the next number.
                            1 => (a * b, b),
                            2 => ((middle * f64::from(b)) as $t, b),
                            // The same for the root.
                            _ => ((f64::from(a) * f64::from(a) + f64::from(a) * f64::from(<$t>::EPSILON)) as $t, b),
                        }
                    })
                    .collect();
                // Found by search: quotients next to the middle of two numbers.
                let mut pairs = pairs;
                for (a, b) in [
                    (6361439728459180.0, 8818213507422079.0),
                    (8723861364374940.0, 8807243948626173.0),
                ] {
                    pairs.extend([(a as $t, b as $t); 16]);
                }
                let small: Vec<($t, $t)> = pairs.iter().map(|&(a, b)| (a, a / b)).collect();
                for m in machines() {
                    for pairs in [&pairs, &small] {
                        check::<Div>("div", m, pairs, false, |a, b| a / b);
                        check::<Sqrt>("sqrt", m, pairs, false, |a, _| a.sqrt());
                    }
                }
            }

            #[test]
            fn bits_and_order() {
                let pairs = pairs(&awkward());
                let truth = |x: bool| if x { 1.0 } else { 0.0 };
                let sign = 1 << (<$t>::from_bits(0).to_bits().count_zeros() - 1);
                for m in machines() {
                    check::<Neg>("neg", m, &pairs, true, |a, _| <$t>::from_bits(a.to_bits() ^ sign));
                    check::<Abs>("abs", m, &pairs, true, |a, _| <$t>::from_bits(a.to_bits() & !sign));
                    check::<XorSign>("xor_sign", m, &pairs, true, |a, b| {
                        <$t>::from_bits(a.to_bits() ^ (b.to_bits() & sign))
                    });
                    check::<PickMin>("pick_min", m, &pairs, true, |a, b| if a < b { a } else { b });
                    check::<PickMax>("pick_max", m, &pairs, true, |a, b| if a > b { a } else { b });
                    check::<Lt>("lt", m, &pairs, true, |a, b| truth(a < b));
                    check::<Le>("le", m, &pairs, true, |a, b| truth(a <= b));
                    check::<Eq>("eq", m, &pairs, true, |a, b| truth(a == b));
                    check::<And>("and", m, &pairs, true, |a, b| if a < b && a < 1.0 { a } else { b });
                    check::<Or>("or", m, &pairs, true, |a, b| if a < b || a < 1.0 { a } else { b });
                    check::<Not>("not", m, &pairs, true, |a, b| if a < b { b } else { a });
                    check::<Rint>("rint", m, &pairs, false, |a, _| a.round_ties_even());
                }
            }

            #[test]
            fn indices_are_compared_as_unsigned_integers() {
                let indices = [0, 1, 2, 255, 1 << 23, 0x7f80_0000, 0x7f80_0001, 0x8000_0000, 0xff80_0001, NONE - 1, NONE];
                let values: Vec<$t> = indices.iter().map(|&j| <$t>::from_index(j)).collect();
                let truth = |x: bool| if x { 1.0 } else { 0.0 };
                for m in machines() {
                    check::<IndexEq>("index_eq", m, &pairs(&values), true, |a, b| truth(a.to_index() == b.to_index()));
                    check::<IndexLt>("index_lt", m, &pairs(&values), true, |a, b| truth(a.to_index() < b.to_index()));
                    check::<IndexLow>("index_low", m, &pairs(&values), true, |a, _| (a.to_index() & 0xffff) as $t);
                    check::<IndexHigh>("index_high", m, &pairs(&values), true, |a, _| (a.to_index() >> 16) as $t);
                }
            }

            /// p · 2^n with one rounding: only the last factor that matters can lead to a subnormal number.
            fn scaled(p: $t, n: $t) -> $t {
                let limit = <$t>::MAX_EXP - 24;
                let (mut out, mut rest) = (p, n as i32);
                while rest != 0 {
                    let step = rest.clamp(-limit, limit);
                    out *= (2.0 as $t).powi(step);
                    rest -= step;
                }
                out
            }

            #[test]
            fn exponents() {
                let significands: [$t; 6] = [1.0, 1.25, 1.5, 0.75, 1.999, 2.0 - <$t>::EPSILON];
                let top = <$t>::MAX_EXP;
                let normal: Vec<($t, $t)> = significands
                    .iter()
                    .flat_map(|&p| (3 - top..top - 1).map(move |n| (p, n as $t)))
                    .collect();
                let any: Vec<($t, $t)> = [significands.as_slice(), &[-1.7, 0.0, <$t>::INFINITY, <$t>::NAN]]
                    .concat()
                    .into_iter()
                    .flat_map(|p| (4 - 2 * top..2 * top - 4).map(move |n| (p, n as $t)))
                    .collect();
                for m in machines() {
                    check::<AddExponent>("add_exponent", m, &normal, true, scaled);
                    check::<Scale>("scale", m, &any, false, scaled);
                    let numbers: Vec<($t, $t)> = normal.iter().map(|&(p, n)| (scaled(p, n), n)).collect();
                    check::<Exponent>("exponent", m, &numbers, true, |a, _| {
                        ((a.to_bits() >> (<$t>::MANTISSA_DIGITS - 1)) as i32 - (top - 1)) as $t
                    });
                    check::<Significand>("significand", m, &numbers, true, |a, _| {
                        let e = (a.to_bits() >> (<$t>::MANTISSA_DIGITS - 1)) as i32 - (top - 1);
                        scaled(a, -e as $t)
                    });
                }
            }

            #[test]
            fn roots_of_two() {
                let count = 1 << <$t>::ROOT_BITS;
                let magic = <$t as Real>::MAGIC as $t / count as $t;
                let steps: Vec<i32> = (-3 * count..3 * count).collect();
                let sums: Vec<$t> = steps.iter().map(|&k| magic + k as $t / count as $t).collect();
                for m in machines() {
                    let table = matches!(m, Machine::Wide | Machine::Real(Level::Avx512));
                    for (&k, found) in steps.iter().zip(run::<Root, $t>(m, &sums, &sums)) {
                        let exact = (f64::from(k.rem_euclid(count)) / f64::from(count)).exp2() as $t;
                        let bound = if table { 0.0 } else { 2.0 * <$t>::EPSILON };
                        assert!((found - exact).abs() <= bound, "root {k} on {m:?}: {found:e}, not {exact:e}");
                    }
                }
            }

            #[test]
            fn any_sees_each_lane_of_its_own_vector_only() {
                for m in machines() {
                    let lanes = run::<Lanes, $t>(m, &[0.0], &[0.0])[0] as usize;
                    for k in 0..80 {
                        let a: Vec<$t> = (0..80).map(|lane| if lane == k { -1.0 } else { <$t>::NAN }).collect();
                        let found = run::<Any, $t>(m, &a, &[0.0; 80]);
                        for (lane, value) in found.into_iter().enumerate() {
                            assert_eq!(value != 0.0, lane / lanes == k / lanes, "any on {m:?}, lanes {k} and {lane}");
                        }
                    }
                }
            }
        }
    };
}

primitives!(single, f32);
primitives!(double, f64);
