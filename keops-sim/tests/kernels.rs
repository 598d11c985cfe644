//! The device crate's kernels in the interpreter: values against plain loops in double precision, in every order of
//! threads and blocks, for every bias of the approximate instructions, with all checks on.

#[path = "../../keops-compiler/tests/ptx/kernels.rs"]
#[allow(
    dead_code,
    clippy::approx_constant,
    reason = "it is device text, which has no such constants, and more than is used here"
)]
mod kernels;

use keops_compiler::ptx;
use keops_gpu_kernels::abi;
use keops_gpu_kernels::device::{Entry, Output, ValueType, source};
use keops_sim::{Bias, Error, ErrorKind, Memory, Module, Options, Order};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Exact results of one outer row: for each output column the value and what its error is measured by. Exact columns have
/// 0 there.
type Row = Vec<(f64, f64)>;

/// Of the parameters, the outer row with its index behind it, and all inner rows.
type Exact = fn(&[f64], &[f64], &[Vec<f64>]) -> Row;

struct Case {
    name: &'static str,
    kernel: &'static str,
    params: usize,
    outer: &'static [usize],
    inner: &'static [usize],
    outputs: &'static [(usize, bool)],
    launch: [Launch; 2],
    values: fn(usize, usize) -> Vec<f64>,
    exact: Exact,
}

/// What the ABI says about a kernel's launches at one value type.
struct Launch {
    grid: fn(u32) -> u32,
    scratch_len: fn(u32, u32) -> u64,
}

macro_rules! launch {
    ($kernel:ty) => {
        [
            Launch {
                grid: abi::grid::<f32, $kernel>,
                scratch_len: abi::scratch_len::<f32, $kernel>,
            },
            Launch {
                grid: abi::grid::<f64, $kernel>,
                scratch_len: abi::scratch_len::<f64, $kernel>,
            },
        ]
    };
}

fn sqdist(x: &[f64], y: &[f64], d: usize) -> f64 {
    (0..d).map(|c| (x[c] - y[c]).powi(2)).sum()
}

/// Σ terms, compensated, whose error is measured by Σ |terms|.
fn sum(terms: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut sum, mut rest, mut size) = (0.0, 0.0, 0.0);
    for term in terms {
        let total = sum + term;
        let t = total - sum;
        rest += (sum - (total - t)) + (term - t);
        (sum, size) = (total, size + term.abs());
    }
    (sum + rest, size)
}

fn smallest(k: usize, x: &[f64], ys: &[Vec<f64>]) -> Row {
    let mut all: Vec<(f64, f64)> = ys
        .iter()
        .enumerate()
        .map(|(j, y)| (sqdist(x, y, 3), j as f64))
        .collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    all.resize(all.len().max(k), (f64::INFINITY, f64::from(u32::MAX)));
    all[..k]
        .iter()
        .map(|(value, _)| (*value, 0.0))
        .chain(all[..k].iter().map(|(_, j)| (*j, 0.0)))
        .collect()
}

