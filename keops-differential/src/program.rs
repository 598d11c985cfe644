//! A program of many formulas: its text, its build by one `rustc`, its run.

use crate::On;
use keops_compiler::check::parse_and_check;
pub use keops_compiler::expand::Role;
use keops_compiler::expand::{bare, bare_device_code};
use keops_compiler::ptx;
use keops_compiler::types::Shape;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// Rows of numbers.
pub type Rows = Vec<Vec<f64>>;

/// A call of a formula.
pub struct Call {
    /// The formula's number in the program.
    pub formula: usize,
    /// Which of its functions, [`Role::Grad`] excepted.
    pub role: Role,
    /// The inputs' shapes and rows.
    pub inputs: Vec<(Shape, Rows)>,
}

/// What a call gave.
pub struct Found {
    /// Passes that the CPU engine ran over listed pairs only.
    pub listed: usize,
    /// The numbers of each result.
    pub numbers: Vec<Vec<f64>>,
}

/// Builds the program of a macro call's text, at the value type of its first item, and makes the calls.
///
/// # Errors
/// The text is wrong, the compiler fails, or the program does.
pub fn run(text: &str, calls: &[Call], on: &On) -> Result<Vec<Found>, String> {
    let directory = Directory::new()?;
    let mut functions: Vec<(usize, Role)> = calls.iter().map(|c| (c.formula, c.role)).collect();
    functions.dedup();
    let executable = build(text, &functions, on, &directory.0)?;
    let output = execute(&executable, &input(calls, &functions), on)?;
    let results: Vec<Found> = output
        .lines()
        .map(|line| parse(line).ok_or_else(|| format!("not a result: {line}")))
        .collect::<Result<_, _>>()?;
    if results.len() == calls.len() {
        Ok(results)
    } else {
        Err(format!(
            "{} results of {} calls",
            results.len(),
            calls.len()
        ))
    }
}

fn build(
    text: &str,
    functions: &[(usize, Role)],
    on: &On,
    directory: &Path,
) -> Result<PathBuf, String> {
    let (program, errors) = parse_and_check(text.parse().map_err(|e| format!("{e}"))?);
    if let Some(error) = errors.iter().next() {
        return Err(error.message());
    }
    let wanted = |formula: usize, role: Role| functions.contains(&(formula, role));
    let modules = if *on == On::Ptx {
        let code = bare_device_code(&program, &wanted);
        let ptx = ptx::compile_with(&rustc(), &code.source)?;
        code.split(&ptx).into_iter().map(Ok).collect()
    } else {
        vec![Err("there is no device code".to_owned()); program.items.len()]
    };
    let name = |n: usize| &program.items[n].signature.name.text;
    let bare = bare(&program, &wanted, &modules).to_string();
    let mut formulas = String::new();
    for &(n, role) in functions {
        let method = match role {
            Role::Vjp => "vjp",
            Role::ValueAndVjp => "value_and_vjp",
            Role::Jvp => "jvp",
            Role::Eval | Role::Grad(_) => "eval",
        };
        let _ = write!(formulas, "{}::{method}, ", name(n));
    }
    let narrow = match on {
        On::Scalar | On::Ptx => "scalar_",
        On::Vector => "vector_",
        On::Optimised => "",
    };
    let is_f32 = matches!(
        program.items[0].signature.scalar,
        keops_compiler::item::Scalar::F32
    );
    let ty = if is_f32 { "f32" } else { "f64" };
    let source = format!(
        "extern crate keops_differential_runner as keops;\n\
         mod k {{ pub use ::keops::__private::*; pub use ::keops::__private::{narrow}table as table; }}\n\
         {bare}\nfn main() {{ ::keops::main::<{ty}>(&[{formulas}]) }}\n"
    );
    let (main, executable) = (directory.join("main.rs"), directory.join("formulas"));
    std::fs::write(&main, source).map_err(|e| format!("{}: {e}", main.display()))?;
    let (runner, dependencies) = runner()?;
    let mut rustc = Command::new(rustc());
    rustc
        .args([
            "--edition=2024",
            "--cap-lints=allow",
            "-Cpanic=abort",
            "-Cdebuginfo=0",
            // Checks of the loops' counters, which are as in a release build: half of the build time.
            "-Coverflow-checks=off",
            "-Cdebug-assertions=off",
        ])
        // A user's kernels are optimised; where thousands are to compile fast, not even what is always inlined is.
        .args(match on {
            On::Optimised => ["-Copt-level=1", "-Ccodegen-units=16"],
            _ => ["-Copt-level=0", "-Cno-prepopulate-passes"],
        })
        .arg("--extern")
        .arg(format!("keops_differential_runner={}", runner.display()))
        .arg("-L")
        .arg(format!("dependency={}", dependencies.display()))
        .arg("-o")
        .arg(&executable)
        .arg(&main);
    let output = rustc
        .output()
        .map_err(|e| format!("rustc cannot be started: {e}"))?;
    if output.status.success() {
        Ok(executable)
    } else {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(format!("rustc failed:\n{message}"))
    }
}

