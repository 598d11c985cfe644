//! The pass of a minimum's derivative, run on the pairs that are listed only: over rows that are listed by the other side, and over rows
//! that list; against plain loops, in all phases, and with seeded faults.
use std::path::PathBuf;

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::device_code;
use keops_compiler::ptx;
use keops_gpu_kernels::abi;
use keops_gpu_kernels::device::Entry;
use keops_sim::{ErrorKind, Memory, Module, Options, Order};

/// Rows that list others, and the others: three windows each, the second of them without a listed row.
const ROWS: usize = 9000;
const OTHERS: usize = 8500;
/// Of each row.
const LISTED_ROWS: usize = 4;

/// Two entries and their PTX: the rows that list are inner ones in the first and outer ones in the second.
struct Passes {
    text: String,
    entries: [Entry; 2],
}

fn passes() -> Passes {
    let formula = "fn nearest(x_i: [f32; 2], y_j: [f32; 2]) = kmin_j::<4> sqdist(x_i, y_j);";
    let (program, errors) = parse_and_check(formula.parse().unwrap());
    assert_eq!(errors.iter().count(), 0);
    let rustc = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
    let code = device_code(&program);
    let text = ptx::compile_with(&rustc, &code.source).unwrap_or_else(|reason| panic!("{reason}"));
    let entries = &code.items[0].1;
    let find = |name: &str| {
        let found = entries.iter().find(|e| e.name.ends_with(name));
        found.unwrap_or_else(|| panic!("no {name}")).clone()
    };
    let entries = [find("_vjp_pass1"), find("_vjp_pass2")];
    assert!(entries[0].inner.iter().any(|v| v.lists) && entries[1].outer.iter().any(|v| v.lists));
    Passes { text, entries }
}

impl Passes {
    /// The module of one entry.
    fn module(&self, entry: &Entry) -> String {
        ptx::split(&self.text, &[vec![entry.name.as_str()]]).remove(0)
    }
}

/// What the rows list: many of them the row 7, some none, some a row that does not exist, the others any.
fn lists() -> Vec<u32> {
    let window = abi::WINDOW;
    let row = |k: u32| match k % 9 {
        _ if k / LISTED_ROWS as u32 / window == 1 => u32::MAX,
        0 => 7,
        1 if k > 8 * window => u32::MAX,
        2 => OTHERS as u32 + k,
        3 => 2 * window + k % 300,
        _ => k.wrapping_mul(2_654_435_761) % window,
    };
    (0..(ROWS * LISTED_ROWS) as u32).map(row).collect()
}

/// Quarters, so that all sums are exact.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count)
        .map(|k| ((k * 7919 + seed) % 31) as f32 / 4.0 - 3.0)
        .collect()
}

/// Launches an entry whose variables are x (two columns), y (two), e and the lists (four), in this order on each side.
fn launch(
    text: &str,
    entry: &Entry,
    phases: &[(u32, u32)],
    options: &Options,
) -> Result<Vec<f32>, keops_sim::Error> {
    let module = Module::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let inner_lists = entry.inner.iter().any(|v| v.lists);
    let (m, n) = if inner_lists {
        (OTHERS, ROWS)
    } else {
        (ROWS, OTHERS)
    };
    let mut memory = Memory::new(1 << 26);
    let mut put = |bytes: Vec<u8>| {
        let address = memory.allocate(bytes.len()).unwrap();
        memory.write(address, &bytes).unwrap();
        address
    };
    let floats = |values: Vec<f32>| values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let indices = |values: Vec<u32>| values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let of_rows = [
        put(floats(numbers(2 * ROWS, 1))),
        put(floats(numbers(LISTED_ROWS * ROWS, 3))),
        put(indices(lists())),
    ];
    let of_others = put(floats(numbers(2 * OTHERS, 2)));
    let (outer, inner) = if inner_lists {
        (vec![of_others], of_rows.to_vec())
    } else {
        (of_rows.to_vec(), vec![of_others])
    };
    assert_eq!(
        (entry.outer.len(), entry.inner.len()),
        (outer.len(), inner.len())
    );
    let out = memory.allocate(4 * 2 * m).unwrap();
    let scratch = memory.allocate(1 << 22).unwrap();
    let pointers = [vec![scratch, 0], outer, inner, vec![out]].concat();
    let note = text.split("// keops: outer rows ").nth(1).expect("a note");
    let per_thread: u32 = note.split(',').next().unwrap().parse().unwrap();
    let grid = (m as u32).div_ceil(abi::BLOCK * per_thread);
    let parts = phases.iter().map(|p| p.1).max().unwrap();
    for &(phase, blocks) in phases {
        let numbers = [m as u32, n as u32, 0, phase, parts, 0];
        let mut arguments: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        arguments.extend(pointers.iter().flat_map(|pointer| pointer.to_le_bytes()));
        module.launch(
            &mut memory,
            &entry.name,
            [grid, blocks, 1],
            [abi::BLOCK, 1, 1],
            0,
            &arguments,
            options,
        )?;
    }
    let mut bytes = vec![0; 4 * 2 * m];
    memory.read(out, &mut bytes)?;
    Ok(bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect())
}