const CASES: [Case; 9] = [
    Case {
        name: "gauss",
        kernel: "Gauss",
        params: 0,
        outer: &[3],
        inner: &[3, 1],
        outputs: &[(1, false)],
        launch: launch!(kernels::Gauss),
        values: coarse,
        exact: |_, x, ys| vec![sum(ys.iter().map(|y| (-sqdist(x, y, 3)).exp() * y[3]))],
    },
    Case {
        name: "gradient",
        kernel: "GaussGradient",
        params: 0,
        outer: &[3, 1],
        inner: &[3, 1],
        outputs: &[(3, false)],
        launch: launch!(kernels::GaussGradient),
        values: coarse,
        exact: |_, x, ys| {
            let term = |y: &Vec<f64>, c: usize| {
                -2.0 * x[3] * (-sqdist(x, y, 3)).exp() * y[3] * (x[c] - y[c])
            };
            (0..3).map(|c| sum(ys.iter().map(|y| term(y, c)))).collect()
        },
    },
    Case {
        name: "diagonal",
        kernel: "OffDiagonal",
        params: 0,
        outer: &[1],
        inner: &[1],
        outputs: &[(1, false)],
        launch: launch!(kernels::OffDiagonal),
        values: fine,
        exact: |_, x, ys| {
            // The index of the row is behind its columns.
            let others = ys.iter().enumerate().filter(|(j, _)| *j as f64 != x[1]);
            vec![sum(others.map(|(_, y)| x[0] * y[0]))]
        },
    },
    Case {
        name: "nearest",
        kernel: "Nearest",
        params: 0,
        outer: &[3],
        inner: &[3],
        outputs: &[(1, false), (1, true)],
        launch: launch!(kernels::Nearest),
        values: coarse,
        exact: |_, x, ys| smallest(1, x, ys),
    },
    Case {
        name: "five",
        kernel: "FiveNearest",
        params: 0,
        outer: &[3],
        inner: &[3],
        outputs: &[(5, false), (5, true)],
        launch: launch!(kernels::FiveNearest),
        values: coarse,
        exact: |_, x, ys| smallest(5, x, ys),
    },
    Case {
        name: "logsumexp",
        kernel: "LogSumExp",
        params: 0,
        outer: &[3],
        inner: &[3],
        outputs: &[(1, false)],
        launch: launch!(kernels::LogSumExp),
        values: coarse,
        exact: |_, x, ys| {
            let (sum, _) = sum(ys.iter().map(|y| (-sqdist(x, y, 3)).exp()));
            vec![(sum.ln(), 1.0 + sum.ln().abs())]
        },
    },
    Case {
        name: "prepared",
        kernel: "Prepared",
        params: 0,
        outer: &[1],
        inner: &[1],
        outputs: &[(1, false)],
        launch: launch!(kernels::Prepared),
        values: coarse,
        exact: |_, x, ys| vec![sum(ys.iter().map(|y| (2.0 * x[0]).sin() * y[0] * y[0]))],
    },
    Case {
        name: "long16",
        kernel: "Long<16>",
        params: 1,
        outer: &[16],
        inner: &[16],
        outputs: &[(1, false)],
        launch: launch!(kernels::Long<16>),
        values: coarse,
        exact: long,
    },
    Case {
        name: "long20",
        kernel: "Long<20>",
        params: 1,
        outer: &[20],
        inner: &[20],
        outputs: &[(1, false)],
        launch: launch!(kernels::Long<20>),
        values: coarse,
        exact: long,
    },
];

/// Σ_j exp(x·y + ln |γ|): a rounding error of the argument counts by its size.
fn long(p: &[f64], x: &[f64], ys: &[Vec<f64>]) -> Row {
    let dot = |y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let (sum, size) = ys.iter().fold((0.0, 0.0), |(sum, size), y| {
        let term = dot(y).exp() * p[0].abs();
        (sum + term, size + term * (1.0 + dot(y).abs()))
    });
    vec![(sum, size)]
}

fn rustc() -> PathBuf {
    std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from)
}

/// The text of all entries, at both value types.
fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let entry = |case: &Case, value_type: ValueType| Entry {
            name: format!("{}_{}", case.name, value_type.name()),
            kernel: case.kernel.to_owned(),
            value_type,
            fast_math: false,
            outer: case.outer.iter().map(|&c| c.into()).collect(),
            inner: case.inner.iter().map(|&c| c.into()).collect(),
            outputs: case
                .outputs
                .iter()
                .map(|&(columns, is_index)| Output { columns, is_index })
                .collect(),
        };
        let entries: Vec<Entry> = CASES
            .iter()
            .flat_map(|case| [entry(case, ValueType::F32), entry(case, ValueType::F64)])
            .collect();
        let source = source(
            include_str!("../../keops-compiler/tests/ptx/kernels.rs"),
            &entries,
        );
        ptx::compile_with(&rustc(), &source).unwrap_or_else(|reason| panic!("{reason}"))
    })
}

