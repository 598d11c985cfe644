//! Largest errors of the elementary functions, in units in the last place, asserted and printed as a table
//! (`cargo test accuracy -- --nocapture`). The contract is 2 ulp; the bounds here are just above what was measured, so
//! that a worse polynomial or reduction shows.
use keops_gpu_kernels::isa::Isa;

use super::reference::{self, Double};
use super::{Function, Machine, Value, functions, machines, run};

functions! {
    Rsqrt(s, a, b) = s.rsqrt(a);
    Exp(s, a, b) = s.exp(a);
    Exp2Sum(s, a, b) = s.exp2_sum(a);
    Exp2SumNonpositive(s, a, b) = s.exp2_sum_nonpositive(s.neg(a), s.lit(-1.0));
    Log(s, a, b) = s.log(a);
    Sin(s, a, b) = s.sin(a);
    Cos(s, a, b) = s.cos(a);
    Tanh(s, a, b) = s.tanh(a);
    Powf(s, a, b) = s.powf(a, b);
    Exp2(s, a, b) = s.exp2(a);
    Expm1(s, a, b) = s.expm1(a);
    Log2(s, a, b) = s.log2(a);
    Log1p(s, a, b) = s.log1p(a);
    Tan(s, a, b) = s.tan(a);
    Asin(s, a, b) = s.asin(a);
    Acos(s, a, b) = s.acos(a);
    Atan2(s, a, b) = s.atan2(a, b);
    Sinh(s, a, b) = s.sinh(a);
    Cosh(s, a, b) = s.cosh(a);
    Erf(s, a, b) = s.erf(a);
    Erfc(s, a, b) = s.erfc(a);
}

