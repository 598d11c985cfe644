//! `cargo xtask race`: SentryWard proves small launches of each skeleton free of data races and misused barriers.
//!
//! All three phases of the launch ABI (`keops-gpu-kernels/src/abi.rs`) of each kernel in `keops-compiler/kernels/skeletons.keops`,
//! over several blocks and tiles; not of listed rows, where what a thread does depends on data (keops-sim's tests check these). The same launches with a seeded fault must not pass: a checker that finds nothing is a failure.
//!
//! Invariant: anything but `race_free` fails the task. The program's exit status says nothing of what it found.
use crate::kernels::{self, Shape};
use crate::table::table;
use crate::wheels::{SENTRYWARD, target_directory};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const BLOCK: u32 = 128;
/// Seconds for one launch, of which the longest takes about ten.
const LIMIT: u32 = 300;

/// The numbers of a launch.
#[derive(Clone, Copy)]
struct Launch {
    name: &'static str,
    m: u32,
    n: u32,
    phase: u32,
    parts: u32,
}

const LAUNCHES: [Launch; 3] = [
    Launch {
        name: "whole",
        m: 130,
        n: 300,
        phase: 0,
        parts: 1,
    },
    Launch {
        name: "fold",
        m: 3,
        n: 520,
        phase: 1,
        parts: 2,
    },
    Launch {
        name: "combine",
        m: 130,
        n: 520,
        phase: 2,
        parts: 2,
    },
];

/// Checks all skeletons, then that seeded faults are found.
pub(crate) fn run() -> Result<(), String> {
    let sentryward = SENTRYWARD.find()?;
    let directory = kernels::make("skeletons", &["keops-compiler/kernels/skeletons.keops"])?;
    let mut rows = vec![];
    let mut failures = String::new();
    let mut check =
        |file: &Path, text: &str, entry: &str, shape: Shape, launch: Launch, fault: &str| {
            let start = Instant::now();
            let result = verify(&sentryward, text, entry, shape, launch)?;
            let as_wanted = (result == "race_free") == fault.is_empty();
            if !as_wanted {
                failures += &format!(
                    "{}: {entry}, {} {fault}: {result}\n",
                    file.display(),
                    launch.name
                );
            }
            let seconds = start.elapsed().as_secs_f64();
            let name = format!("{entry} {} {fault}", launch.name)
                .trim_end()
                .to_owned();
            rows.push(vec![name, result, format!("{seconds:.1} s")]);
            Ok::<(), String>(())
        };
    for (item, entry) in [
        ("held", "held"),
        ("prepared", "prepared"),
        ("in_memory", "in_memory"),
        ("listed", "listed_vjp_pass1"),
    ] {
        let file = directory.join(format!("{item}.ptx"));
        let text =
            std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        // SentryWard does not know the directive of an entry, which changes nothing that it looks at.
        let text = text.replace(".pragma \"nounroll\";\n", "");
        let shape = kernels::shapes(&file)?;
        let shape = *shape.get(entry).ok_or("an entry without its note")?;
        for mut launch in LAUNCHES {
            if entry == "in_memory" {
                // Every load of a column counts, so one row more than a tile, and not in parts.
                launch.n = 129;
                if launch.name == "fold" {
                    continue;
                }
            }
            check(&file, &text, entry, shape, launch, "")?;
        }
        if entry == "held" {
            for (fault, seeded) in faults(&text, entry)? {
                check(&file, &seeded, entry, shape, LAUNCHES[0], fault)?;
            }
        }
    }
    print!("{}", table(&["launch", "result", "time"], &rows));
    if failures.is_empty() {
        Ok(())
    } else {
        Err(format!("not as it must be:\n{failures}"))
    }
}

/// The entry with faults that a checker must find.
fn faults(text: &str, entry: &str) -> Result<Vec<(&'static str, String)>, String> {
    let start = text
        .find(&format!(".entry {entry}("))
        .ok_or("no such entry")?;
    let (before, body) = text.split_at(start);
    let missing = |what: &str| format!("{entry} holds no {what} to damage");
    let barriers: Vec<usize> = body
        .match_indices("bar.sync")
        .map(|(at, _)| at)
        .take(2)
        .collect();
    let &[first, second] = &barriers[..] else {
        return Err(missing("two barriers"));
    };
    let without = |at: usize| format!("{before}{}// {}", &body[..at], &body[at..]);
    // All threads write the first cell of the tile.
    let store = "st.shared.f32 [";
    let at = body.find(store).ok_or_else(|| missing("store"))? + store.len();
    let end = body[at..].find(']').ok_or_else(|| missing("address"))? + at;
    let one_cell = format!("{before}{}keops_tile{}", &body[..at], &body[end..]);
    Ok(vec![
        ("without its first barrier", without(first)),
        ("without its second barrier", without(second)),
        ("with a wrong index", one_cell),
    ])
}

/// What SentryWard says of a launch.
fn verify(
    sentryward: &Path,
    text: &str,
    entry: &str,
    shape: Shape,
    launch: Launch,
) -> Result<String, String> {
    let directory = target_directory().join("race");
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    std::fs::create_dir_all(&directory).map_err(failed)?;
    let (ptx, input) = (directory.join("kernel.ptx"), directory.join("input.json"));
    std::fs::write(&ptx, text).map_err(failed)?;
    std::fs::write(&input, self::input(text, entry, shape, launch)?).map_err(failed)?;
    let output = Command::new(sentryward)
        .arg("--input")
        .arg(&input)
        .args(["--timeout", &LIMIT.to_string()])
        .arg(&ptx)
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", sentryward.display()))?;
    let report = String::from_utf8_lossy(&output.stdout);
    result(&report).ok_or_else(|| {
        format!(
            "SentryWard gave no result:\n{report}{}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// The launch in SentryWard's format.
fn input(text: &str, entry: &str, shape: Shape, launch: Launch) -> Result<String, String> {
    let Launch {
        m, n, phase, parts, ..
    } = launch;
    let parameters = text
        .split_once(&format!(".entry {entry}("))
        .and_then(|(_, rest)| rest.split_once(')'))
        .ok_or("no such entry")?
        .0;
    let numbers = [m, n, 0, phase, parts, 0];
    let names = parameters
        .split(',')
        .filter_map(|p| p.split_whitespace().last());
    let arguments: Vec<String> = names
        .zip(numbers)
        .map(|(name, value)| {
            format!("{{\"parameter\":\"{name}\",\"offset\":0,\"type\":\"u32\",\"value\":{value}}}")
        })
        .collect();
    let grid = m.div_ceil(BLOCK * shape.outer_rows as u32);
    let rows = if phase == 1 { parts } else { 1 };
    Ok(format!(
        "{{\"schema\":\"spverify.kernel-input/v1\",\"entry\":\"{entry}\",\"launch\":{{\"grid_dim\":[{grid},{rows},1],\
         \"block_dim\":[{BLOCK},1,1]}},\"arguments\":[{}]}}",
        arguments.join(",")
    ))
}

/// The value of the report's `result`, if there is exactly one.
fn result(report: &str) -> Option<String> {
    let mut values = report.split("\"result\":").skip(1);
    let value = values
        .next()?
        .trim_start()
        .strip_prefix('"')?
        .split('"')
        .next()?;
    values.next().is_none().then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_result_counts() {
        assert_eq!(
            result("{\"a\": 1, \"result\": \"race_free\"}").as_deref(),
            Some("race_free")
        );
        assert_eq!(
            result("{\"result\":\"a\", \"x\": {\"result\":\"b\"}}"),
            None
        );
        assert_eq!(result("Traceback"), None);
    }
}
