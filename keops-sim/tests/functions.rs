//! The functions of the device's instruction sets in the interpreter: within the bounds that the device crate states, for
//! every bias of the approximate instructions, at their special points too.

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
    const OUT: usize = 10;
    type State<A: Copy> = [A; 1];
    fn prepare_params<S: Isa<T = T>, P: ColumnsMut<S::F>>(_s: S, _p: &mut P) {}
    fn prepare_outer<S: Isa<T = T>, P: Columns<S::F>, X: ColumnsMut<S::F>>(_s: S, _p: &P, _x: &mut X) {}
    fn prepare_inner<S: Isa<T = T>, P: Columns<S::F>, Y: Columns<S::F>, W: ColumnsMut<S::F>>(
        _s: S, _p: &P, _y: &Y, _used: &mut W,
    ) {}
    fn init<S: Isa<T = T>, W: ColumnsMut<S::F>>(_s: S, _row: &mut W) {}
    fn begin<S: Isa<T = T>, W: Columns<S::F>>(s: S, _row: &W) -> [S::F; 1] { [s.lit(0.0)] }
    fn step<S: Pairs<T = T>, P: Columns<S::F>, X: Columns<S::F>, Y: Columns<S::F>>(
        _s: S, _p: &P, _x: &X, _y: &Y, _state: &mut [S::A; 1],
    ) {}
    fn flush<S: Isa<T = T>, W: ColumnsMut<S::F>>(_s: S, _state: &[S::F; 1], _row: &mut W) {}
    fn combine<S: Isa<T = T>, W: ColumnsMut<S::F>, V: Columns<S::F>>(_s: S, _row: &mut W, _other: &V) {}
    fn finish<S: Isa<T = T>, P: Columns<S::F>, X: Columns<S::F>, V: Columns<S::F>, W: ColumnsMut<S::F>>(
        s: S, _p: &P, x: &X, _row: &V, out: &mut W,
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
    }
}
";

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
        _ => within(0.5),
    }
}

fn fast_bounds(function: usize, a: f64, b: f64, exact: f64) -> Option<Bound> {
    let tiny = f64::from(f32::MIN_POSITIVE);
    let absolute = |absolute: f64| Some(Bound { ulp: 0.5, absolute });
    let subnormal = |x: f64| x != 0.0 && x.abs() < tiny;
    match function {
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
        _ => a.abs().powf(b),
    }
}

fn module() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| {
        let entry = |fast_math: bool| Entry {
            name: if fast_math { "fast" } else { "precise" }.to_owned(),
            kernel: "Functions".to_owned(),
            value_type: ValueType::F32,
            fast_math,
            outer: vec![2.into()],
            inner: vec![],
            outputs: vec![Output {
                columns: 10,
                is_index: false,
            }],
        };
        let rustc = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
        let text = ptx::compile_with(&rustc, &source(KERNEL, &[entry(false), entry(true)]));
        let text = text.unwrap_or_else(|reason| panic!("{reason}"));
        Module::parse(&text).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// All functions of each point.
fn run(entry: &str, points: &[(f32, f32)], bias: Bias) -> Vec<Vec<f32>> {
    let mut memory = Memory::new(1 << 28);
    let rows: Vec<u8> = points
        .iter()
        .flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()].concat())
        .collect();
    let x = memory.allocate(rows.len()).unwrap();
    memory.write(x, &rows).unwrap();
    let out = memory.allocate(points.len() * 10 * 4).unwrap();
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
    let mut bytes = vec![0; points.len() * 10 * 4];
    memory.read(out, &mut bytes).unwrap();
    let values: Vec<f32> = bytes
        .chunks_exact(4)
        .map(|cell| f32::from_le_bytes(cell.try_into().unwrap()))
        .collect();
    values.chunks_exact(10).map(<[f32]>::to_vec).collect()
}

/// Everywhere, around the powers of two of eᵃ, and the ends of the range.
fn points() -> Vec<(f32, f32)> {
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
        .map(|(i, a)| (a, [0.3, -7.0, 1e-20, 3e30, 1.0][i % 5]))
        .collect()
}

fn check(entry: &str, bounds: Bounds) {
    let points = points();
    let mut largest = [0f64; 10];
    for bias in [Bias::Nearest, Bias::Up, Bias::Down, Bias::Hashed(5)] {
        for ((a, b), ours) in points.iter().zip(run(entry, &points, bias)) {
            for (function, ours) in ours.iter().enumerate() {
                let (a, b) = (f64::from(*a), f64::from(*b));
                let exact = exact(function, a, b);
                let Some(bound) = bounds(function, a, b, exact) else {
                    continue;
                };
                let rounded = exact as f32;
                if rounded.is_nan() || rounded.is_infinite() && ours.is_infinite() {
                    assert!(
                        ours.to_bits() == rounded.to_bits() || ours.is_nan() && rounded.is_nan(),
                        "{entry} {function} at {a:e}, {b:e}: {ours:e}, not {exact:e}"
                    );
                    continue;
                }
                let ulp = ulp(exact);
                // Next to the largest number infinity is as good as a number there.
                let ours = if ours.is_infinite() {
                    2f64.powi(128).copysign(f64::from(*ours))
                } else {
                    f64::from(*ours)
                };
                let error = (ours - exact).abs();
                largest[function] = largest[function].max((error - bound.absolute) / ulp);
                assert!(
                    error <= bound.ulp * ulp + bound.absolute,
                    "{entry}, function {function} with {bias:?} at ({a:e}, {b:e}): {ours:e}, not {exact:e}: {} ulp",
                    error / ulp
                );
            }
        }
    }
    println!("{entry}: {largest:.2?}");
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
    let inf = f32::INFINITY;
    for entry in ["precise", "fast"] {
        let at = |a: f32| run(entry, &[(a, 1.0)], Bias::Up).remove(0);
        assert_eq!(at(0.0)[..2], [1.0, 1.0], "{entry}");
        assert_eq!(at(-0.0)[..2], [1.0, 1.0], "{entry}");
        assert_eq!(at(-inf)[..2], [0.0, 0.0], "{entry}");
        assert_eq!(at(inf)[..3], [inf, inf, inf], "{entry}");
        assert_eq!(at(-1e30)[..2], [0.0, 0.0], "{entry}");
        assert_eq!(at(1e30)[..2], [inf, inf], "{entry}");
        assert!(at(f32::NAN).iter().all(|f| f.is_nan()), "{entry}");
        assert!(at(0.0)[2] == -inf && at(-1.0)[2].is_nan(), "{entry}");
        assert!(at(0.0)[6] == inf && at(-1.0)[7].is_nan(), "{entry}");
    }
}