/// Error of `found` against m · 2^n, in units of the last place of the exact value at `f32`.
fn ulp32(found: f32, exact: f64) -> f64 {
    if exact.is_nan() || found.is_nan() {
        return if exact.is_nan() && found.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let nearest = exact as f32;
    if found.is_infinite() || nearest.is_infinite() {
        return if found == nearest { 0.0 } else { f64::INFINITY };
    }
    let exponent = ((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    (f64::from(found) - exact).abs() * 2f64.powi(23 - exponent.max(-126))
}

/// Likewise at `f64`, the exact value being m · 2^n.
fn ulp64(found: f64, (m, n): (Double, i32)) -> f64 {
    if m.hi.is_nan() || found.is_nan() {
        return if m.hi.is_nan() && found.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if m.hi == 0.0 {
        return if found == 0.0 { 0.0 } else { f64::INFINITY };
    }
    let exponent = ((m.hi.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let top = exponent + n;
    if top >= 1024 || found.is_infinite() {
        // The largest number is not far from 2^1024: either is within a unit of values that close.
        let near = top >= 1023 && m.hi.abs() * 2f64.powi(-exponent) > 2.0 - 1e-15;
        return if (top >= 1024 && found.is_infinite()) || near {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if top < -1080 {
        return found.abs() * 2f64.powi(1000) * 2f64.powi(74);
    }
    // found / 2^n is exact in up to three steps; it is not subnormal because m is not.
    let (one, two) = (2f64.powi(-n / 3), 2f64.powi(-n / 3 + (-n % 3)));
    let found = found * one * one * two;
    let unit = (exponent - 52).max(-1074 - n);
    ((found - m.hi) - m.lo).abs() * 2f64.powi(-unit / 2) * 2f64.powi(-unit - (-unit / 2))
}

struct Worst {
    error: f64,
    at: String,
}

fn worst32<E: Function>(
    machine: Machine,
    a: &[f32],
    b: &[f32],
    exact: fn(f64, f64) -> f64,
) -> Worst {
    let mut worst = Worst {
        error: 0.0,
        at: String::new(),
    };
    for ((&found, &a), &b) in run::<E, f32>(machine, a, b).iter().zip(a).zip(b) {
        let error = ulp32(found, exact(a.into(), b.into()));
        if error > worst.error {
            worst = Worst {
                error,
                at: format!("({a:e}, {b:e}) = {found:e}"),
            };
        }
    }
    worst
}

fn worst64<E: Function>(machine: Machine, a: &[f64], b: &[f64], exact: &[(Double, i32)]) -> Worst {
    let mut worst = Worst {
        error: 0.0,
        at: String::new(),
    };
    for (((&found, &a), &b), &exact) in run::<E, f64>(machine, a, b).iter().zip(a).zip(b).zip(exact)
    {
        let error = ulp64(found, exact);
        if error > worst.error {
            worst = Worst {
                error,
                at: format!("({a:e}, {b:e}) = {found:e}"),
            };
        }
    }
    worst
}

/// A small generator, so that the arguments are the same on every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 ^ (self.0 >> 33);
        x.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ (x >> 29)
    }

    /// Uniform in [low, high).
    pub(super) fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// `count` values, uniform in [low, high).
    fn many<T: Value>(&mut self, count: usize, low: f64, high: f64) -> Vec<T> {
        (0..count).map(|_| T::of(self.within(low, high))).collect()
    }
}

/// Checks one f32 function over all machines: a strided sweep of every bit pattern, and dense ranges.
fn check32<E: Function>(
    name: &str,
    bound: f64,
    domain: fn(f32) -> bool,
    dense: &[(f64, f64)],
    exact: fn(f64, f64) -> f64,
) {
    let mut random = Random(7);
    let mut dense: Vec<f32> = dense
        .iter()
        .flat_map(|&(low, high)| random.many(40_000, low, high))
        .collect();
    dense.retain(|&x| domain(x));
    for machine in machines() {
        let stride = if matches!(machine, Machine::Real(_)) {
            4999
        } else {
            49_999
        };
        let mut a: Vec<f32> = (0..=u32::MAX)
            .step_by(stride)
            .map(f32::from_bits)
            .filter(|&x| domain(x))
            .collect();
        a.extend(&dense);
        let worst = worst32::<E>(machine, &a, &a, exact);
        println!(
            "{name:24} f32 {machine:16?} {:8.3} ulp at {}",
            worst.error, worst.at
        );
        assert!(
            worst.error <= bound,
            "{name} on {machine:?}: {} ulp at {}",
            worst.error,
            worst.at
        );
    }
}

/// Checks one f64 function over all machines on given ranges.
fn check64<E: Function>(
    name: &str,
    bound: f64,
    ranges: &[(f64, f64)],
    exact: fn(f64) -> (Double, i32),
) {
    let mut random = Random(11);
    let a: Vec<f64> = ranges
        .iter()
        .flat_map(|&(low, high)| random.many(4000, low, high))
        .collect();
    let exact: Vec<_> = a.iter().map(|&a| exact(a)).collect();
    for machine in machines() {
        let worst = worst64::<E>(machine, &a, &a, &exact);
        println!(
            "{name:24} f64 {machine:16?} {:8.3} ulp at {}",
            worst.error, worst.at
        );
        assert!(
            worst.error <= bound,
            "{name} on {machine:?}: {} ulp at {}",
            worst.error,
            worst.at
        );
    }
}

#[test]
fn exp_is_accurate() {
    check32::<Exp>(
        "exp",
        1.25,
        |_| true,
        &[(-104.0, 89.0), (-1.0, 1.0), (-104.0, -87.0)],
        |x, _| x.exp(),
    );
    let ranges = [(-745.0, 709.7), (-1.0, 1.0), (-745.2, -708.0), (-40.0, 0.0)];
    check64::<Exp>("exp", 1.25, &ranges, reference::exp);
}

#[test]
fn exp2_of_a_sum_is_accurate_where_it_is_normal() {
    check32::<Exp2Sum>(
        "exp2_sum",
        2.3,
        |t| t.is_nan() || t >= -125.5,
        &[(-125.5, 128.0), (-1.0, 1.0)],
        |x, _| x.exp2(),
    );
    let domain = |t: f32| t.is_nan() || (-126.0..=0.0).contains(&t);
    check32::<Exp2SumNonpositive>(
        "exp2_sum_nonpositive",
        2.3,
        domain,
        &[(-126.0, 0.0), (-1.0, 0.0)],
        |x, _| x.exp2(),
    );
    check64::<Exp2Sum>(
        "exp2_sum",
        1.4,
        &[(-1021.5, 1023.9), (-1.0, 1.0)],
        reference::exp2,
    );
    check64::<Exp2SumNonpositive>(
        "exp2_sum_nonpositive",
        1.4,
        &[(-1022.0, 0.0), (-1.0, 0.0)],
        reference::exp2,
    );
}

#[test]
fn log_is_accurate() {
    check32::<Log>(
        "log",
        1.0,
        |_| true,
        &[(0.0, 2.0), (0.9, 1.1), (0.0, 1e-38)],
        |x, _| x.ln(),
    );
    let ranges = [
        (0.0, 2.0),
        (0.99, 1.01),
        (0.0, 1e-307),
        (1.0, 1e308),
        (0.5, 1.5),
        (2e-310, 1e-308),
    ];
    check64::<Log>("log", 1.0, &ranges, reference::log);
}

#[test]
fn sin_and_cos_are_accurate() {
    let dense = [
        (-7.0, 7.0),
        (-100.0, 100.0),
        (-1e5, 1e5),
        (9e4, 2e5),
        (1e9, 1e10),
        (0.5, 0.53),
    ];
    check32::<Sin>("sin", 1.7, |_| true, &dense, |x, _| x.sin());
    check32::<Cos>("cos", 1.7, |_| true, &dense, |x, _| x.cos());
    let ranges = [
        (-7.0, 7.0),
        (-100.0, 100.0),
        (-1e5, 1e5),
        (-1e9, 1e9),
        (0.5, 0.53),
    ];
    check64::<Sin>("sin", 1.7, &ranges, reference::sin);
    check64::<Cos>("cos", 1.7, &ranges, reference::cos);
}

#[test]
fn sin_and_cos_of_huge_f64_are_accurate() {
    // Beyond the reference's range: `std`, itself good to about half a unit, hence the larger bound.
    let by_std = |f: fn(f64) -> f64, x: f64| (Double::from(f(x)), 0);
    let mut random = Random(5);
    let a: Vec<f64> = (0..20_000)
        .map(|_| random.within(30.0, 1023.9).exp2())
        .collect();
    for machine in machines() {
        let sines: Vec<_> = a.iter().map(|&x| by_std(f64::sin, x)).collect();
        let cosines: Vec<_> = a.iter().map(|&x| by_std(f64::cos, x)).collect();
        for (name, worst) in [
            ("sin", worst64::<Sin>(machine, &a, &a, &sines)),
            ("cos", worst64::<Cos>(machine, &a, &a, &cosines)),
        ] {
            println!(
                "{name:24} f64 {machine:16?} {:8.3} ulp at {} (huge)",
                worst.error, worst.at
            );
            assert!(
                worst.error <= 2.5,
                "{name} on {machine:?}: {} ulp at {}",
                worst.error,
                worst.at
            );
        }
    }
}

#[test]
fn tanh_is_accurate() {
    check32::<Tanh>(
        "tanh",
        1.5,
        |_| true,
        &[(-1.0, 1.0), (-10.0, 10.0), (0.6, 0.65)],
        |x, _| x.tanh(),
    );
    check64::<Tanh>(
        "tanh",
        1.5,
        &[(-1.0, 1.0), (-20.0, 20.0), (-1e-5, 1e-5), (0.6, 0.65)],
        reference::tanh,
    );
}

#[test]
fn rsqrt_is_accurate() {
    let exact = |x: f64, _: f64| if x == 0.0 { 1.0 / x } else { 1.0 / x.sqrt() };
    check32::<Rsqrt>("rsqrt", 1.55, |_| true, &[(0.0, 4.0)], exact);
    check64::<Rsqrt>(
        "rsqrt",
        1.55,
        &[(0.0, 4.0), (1e-310, 1e-307), (1e300, 1e308)],
        reference::rsqrt,
    );
}

#[test]
fn powf_is_accurate() {
    let mut random = Random(3);
    // Pairs whose powers spread over the whole range, subnormal results and overflows included.
    let mut pairs = Vec::new();
    for k in 0..60_000 {
        let a = match k % 4 {
            0 => random.within(0.0, 4.0),
            1 => random.within(-150.0, 128.0).exp2(),
            2 => 1.0 + random.within(-1.0, 1.0) * random.within(-24.0, 0.0).exp2(),
            _ => random.within(0.5, 2.0),
        };
        let a = f64::from(a as f32);
        let log = a.log2();
        let b = if k % 3 == 0 {
            random.within(-8.0, 8.0)
        } else {
            random.within(-151.0, 129.0) / log
        };
        pairs.push((a, b));
    }
    let a: Vec<f32> = pairs.iter().map(|p| p.0 as f32).collect();
    let b: Vec<f32> = pairs.iter().map(|p| p.1 as f32).collect();
    for machine in machines() {
        let worst = worst32::<Powf>(machine, &a, &b, f64::powf);
        println!(
            "{:24} f32 {machine:16?} {:8.3} ulp at {}",
            "powf", worst.error, worst.at
        );
        assert!(
            worst.error <= 1.5,
            "powf on {machine:?}: {} ulp at {}",
            worst.error,
            worst.at
        );
    }

    let mut pairs = Vec::new();
    for k in 0..20_000 {
        let a = match k % 4 {
            0 => random.within(0.0, 4.0),
            1 => random.within(-1073.0, 1023.0).exp2(),
            2 => 1.0 + random.within(-1.0, 1.0) * random.within(-50.0, 0.0).exp2(),
            _ => random.within(0.5, 2.0),
        };
        let b = if k % 3 == 0 {
            random.within(-8.0, 8.0)
        } else {
            random.within(-1075.0, 1023.9) / a.log2()
        };
        if b.is_finite() && (a.log2() * b).abs() < 1100.0 {
            pairs.push((a, b));
        }
    }
    let a: Vec<f64> = pairs.iter().map(|p| p.0).collect();
    let b: Vec<f64> = pairs.iter().map(|p| p.1).collect();
    let exact: Vec<_> = pairs.iter().map(|&(a, b)| reference::pow(a, b)).collect();
    for machine in machines() {
        let worst = worst64::<Powf>(machine, &a, &b, &exact);
        println!(
            "{:24} f64 {machine:16?} {:8.3} ulp at {}",
            "powf", worst.error, worst.at
        );
        assert!(
            worst.error <= 1.5,
            "powf on {machine:?}: {} ulp at {}",
            worst.error,
            worst.at
        );
    }
}

#[test]
fn exp2_is_accurate() {
    check32::<Exp2>(
        "exp2",
        1.3,
        |_| true,
        &[(-150.0, 128.0), (-1.0, 1.0), (-150.0, -125.0)],
        |x, _| x.exp2(),
    );
    let ranges = [(-1074.5, 1023.9), (-1.0, 1.0), (-1075.0, -1021.0)];
    check64::<Exp2>("exp2", 1.3, &ranges, reference::exp2);
}

#[test]
fn expm1_is_accurate() {
    check32::<Expm1>(
        "expm1",
        1.35,
        |_| true,
        &[(-20.0, 89.0), (-1.0, 1.0), (-2.0, 2.0), (0.49, 1.1)],
        |x, _| x.exp_m1(),
    );
    let ranges = [
        (-40.0, 709.7),
        (-1.0, 1.0),
        (-2.0, 2.0),
        (0.49, 1.1),
        (-1e-9, 1e-9),
    ];
    check64::<Expm1>("expm1", 1.35, &ranges, reference::expm1);
}

#[test]
fn log2_is_accurate() {
    check32::<Log2>(
        "log2",
        0.6,
        |_| true,
        &[(0.0, 2.0), (0.9, 1.1), (0.0, 1e-38)],
        |x, _| x.log2(),
    );
    let ranges = [
        (0.0, 2.0),
        (0.99, 1.01),
        (0.0, 1e-307),
        (1.0, 1e308),
        (0.5, 1.5),
    ];
    check64::<Log2>("log2", 0.6, &ranges, reference::log2);
}

#[test]
fn log1p_is_accurate() {
    check32::<Log1p>(
        "log1p",
        1.5,
        |_| true,
        &[(-1.0, 2.0), (-0.01, 0.01), (0.0, 1e30)],
        |x, _| x.ln_1p(),
    );
    let ranges = [
        (-1.0, 2.0),
        (-0.01, 0.01),
        (-1e-12, 1e-12),
        (1.0, 1e308),
        (-1e-310, 1e-308),
    ];
    check64::<Log1p>("log1p", 1.5, &ranges, reference::log1p);
}

#[test]
fn tan_is_accurate() {
    let dense = [
        (-7.0, 7.0),
        (-100.0, 100.0),
        (-1e5, 1e5),
        (9e4, 2e5),
        (1e9, 1e10),
        (1.57, 1.572),
    ];
    check32::<Tan>("tan", 0.95, |_| true, &dense, |x, _| x.tan());
    let ranges = [
        (-7.0, 7.0),
        (-100.0, 100.0),
        (-1e5, 1e5),
        (-1e9, 1e9),
        (0.7, 0.8),
    ];
    check64::<Tan>("tan", 0.95, &ranges, reference::tan);
}

#[test]
fn inverse_functions_are_accurate() {
    let dense = [
        (-1.0, 1.0),
        (0.45, 0.55),
        (0.99, 1.0),
        (-1.0, -0.99),
        (-1e-4, 1e-4),
    ];
    check32::<Asin>("asin", 1.75, |_| true, &dense, |x, _| x.asin());
    check32::<Acos>("acos", 1.25, |_| true, &dense, |x, _| x.acos());
    check64::<Asin>("asin", 1.75, &dense, reference::asin);
    check64::<Acos>("acos", 1.25, &dense, reference::acos);
}

#[test]
fn atan2_is_accurate() {
    let mut random = Random(3);
    let mut points = Vec::new();
    for k in 0..60_000 {
        let angle = random.within(-3.2, 3.2);
        let radius = match k % 3 {
            0 => 1.0,
            1 => random.within(-30.0, 30.0).exp2(),
            _ => random.within(-60.0, 60.0).exp2(),
        };
        // Every third point near an axis.
        let angle = if k % 3 == 2 {
            (angle / 1.57).round() * 1.57 + random.within(-40.0, 0.0).exp2()
        } else {
            angle
        };
        points.push((radius * angle.sin(), radius * angle.cos()));
    }
    let y: Vec<f32> = points.iter().map(|p| p.0 as f32).collect();
    let x: Vec<f32> = points.iter().map(|p| p.1 as f32).collect();
    for machine in machines() {
        let worst = worst32::<Atan2>(machine, &y, &x, f64::atan2);
        println!(
            "{:24} f32 {machine:16?} {:8.3} ulp at {}",
            "atan2", worst.error, worst.at
        );
        assert!(
            worst.error <= 1.65,
            "atan2 on {machine:?}: {} ulp at {}",
            worst.error,
            worst.at
        );
    }
    points.truncate(20_000);
    let y: Vec<f64> = points.iter().map(|p| p.0).collect();
    let x: Vec<f64> = points.iter().map(|p| p.1).collect();
    let exact: Vec<_> = points
        .iter()
        .map(|&(y, x)| reference::atan2(y, x))
        .collect();
    for machine in machines() {
        let worst = worst64::<Atan2>(machine, &y, &x, &exact);
        println!(
            "{:24} f64 {machine:16?} {:8.3} ulp at {}",
            "atan2", worst.error, worst.at
        );
        assert!(
            worst.error <= 1.65,
            "atan2 on {machine:?}: {} ulp at {}",
            worst.error,
            worst.at
        );
    }
}

#[test]
fn sinh_and_cosh_are_accurate() {
    let dense = [(-1.0, 1.0), (-10.0, 10.0), (88.0, 89.5), (0.95, 1.2)];
    check32::<Sinh>("sinh", 1.7, |_| true, &dense, |x, _| x.sinh());
    check32::<Cosh>("cosh", 1.5, |_| true, &dense, |x, _| x.cosh());
    let ranges = [
        (-1.0, 1.0),
        (-20.0, 20.0),
        (-710.4, 710.4),
        (-1e-5, 1e-5),
        (0.95, 1.2),
    ];
    check64::<Sinh>("sinh", 1.7, &ranges, reference::sinh);
    check64::<Cosh>("cosh", 1.5, &ranges, reference::cosh);
}

#[test]
fn erf_and_erfc_are_accurate() {
    let exact_erf = |x: f64, _: f64| {
        if x.is_nan() || x.abs() > 20.0 {
            x.signum()
        } else {
            reference::value(reference::erf(x))
        }
    };
    let exact_erfc = |x: f64, _: f64| {
        if x.is_nan() {
            x
        } else if x.abs() > 20.0 {
            1.0 - x.signum()
        } else {
            reference::value(reference::erfc(x))
        }
    };
    // The reference is slow: fewer points than elsewhere.
    let dense = [(-1.1, 1.1), (0.4, 0.5), (-4.0, 4.0)];
    check32::<Erf>("erf", 1.35, |x| x.to_bits() % 7 == 0, &dense, exact_erf);
    let dense = [(-1.1, 1.1), (0.4, 0.5), (-4.0, 10.2), (9.0, 10.2)];
    check32::<Erfc>("erfc", 1.65, |x| x.to_bits() % 7 == 0, &dense, exact_erfc);
    let ranges = [(-1.1, 1.1), (0.4, 0.5), (-6.0, 6.0), (-1e-5, 1e-5)];
    check64::<Erf>("erf", 1.35, &ranges, reference::erf);
    let ranges = [(-1.1, 1.1), (0.4, 0.5), (-6.0, 26.0), (26.0, 27.2)];
    check64::<Erfc>("erfc", 1.65, &ranges, reference::erfc);
}