fn rustc() -> PathBuf {
    std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from)
}

/// The library that the program links, and the directory of what that needs: those that this program was built with.
fn runner() -> Result<(PathBuf, PathBuf), String> {
    let own = std::env::current_exe().map_err(|e| format!("this program has no path: {e}"))?;
    let parent = own.parent().ok_or("this program has no directory")?;
    let directory = if parent.ends_with("deps") {
        parent.to_owned()
    } else {
        parent.join("deps")
    };
    let entries =
        std::fs::read_dir(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let age = |path: &PathBuf| {
        let modified = std::fs::metadata(path).and_then(|data| data.modified());
        modified.unwrap_or(SystemTime::UNIX_EPOCH)
    };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or("");
            name.starts_with("libkeops_differential_runner-") && name.ends_with(".rlib")
        })
        .max_by_key(age)
        .map(|path| (path, directory.clone()))
        .ok_or_else(|| format!("no runner in {}", directory.display()))
}

/// The calls as the program reads them.
fn input(calls: &[Call], functions: &[(usize, Role)]) -> String {
    let mut text = String::new();
    for call in calls {
        let known = functions
            .iter()
            .position(|&f| f == (call.formula, call.role));
        let number = known.expect("each call's function is there");
        let _ = write!(text, "{number} {}", call.inputs.len());
        for (shape, rows) in &call.inputs {
            let (r, c) = match *shape {
                Shape::Scalar => (1, 1),
                Shape::Vector(n) => (1, n),
                Shape::Matrix(r, c) => (r, c),
            };
            let _ = write!(text, " {} {r} {c}", rows.len());
            for x in rows.iter().flatten() {
                let _ = write!(text, " {:x}", x.to_bits());
            }
        }
        text.push('\n');
    }
    text
}

fn execute(executable: &Path, input: &str, on: &On) -> Result<String, String> {
    let mut command = Command::new(executable);
    match on {
        On::Scalar => command.arg("scalar"),
        On::Vector if cfg!(target_arch = "x86_64") => command.arg("avx2"),
        On::Vector if cfg!(target_arch = "aarch64") => command.arg("neon"),
        On::Vector => command.arg("scalar"),
        On::Optimised => command.arg("best"),
        On::Ptx => command
            .arg("cuda")
            .env("LD_LIBRARY_PATH", keops_sim::stand_in::stage()?),
    };
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("the program cannot be started: {e}"))?;
    // It reads everything before it writes.
    if let Some(mut pipe) = child.stdin.take() {
        drop(pipe.write_all(input.as_bytes()));
    }
    let output = child
        .wait_with_output()
        .map_err(|e| format!("the program cannot be waited for: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let done = text.lines().count();
    Err(format!(
        "after {done} results: {}\n{message}",
        output.status
    ))
}

/// A line of results, without the formula's number.
fn parse(line: &str) -> Option<Found> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let listed = words.next()?.parse().ok()?;
    let results: usize = words.next()?.parse().ok()?;
    let numbers = (0..results)
        .map(|_| {
            let count: usize = words.next()?.parse().ok()?;
            let number = |word: &str| u64::from_str_radix(word, 16).ok().map(f64::from_bits);
            (0..count).map(|_| number(words.next()?)).collect()
        })
        .collect::<Option<_>>()?;
    Some(Found { listed, numbers })
}

/// A directory of its own, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Result<Directory, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("keops-differential-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Directory(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A directory left behind does no harm.
        drop(std::fs::remove_dir_all(&self.0));
    }
}
