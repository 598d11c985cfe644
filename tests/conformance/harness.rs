//! The machinery of the cases: random data by declared type, results as flat numbers, the reference, and the rerun on a
//! simulated GPU. Shared by the test programs `operations`, `conformance` and `together`.

use keops::__private::Level;
use keops::ndarray::{Array, Dimension, ShapeBuilder};
use keops::{Backend, Float};
use keops_compiler::check::parse_and_check_at;
use keops_compiler::dimensions::Samples;
use keops_compiler::expand::formulas;
use keops_compiler::function::Formula;
use keops_compiler::graph::NodeId;
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::types::Axis;
use keops_compiler::value::Value;

/// Rows of i and j. Neither is a multiple of a vector or a tile, N is more than one tile.
pub(crate) const M: usize = 37;
pub(crate) const N: usize = 301;

/// Deterministic numbers in [0.25, 1.25], multiples of 2⁻⁶: exact at f32, and so are their differences.
pub(crate) struct Data(u64);

impl Data {
    pub(crate) fn new(seed: u64) -> Data {
        Data(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        0.25 + (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
    /// Rounded to a grid.
    fn grid(&mut self) -> f64 {
        (self.next() * 64.0).round() / 64.0
    }
    pub(crate) fn array<D: Dimension, T: From64>(
        &mut self,
        shape: impl ShapeBuilder<Dim = D>,
    ) -> Array<T, D> {
        Array::from_shape_simple_fn(shape, || T::from64(self.grid()))
    }
}

/// Between f64 and the tested type.
pub(crate) trait From64: Float {
    fn from64(x: f64) -> Self;
    /// Bound of the error relative to the largest number of the result, or to the terms where these cancel.
    const TOLERANCE: f64;
}
impl From64 for f32 {
    fn from64(x: f64) -> f32 {
        x as f32
    }
    const TOLERANCE: f64 = 4e-6;
}
impl From64 for f64 {
    fn from64(x: f64) -> f64 {
        x
    }
    const TOLERANCE: f64 = 2e-14;
}

/// A result as flat numbers, and a cotangent in its shape.
pub(crate) trait Flat {
    fn flat(&self) -> Vec<f64>;
}
impl Flat for f32 {
    fn flat(&self) -> Vec<f64> {
        vec![f64::from(*self)]
    }
}
impl Flat for f64 {
    fn flat(&self) -> Vec<f64> {
        vec![*self]
    }
}
impl Flat for usize {
    fn flat(&self) -> Vec<f64> {
        vec![if *self == usize::MAX {
            f64::from(u32::MAX)
        } else {
            *self as f64
        }]
    }
}
impl<T: Flat, D: Dimension> Flat for Array<T, D> {
    fn flat(&self) -> Vec<f64> {
        self.iter().flat_map(Flat::flat).collect()
    }
}
impl<A: Flat, B: Flat> Flat for (A, B) {
    fn flat(&self) -> Vec<f64> {
        [self.0.flat(), self.1.flat()].concat()
    }
}
impl<A: Flat, B: Flat, C: Flat> Flat for (A, B, C) {
    fn flat(&self) -> Vec<f64> {
        [self.0.flat(), self.1.flat(), self.2.flat()].concat()
    }
}

/// A cotangent for a result: random numbers in its shape.
pub(crate) trait Cotangent {
    fn cotangent(&self, data: &mut Data) -> Self;
}
impl Cotangent for f32 {
    fn cotangent(&self, data: &mut Data) -> f32 {
        data.grid() as f32
    }
}
impl Cotangent for f64 {
    fn cotangent(&self, data: &mut Data) -> f64 {
        data.grid()
    }
}
impl<T: From64, D: Dimension> Cotangent for Array<T, D> {
    fn cotangent(&self, data: &mut Data) -> Self {
        data.array(self.raw_dim())
    }
}

/// The data of one variable, by its declaration.
macro_rules! variable {
    ($data:ident, i, $t:ident) => {
        $data.array::<_, $t>($crate::harness::M)
    };
    ($data:ident, j, $t:ident) => {
        $data.array::<_, $t>($crate::harness::N)
    };
    ($data:ident, p, $t:ident) => {
        $data.array::<_, $t>(1)[0]
    };
    ($data:ident, i, [[$t:ident; $c:literal]; $r:literal]) => {
        $data.array::<_, $t>(($crate::harness::M, $r, $c))
    };
    ($data:ident, j, [[$t:ident; $c:literal]; $r:literal]) => {
        $data.array::<_, $t>(($crate::harness::N, $r, $c))
    };
    ($data:ident, p, [[$t:ident; $c:literal]; $r:literal]) => {
        $data.array::<_, $t>(($r, $c))
    };
    ($data:ident, i, [$t:ident; $d:literal]) => {
        $data.array::<_, $t>(($crate::harness::M, $d))
    };
    ($data:ident, j, [$t:ident; $d:literal]) => {
        $data.array::<_, $t>(($crate::harness::N, $d))
    };
    ($data:ident, p, [$t:ident; $d:literal]) => {
        $data.array::<_, $t>($d)
    };
}

/// `case!(name(i x_i: [T; 3], j y_j: [T; 3], p r: T) = formula)`: one formula, its value and its gradients; `no gradient`
/// in front where the result is an index, `together` where value and gradients come from one call.
macro_rules! case {
    (no gradient $name:ident($($axis:ident $var:ident: $ty:tt),*) = $($formula:tt)*) => {
        case!(@ $name ($($axis $var $ty),*) ($($formula)*) |_case, _inputs, _data, _engine| {});
    };
    (together $name:ident($($axis:ident $var:ident: $ty:tt),*) = $($formula:tt)*) => {
        case!(@ $name ($($axis $var $ty),*) ($($formula)*) |case, inputs, data, engine| {
            let result = on!(engine, formula::<f64>($(&$var),*)).eval().expect("evaluates");
            let cotangent = result.cotangent(&mut data);
            let both = on!(engine, formula::<f64>($(&$var),*)).value_and_vjp(&cotangent);
            let (value, gradients) = both.expect("differentiates");
            case.value::<f64>(inputs, &value.flat(), engine);
            let found = [$(gradients.$var.flat()),*];
            case.gradients::<f64>(inputs, &cotangent.flat(), &found, engine);
        });
    };
    ($name:ident($($axis:ident $var:ident: $ty:tt),*) = $($formula:tt)*) => {
        case!(@ $name ($($axis $var $ty),*) ($($formula)*) |case, inputs, data, engine| {
            let result = on!(engine, formula::<f64>($(&$var),*)).eval().expect("evaluates");
            let cotangent = result.cotangent(&mut data);
            let gradients = on!(engine, formula::<f64>($(&$var),*)).vjp(&cotangent).expect("differentiates");
            let found = [$(gradients.$var.flat()),*];
            case.gradients::<f64>(inputs, &cotangent.flat(), &found, engine);
        });
    };
    (@ $name:ident ($($axis:ident $var:ident $ty:tt),*) ($($formula:tt)*)
        |$case:ident, $inputs:ident, $data:ident, $engine:ident| $gradients:block) => {
        mod $name {
            #[allow(unused_imports, reason = "cases without gradients use fewer")]
            use $crate::harness::{Case, Cotangent, Data, Flat, engines};
            keops::keops! { fn formula<T>($($var: $ty),*) = $($formula)*; }

            #[test]
            fn at_f32() {
                let case = Case::new(stringify!(fn formula<T>($($var: $ty),*) = $($formula)*;));
                type T = f32;
                let mut data = Data::new(SEED);
                $(let $var = variable!(data, $axis, $ty);)*
                let inputs = [$($var.flat()),*];
                for engine in engines() {
                    let found = on!(engine, formula::<f32>($(&$var),*)).eval().expect("evaluates");
                    case.value::<f32>(&inputs, &found.flat(), engine);
                }
            }
            // Gradients at f64 only: with every kernel at both types these tests would take minutes to compile.
            #[test]
            fn at_f64() {
                let $case = &Case::new(stringify!(fn formula<T>($($var: $ty),*) = $($formula)*;));
                type T = f64;
                #[allow(unused_mut, reason = "cases without gradients draw no more")]
                let mut $data = Data::new(SEED);
                $(let $var = variable!($data, $axis, $ty);)*
                let $inputs = &[$($var.flat()),*];
                for $engine in engines() {
                    let found = on!($engine, formula::<f64>($(&$var),*)).eval().expect("evaluates");
                    $case.value::<f64>($inputs, &found.flat(), $engine);
                    $gradients
                }
            }
            const SEED: u64 = stringify!($name).len() as u64 * 77 + 1;
        }
    };
}

/// What runs a case.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Engine {
    /// The CPU, with this instruction set.
    Cpu(Level),
    /// CUDA device 0. Where it is missing, the case fails.
    Gpu,
}

impl Engine {
    pub(crate) fn backend(self) -> Backend {
        match self {
            Engine::Cpu(_) => Backend::Cpu,
            Engine::Gpu => Backend::Cuda(0),
        }
    }
    /// Of no consequence on a GPU.
    pub(crate) fn level(self) -> Level {
        match self {
            Engine::Cpu(level) => level,
            Engine::Gpu => Level::supported()[0],
        }
    }
}

/// `on!(engine, call)`: the call on an engine.
macro_rules! on {
    ($engine:expr, $call:expr) => {
        $call.on($engine.backend()).level($engine.level())
    };
}

/// The GPU where `KEOPS_REQUIRE_GPU` is set, which must be there then; otherwise all instruction sets of this machine.
pub(crate) fn engines() -> Vec<Engine> {
    if std::env::var_os("KEOPS_REQUIRE_GPU").is_some() {
        return vec![Engine::Gpu];
    }
    Level::supported().into_iter().map(Engine::Cpu).collect()
}

/// A formula as the interpreter sees it.
pub(crate) struct Case {
    text: &'static str,
    formula: Formula,
    /// Of i and j.
    rows: [usize; 2],
}

impl Case {
    pub(crate) fn new(text: &'static str) -> Case {
        Case::at(text, &[])
    }

    /// A formula with const parameters, at these values.
    pub(crate) fn at(text: &'static str, values: &[usize]) -> Case {
        let samples = Samples::of(&text.parse().expect("tokens"));
        let (program, errors) = parse_and_check_at(text.parse().expect("tokens"), &samples, values);
        let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
        assert!(messages.is_empty(), "{text}: {messages:?}");
        Case {
            text,
            formula: formulas(&program).remove(0),
            rows: [M, N],
        }
    }

    /// With so many rows of i and j.
    #[allow(dead_code, reason = "one of the programs has wide rows")]
    pub(crate) fn of_rows(self, rows: [usize; 2]) -> Case {
        Case { rows, ..self }
    }

    /// Compares the value.
    pub(crate) fn value<T: From64>(&self, inputs: &[Vec<f64>], found: &[f64], engine: Engine) {
        let expected = reference(&self.formula, inputs, self.rows);
        self.compare::<T>("value", &expected.concat(), found, engine);
    }

    /// Compares all gradients.
    pub(crate) fn gradients<T: From64>(
        &self,
        inputs: &[Vec<f64>],
        cotangent: &[f64],
        found: &[Vec<f64>],
        engine: Engine,
    ) {
        let all: Vec<usize> = (0..self.formula.inputs.len()).collect();
        let gradient = self.formula.vjp(&all);
        let inputs = [inputs, &[cotangent.to_vec()]].concat();
        let expected = reference(&gradient, &inputs, self.rows);
        for (n, (expected, found)) in expected.iter().zip(found).enumerate() {
            self.compare::<T>(
                &format!("gradient of {}", self.formula.inputs[n].name),
                expected,
                found,
                engine,
            );
        }
    }

    fn compare<T: From64>(&self, what: &str, expected: &[f64], found: &[f64], engine: Engine) {
        assert_eq!(
            expected.len(),
            found.len(),
            "{what} of {} on {engine:?}",
            self.text
        );
        // The terms of every case are of order 1, also where they cancel (gradients of quotients).
        let largest = expected
            .iter()
            .filter(|x| x.is_finite())
            .fold(0.0, |m: f64, x| m.max(x.abs()));
        let scale = largest.max(1.0);
        for (k, (e, f)) in expected.iter().zip(found).enumerate() {
            let same =
                e == f || (e.is_nan() && f.is_nan()) || (e - f).abs() <= T::TOLERANCE * scale;
            assert!(
                same,
                "{what} of {} on {engine:?}, number {k}: {f:e}, expected {e:e} (of {scale:e})",
                self.text
            );
        }
    }
}

/// All outputs of a formula, each flat, by the interpreter.
fn reference(formula: &Formula, inputs: &[Vec<f64>], [m, n]: [usize; 2]) -> Vec<Vec<f64>> {
    let variables = formula.inputs.iter().zip(inputs).map(|(input, flat)| {
        let chunks = flat.chunks(input.shape.len());
        chunks
            .map(|data| Value {
                shape: input.shape,
                data: data.to_vec(),
            })
            .collect()
    });
    let inputs = Inputs {
        variables: variables.collect(),
        m,
        n,
    };
    let roots: Vec<NodeId> = formula.outputs.iter().map(|o| o.node).collect();
    let outputs = evaluate(&formula.graph, &roots, &inputs);
    let rows = |axis| match axis {
        Some(Axis::I) => m,
        Some(Axis::J) => n,
        None => 1,
    };
    outputs
        .iter()
        .zip(&formula.outputs)
        .map(|(values, output)| {
            // A gradient may not depend on the rows that it has.
            let repeat = rows(output.axis) / values.len();
            let one: Vec<f64> = values.iter().flat_map(|v| v.data.clone()).collect();
            one.repeat(repeat)
        })
        .collect()
}

/// All other tests of this program once more, on the GPU that `keops-sim` simulates.
#[test]
fn all_of_it_on_the_simulated_gpu() {
    if std::env::var_os("KEOPS_REQUIRE_GPU").is_some() {
        return;
    }
    let output = keops_sim::stand_in::run_again(&[], &[("KEOPS_REQUIRE_GPU", "1")])
        .unwrap_or_else(|reason| panic!("{reason}"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}\n{said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    // The program has said how much it ran.
    assert!(said.contains("test result: ok."), "{said}");
}
