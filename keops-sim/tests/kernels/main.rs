//! The device crate's kernels in the interpreter: values against plain loops in double precision, in every order of
//! threads and blocks, for every bias of the approximate instructions, with all checks on.

#[path = "../../../keops-compiler/tests/ptx/kernels.rs"]
#[allow(
    dead_code,
    clippy::approx_constant,
    reason = "it is device text, which has no such constants, and more than is used here"
)]
mod kernels;

mod cases;
mod launch;

use cases::{CASES, Case, coarse, exact};
use keops_compiler::ptx;
use keops_gpu_kernels::abi;
use keops_sim::{Bias, ErrorKind, Memory, Module, Options, Order};
use launch::{Plan, WHOLE, bytes, module, run, run_as, text};

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
