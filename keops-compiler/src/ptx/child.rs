//! The child compiler: its arguments, its surroundings, and how long it may take.
//!
//! The target is sm_75 at the lowest PTX version that the compiler offers for it (6.3 up to Rust 1.95), so that every
//! driver since then accepts the result. The compiler keeps intermediate files in its working directory, under a name
//! that depends on the crate's name only, so each child gets a directory of its own.
//!
//! The child is told which optimisations to run ([`PASSES`]). Names of passes are LLVM's and not promised to stay: where the
//! compiler refuses them, it is started again with its own choice.
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Arguments of the child. Warnings are about generated code, so nobody could act on them.
const ARGUMENTS: &[&str] = &[
    "-",
    "--crate-name=keops_device",
    // Unlike a library for Rust, it holds the entry points only, and no metadata is made for it.
    "--crate-type=cdylib",
    "--edition=2024",
    "--target=nvptx64-nvidia-cuda",
    "--emit=asm",
    "-o",
    "-",
    "--cap-lints=allow",
    "--error-format=human",
    "--color=never",
    "-Ctarget-cpu=sm_75",
    "-Ctarget-feature=+ptx63",
    "-Copt-level=3",
    "-Cpanic=abort",
    "-Coverflow-checks=off",
    "-Cdebug-assertions=off",
    "-Cdebuginfo=0",
    "-Ccodegen-units=1",
    // Loops over what is held in registers must be unrolled completely, or it goes to local memory. Longer loops go over what
    // is in memory anyway, and their bodies are long enough.
    "-Cllvm-args=-unroll-threshold=700 -unroll-full-max-count=20",
];

/// Optimisations, from the functions that call no other upwards: each is made short before it becomes part of its callers.
///
/// Every operation of a register tile is a function with loops over the tile, and nearly all functions are `inline(always)`. The
/// compiler's own pipeline inlines these first of all, and then rotates, unrolls and simplifies thousands of loops within one
/// function, at a cost that grows with their square: two thirds of a child's time, nine tenths where the pair part is long.
/// Then the compiler's own pipeline runs, on what is left.
const PASSES: &str = concat!(
    "cgscc(inline<only-mandatory>,function<eager-inv>(",
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,",
    "loop(loop-rotate,loop-unroll-full),",
    "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg",
    ")),globaldce,default<O2>"
);

/// Variables that would change what the child does, or let it wait for a job token that only its parent's pipes carry.
const UNWANTED: &[&str] = &[
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_LOG",
    "RUSTC_COLOR",
    "RUST_TARGET_PATH",
    "CARGO_MAKEFLAGS",
    "MAKEFLAGS",
    "MFLAGS",
];

/// Longest time of a child. The largest kernels take seconds; this only keeps a fault from hanging the build.
const LIMIT: Duration = Duration::from_secs(300);

/// Most text of the compiler's message that is kept.
const MESSAGE_LINES: usize = 40;

/// Compiles a device crate with the compiler at `rustc`.
///
/// # Errors
/// Why there is no PTX, with the compiler's message.
pub fn compile_with(rustc: &Path, source: &str) -> Result<String, String> {
    compile_by(rustc, source, PASSES)
        .map(|ptx| super::module::keep_loops(&ptx))
        .map_err(|reason| format!("{} made no PTX: {reason}", rustc.display()))
}

/// Compiles with these optimisations or, where the compiler fails with them, with its own.
fn compile_by(rustc: &Path, source: &str, passes: &str) -> Result<String, String> {
    match start(rustc, source, Some(passes)) {
        // The passes may be at fault; if the source is, the same message comes again.
        Err(Failure::Refused(_)) => start(rustc, source, None),
        result => result,
    }
    .map_err(Failure::reason)
}

/// Starts a compiler with these optimisations or with its own.
fn start(rustc: &Path, source: &str, passes: Option<&str>) -> Result<String, Failure> {
    let directory = Directory::new().map_err(Failure::Broken)?;
    let mut command = Command::new(rustc);
    command
        .args(ARGUMENTS)
        .current_dir(&directory.0)
        .env("RUSTC_BOOTSTRAP", "1");
    if let Some(passes) = passes {
        command
            .arg("-Cno-prepopulate-passes")
            .arg(format!("-Cpasses={passes}"));
    }
    for name in UNWANTED {
        command.env_remove(name);
    }
    run(&mut command, source, LIMIT)
}

/// Why a command gave nothing.
#[derive(Debug)]
enum Failure {
    /// It ended with this message.
    Refused(String),
    /// It did not run to its end, for this reason.
    Broken(String),
}

impl Failure {
    fn reason(self) -> String {
        match self {
            Failure::Refused(reason) | Failure::Broken(reason) => reason,
        }
    }
}