fn module() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    MODULE.get_or_init(|| Module::parse(text()).unwrap_or_else(|error| panic!("{error}")))
}

/// Powers of two on one side and values of full single precision on the other: products are exact, sums are not.
fn fine(count: usize, seed: usize) -> Vec<f64> {
    let value = |i: usize| match seed {
        1 => [0.5, 1.0, 4.0][i % 3],
        _ => f64::from((i as u32).wrapping_mul(0x9e37_79b9) >> 8) / f64::from(1 << 23),
    };
    (0..count).map(value).collect()
}

/// Values on a coarse grid, so that squared distances are exact and ties many.
fn coarse(count: usize, seed: usize) -> Vec<f64> {
    (0..count)
        .map(|i| ((i * 7919 + seed * 104_729) % 61) as f64 / 32.0 - 0.9375)
        .collect()
}

fn bytes(values: &[f64], double: bool) -> Vec<u8> {
    if double {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    } else {
        values
            .iter()
            .flat_map(|value| (*value as f32).to_le_bytes())
            .collect()
    }
}

/// How an entry is launched.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Into how many parts the inner rows are split; 0 for the phase that folds and finishes.
    parts: u32,
    /// Inner rows between merges; 0 for the default.
    flush: u32,
    /// The outer rows are split into launches of at most this many.
    rows: usize,
}

const WHOLE: Plan = Plan {
    parts: 0,
    flush: 0,
    rows: usize::MAX,
};

/// Runs an entry of `module` on m × n rows and returns the outputs, row by row, indices as numbers.
fn run(
    module: &Module,
    case: &Case,
    double: bool,
    m: usize,
    n: usize,
    options: &Options,
) -> Result<Vec<Vec<f64>>, Error> {
    run_as(WHOLE, module, case, double, m, n, options)
}

fn run_as(
    plan: Plan,
    module: &Module,
    case: &Case,
    double: bool,
    m: usize,
    n: usize,
    options: &Options,
) -> Result<Vec<Vec<f64>>, Error> {
    let mut rows = Vec::new();
    for first in (0..m).step_by(plan.rows.min(m.max(1))) {
        let count = plan.rows.min(m - first);
        rows.extend(launch(
            plan, module, case, double, first, count, m, n, options,
        )?);
    }
    Ok(rows)
}

