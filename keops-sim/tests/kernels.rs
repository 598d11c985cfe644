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

/// Of the parameters, the outer row, and all inner rows.
type Exact = fn(&[f64], &[f64], &[Vec<f64>]) -> Row;

struct Case {
    name: &'static str,
    kernel: &'static str,
    params: usize,
    outer: &'static [usize],
    inner: &'static [usize],
    outputs: &'static [(usize, bool)],
    grid: [fn(u32) -> u32; 2],
    exact: Exact,
}

fn sqdist(x: &[f64], y: &[f64], d: usize) -> f64 {
    (0..d).map(|c| (x[c] - y[c]).powi(2)).sum()
}

/// Σ terms, whose error is measured by Σ |terms|.
fn sum(terms: impl Iterator<Item = f64>) -> (f64, f64) {
    terms.fold((0.0, 0.0), |(sum, size), term| {
        (sum + term, size + term.abs())
    })
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

const CASES: [Case; 8] = [
    Case {
        name: "gauss",
        kernel: "Gauss",
        params: 0,
        outer: &[3],
        inner: &[3, 1],
        outputs: &[(1, false)],
        grid: [
            abi::grid::<f32, kernels::Gauss>,
            abi::grid::<f64, kernels::Gauss>,
        ],
        exact: |_, x, ys| vec![sum(ys.iter().map(|y| (-sqdist(x, y, 3)).exp() * y[3]))],
    },
    Case {
        name: "gradient",
        kernel: "GaussGradient",
        params: 0,
        outer: &[3, 1],
        inner: &[3, 1],
        outputs: &[(3, false)],
        grid: [
            abi::grid::<f32, kernels::GaussGradient>,
            abi::grid::<f64, kernels::GaussGradient>,
        ],
        exact: |_, x, ys| {
            let term = |y: &Vec<f64>, c: usize| {
                -2.0 * x[3] * (-sqdist(x, y, 3)).exp() * y[3] * (x[c] - y[c])
            };
            (0..3).map(|c| sum(ys.iter().map(|y| term(y, c)))).collect()
        },
    },
    Case {
        name: "nearest",
        kernel: "Nearest",
        params: 0,
        outer: &[3],
        inner: &[3],
        outputs: &[(1, false), (1, true)],
        grid: [
            abi::grid::<f32, kernels::Nearest>,
            abi::grid::<f64, kernels::Nearest>,
        ],
        exact: |_, x, ys| smallest(1, x, ys),
    },
    Case {
        name: "five",
        kernel: "FiveNearest",
        params: 0,
        outer: &[3],
        inner: &[3],
        outputs: &[(5, false), (5, true)],
        grid: [
            abi::grid::<f32, kernels::FiveNearest>,
            abi::grid::<f64, kernels::FiveNearest>,
        ],
        exact: |_, x, ys| smallest(5, x, ys),
    },
    Case {
        name: "logsumexp",
        kernel: "LogSumExp",
        params: 0,
        outer: &[3],
        inner: &[3],
        outputs: &[(1, false)],
        grid: [
            abi::grid::<f32, kernels::LogSumExp>,
            abi::grid::<f64, kernels::LogSumExp>,
        ],
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
        grid: [
            abi::grid::<f32, kernels::Prepared>,
            abi::grid::<f64, kernels::Prepared>,
        ],
        exact: |_, x, ys| vec![sum(ys.iter().map(|y| (2.0 * x[0]).sin() * y[0] * y[0]))],
    },
    Case {
        name: "long16",
        kernel: "Long<16>",
        params: 1,
        outer: &[16],
        inner: &[16],
        outputs: &[(1, false)],
        grid: [
            abi::grid::<f32, kernels::Long<16>>,
            abi::grid::<f64, kernels::Long<16>>,
        ],
        exact: long,
    },
    Case {
        name: "long20",
        kernel: "Long<20>",
        params: 1,
        outer: &[20],
        inner: &[20],
        outputs: &[(1, false)],
        grid: [
            abi::grid::<f32, kernels::Long<20>>,
            abi::grid::<f64, kernels::Long<20>>,
        ],
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
            outer: case.outer.to_vec(),
            inner: case.inner.to_vec(),
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

/// Values on a coarse grid, so that squared distances are exact and ties many.
fn values(count: usize, seed: usize) -> Vec<f64> {
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

/// Runs an entry of `module` on m × n rows and returns the outputs, row by row, indices as numbers.
fn run(
    module: &Module,
    case: &Case,
    double: bool,
    m: usize,
    n: usize,
    options: &Options,
) -> Result<Vec<Vec<f64>>, Error> {
    let mut memory = Memory::new(1 << 30);
    let mut arguments = [(m as u32).to_le_bytes(), (n as u32).to_le_bytes()].concat();
    let put = |memory: &mut Memory, values: &[f64]| {
        let bytes = bytes(values, double);
        let address = memory.allocate(bytes.len()).unwrap();
        memory.write(address, &bytes).unwrap();
        address
    };
    let params = put(&mut memory, &values(case.params, 9));
    arguments.extend(params.to_le_bytes());
    for (v, columns) in case.outer.iter().enumerate() {
        arguments.extend(put(&mut memory, &values(m * columns, 1 + v)).to_le_bytes());
    }
    for (v, columns) in case.inner.iter().enumerate() {
        arguments.extend(put(&mut memory, &values(n * columns, 5 + v)).to_le_bytes());
    }
    let mut places = Vec::new();
    for (columns, is_index) in case.outputs {
        let size = if double && !is_index { 8 } else { 4 };
        let address = memory.allocate(m * columns * size).unwrap();
        arguments.extend(address.to_le_bytes());
        places.push((address, size));
    }
    let name = format!("{}_{}", case.name, if double { "f64" } else { "f32" });
    let grid = case.grid[usize::from(double)](m as u32);
    if grid > 0 {
        module.launch(
            &mut memory,
            &name,
            [grid, 1, 1],
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
            .map(|(v, c)| values(count * c, seed + v))
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
    let params = values(case.params, 9);
    xs.iter().map(|x| (case.exact)(&params, x, &ys)).collect()
}

fn check(case: &Case, double: bool, m: usize, n: usize, options: &Options) {
    let what = || {
        format!(
            "{} at {}, {m} x {n}, {options:?}",
            case.name,
            if double { "f64" } else { "f32" }
        )
    };
    let ours = run(module(), case, double, m, n, options)
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
cases! { gauss gradient nearest five logsumexp prepared long16 long20 }

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
        let mut arguments = [
            ((m + dm) as u32).to_le_bytes(),
            ((n + dn) as u32).to_le_bytes(),
        ]
        .concat();
        arguments.extend(0u64.to_le_bytes());
        for (count, seed) in [(3 * m, 1), (3 * n, 5), (n, 6), (m, 7)] {
            let bytes = bytes(&values(count, seed), false);
            let address = memory.allocate(bytes.len()).unwrap();
            memory.write(address, &bytes).unwrap();
            arguments.extend(address.to_le_bytes());
        }
        let grid = [(case.grid[0])((m + dm) as u32), 1, 1];
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
