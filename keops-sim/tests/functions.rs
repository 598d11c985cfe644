//! The functions of the device's instruction sets in the interpreter: within the bounds that the device crate states, for
//! every bias of the approximate instructions, at their special points too.

use keops_compiler::ops::{erf, erfc};
use keops_compiler::ptx;
use keops_gpu_kernels::abi::{BLOCK, WHOLE};
use keops_gpu_kernels::device::{Entry, Output, ValueType, source};
use keops_sim::{Bias, Memory, Module, Options};
use std::path::PathBuf;
use std::sync::OnceLock;

/// A pass without inner rows, whose outputs are functions of the outer row (a, b).
const KERNEL: &str = "
pub struct Functions;
impl_copy!([] Functions);
impl<T: Real> Kernel<T> for Functions {
    const PARAMS: usize = 0;
    const PARAMS_DERIVED: usize = 0;
    const OUTER: usize = 2;
    const OUTER_DERIVED: usize = 0;
    const INNER: usize = 0;
    const INNER_USED: usize = 0;
    const INNER_PLAIN: bool = true;
    const OUTER_INDEX: bool = false;
    const INNER_INDEX: bool = false;
    const ROW: usize = 0;
    const OUT: usize = 22;
    const ACCUMULATORS: usize = 1;
    type State<A: Copy> = [A; 1];
    type Work<A: Copy> = [A; 0];
    #[inline(always)]
    fn prepare_inner<S: Isa<T = T>, P: Columns<S::F>, Y: Columns<S::F>, W: ColumnsMut<S::F>, Z: Words<S::F>>(
        _s: S, _p: &P, _y: &Y, _used: &mut W, _work: &mut Z,
    ) {}
    #[inline(always)]
    fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>(_s: S, _row: &mut W) {}
    #[inline(always)]
    fn begin<S: Isa<T = T>, W: Columns<S::F>, A: Words<S::F>>(s: S, _row: &W, state: &mut A) { state.set(0, s.lit(0.0)); }
    #[inline(always)]
    fn step<S: Pairs<T = T>, P: Columns<S::F>, X: Columns<S::F>, Y: Columns<S::F>, A: Words<S::A>, Z: Words<S::F>>(
        _s: S, _p: &P, _x: &X, _y: &Y, _state: &mut A, _work: &mut Z,
    ) {}
    #[inline(always)]
    fn flush<S: Isa<T = T>, A: Words<S::F>, W: ColumnsMut<S::F>>(_s: S, _state: &A, _row: &mut W) {}
    #[inline(always)]
    fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(_s: S, _row: &mut W, _other: &V) {}
    #[inline(always)]
    fn finish<S: Isa<T = T>, P: Columns<S::F>, X: Columns<S::F>, V: Columns<S::F>, W: ColumnsMut<S::F>, Z: Words<S::F>>(
        s: S, _p: &P, x: &X, _row: &V, out: &mut W, _work: &mut Z,
    ) {
        let a = x.get(0);
        let b = x.get(1);
        out.put(0, s.exp(a));
        out.put(1, s.exp2_sum(a));
        out.put(2, s.log(a));
        out.put(3, s.sin(a));
        out.put(4, s.cos(a));
        out.put(5, s.tanh(a));
        out.put(6, s.rsqrt(a));
        out.put(7, s.sqrt(a));
        out.put(8, s.div(a, b));
        out.put(9, s.powf(s.abs(a), b));
        out.put(10, s.exp2(a));
        out.put(11, s.expm1(a));
        out.put(12, s.log2(a));
        out.put(13, s.log1p(a));
        out.put(14, s.tan(a));
        out.put(15, s.asin(a));
        out.put(16, s.acos(a));
        out.put(17, s.atan2(a, b));
        out.put(18, s.sinh(a));
        out.put(19, s.cosh(a));
        out.put(20, s.erf(a));
        out.put(21, s.erfc(a));
    }
}
";

/// The functions, in the order of the outputs.
const NAMES: [&str; 22] = [
    "exp", "exp2_sum", "log", "sin", "cos", "tanh", "rsqrt", "sqrt", "div", "powf", "exp2",
    "expm1", "log2", "log1p", "tan", "asin", "acos", "atan2", "sinh", "cosh", "erf", "erfc",
];

/// Largest error: in ulp of the exact value, and absolute beside it.
struct Bound {
    ulp: f64,
    absolute: f64,
}

/// The bound of a function at (a, b); `None` where none is stated.
type Bounds = fn(function: usize, a: f64, b: f64, exact: f64) -> Option<Bound>;

