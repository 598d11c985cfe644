//! The device crate compiles to the PTX that its design promises, by the rustc at hand.
//!
//! These tests need a rustc with the NVPTX target, which every official one has; they do not assemble or run anything
//! (`cargo xtask ptxas` assembles; the interpreter runs).

#[path = "ptx/kernels.rs"]
#[allow(
    clippy::approx_constant,
    reason = "it is device text, which has no such constants"
)]
mod kernels;

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::device_code;
use keops_compiler::ptx;
use keops_gpu_kernels::abi;
use keops_gpu_kernels::device::{Entry, Output, ValueType, source};
use kernels::{FiveNearest, Gauss, GaussGradient, LogSumExp, Nearest};
use std::path::PathBuf;
use std::sync::OnceLock;

fn rustc() -> PathBuf {
    std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from)
}

/// Every kernel at both value types: columns of the outer and inner variables, and of the outputs (indices: true).
type Shape = (
    &'static str,
    &'static str,
    &'static [usize],
    &'static [usize],
    &'static [(usize, bool)],
);
const SHAPES: &[Shape] = &[
    ("gauss", "Gauss", &[3], &[3, 1], &[(1, false)]),
    ("gradient", "GaussGradient", &[3, 1], &[3, 1], &[(3, false)]),
    ("diagonal", "OffDiagonal", &[1], &[1], &[(1, false)]),
    ("nearest", "Nearest", &[3], &[3], &[(1, false), (1, true)]),
    ("five", "FiveNearest", &[3], &[3], &[(5, false), (5, true)]),
    ("logsumexp", "LogSumExp", &[3], &[3], &[(1, false)]),
    ("prepared", "Prepared", &[1], &[1], &[(1, false)]),
    ("parameters", "Parameters", &[], &[], &[(1, false)]),
    ("long16", "Long<16>", &[16], &[16], &[(1, false)]),
    ("long64", "Long<64>", &[64], &[64], &[(1, false)]),
    ("long1000", "Long<1000>", &[1000], &[1000], &[(1, false)]),
];

fn entries() -> Vec<Entry> {
    let entry = |value_type: ValueType| {
        move |&(name, kernel, outer, inner, outputs): &Shape| Entry {
            name: format!("{name}_{}", value_type.name()),
            kernel: kernel.to_owned(),
            value_type,
            fast_math: false,
            outer: outer.iter().map(|&c| c.into()).collect(),
            inner: inner.iter().map(|&c| c.into()).collect(),
            outputs: outputs
                .iter()
                .map(|&(columns, is_index)| Output { columns, is_index })
                .collect(),
        }
    };
    SHAPES
        .iter()
        .map(entry(ValueType::F32))
        .chain(SHAPES.iter().map(entry(ValueType::F64)))
        .collect()
}

/// The module of all kernels.
fn module() -> &'static str {
    static MODULE: OnceLock<String> = OnceLock::new();
    MODULE.get_or_init(|| {
        let source = source(include_str!("ptx/kernels.rs"), &entries());
        ptx::compile_with(&rustc(), &source).unwrap_or_else(|reason| panic!("{reason}"))
    })
}

/// The module of one entry.
fn one(name: &str) -> String {
    ptx::split(module(), &[vec![name]]).remove(0)
}

fn count(text: &str, instruction: &str) -> usize {
    text.lines()
        .filter(|line| line.trim_start().starts_with(instruction))
        .count()
}

#[test]
fn every_entry_is_there_at_the_lowest_version() {
    let names: Vec<String> = entries().into_iter().map(|entry| entry.name).collect();
    for name in &names {
        assert_eq!(
            module().matches(&format!(".entry {name}(")).count(),
            1,
            "{name}"
        );
    }
    // 6.3 is the lowest that knows sm_75; compilers after 1.95 start at 7.0.
    assert!(module().contains(".version 6.3\n") || module().contains(".version 7.0\n"));
    assert!(module().contains(".target sm_75\n"));
    let modules = ptx::split(
        module(),
        &names.iter().map(|name| vec![name]).collect::<Vec<_>>(),
    );
    for (name, module) in names.iter().zip(&modules) {
        assert!(module.contains(".target sm_75\n") && module.contains(&format!(".entry {name}(")));
        assert_eq!(module.matches(".entry").count(), 1, "{name}");
    }
}

#[test]
fn rows_live_in_registers_and_nothing_is_called() {
    for entry in entries() {
        let text = one(&entry.name);
        for word in [".local", "call", ".func"] {
            assert!(!text.contains(word), "{}: {word}", entry.name);
        }
        assert_eq!(count(&text, "bar.sync"), 2, "{}", entry.name);
    }
}

#[test]
fn a_pair_of_the_gaussian_costs_one_exponential() {
    let text = one("gauss_f32");
    let (rows, unroll) = (
        abi::rows_per_thread::<f32, Gauss>(),
        abi::inner_unroll::<f32, Gauss>(),
    );
    assert_eq!((rows, unroll), (4, 4));
    // The loop over groups of inner rows, and the one over those that are left.
    let pairs = rows * unroll + rows;
    assert_eq!(count(&text, "ex2.approx.ftz.f32"), pairs);
    assert_eq!(count(&text, "ld.shared.v4.f32"), unroll + 1);
    // Per pair: three subtractions; a square, two steps and the sum; log2 e.
    let steady = text
        .split("$L__")
        .max_by_key(|block| count(block, "ex2"))
        .unwrap_or("");
    for (instruction, number) in [
        ("ex2", 1),
        ("sub.rn.f32", 3),
        ("fma.rn.f32", 3),
        ("mul.rn.f32", 2),
    ] {
        assert_eq!(
            count(steady, instruction),
            number * rows * unroll,
            "{instruction}"
        );
    }
    assert!(
        count(steady, "") < 10 * rows * unroll + 5 * unroll,
        "{steady}"
    );
}