/// Runs an entry on the outer rows `first .. first + m` of `all`.
#[allow(clippy::too_many_arguments, reason = "a launch has many")]
fn launch(
    plan: Plan,
    module: &Module,
    case: &Case,
    double: bool,
    first: usize,
    m: usize,
    all: usize,
    n: usize,
    options: &Options,
) -> Result<Vec<Vec<f64>>, Error> {
    let mut memory = Memory::new(1 << 30);
    let put = |memory: &mut Memory, values: &[f64]| {
        let bytes = bytes(values, double);
        let address = memory.allocate(bytes.len()).unwrap();
        memory.write(address, &bytes).unwrap();
        address
    };
    let value = if double { 8 } else { 4 };
    let about = &case.launch[usize::from(double)];
    // One part may be folded and combined too.
    let parts = if plan.parts == 0 {
        1
    } else {
        plan.parts.max(2)
    };
    let scratch = match (about.scratch_len)(m as u32, parts) as usize * value {
        0 => 0,
        bytes => memory.allocate(bytes).unwrap(),
    };
    let params = put(&mut memory, &(case.values)(case.params, 9));
    let mut pointers = vec![scratch, params];
    for (v, columns) in case.outer.iter().enumerate() {
        let values = &(case.values)(all * columns, 1 + v)[first * columns..(first + m) * columns];
        pointers.push(put(&mut memory, values));
    }
    for (v, columns) in case.inner.iter().enumerate() {
        pointers.push(put(&mut memory, &(case.values)(n * columns, 5 + v)));
    }
    let mut places = Vec::new();
    for (columns, is_index) in case.outputs {
        let size = if *is_index { 4 } else { value };
        let address = memory.allocate(m * columns * size).unwrap();
        pointers.push(address);
        places.push((address, size));
    }
    let name = format!("{}_{}", case.name, if double { "f64" } else { "f32" });
    let grid = (about.grid)(m as u32);
    let phases: &[(u32, u32)] = match plan.parts {
        0 => &[(abi::WHOLE, 1)],
        parts => &[(abi::FOLD, parts), (abi::COMBINE, 1)],
    };
    for (phase, parts) in phases.iter().copied().filter(|_| grid > 0) {
        let numbers = [
            m as u32,
            n as u32,
            first as u32,
            phase,
            plan.parts.max(1),
            plan.flush,
        ];
        let mut arguments: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        arguments.extend(pointers.iter().flat_map(|pointer| pointer.to_le_bytes()));
        module.launch(
            &mut memory,
            &name,
            [grid, parts, 1],
            [abi::BLOCK, 1, 1],
            0,
            &arguments,
            options,
        )?;
    }
    let mut rows = vec![Vec::new(); m];
    for ((columns, is_index), (address, size)) in case.outputs.iter().zip(places) {
        // Reading what the kernel did not write is an error as well.
        let mut bytes = vec![0; m * columns * size];
        memory.read(address, &mut bytes)?;
        for (i, row) in bytes.chunks_exact(columns * size).enumerate() {
            rows[i].extend(
                row.chunks_exact(size)
                    .map(|cell| match (*is_index, double) {
                        (true, _) => f64::from(u32::from_le_bytes(cell.try_into().unwrap())),
                        (_, true) => f64::from_le_bytes(cell.try_into().unwrap()),
                        (_, false) => f64::from(f32::from_le_bytes(cell.try_into().unwrap())),
                    }),
            );
        }
    }
    Ok(rows)
}

/// The exact results.
fn exact(case: &Case, m: usize, n: usize) -> Vec<Row> {
    let rows = |count: usize, columns: &[usize], seed: usize| -> Vec<Vec<f64>> {
        let variables: Vec<Vec<f64>> = columns
            .iter()
            .enumerate()
            .map(|(v, c)| (case.values)(count * c, seed + v))
            .collect();
        let row = |i: usize| {
            variables
                .iter()
                .zip(columns)
                .flat_map(|(values, c)| values[i * c..(i + 1) * c].to_vec())
                .collect()
        };
        (0..count).map(row).collect()
    };
    let (xs, ys) = (rows(m, case.outer, 1), rows(n, case.inner, 5));
    let params = (case.values)(case.params, 9);
    let with_index = |(i, x): (usize, &Vec<f64>)| [x.as_slice(), &[i as f64]].concat();
    let xs = xs.iter().enumerate().map(with_index);
    xs.map(|x| (case.exact)(&params, &x, &ys)).collect()
}

fn check(case: &Case, double: bool, m: usize, n: usize, options: &Options) {
    check_as(WHOLE, case, double, m, n, options);
}

fn check_as(plan: Plan, case: &Case, double: bool, m: usize, n: usize, options: &Options) {
    let what = || {
        format!(
            "{} at {}, {m} x {n}, {plan:?}, {options:?}",
            case.name,
            if double { "f64" } else { "f32" }
        )
    };
    let ours = run_as(plan, module(), case, double, m, n, options)
        .unwrap_or_else(|error| panic!("{}: {error}", what()));
    // All approximate instructions may err to the same side: exp 3.3 ulp, and the argument's rounding.
    let tolerance = if double { 4e-15 } else { 1.5e-6 };
    for (i, (ours, exact)) in ours.iter().zip(exact(case, m, n)).enumerate() {
        assert_eq!(ours.len(), exact.len(), "{}", what());
        for (c, (ours, (exact, size))) in ours.iter().zip(exact).enumerate() {
            let close = (ours - exact).abs() <= tolerance * size;
            assert!(
                close || *ours == exact,
                "{}: row {i}, column {c}: {ours} instead of {exact}",
                what()
            );
        }
    }
}

