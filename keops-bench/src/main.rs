//! Speed and accuracy of keops, in one program. `cargo xtask bench` and `cargo xtask accuracy` build and run it.
//!
//! ```text
//! keops-bench [--suite NAME] [--m M] [--n N] [--runs R] [--threads T] [--out FILE]   a suite; see suites.rs
//! keops-bench --case C --dtype float32|float64 --m M --n N --d D --runs R           one case, one JSON line
//! keops-bench table FILE...                                                         JSON lines of any system as a table
//! keops-bench gpu [--device N] [--m M] [--n N] [--runs R]                           on a GPU, JSON lines; see gpu.rs
//! keops-bench accuracy                                                              largest errors against f64
//! ```
//!
//! A JSON line has the keys system, case, dtype, M, N, D, seconds, gpairs_per_s (M·N / seconds / 10⁹), wall_seconds,
//! min_seconds, runs, threads and, for M = N = 1000, rel_err against f64 on the same inputs. `seconds` is the median of
//! min(wall time, process CPU time / threads), so that a busy neighbour does not spoil it. `peers/peers.py` prints such lines for
//! other libraries.

mod accuracy;
mod cases;
mod data;
mod functions;
mod gpu;
mod measure;
mod plain;
mod suites;
#[cfg(feature = "sweep")]
mod sweep;
mod table;

use cases::{Case, NAMES};
use data::Number;
use measure::{Line, Timing};
use std::fs::OpenOptions;
use std::io::Write;
use std::process::ExitCode;

/// The command line.
struct Arguments {
    case: Option<String>,
    suite: String,
    f32: bool,
    m: usize,
    n: usize,
    d: usize,
    runs: usize,
    threads: usize,
    out: Option<String>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.first().map(String::as_str) {
        Some("accuracy") => accuracy::report(),
        Some("table") => table::print(&words[1..]),
        Some("gpu") => gpu::run(&words[1..]),
        _ => parse(&words).and_then(|arguments| match &arguments.case {
            Some(case) => one(case, &arguments),
            None => suite(&arguments),
        }),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[String]) -> Result<Arguments, String> {
    let mut arguments = Arguments {
        case: None,
        suite: "baseline".to_owned(),
        f32: true,
        m: 10_000,
        n: 10_000,
        d: 3,
        runs: 7,
        threads: 1,
        out: None,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words
            .next()
            .ok_or_else(|| format!("{word} needs a value"))?;
        let number = || {
            value
                .parse::<usize>()
                .map_err(|_| format!("{word} needs a number, not {value}"))
        };
        match word.as_str() {
            "--case" => arguments.case = Some(value.clone()),
            "--suite" => arguments.suite.clone_from(value),
            "--dtype" if value == "float32" => arguments.f32 = true,
            "--dtype" if value == "float64" => arguments.f32 = false,
            "--dtype" => return Err(format!("--dtype is float32 or float64, not {value}")),
            "--m" => arguments.m = number()?,
            "--n" => arguments.n = number()?,
            "--d" => arguments.d = number()?,
            "--runs" => arguments.runs = number()?.max(1),
            "--threads" => arguments.threads = number()?.max(1),
            "--out" => arguments.out = Some(value.clone()),
            _ => {
                return Err(format!(
                    "{word} is not known; see the top of keops-bench/src/main.rs"
                ));
            }
        }
    }
    Ok(arguments)
}

/// The protocol of an external benchmark: one case, one line.
fn one(case: &str, a: &Arguments) -> Result<(), String> {
    let line = if a.f32 {
        keops_line::<f32>(case, a.d, a)
    } else {
        keops_line::<f64>(case, a.d, a)
    }?;
    println!("{}", line.json());
    Ok(())
}

fn find<T: Number>(name: &str, d: usize, a: &Arguments) -> Result<Case<T>, String> {
    cases::case::<T>(name, d, a.m, a.n)
        .ok_or_else(|| format!("there is no case {name} with D = {d}; there are {NAMES}"))
}

fn keops_line<T: Number>(name: &str, d: usize, a: &Arguments) -> Result<Line, String> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(a.threads)
        .build()
        .map_err(|e| e.to_string())?;
    #[cfg(feature = "sweep")]
    if let ("gauss", "float32", Some(run)) = (name, T::NAME, sweep::gauss(d, a.m, a.n)) {
        let (timing, _) = pool.install(|| measure::measure(a.runs, a.threads, &run));
        return Ok(line::<T>("keops-rs", name, d, a, timing, a.threads));
    }
    let case = find::<T>(name, d, a)?;
    let (timing, _) = pool.install(|| measure::measure(a.runs, a.threads, &case.keops));
    let mut line = line::<T>("keops-rs", name, d, a, timing, a.threads);
    if (a.m, a.n) == (1000, 1000) {
        line.relative_error = Some(measure::relative_error((case.keops)(), (case.reference)()));
    }
    Ok(line)
}

