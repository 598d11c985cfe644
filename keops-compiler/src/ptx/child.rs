//! The child compiler: its arguments, its surroundings, and how long it may take.
//!
//! The target is sm_75 at the lowest PTX version that the compiler offers for it (6.3 up to Rust 1.95), so that every
//! driver since then accepts the result. The compiler keeps intermediate files in its working directory, under a name
//! that depends on the crate's name only, so each child gets a directory of its own.
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
    let directory = Directory::new()?;
    let mut command = Command::new(rustc);
    command
        .args(ARGUMENTS)
        .current_dir(&directory.0)
        .env("RUSTC_BOOTSTRAP", "1");
    for name in UNWANTED {
        command.env_remove(name);
    }
    run(&mut command, source, LIMIT)
        .map(|ptx| super::module::keep_loops(&ptx))
        .map_err(|reason| format!("{} made no PTX: {reason}", rustc.display()))
}

/// Runs a command with `input` on its standard input, and returns its standard output.
fn run(command: &mut Command, input: &str, limit: Duration) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("it cannot be started: {error}"))?;
    // Threads on all three pipes: each could fill up while the others are being served.
    let output = child.stdout.take().map(read);
    let message = child.stderr.take().map(read);
    let writer = child.stdin.take().map(|mut pipe| {
        let input = input.to_owned();
        // A child that stops early closes the pipe; its message says why.
        std::thread::spawn(move || drop(pipe.write_all(input.as_bytes())))
    });
    let success = wait(&mut child, limit)?;
    if let Some(writer) = writer {
        drop(writer.join());
    }
    let output = collect(output);
    if success && !output.is_empty() {
        String::from_utf8(output).map_err(|error| format!("its output is not text: {error}"))
    } else {
        Err(excerpt(&String::from_utf8_lossy(&collect(message))))
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

    #[cfg(unix)]
    #[test]
    fn a_child_that_does_not_end_is_stopped() {
        let start = Instant::now();
        let reason = run(
            Command::new("sleep").arg("60"),
            "",
            Duration::from_millis(50),
        )
        .unwrap_err();
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
