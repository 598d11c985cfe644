//! Seeded faults: each is found for its own reason, and the kernel without it runs and is right.

use keops_sim::{Bias, Error, ErrorKind, Memory, Module, Options, Order};

const TILE: &str = include_str!("ptx/tile.ptx");
const WARP: &str = include_str!("ptx/warp.ptx");
const MIXED: &str = include_str!("ptx/mixed.ptx");

fn rows(count: usize, seed: usize) -> Vec<f32> {
    (0..count)
        .map(|i| ((i * 37 + seed * 11) % 101) as f32 / 101.0)
        .collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn put(memory: &mut Memory, values: &[f32]) -> u64 {
    let address = memory.allocate(4 * values.len()).unwrap();
    memory.write(address, &bytes(values)).unwrap();
    address
}

fn floats(memory: &Memory, address: u64, count: usize) -> Vec<f32> {
    let mut bytes = vec![0; 4 * count];
    memory.read(address, &mut bytes).unwrap();
    bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

fn all_options() -> impl Iterator<Item = Options> {
    let orders = [Order::Forward, Order::Reversed];
    let biases = [Bias::Nearest, Bias::Up, Bias::Down, Bias::Hashed(1)];
    orders.into_iter().flat_map(move |order| {
        biases.into_iter().map(move |bias| Options {
            bias,
            threads: order,
            blocks: order,
            ..Options::default()
        })
    })
}

/// Runs the tile kernel for m × n rows and compares with double precision.
fn run_tile(text: &str, m: usize, n: usize, options: &Options) -> Result<(), Error> {
    let module = Module::parse(text)?;
    let mut memory = Memory::new(1 << 24);
    let (x, y, b) = (rows(3 * m, 1), rows(3 * n, 2), rows(n, 3));
    let (dx, dy, db) = (
        put(&mut memory, &x),
        put(&mut memory, &y),
        put(&mut memory, &b),
    );
    let da = memory.allocate(4 * m).unwrap();
    let mut params = Vec::new();
    params.extend((m as u32).to_le_bytes());
    params.extend((n as u32).to_le_bytes());
    for address in [dx, dy, db, da] {
        params.extend(address.to_le_bytes());
    }
    let grid = [m.div_ceil(64) as u32, 1, 1];
    module.launch(&mut memory, "tile", grid, [64, 1, 1], 0, &params, options)?;
    for (i, a) in floats(&memory, da, m).into_iter().enumerate() {
        let exact: f64 = (0..n)
            .map(|j| {
                let square = (0..3)
                    .map(|c| (f64::from(x[3 * i + c]) - f64::from(y[3 * j + c])).powi(2))
                    .sum::<f64>();
                (-square).exp2() * f64::from(b[j])
            })
            .sum();
        assert!(
            (f64::from(a) - exact).abs() <= 1e-6 * (1.0 + exact) * (n as f64).sqrt(),
            "row {i}: {a} {exact}"
        );
    }
    Ok(())
}

#[test]
fn the_tile_kernel_is_right_in_every_order_and_bias() {
    for options in all_options() {
        for (m, n) in [(1, 0), (1, 1), (63, 65), (130, 257)] {
            run_tile(TILE, m, n, &options).unwrap_or_else(|error| panic!("{m} x {n}: {error}"));
        }
    }
}

/// A change of one line, and what must come of it.
struct Seed {
    name: &'static str,
    from: &'static str,
    to: &'static str,
    kind: ErrorKind,
    message: &'static str,
}

const SEEDS: &[Seed] = &[
    Seed {
        name: "no barrier after the tile is written",
        from: "bar.sync 0; // written",
        to: "",
        kind: ErrorKind::Uninitialized,
        message: "never written",
    },
    Seed {
        name: "no barrier after the tile is read",
        from: "bar.sync 0; // read",
        to: "",
        kind: ErrorKind::Race,
        message: "no barrier between",
    },
    Seed {
        name: "a barrier that some threads skip",
        from: "mov.u32 %r8, 0;",
        to: "mov.u32 %r8, 0; @%p1 bar.sync 0;",
        kind: ErrorKind::Barrier,
        message: "waits at another in line",
    },
    Seed {
        name: "an exit before the barrier",
        from: "mov.u32 %r8, 0;",
        to: "mov.u32 %r8, 0; @!%p1 ret;",
        kind: ErrorKind::Barrier,
        message: "it has ended",
    },
    Seed {
        name: "shared memory too small",
        from: "rows[1024]",
        to: "rows[1008]",
        kind: ErrorKind::OutOfBounds,
        message: "shared address 0x3f0",
    },
    Seed {
        name: "an inner row too far",
        from: "setp.ge.u32 %p3, %r12, %r2;",
        to: "setp.gt.u32 %p3, %r12, %r2;",
        kind: ErrorKind::OutOfBounds,
        message: "in no allocation",
    },
    Seed {
        name: "a store without its guard",
        from: "@!%p1 bra end;",
        to: "",
        kind: ErrorKind::OutOfBounds,
        message: "in no allocation",
    },
    Seed {
        name: "a wrong stride that two blocks write to",
        from: "mul.wide.u32 %rd11, %r5, 4;",
        to: "mul.wide.u32 %rd11, %r3, 4;",
        kind: ErrorKind::Race,
        message: "by another block",
    },
    Seed {
        name: "a float off its alignment",
        from: "ld.global.f32 %f2, [%rd6+4];",
        to: "ld.global.f32 %f2, [%rd6+2];",
        kind: ErrorKind::Misaligned,
        message: "no multiple of 4",
    },
    Seed {
        name: "a vector off its alignment",
        from: "ld.shared.v4.f32 {%f9, %f10, %f11, %f12}, [%r14];",
        to: "ld.shared.v4.f32 {%f9, %f10, %f11, %f12}, [%r14+4];",
        kind: ErrorKind::Misaligned,
        message: "no multiple of 16",
    },
    Seed {
        name: "a column that is not written",
        from: "st.shared.v4.f32 [%r11], {%f5, %f6, %f7, %f8};",
        to: "st.shared.v2.f32 [%r11], {%f5, %f6};",
        kind: ErrorKind::Uninitialized,
        message: "shared address 0x8 was never written",
    },
    Seed {
        name: "an accumulator that is not set",
        from: "mov.f32 %f4, 0f00000000;",
        to: "",
        kind: ErrorKind::Uninitialized,
        message: "was never written",
    },
    Seed {
        name: "an output that is read",
        from: "st.global.f32 [%rd12], %f4;",
        to: "ld.global.f32 %f20, [%rd12]; st.global.f32 [%rd12], %f20;",
        kind: ErrorKind::Uninitialized,
        message: "global address",
    },
    Seed {
        name: "no rounding modifier",
        from: "fma.rn.f32 %f4, %f18, %f12, %f4;",
        to: "fma.f32 %f4, %f18, %f12, %f4;",
        kind: ErrorKind::Illegal,
        message: "rounding modifier required for `fma`",
    },
    Seed {
        name: "an instruction that does not exist at its type",
        from: "ex2.approx.ftz.f32 %f18, %f17;",
        to: "ex2.approx.f64 %d1, %d2;",
        kind: ErrorKind::Illegal,
        message: "does not exist at f64",
    },
    Seed {
        name: "an approximation that is not asked for",
        from: "ex2.approx.ftz.f32 %f18, %f17;",
        to: "ex2.f32 %f18, %f17;",
        kind: ErrorKind::Illegal,
        message: "`.approx` required",
    },
    Seed {
        name: "a register of another type",
        from: "mul.rn.f32 %f16, %f13, %f13;",
        to: "mul.rn.f32 %d1, %f13, %f13;",
        kind: ErrorKind::Illegal,
        message: "a register of type f64 where f32 is needed",
    },
    Seed {
        name: "an integer where a float goes",
        from: "mul.rn.f32 %f16, %f13, %f13;",
        to: "mul.rn.f32 %f16, %f13, 2;",
        kind: ErrorKind::Illegal,
        message: "an operand of type f32",
    },
    Seed {
        name: "a predicate as a number",
        from: "sub.u32 %r13, %r13, 1;",
        to: "sub.u32 %r13, %p1, 1;",
        kind: ErrorKind::Illegal,
        message: "a register of type pred",
    },
    Seed {
        name: "a product of no known half",
        from: "mad.lo.s32 %r5, %r4, 64, %r3;",
        to: "mad.s32 %r5, %r4, 64, %r3;",
        kind: ErrorKind::Illegal,
        message: "`.lo`, `.hi`, `.wide`",
    },
    Seed {
        name: "an unknown label",
        from: "bra.uni tiles;",
        to: "bra.uni tile_s;",
        kind: ErrorKind::Syntax,
        message: "unknown name `tile_s`",
    },
    Seed {
        name: "an undeclared register",
        from: "neg.f32 %f17, %f16;",
        to: "neg.f32 %f17, %f99;",
        kind: ErrorKind::Syntax,
        message: "unknown register `%f99`",
    },
    Seed {
        name: "too much static shared memory",
        from: "rows[1024]",
        to: "rows[65536]",
        kind: ErrorKind::Illegal,
        message: "0x10000 bytes of shared memory, more than 0xc000",
    },
    Seed {
        name: "a loop without an end",
        from: "sub.u32 %r13, %r13, 1;",
        to: "sub.u32 %r13, %r13, 0; mov.u32 %r14, %r9;",
        kind: ErrorKind::Budget,
        message: "more than 5000000 instructions",
    },
    Seed {
        name: "a trap",
        from: "st.global.f32 [%rd12], %f4;",
        to: "trap;",
        kind: ErrorKind::Trap,
        message: "trap",
    },
    Seed {
        name: "a division by zero",
        from: "sub.u32 %r6, %r1, 1;",
        to: "sub.u32 %r6, %r1, 1; mov.u32 %r15, 0; div.u32 %r16, %r6, %r15;",
        kind: ErrorKind::DivisionByZero,
        message: "division by zero",
    },
    Seed {
        name: "an unknown modifier",
        from: "neg.f32 %f17, %f16;",
        to: "neg.rn.f32 %f17, %f16;",
        kind: ErrorKind::Illegal,
        message: "does not go here",
    },
    Seed {
        name: "too many operands",
        from: "neg.f32 %f17, %f16;",
        to: "neg.f32 %f17, %f16, %f16;",
        kind: ErrorKind::Illegal,
        message: "`neg` has 2 operands, not 3",
    },
];

#[test]
fn every_seeded_fault_is_found_in_its_line() {
    let options = Options {
        budget: 5_000_000,
        ..Options::default()
    };
    for seed in SEEDS {
        assert_eq!(TILE.matches(seed.from).count(), 1, "{}", seed.name);
        let line = TILE[..TILE.find(seed.from).unwrap()].lines().count() as u32;
        let text = TILE.replace(seed.from, seed.to);
        let error = run_tile(&text, 130, 257, &options).expect_err(seed.name);
        assert_eq!(error.kind, seed.kind, "{}: {error}", seed.name);
        assert!(
            error.to_string().contains(seed.message),
            "{}: {error}",
            seed.name
        );
        // Where the text itself is at fault, the line is the changed one.
        if matches!(seed.kind, ErrorKind::Illegal | ErrorKind::Syntax) {
            assert!(
                error.line.abs_diff(line) <= 1,
                "{}: line {line}, {error}",
                seed.name
            );
        } else {
            assert!(
                error.line > 0 && error.place.is_some(),
                "{}: {error}",
                seed.name
            );
        }
    }
}

#[test]
fn removed_barriers_are_races_in_every_order() {
    // Without the check for unwritten memory, which comes first, they still are.
    for options in all_options() {
        let options = Options {
            uninitialized: false,
            ..options
        };
        for barrier in ["bar.sync 0; // written", "bar.sync 0; // read"] {
            let error = run_tile(&TILE.replace(barrier, ""), 64, 128, &options).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Race, "{error}");
        }
    }
}

#[test]
fn launches_that_the_driver_refuses() {
    let module = Module::parse(TILE).unwrap();
    let mut memory = Memory::new(1 << 20);
    let mut launch = |entry, grid, block, shared, params: &[u8]| {
        module
            .launch(
                &mut memory,
                entry,
                grid,
                block,
                shared,
                params,
                &Options::default(),
            )
            .unwrap_err()
    };
    for error in [
        launch("none", [1; 3], [64, 1, 1], 0, &[0; 40]),
        launch("tile", [0, 1, 1], [64, 1, 1], 0, &[0; 40]),
        launch("tile", [1, 1 << 16, 1], [64, 1, 1], 0, &[0; 40]),
        launch("tile", [1; 3], [65, 1, 1], 0, &[0; 40]),
        launch("tile", [1; 3], [0, 1, 1], 0, &[0; 40]),
        launch("tile", [1; 3], [64, 1, 1], 48 * 1024, &[0; 40]),
        launch("tile", [1; 3], [64, 1, 1], 0, &[0; 39]),
    ] {
        assert_eq!(error.kind, ErrorKind::Launch, "{error}");
    }
}

#[test]
fn warps_shuffle_vote_and_add() {
    let n = 1000usize;
    let module = Module::parse(WARP).unwrap();
    let x: Vec<f32> = (0..n).map(|i| 1.0 + (i * 37 % 101) as f32 / 7.0).collect();
    let exact: f64 = x.iter().map(|x| 1.0 / f64::from(*x).sqrt()).sum();
    for options in all_options() {
        let mut memory = Memory::new(1 << 20);
        let dx = put(&mut memory, &x);
        let (sums, count) = (memory.allocate(16).unwrap(), memory.allocate(4).unwrap());
        memory.write(sums, &[0; 16]).unwrap();
        memory.write(count, &[0; 4]).unwrap();
        let mut params = Vec::new();
        params.extend((n as u64).to_le_bytes());
        for address in [dx, sums, count] {
            params.extend(address.to_le_bytes());
        }
        module
            .launch(
                &mut memory,
                "warp",
                [9, 1, 1],
                [128, 1, 1],
                0,
                &params,
                &options,
            )
            .unwrap();
        let (mut single, mut double, mut threads) = ([0; 4], [0; 8], [0; 4]);
        memory.read(sums, &mut single).unwrap();
        memory.read(sums + 8, &mut double).unwrap();
        memory.read(count, &mut threads).unwrap();
        let (single, double) = (
            f64::from(f32::from_le_bytes(single)),
            f64::from_le_bytes(double),
        );
        assert!(
            (single / exact - 1.0).abs() < 1e-6 && (double / exact - 1.0).abs() < 1e-6,
            "{single} {double} {exact}"
        );
        assert_eq!(u32::from_le_bytes(threads), n as u32);
    }
}

#[test]
fn lanes_that_do_not_come_are_a_fault() {
    let run = |text: &str, block: u32| {
        let module = Module::parse(text).unwrap();
        let mut memory = Memory::new(1 << 20);
        let x = put(&mut memory, &[1.0; 64]);
        let sums = put(&mut memory, &[0.0; 8]);
        let mut params = 64u64.to_le_bytes().to_vec();
        for address in [x, sums, sums + 16] {
            params.extend(address.to_le_bytes());
        }
        module
            .launch(
                &mut memory,
                "warp",
                [1; 3],
                [block, 1, 1],
                0,
                &params,
                &Options::default(),
            )
            .map(|_| ())
    };
    run(WARP, 64).unwrap();
    // Half a warp, and a mask that names the other half.
    let error = run(WARP, 16).unwrap_err();
    assert!(
        error.kind == ErrorKind::Barrier && error.message.contains("lane 16"),
        "{error}"
    );
    // A lane that takes another way.
    let apart = WARP.replace(
        "mov.u32 %r9, 16;",
        "mov.u32 %r9, 16; setp.eq.u32 %p6, %r2, 3; @%p6 bar.sync 0;",
    );
    let error = run(&apart, 64).unwrap_err();
    assert!(
        error.kind == ErrorKind::Barrier && error.message.contains("waits"),
        "{error}"
    );
    // A mask without the lane that is read.
    let mask = WARP
        .replace("%r9, 31, -1;", "%r9, 31, 0x0000ffff;")
        .replace("fold:", "fold: setp.gt.u32 %p6, %r2, 15; @%p6 ret;");
    let error = run(&mask, 32).unwrap_err();
    assert!(
        error.kind == ErrorKind::Barrier && error.message.contains("not in the mask"),
        "{error}"
    );
}

#[test]
fn memory_of_all_kinds() {
    let module = Module::parse(MIXED).unwrap();
    for options in all_options() {
        let mut memory = Memory::new(1 << 20);
        let out = memory.allocate(4 * 8).unwrap();
        let mut params = out.to_le_bytes().to_vec();
        params.extend(1000u32.to_le_bytes());
        params.extend(0u32.to_le_bytes());
        params.extend(20000u64.to_le_bytes());
        module
            .launch(
                &mut memory,
                "mixed",
                [1; 3],
                [8, 1, 1],
                32,
                &params,
                &options,
            )
            .unwrap();
        for t in 0..8u32 {
            let mut bytes = [0; 4];
            memory.read(out + 4 * u64::from(t), &mut bytes).unwrap();
            let table = [100, 200, 5, 7][t as usize % 4];
            let flag = if t < 2 { 7 } else { 5 };
            assert_eq!(
                u32::from_le_bytes(bytes),
                (t + 7) % 8 + table + flag + 2 + 1000 + 20000,
                "thread {t}"
            );
        }
        let (counter, length) = module.variable(&mut memory, "counter").unwrap();
        let mut bytes = [0; 8];
        memory.read(counter, &mut bytes).unwrap();
        assert_eq!((u64::from_le_bytes(bytes), length), (8, 8));
        assert_eq!(memory.allocations().count(), 1);
        module.unload(&mut memory);
        assert_eq!(memory.used(), 32);
        // Dynamic shared memory too small.
        let error = module
            .launch(
                &mut memory,
                "mixed",
                [1; 3],
                [8, 1, 1],
                28,
                &params,
                &options,
            )
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutOfBounds, "{error}");
    }
}

#[test]
fn damaged_text_is_an_error_and_no_panic() {
    let deep = "{".repeat(100_000);
    for (from, to) in [
        ("bra.uni joined;", format!("mov.b64 %rd1, {deep};")),
        ("bra.uni joined;", deep.clone()),
        ("{2, 3, 5, 7}", deep.clone()),
    ] {
        assert!(Module::parse(&MIXED.replacen(from, &to, 1)).is_err());
    }
    for text in [TILE, WARP, MIXED] {
        let tokens: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        for skip in 0..tokens.len() {
            let damaged: String = tokens
                .iter()
                .enumerate()
                .filter(|(n, _)| *n != skip)
                .map(|(_, token)| *token)
                .collect();
            drop(Module::parse(&damaged));
            let cut: String = tokens[..skip].concat();
            drop(Module::parse(&cut));
        }
    }
}