fn plain_line<T: Number>(name: &str, d: usize, a: &Arguments) -> Result<Line, String> {
    let case = find::<T>(name, d, a)?;
    let (timing, _) = measure::measure(1, 1, &case.plain);
    Ok(line::<T>("plain loop", name, d, a, timing, 1))
}

fn line<T: Number>(
    system: &'static str,
    name: &str,
    d: usize,
    a: &Arguments,
    timing: Timing,
    threads: usize,
) -> Line {
    Line {
        system,
        case: name.to_owned(),
        dtype: T::NAME,
        m: a.m,
        n: a.n,
        d,
        timing,
        threads,
        relative_error: None,
    }
}

/// All cases of a suite as a table, and as JSON lines in the file that was named; the baseline beside plain loops.
fn suite(a: &Arguments) -> Result<(), String> {
    let cases = suites::suite(&a.suite, a.m, a.n)?;
    let plain = a.suite == "baseline";
    let mut bars = vec![];
    println!(
        "{} thread(s); Gpairs/s, and 10⁹ coordinates of pairs a second",
        a.threads
    );
    println!(
        "{:<15} {:>4} {:>4} {:>8} {:>8} {:>11} {:>9} {:>9}{}",
        "case",
        "D",
        "type",
        "M",
        "N",
        "seconds",
        "keops",
        "times D",
        if plain { " plain loop   ratio" } else { "" }
    );
    let mut lines = String::new();
    for suites::Run {
        case: name,
        d,
        f32,
        m,
        n,
    } in cases
    {
        let a = &Arguments {
            case: None,
            suite: a.suite.clone(),
            out: None,
            m,
            n,
            ..*a
        };
        let keops = if f32 {
            keops_line::<f32>(name, d, a)?
        } else {
            keops_line::<f64>(name, d, a)?
        };
        let dtype = if f32 { "f32" } else { "f64" };
        let fast = keops.gpairs();
        print!(
            "{name:<15} {d:>4} {dtype:>4} {m:>8} {n:>8} {:>11.3e} {fast:>9.4} {:>9.2}",
            keops.seconds(),
            fast * d as f64
        );
        lines += &format!("{}\n", keops.json());
        bars.push((format!("{dtype} {m}×{n}×{d}"), fast * d as f64));
        if plain {
            let plain = if f32 {
                plain_line::<f32>(name, d, a)?
            } else {
                plain_line::<f64>(name, d, a)?
            };
            print!(" {:>10.3} {:>6.1}x", plain.gpairs(), fast / plain.gpairs());
            lines += &format!("{}\n", plain.json());
        }
        if let ("scaling", Some(peak)) = (a.suite.as_str(), peak_megabytes()) {
            print!("   peak of the process, inputs included: {peak:.0} MB");
        }
        println!();
    }
    if matches!(a.suite.as_str(), "shapes" | "dims" | "scaling") {
        plot(&bars);
    }
    if let Some(path) = &a.out {
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(lines.as_bytes()))
            .map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(())
}

/// Prints coordinates of pairs a second as bars, the longest for the fastest.
fn plot(bars: &[(String, f64)]) {
    const WIDTH: f64 = 60.0;
    let most = bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
    println!("\n10⁹ coordinates of pairs a second, M×N×D");
    for (label, value) in bars {
        let bar = "#".repeat((value / most * WIDTH).round() as usize);
        println!("{label:<22} {value:>7.2} {bar}");
    }
}

/// The most memory that this process has had at a time, where the system tells.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}