/// One unit in the last place.
fn ulp(x: f64) -> f64 {
    (x.abs().log2().floor().max(-126.0) - 23.0).exp2()
}

fn within(ulp: f64) -> Option<Bound> {
    Some(Bound { ulp, absolute: 0.0 })
}

fn default_bounds(function: usize, a: f64, _b: f64, exact: f64) -> Option<Bound> {
    match function {
        0 => within(3.7),
        // Flushed below the normal numbers; one rounding of the exact value before the two ulp of the instruction.
        1 if exact < f64::from(f32::MIN_POSITIVE) * (1.0 + 1e-6) => Some(Bound {
            ulp: 0.0,
            absolute: f64::from(f32::MIN_POSITIVE) * (1.0 + 1e-6),
        }),
        1 => Some(Bound {
            ulp: 0.5,
            absolute: 2.0 * ulp(f64::from(exact as f32)),
        }),
        2 => within(0.83),
        3 | 4 => within(1.6).filter(|_| a.abs() < 1e5),
        5 => within(1.4),
        6 => within(2.2),
        9 => within(0.9),
        7 | 8 => within(0.5),
        14 if a.abs() >= 1e5 => None,
        12 | 14 | 20 => within(0.8),
        10 | 16 | 21 => within(1.0),
        18 | 19 => within(1.3),
        _ => within(1.6),
    }
}

fn fast_bounds(function: usize, a: f64, b: f64, exact: f64) -> Option<Bound> {
    let tiny = f64::from(f32::MIN_POSITIVE);
    let absolute = |absolute: f64| Some(Bound { ulp: 0.5, absolute });
    let subnormal = |x: f64| x != 0.0 && x.abs() < tiny;
    match function {
        // Made of the others; nothing is stated.
        10.. => None,
        0 if exact < tiny * (1.0 + 1e-5) => absolute(tiny),
        // log2 e to 24 bits, a product, and the instruction.
        0 => Some(Bound {
            ulp: 1.0,
            absolute: 2.0 * ulp(exact * (1.0 + 1e-5)) + 2f64.powi(-23) * a.abs() * exact,
        }),
        2 | 6 | 7 | 8 if subnormal(a) || subnormal(b) => None,
        2 if a > 0.5 && a < 2.0 => absolute(2f64.powi(-22)),
        2 => absolute(2f64.powf(-21.5) * exact.abs()),
        3 | 4 if a.abs() <= std::f64::consts::TAU => absolute(2f64.powf(-20.5)),
        3 | 4 if a.abs() <= 50.0 * std::f64::consts::TAU => absolute(2f64.powf(-14.7)),
        3 | 4 => None,
        7 => absolute(2f64.powi(-23) * exact),
        5 => within(3.0),
        9 if exact == 0.0 || exact == 1.0 || exact < tiny => default_bounds(function, a, b, exact),
        9 => absolute(2f64.powi(-21) * exact * (1.0 + (b * a.abs().ln()).abs())),
        8 if b.abs() > 2f64.powi(126) || exact.abs() < tiny => None,
        8 => absolute(2.0 * ulp(exact * (1.0 + 1e-7))),
        _ => default_bounds(function, a, b, exact),
    }
}

fn exact(function: usize, a: f64, b: f64) -> f64 {
    match function {
        0 => a.exp(),
        1 => a.exp2(),
        2 => a.ln(),
        3 => a.sin(),
        4 => a.cos(),
        5 => a.tanh(),
        6 => 1.0 / a.sqrt(),
        7 => a.sqrt(),
        8 => a / b,
        9 => a.abs().powf(b),
        10 => a.exp2(),
        11 => a.exp_m1(),
        12 => a.log2(),
        13 => a.ln_1p(),
        14 => a.tan(),
        15 => a.asin(),
        16 => a.acos(),
        17 => a.atan2(b),
        18 => a.sinh(),
        19 => a.cosh(),
        20 => erf::reference(a),
        _ => erfc::reference(a),
    }
}

