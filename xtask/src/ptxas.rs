//! `cargo xtask ptxas`: does NVIDIA's assembler accept the PTX, and what does each entry cost?
//!
//! Invariant: a message of the assembler fails the task, and so does a spill or a use of local memory in any entry.
use crate::kernels;
use crate::table::table;
use crate::wheels::{PTXAS, target_directory};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// From the oldest supported GPU to the newest.
pub(crate) const ARCHITECTURES: [&str; 5] = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];
/// Assemblers at a time.
const WORKERS: usize = 2;

/// The architectures that the first argument names, if it does: `sm_90`, `sm_75,sm_120` or `all`; and the other arguments.
pub(crate) fn architectures(arguments: &[String]) -> Option<(Vec<&str>, &[String])> {
    match arguments.split_first()? {
        (first, rest) if first == "all" => Some((ARCHITECTURES.to_vec(), rest)),
        (first, rest) if first.starts_with("sm_") => Some((first.split(',').collect(), rest)),
        _ => None,
    }
}

/// Assembles the given files and directories, or the PTX of all kernels of the project's own.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let (architectures, arguments) =
        architectures(arguments).unwrap_or((ARCHITECTURES.to_vec(), arguments));
    let ptxas = PTXAS.find()?;
    let files = kernels::files(arguments)?;
    rejects_a_fault(&ptxas)?;
    let jobs: Vec<(&PathBuf, &str)> = files
        .iter()
        .flat_map(|file| architectures.iter().map(move |&a| (file, a)))
        .collect();
    let next = AtomicUsize::new(0);
    let results: Vec<_> = std::thread::scope(|scope| {
        let work = |worker: usize| {
            let (ptxas, jobs, next) = (&ptxas, &jobs, &next);
            let output = target_directory().join(format!("ptxas-{worker}.cubin"));
            move || {
                let mut done = vec![];
                while let Some(&(file, architecture)) =
                    jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    done.push((
                        file,
                        architecture,
                        assemble(ptxas, file, architecture, &output),
                    ));
                }
                done
            }
        };
        let threads: Vec<_> = (0..WORKERS).map(|w| scope.spawn(work(w))).collect();
        threads.into_iter().map(|thread| thread.join()).collect()
    });
    let mut checked = Checked::default();
    for result in results {
        for (file, architecture, result) in result.map_err(|_| "a thread panicked".to_owned())? {
            checked.add(file, architecture, result);
        }
    }
    checked.report()
}

/// What the assembler said.
#[derive(Default)]
struct Checked {
    rows: Vec<Vec<String>>,
    failures: String,
}

impl Checked {
    fn add(&mut self, file: &Path, architecture: &str, result: Result<Vec<Usage>, String>) {
        let usages = match result {
            Ok(usages) => usages,
            Err(message) => {
                self.failures += &format!("{} for {architecture}:\n{message}\n", file.display());
                return;
            }
        };
        for usage in usages {
            if usage.local() > 0 {
                self.failures += &format!(
                    "{} for {architecture}: {} uses {} bytes of local memory\n",
                    file.display(),
                    usage.entry,
                    usage.local()
                );
            }
            self.rows.push(usage.row(architecture));
        }
    }

    /// Prints the table; says what failed.
    fn report(mut self) -> Result<(), String> {
        self.rows.sort();
        let head = ["entry", "arch", "registers", "local", "smem"];
        print!("{}", table(&head, &self.rows));
        if self.failures.is_empty() {
            Ok(())
        } else {
            Err(self.failures)
        }
    }
}

/// An assembler that accepts an instruction without its rounding checks nothing.
fn rejects_a_fault(ptxas: &Path) -> Result<(), String> {
    let file = target_directory().join("ptxas-fault.ptx");
    let entry = |instruction: &str| {
        let text = format!(
            ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry fault()\n{{\n.reg .f32 %f<4>;\n{instruction} %f0, %f1, \
             %f2, %f3;\nret;\n}}\n"
        );
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok::<_, String>(assemble(ptxas, &file, "sm_90", &scratch()))
    };
    entry("fma.rn.f32")?.map_err(|message| format!("a correct entry is refused:\n{message}"))?;
    match entry("fma.f32")? {
        Err(message) if message.contains("Rounding modifier required") => Ok(()),
        other => Err(format!("`fma` without its rounding: {other:?}")),
    }
}

/// Where machine code goes that is only looked at.
fn scratch() -> PathBuf {
    target_directory().join("ptxas.cubin")
}

/// What `ptxas -v` says about an entry.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Usage {
    pub(crate) entry: String,
    pub(crate) registers: u32,
    /// Bytes of spill stores and loads.
    pub(crate) spills: u32,
    /// Bytes of the stack frame: spills and local arrays.
    pub(crate) stack: u32,
    /// Bytes of shared memory.
    pub(crate) shared: u32,
}

impl Usage {
    /// Bytes of local memory.
    pub(crate) fn local(&self) -> u32 {
        self.stack.max(self.spills)
    }

    fn row(self, architecture: &str) -> Vec<String> {
        let local = self.local();
        let Usage {
            entry,
            registers,
            shared,
            ..
        } = self;
        vec![
            entry,
            architecture.to_owned(),
            registers.to_string(),
            local.to_string(),
            shared.to_string(),
        ]
    }
}

/// Assembles one file into `output`; what its entries use, or the assembler's message.
pub(crate) fn assemble(
    ptxas: &Path,
    file: &Path,
    architecture: &str,
    output: &Path,
) -> Result<Vec<Usage>, String> {
    let result = Command::new(ptxas)
        .arg(format!("-arch={architecture}"))
        .args(["-v", "-Werror"])
        .arg(file)
        .arg("-o")
        .arg(output)
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", ptxas.display()))?;
    let message = String::from_utf8_lossy(&result.stderr);
    if result.status.success() {
        Ok(usages(&message))
    } else {
        Err(message.into_owned())
    }
}

/// Reads the report of `ptxas -v`.
fn usages(report: &str) -> Vec<Usage> {
    let mut usages: Vec<Usage> = Vec::new();
    for line in report.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let entry = rest.split('\'').next().unwrap_or(rest).to_owned();
            usages.push(Usage {
                entry,
                ..Usage::default()
            });
        }
        if let Some(usage) = usages.last_mut() {
            usage.registers = usage.registers.max(number_before(line, " registers"));
            usage.stack = usage.stack.max(number_before(line, " bytes stack frame"));
            usage.spills += number_before(line, " bytes spill stores")
                + number_before(line, " bytes spill loads");
            usage.shared = usage.shared.max(number_before(line, " bytes smem"));
        }
    }
    usages
}

/// The number that stands before `words` in a line, or 0.
fn number_before(line: &str, words: &str) -> u32 {
    let number = line
        .split_once(words)
        .and_then(|(before, _)| before.rsplit([' ', ',']).next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let report = "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'gauss' for 'sm_90'
ptxas info    : Function properties for gauss
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 48 registers, used 1 barriers, 4096 bytes smem, 400 bytes cmem[0]
ptxas info    : Compiling entry function 'plain' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
";
        let usage = |entry: &str, registers, spills, stack, shared| Usage {
            entry: entry.to_owned(),
            registers,
            spills,
            stack,
            shared,
        };
        assert_eq!(
            usages(report),
            [usage("gauss", 48, 28, 8, 4096), usage("plain", 8, 0, 0, 0)]
        );
    }
}