const SIZES: [(usize, usize); 11] = [
    (0, 5),
    (1, 0),
    (1, 1),
    (2, 31),
    (31, 2),
    (129, 255),
    (1, 257),
    (255, 256),
    (513, 3),
    (130, 600),
    (300, 257),
];
const BIASES: [Bias; 4] = [Bias::Nearest, Bias::Up, Bias::Down, Bias::Hashed(3)];

fn options(bias: Bias, order: Order) -> Options {
    Options {
        bias,
        threads: order,
        blocks: order,
        ..Options::default()
    }
}

fn check_case(name: &str) {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    for (m, n) in SIZES {
        check(case, false, m, n, &options(Bias::Nearest, Order::Forward));
        check(
            case,
            false,
            m,
            n,
            &options(Bias::Hashed(1), Order::Reversed),
        );
        check(case, true, m, n, &options(Bias::Nearest, Order::Forward));
    }
    let (m, n) = (300, 257);
    for bias in BIASES {
        for order in [Order::Forward, Order::Reversed] {
            check(case, false, m, n, &options(bias, order));
        }
    }
    check(case, true, m, n, &options(Bias::Nearest, Order::Reversed));
}

macro_rules! cases {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check_case(stringify!($name));
        }
    )*};
}
cases! { gauss gradient diagonal nearest five logsumexp prepared long16 long20 }

#[test]
fn parts_of_the_inner_rows_combine_to_the_whole() {
    let plain = options(Bias::Nearest, Order::Forward);
    for case in &CASES {
        for (m, n) in [(1, 0), (1, 1), (3, 257), (130, 1100)] {
            for (parts, double) in [(1, false), (2, true), (5, false)] {
                let plan = Plan { parts, ..WHOLE };
                check_as(plan, case, double, m, n, &plain);
                let bits = |plan, order| {
                    let options = options(Bias::Nearest, order);
                    run_as(plan, module(), case, double, m, n, &options).unwrap()
                };
                let forward = bits(plan, Order::Forward);
                let reversed = bits(plan, Order::Reversed);
                assert_eq!(forward, reversed, "{}: order", case.name);
                // One part is the whole; minima and their indices do not depend on the parts at all.
                if parts == 1 || ["nearest", "five"].contains(&case.name) {
                    let whole = bits(WHOLE, Order::Forward);
                    assert_eq!(forward, whole, "{} in {parts} parts, {m} x {n}", case.name);
                }
            }
        }
    }
}

#[test]
fn launches_of_some_rows_give_the_bits_of_one_launch() {
    for case in &CASES {
        let bits = |plan| {
            let options = options(Bias::Nearest, Order::Forward);
            run_as(plan, module(), case, false, 300, 257, &options).unwrap()
        };
        let plan = Plan { rows: 77, ..WHOLE };
        assert_eq!(bits(plan), bits(WHOLE), "{}", case.name);
    }
}

#[test]
fn merging_every_term_leaves_one_rounding() {
    let plain = options(Bias::Nearest, Order::Forward);
    for case in &CASES {
        for (flush, parts) in [(1, 0), (3, 2), (100, 0), (u32::MAX, 2)] {
            let plan = Plan {
                flush,
                parts,
                ..WHOLE
            };
            check_as(plan, case, false, 130, 600, &plain);
        }
    }
    // Exact products: what is left is the rounding of the result.
    let case = CASES.iter().find(|case| case.name == "diagonal").unwrap();
    let (m, n) = (40, 5000);
    let exact = exact(case, m, n);
    let error = |flush| {
        let plan = Plan { flush, ..WHOLE };
        let ours = run_as(plan, module(), case, false, m, n, &plain).unwrap();
        let errors = ours.iter().zip(&exact).map(|(ours, exact)| {
            let (value, _) = exact[0];
            ((ours[0] - value) / value).abs()
        });
        errors.fold(0.0, f64::max)
    };
    let (by_default, each) = (error(0), error(1));
    assert!(
        each <= 2f64.powi(-24) && by_default > 2f64.powi(-24),
        "{by_default} {each}"
    );
}