fn module() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| {
        let entry = |name: &str| Entry {
            name: name.to_owned(),
            kernel: "Functions".to_owned(),
            value_type: if name == "double" {
                ValueType::F64
            } else {
                ValueType::F32
            },
            fast_math: name == "fast",
            outer: vec![2.into()],
            inner: vec![],
            outputs: vec![Output {
                columns: NAMES.len(),
                is_index: false,
            }],
        };
        let rustc = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
        let text = ptx::compile_with(
            &rustc,
            &source(KERNEL, &[entry("precise"), entry("fast"), entry("double")]),
        );
        let text = text.unwrap_or_else(|reason| panic!("{reason}"));
        Module::parse(&text).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// All functions of each point, at the entry's type.
fn run(entry: &str, points: &[(f64, f64)], bias: Bias) -> Vec<Vec<f64>> {
    let size = if entry == "double" { 8 } else { 4 };
    let bytes = |x: f64| match size {
        8 => x.to_le_bytes().to_vec(),
        _ => (x as f32).to_le_bytes().to_vec(),
    };
    let mut memory = Memory::new(1 << 28);
    let rows: Vec<u8> = points
        .iter()
        .flat_map(|&(a, b)| [bytes(a), bytes(b)].concat())
        .collect();
    let x = memory.allocate(rows.len()).unwrap();
    memory.write(x, &rows).unwrap();
    let length = points.len() * NAMES.len() * size;
    let out = memory.allocate(length).unwrap();
    let m = points.len() as u32;
    let mut arguments: Vec<u8> = [m, 0, 0, WHOLE, 1, 0]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    arguments.extend([0, 0, x, out].iter().flat_map(|p: &u64| p.to_le_bytes()));
    let grid = [m.div_ceil(BLOCK), 1, 1];
    let options = Options {
        bias,
        ..Options::default()
    };
    module()
        .launch(
            &mut memory,
            entry,
            grid,
            [BLOCK, 1, 1],
            0,
            &arguments,
            &options,
        )
        .unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = vec![0; length];
    memory.read(out, &mut bytes).unwrap();
    let values: Vec<f64> = bytes
        .chunks_exact(size)
        .map(|cell| match size {
            8 => f64::from_le_bytes(cell.try_into().unwrap()),
            _ => f64::from(f32::from_le_bytes(cell.try_into().unwrap())),
        })
        .collect();
    values
        .chunks_exact(NAMES.len())
        .map(<[f64]>::to_vec)
        .collect()
}

/// Everywhere, around the powers of two of eᵃ, and the ends of the range.
fn points() -> Vec<(f64, f64)> {
    let mut a: Vec<f32> = (0..9000)
        .map(|i| f32::from_bits((i as u32).wrapping_mul(0x9e37_79b9)))
        .filter(|a| a.is_finite())
        .collect();
    for n in -150..=129 {
        let near = (f64::from(n) * std::f64::consts::LN_2) as f32;
        a.extend((-6..=6).map(|k| f32::from_bits(near.to_bits().wrapping_add_signed(k))));
        a.push(n as f32);
    }
    a.extend((0..4000).map(|i| -104.5 + i as f32 * (193.3 / 4000.0)));
    a.extend((0..2000).map(|i| (i - 1000) as f32 * 0.0065));
    a.into_iter()
        .enumerate()
        .map(|(i, a)| {
            (
                f64::from(a),
                f64::from([0.3f32, -7.0, 1e-20, 3e30, 1.0][i % 5]),
            )
        })
        .collect()
}

fn check(entry: &str, bounds: Bounds) {
    let points = points();
    let mut largest = [0f64; NAMES.len()];
    for bias in [Bias::Nearest, Bias::Up, Bias::Down, Bias::Hashed(5)] {
        for (&(a, b), ours) in points.iter().zip(run(entry, &points, bias)) {
            for (function, &ours) in ours.iter().enumerate() {
                let exact = exact(function, a, b);
                let Some(bound) = bounds(function, a, b, exact) else {
                    continue;
                };
                let rounded = exact as f32;
                if rounded.is_nan() || rounded.is_infinite() && ours.is_infinite() {
                    assert!(
                        ours == f64::from(rounded) || ours.is_nan() && rounded.is_nan(),
                        "{entry} {} at {a:e}, {b:e}: {ours:e}, not {exact:e}",
                        NAMES[function]
                    );
                    continue;
                }
                let ulp = ulp(exact);
                // Next to the largest number infinity is as good as a number there.
                let ours = if ours.is_infinite() {
                    2f64.powi(128).copysign(ours)
                } else {
                    ours
                };
                let error = (ours - exact).abs();
                largest[function] = largest[function].max((error - bound.absolute) / ulp);
                assert!(
                    error <= bound.ulp * ulp + bound.absolute,
                    "{entry}, {} with {bias:?} at ({a:e}, {b:e}): {ours:e}, not {exact:e}: {} ulp",
                    NAMES[function],
                    error / ulp
                );
            }
        }
    }
    for (name, largest) in NAMES.iter().zip(largest) {
        println!("{entry} {name}: {largest:.2} ulp");
    }
}

/// At f64 the device has no approximate instructions, and the functions are the host's. The C library's, which they are compared
/// with, are wrong by up to 2 ulp themselves; `keops-runtime`'s tests compare with twice the precision.
#[test]
fn double_precision_is_that_of_the_host() {
    let points = points();
    let mut largest = [0f64; NAMES.len()];
    for (&(a, b), ours) in points.iter().zip(run("double", &points, Bias::Nearest)) {
        for (function, &ours) in ours.iter().enumerate() {
            let exact = exact(function, a, b);
            // Far from 0 one step of a is many periods; the reference for erf and erfc is made of parts that are exact near 0 only.
            if matches!(function, 3 | 4 | 14) && a.abs() >= 1e5
                || matches!(function, 20 | 21) && a.abs() > 0.5
            {
                continue;
            }
            let near_zero = exact.abs() < 1e-300;
            if exact.is_nan() || exact.is_infinite() || near_zero {
                let same = exact.is_nan() && ours.is_nan() || exact == ours;
                assert!(
                    same || near_zero && (ours - exact).abs() <= 1e-310,
                    "{} at {a:e}, {b:e}: {ours:e}, not {exact:e}",
                    NAMES[function]
                );
                continue;
            }
            let ulp = (exact.abs().log2().floor() - 52.0).exp2();
            let error = (ours - exact).abs() / ulp;
            largest[function] = largest[function].max(error);
            assert!(
                error <= 4.0,
                "{} at ({a:e}, {b:e}): {ours:e}, not {exact:e}: {error} ulp",
                NAMES[function]
            );
        }
    }
    for (name, largest) in NAMES.iter().zip(largest) {
        println!("double {name}: {largest:.2} ulp");
    }
}

/// erf and erfc at f64, against a table to twice the precision (`erf.txt` says how it was made), within the bounds that the host's
/// keep.
#[test]
fn double_erf_and_erfc_are_accurate() {
    let bits = |text: &str| f64::from_bits(u64::from_str_radix(text, 16).expect("a bit pattern"));
    let table: Vec<Vec<f64>> = include_str!("erf.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(' ').map(bits).collect())
        .collect();
    assert!(table.len() > 200);
    let points: Vec<(f64, f64)> = table.iter().map(|row| (row[0], 1.0)).collect();
    let mut largest = [0f64; 2];
    for (row, ours) in table.iter().zip(run("double", &points, Bias::Nearest)) {
        for (n, (function, bound)) in [(20, 1.35), (21, 1.65)].into_iter().enumerate() {
            let (exact, rest) = (row[1 + 2 * n], row[2 + 2 * n]);
            // The distance to the next larger number, among subnormal ones too.
            let ulp = f64::from_bits(exact.abs().to_bits() + 1) - exact.abs();
            let error = ((ours[function] - exact) - rest).abs() / ulp;
            largest[n] = largest[n].max(error);
            assert!(
                error <= bound,
                "{} at {:e}: {:e}, not {exact:e}: {error} ulp",
                NAMES[function],
                row[0],
                ours[function]
            );
        }
    }
    println!(
        "double erf: {:.2} ulp, erfc: {:.2} ulp",
        largest[0], largest[1]
    );
}

#[test]
fn default_functions_keep_their_bounds() {
    check("precise", default_bounds);
}

#[test]
fn fast_functions_keep_their_bounds() {
    check("fast", fast_bounds);
}

#[test]
fn special_points_are_right() {
    let inf = f64::INFINITY;
    for entry in ["precise", "fast", "double"] {
        let at = |a: f64| run(entry, &[(a, 1.0)], Bias::Up).remove(0);
        assert_eq!(at(0.0)[..2], [1.0, 1.0], "{entry}");
        assert_eq!(at(-0.0)[..2], [1.0, 1.0], "{entry}");
        assert_eq!(at(-inf)[..2], [0.0, 0.0], "{entry}");
        assert_eq!(at(inf)[..3], [inf, inf, inf], "{entry}");
        assert_eq!(at(-1e30)[..2], [0.0, 0.0], "{entry}");
        assert_eq!(at(1e30)[..2], [inf, inf], "{entry}");
        assert!(at(f64::NAN).iter().all(|f| f.is_nan()), "{entry}");
        assert!(at(0.0)[2] == -inf && at(-1.0)[2].is_nan(), "{entry}");
        assert!(at(0.0)[6] == inf && at(-1.0)[7].is_nan(), "{entry}");
    }
}