/// The derivatives of Σ_ik e_ik |x_i − y_list(i, k)|².
fn exact() -> [Vec<f32>; 2] {
    let (x, e, y) = (
        numbers(2 * ROWS, 1),
        numbers(LISTED_ROWS * ROWS, 3),
        numbers(2 * OTHERS, 2),
    );
    let (mut dx, mut dy) = (vec![0.0; 2 * ROWS], vec![0.0; 2 * OTHERS]);
    for (k, &j) in lists().iter().enumerate() {
        let (i, j) = (k / LISTED_ROWS, j as usize);
        for c in (0..2).filter(|_| j < OTHERS) {
            let slope = 2.0 * e[k] * (x[2 * i + c] - y[2 * j + c]);
            dx[2 * i + c] += slope;
            dy[2 * j + c] -= slope;
        }
    }
    [dy, dx]
}

const LISTED: u32 = abi::WHOLE | abi::LISTED;

#[test]
fn listed_pairs_are_all_that_matters() {
    let passes = passes();
    for (entry, exact) in passes.entries.iter().zip(exact()) {
        let text = passes.module(entry);
        for order in [Order::Forward, Order::Reversed] {
            let options = Options {
                threads: order,
                blocks: order,
                ..Options::default()
            };
            let in_parts = [(abi::FOLD | abi::LISTED, 3), (abi::COMBINE, 1)];
            for phases in [&[(LISTED, 1)][..], &in_parts] {
                let found = launch(&text, entry, phases, &options).unwrap();
                assert!(found == exact, "{}, phases {phases:?}", entry.name);
            }
        }
    }
}

#[test]
fn seeded_faults_are_found() {
    let passes = passes();
    // The pair part of the second reads the indices of inner rows, so that they must be kept while it runs.
    for ((entry, exact), needed) in passes.entries.iter().zip(exact()).zip([5, 6]) {
        let text = passes.module(entry);
        let result = |text: &str| launch(text, entry, &[(LISTED, 1)], &Options::default());
        assert!(result(&text).unwrap() == exact);
        // Some barriers are those of a pass over all rows, which has a launch of its own.
        let barriers = text.match_indices("bar.sync");
        let found = barriers.filter(|(at, _)| {
            let removed = format!("{}// {}", &text[..*at], &text[*at..]);
            match result(&removed) {
                Err(error) => {
                    assert!(
                        matches!(error.kind, ErrorKind::Race | ErrorKind::Uninitialized),
                        "{error}"
                    );
                    true
                }
                Ok(_) => false,
            }
        });
        assert_eq!(found.count(), needed, "{}", entry.name);
        // A bit that is set in two steps is lost where two threads set bits of one word.
        let plain = text.replace("red.shared.or.b32", "st.shared.b32");
        assert_eq!(result(&plain).unwrap_err().kind, ErrorKind::Race);
    }
}