#[test]
fn orders_and_launches_give_the_same_bits() {
    for case in &CASES {
        let run = |order| {
            run(
                module(),
                case,
                false,
                300,
                257,
                &options(Bias::Nearest, order),
            )
            .unwrap()
        };
        assert_eq!(run(Order::Forward), run(Order::Reversed), "{}", case.name);
    }
}

#[test]
fn seeded_faults_are_found() {
    for case in &CASES {
        for double in [false, true] {
            let name = format!("{}_{}", case.name, if double { "f64" } else { "f32" });
            let text = ptx::split(text(), &[vec![name.as_str()]]).remove(0);
            let result = |text: &str| {
                let module = Module::parse(text).unwrap_or_else(|error| panic!("{error}"));
                run(&module, case, double, 300, 600, &Options::default())
            };
            result(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            let barriers: Vec<usize> = text.match_indices("bar.sync").map(|(at, _)| at).collect();
            assert_eq!(barriers.len(), 2, "{name}");
            for (n, at) in barriers.into_iter().enumerate() {
                let removed = format!("{}// {}", &text[..at], &text[at..]);
                let error = result(&removed).expect_err(&name);
                assert!(
                    matches!(error.kind, ErrorKind::Race | ErrorKind::Uninitialized),
                    "{name} without barrier {n}: {error}"
                );
            }
            // A tile of half the size.
            let bytes = text
                .split("keops_tile[")
                .nth(1)
                .and_then(|rest| rest.split(']').next())
                .unwrap();
            let half = bytes.parse::<usize>().unwrap() / 2;
            let smaller = text.replace(
                &format!("keops_tile[{bytes}]"),
                &format!("keops_tile[{half}]"),
            );
            let error = result(&smaller).expect_err(&name);
            assert_eq!(
                error.kind,
                ErrorKind::OutOfBounds,
                "{name} with half a tile: {error}"
            );
            // Rounding modifiers, one kind of instruction after another.
            if text.contains("fma.rn") {
                let error = Module::parse(&text.replacen("fma.rn", "fma", 1))
                    .map(|_| ())
                    .unwrap_err();
                assert!(
                    error.kind == ErrorKind::Illegal && error.message.contains("rounding"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn rows_that_are_not_there_are_not_read() {
    // The launch says one row more than there is, on either side.
    let case = &CASES[0];
    let (m, n) = (300usize, 257usize);
    for (dm, dn) in [(1, 0), (0, 1)] {
        let mut memory = Memory::new(1 << 24);
        let numbers = [(m + dm) as u32, (n + dn) as u32, 0, abi::WHOLE, 1, 0];
        let mut arguments: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        arguments.extend([0; 16]);
        for (count, seed) in [(3 * m, 1), (3 * n, 5), (n, 6), (m, 7)] {
            let bytes = bytes(&coarse(count, seed), false);
            let address = memory.allocate(bytes.len()).unwrap();
            memory.write(address, &bytes).unwrap();
            arguments.extend(address.to_le_bytes());
        }
        let grid = [(case.launch[0].grid)((m + dm) as u32), 1, 1];
        let error = module()
            .launch(
                &mut memory,
                "gauss_f32",
                grid,
                [abi::BLOCK, 1, 1],
                0,
                &arguments,
                &Options::default(),
            )
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutOfBounds, "{error}");
    }
}