/// Runs a command with `input` on its standard input, and returns its standard output.
fn run(command: &mut Command, input: &str, limit: Duration) -> Result<String, Failure> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::Broken(format!("it cannot be started: {error}")))?;
    // Threads on all three pipes: each could fill up while the others are being served.
    let output = child.stdout.take().map(read);
    let message = child.stderr.take().map(read);
    let writer = child.stdin.take().map(|mut pipe| {
        let input = input.to_owned();
        // A child that stops early closes the pipe; its message says why.
        std::thread::spawn(move || drop(pipe.write_all(input.as_bytes())))
    });
    let success = wait(&mut child, limit).map_err(Failure::Broken)?;
    if let Some(writer) = writer {
        drop(writer.join());
    }
    let output = collect(output);
    if success && !output.is_empty() {
        String::from_utf8(output)
            .map_err(|error| Failure::Broken(format!("its output is not text: {error}")))
    } else {
        let message = collect(message);
        Err(Failure::Refused(excerpt(&String::from_utf8_lossy(
            &message,
        ))))
    }
}

/// Waits for a child, no longer than `limit`; whether it succeeded.
fn wait(child: &mut Child, limit: Duration) -> Result<bool, String> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if start.elapsed() < limit => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(10));
            }
            waited => {
                // It may have ended in between; there is nothing to do about a failure here.
                drop(child.kill());
                drop(child.wait());
                return Err(match waited {
                    Err(error) => format!("it cannot be waited for: {error}"),
                    Ok(_) => format!("it was stopped after {} s", limit.as_secs()),
                });
            }
        }
    }
}

/// Reads a pipe to its end, in a thread.
fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still the best there is.
        drop(pipe.read_to_end(&mut bytes));
        bytes
    })
}

fn collect(reader: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    reader
        .and_then(|reader| reader.join().ok())
        .unwrap_or_default()
}

/// The beginning of a compiler's message.
fn excerpt(message: &str) -> String {
    let mut lines: Vec<&str> = message
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    if lines.is_empty() {
        return "it gave no reason".to_owned();
    }
    if lines.len() > MESSAGE_LINES {
        lines.truncate(MESSAGE_LINES);
        lines.push("…");
    }
    lines.join("\n")
}

/// A directory of its own under the system's temporary one, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Result<Directory, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let base = std::env::temp_dir();
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("keops-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Directory(path)),
                // Left by an earlier process of the same number.
                Err(error)
                    if error.kind() == std::io::ErrorKind::AlreadyExists && number < 1000 => {}
                Err(error) => {
                    return Err(format!(
                        "no temporary directory {}: {error}",
                        path.display()
                    ));
                }
            }
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A directory left behind does no harm.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_is_not_there_is_a_reason() {
        let reason = compile_with(Path::new("/nowhere/rustc"), "").unwrap_err();
        assert!(
            reason.starts_with("/nowhere/rustc made no PTX: it cannot be started"),
            "{reason}"
        );
    }

    /// The compiler in the path, and a device crate without kernels.
    fn compiler() -> (PathBuf, String) {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        (rustc.into(), keops_gpu_kernels::device::source("", &[]))
    }

    #[test]
    fn the_compiler_takes_the_passes() {
        let (rustc, source) = compiler();
        let ptx = start(&rustc, &source, Some(PASSES)).unwrap();
        assert!(ptx.contains(".target sm_75"), "{ptx}");
    }

    #[test]
    fn passes_that_the_compiler_refuses_are_left_out() {
        let (rustc, source) = compiler();
        let unknown = "cgscc(no-such-pass),default<O2>";
        match start(&rustc, &source, Some(unknown)) {
            Err(Failure::Refused(message)) => {
                assert!(message.contains("no-such-pass"), "{message}");
            }
            other => panic!("{other:?}"),
        }
        let ptx = compile_by(&rustc, &source, unknown).unwrap();
        assert!(ptx.contains(".target sm_75"), "{ptx}");
    }

    #[test]
    fn a_fault_of_the_source_is_the_reason_with_or_without_passes() {
        let (rustc, source) = compiler();
        for passes in [PASSES, "no-such-pass"] {
            let reason = compile_by(&rustc, &(source.clone() + "fault"), passes).unwrap_err();
            assert!(
                reason.contains("fault") && !reason.contains("no-such-pass"),
                "{reason}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_child_that_does_not_end_is_stopped() {
        let start = Instant::now();
        let reason = run(
            Command::new("sleep").arg("60"),
            "",
            Duration::from_millis(50),
        )
        .unwrap_err()
        .reason();
        assert!(reason.contains("stopped"), "{reason}");
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[cfg(unix)]
    #[test]
    fn input_larger_than_a_pipe_passes() {
        let text = "line\n".repeat(100_000);
        assert_eq!(
            run(&mut Command::new("cat"), &text, Duration::from_secs(60)).unwrap(),
            text
        );
    }

    #[test]
    fn long_messages_are_cut() {
        let message = excerpt(&"error\n\n".repeat(1000));
        assert_eq!(message.lines().count(), MESSAGE_LINES + 1);
        assert_eq!(excerpt(" \n"), "it gave no reason");
    }
}