#[test]
fn double_precision_stays_double() {
    for (name, ..) in SHAPES {
        let text = one(&format!("{name}_f64"));
        assert!(!text.contains(".f32") && !text.contains("approx"), "{name}");
        let text = one(&format!("{name}_f32"));
        assert!(!text.contains(".f64"), "{name}");
    }
}

#[test]
fn launches_cover_all_rows_once() {
    fn check<K: keops_gpu_kernels::kernel::Kernel<f32> + keops_gpu_kernels::kernel::Kernel<f64>>() {
        for m in [0, 1, 127, 128, 129, 511, 512, 513, 1 << 31, u32::MAX] {
            let rows = u64::from(abi::BLOCK) * abi::rows_per_thread::<f32, K>() as u64;
            let covered = u64::from(abi::grid::<f32, K>(m)) * rows;
            assert!(covered >= u64::from(m) && covered < u64::from(m) + rows);
        }
        assert!(
            abi::shared_bytes::<f32, K>() <= 48 * 1024
                && abi::shared_bytes::<f64, K>() <= 48 * 1024
        );
        assert!(abi::tile_rows::<f64, K>().is_power_of_two());
        assert_eq!(abi::inner_stride::<f32, K>() % 16, 0);
    }
    check::<Gauss>();
    check::<GaussGradient>();
    check::<kernels::OffDiagonal>();
    check::<Nearest>();
    check::<FiveNearest>();
    check::<LogSumExp>();
    check::<kernels::Prepared>();
    check::<kernels::Parameters>();
    check::<kernels::Long<64>>();
    check::<kernels::Long<1000>>();
}

#[test]
fn parts_cover_all_inner_rows_once() {
    type K = Gauss;
    let tile = abi::tile_rows::<f32, K>() as u32;
    for n in [0, 1, 255, 256, 257, 1000, 100_000, u32::MAX - 1, u32::MAX] {
        for parts in [1, 2, 3, 7, 264, abi::MAX_PARTS] {
            let mut at = 0;
            for part in 0..parts {
                let (begin, end) = abi::part_range(n, tile, parts, part);
                assert!(
                    begin == at && begin <= end,
                    "{n} rows, part {part} of {parts}"
                );
                assert!(begin % tile == 0 || begin == n);
                at = end;
            }
            assert_eq!(at, n, "{n} rows in {parts} parts");
        }
        for (m, blocks) in [(0, 500), (1, 1), (1, 264), (10, 100_000), (1 << 20, 264)] {
            let parts = abi::parts::<f32, K>(m, n, blocks);
            assert!((1..=abi::MAX_PARTS).contains(&parts));
            assert!(parts == 1 || parts * abi::grid::<f32, K>(m) <= blocks);
            let (begin, end) = abi::part_range(n, tile, parts, parts - 1);
            assert!(parts == 1 || begin < end, "{n} rows: part {parts} is empty");
        }
    }
    // Ten rows: one block of outer rows, so every block gets a part; a million of them need none.
    assert_eq!(abi::parts::<f32, K>(10, 1_000_000, 264), 261);
    assert_eq!(abi::parts::<f32, K>(1_000_000, 10, 264), 1);
    // A state row for each lane of the one block.
    assert_eq!(abi::scratch_len::<f32, K>(10, 261), 261 * 512 * 2);
    assert_eq!(abi::scratch_len::<f32, K>(10, 1), 0);
}

/// Loops over columns in registers have to be written out; where that is too long, columns are in memory and loops stay loops.
#[test]
fn long_loops_count_through_memory() {
    let emitted = |item: &str| {
        let (program, errors) = parse_and_check(item.parse().expect("tokens"));
        assert_eq!(errors.iter().count(), 0, "{item}");
        device_code(&program)
    };
    let short = "fn short(a: [[f32; 3]; 3], x_i: [f32; 12], y_j: [f32; 12]) = sum_j exp(-sqdist(x_i, y_j)) * a[1, 2];";
    let text = emitted(short).source;
    let kernels = text.split("pub mod kernels").nth(1).expect("kernels");
    assert!(!kernels.contains("LOOPED") && !kernels.contains("s.count"));
    let layers = "fn layers(a: [[f32; 12]; 10], x_i: [f32; 12], y_j: [f32; 10]) = sum_j tanh(matvec(a, x_i * y_j[0])) | y_j;";
    let code = emitted(layers);
    assert!(code.source.contains("const LOOPED: bool = true;"));
    assert!(code.source.contains("let n1 = s.count(10);"));
    let ptx = ptx::compile_with(&rustc(), &code.source).unwrap_or_else(|reason| panic!("{reason}"));
    assert!(ptx.contains(".entry layers(") && !ptx.contains(".local"));
}

#[test]
fn a_fault_is_reported_with_the_compilers_words() {
    let reason = ptx::compile_with(&rustc(), &source("fn fault() -> Missing {}", &[])).unwrap_err();
    assert!(
        reason.contains("made no PTX") && reason.contains("cannot find type `Missing`"),
        "{reason}"
    );
}
