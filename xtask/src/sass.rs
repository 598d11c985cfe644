//! `cargo xtask sass`: the machine code of kernels: instructions per pair, registers, local and shared memory, occupancy.
//!
//! The pair loop is the innermost loop that reads shared memory, the one with the most special functions and then the most
//! arithmetic. How many pairs one trip handles is noted in the PTX (rows of a thread times rows of a register tile); where the
//! rows are long the loop goes over their columns, and the number is per pair and trip.
use crate::kernels;
use crate::ptxas::{Usage, architectures, assemble};
use crate::table::table;
use crate::wheels::{NVDISASM, PTXAS, target_directory};
use std::path::Path;
use std::process::Command;

/// Threads of a block.
const BLOCK: u32 = 128;

/// Prints the table of the given files and directories, or of `keops-compiler/kernels/table.keops`. The first argument may name
/// architectures: `sm_90`, `sm_75,sm_120` or `all`; without one it is sm_90.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let (architectures, files) = architectures(arguments).unwrap_or((vec!["sm_90"], arguments));
    let files = match files {
        [] => {
            let made = kernels::make("table", &["keops-compiler/kernels/table.keops"])?;
            kernels::files(&[made.display().to_string()])?
        }
        files => kernels::files(files)?,
    };
    let (ptxas, nvdisasm) = (PTXAS.find()?, NVDISASM.find()?);
    let cubin = target_directory().join("sass.cubin");
    let mut rows = vec![];
    for file in &files {
        let shapes = kernels::shapes(file)?;
        for architecture in &architectures {
            let usages = assemble(&ptxas, file, architecture, &cubin)
                .map_err(|message| format!("{}: {message}", file.display()))?;
            let text = disassemble(&nvdisasm, &cubin)?;
            for usage in usages {
                let pairs = shapes.get(&usage.entry).map_or(1, |shape| shape.pairs);
                let code = function(&text, &usage.entry);
                rows.push(row(&usage, architecture, &code, pairs));
            }
        }
    }
    rows.sort();
    let head = [
        "entry",
        "arch",
        "pairs",
        "instr/pair",
        "local in loop",
        "registers",
        "local",
        "smem",
        "occupancy",
    ];
    print!("{}", table(&head, &rows));
    Ok(())
}

fn disassemble(nvdisasm: &Path, cubin: &Path) -> Result<String, String> {
    let output = Command::new(nvdisasm)
        .arg("-c")
        .arg(cubin)
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", nvdisasm.display()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A line of a function.
#[derive(Clone, Debug, PartialEq)]
enum Line<'a> {
    Label(&'a str),
    /// Operation code without modifiers, and the whole instruction.
    Instruction(&'a str, &'a str),
}

/// The lines of a function.
fn function<'a>(text: &'a str, name: &str) -> Vec<Line<'a>> {
    let start = format!(".text.{name}:");
    let lines = text.lines().skip_while(|line| line.trim() != start).skip(1);
    let mut code = vec![];
    for line in lines {
        let line = line.trim();
        if line.starts_with(".text.") || line.starts_with(".section") {
            break;
        }
        if let Some(label) = line.strip_suffix(':') {
            code.push(Line::Label(label));
        } else if let Some((_, instruction)) = line.split_once("*/") {
            let instruction = instruction.trim().trim_end_matches(';').trim();
            let mut words = instruction.split_whitespace();
            let first = words.next().unwrap_or("");
            let op = if first.starts_with('@') {
                words.next().unwrap_or("")
            } else {
                first
            };
            if !op.is_empty() && !op.starts_with("/*") {
                code.push(Line::Instruction(
                    op.split('.').next().unwrap_or(op),
                    instruction,
                ));
            }
        }
    }
    code
}

/// The innermost loops: ranges of lines from a label to the branch back to it.
fn innermost(code: &[Line<'_>]) -> Vec<(usize, usize)> {
    let label = |name: &str| code.iter().position(|line| *line == Line::Label(name));
    let back = |(end, line): (usize, &Line<'_>)| {
        let Line::Instruction("BRA", text) = line else {
            return None;
        };
        let target = text.split_once("`(")?.1.split(')').next()?;
        let start = label(target)?;
        (start < end).then_some((start, end))
    };
    let loops: Vec<(usize, usize)> = code.iter().enumerate().filter_map(back).collect();
    let holds_another = |&(a, b): &(usize, usize)| {
        loops
            .iter()
            .any(|&(c, d)| (c, d) != (a, b) && a <= c && d <= b)
    };
    loops
        .iter()
        .copied()
        .filter(|l| !holds_another(l))
        .collect()
}

/// What a loop holds.
fn count(code: &[Line<'_>], (start, end): (usize, usize), ops: &[&str]) -> usize {
    let is = |line: &&Line<'_>| matches!(line, Line::Instruction(op, _) if ops.contains(op));
    code[start..=end].iter().filter(is).count()
}

fn row(usage: &Usage, architecture: &str, code: &[Line<'_>], pairs: usize) -> Vec<String> {
    const ARITHMETIC: &[&str] = &[
        "FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA", "FSETP", "DSETP", "FMNMX",
    ];
    let best = innermost(code)
        .into_iter()
        .filter(|&range| count(code, range, &["LDS"]) > 0)
        .max_by_key(|&range| {
            (
                count(code, range, &["MUFU"]),
                count(code, range, ARITHMETIC),
            )
        });
    let (per_pair, local) = best.map_or(("-".into(), "-".into()), |range| {
        let instructions = code[range.0..=range.1].iter();
        let instructions = instructions
            .filter(|l| matches!(l, Line::Instruction(..)))
            .count();
        (
            format!("{:.2}", instructions as f64 / pairs as f64),
            count(code, range, &["LDL", "STL"]).to_string(),
        )
    });
    vec![
        usage.entry.clone(),
        architecture.to_owned(),
        pairs.to_string(),
        per_pair,
        local,
        usage.registers.to_string(),
        usage.local().to_string(),
        usage.shared.to_string(),
        format!(
            "{} %",
            occupancy(architecture, usage.registers, usage.shared)
        ),
    ]
}

/// Theoretical occupancy in per cent: resident threads of the most an SM can hold, from registers and shared memory.
///
/// Limits per SM from the CUDA C++ Programming Guide, technical specifications per compute capability.
fn occupancy(architecture: &str, registers: u32, shared: u32) -> u32 {
    let (threads, blocks, shared_per_sm): (u32, u32, u32) = match architecture {
        "sm_75" => (1024, 16, 64),
        "sm_80" => (2048, 32, 164),
        "sm_86" | "sm_89" => (1536, 24, 100),
        "sm_120" => (1536, 24, 100),
        _ => (2048, 32, 228),
    };
    // Registers are given to warps in units of 256, shared memory in units of 128 bytes and 1 KiB for the system (not on sm_75).
    let per_warp = (registers * 32).div_ceil(256) * 256;
    let by_registers = 65_536 / per_warp / (BLOCK / 32);
    let system = if architecture == "sm_75" { 0 } else { 1024 };
    let per_block = shared.div_ceil(128) * 128 + system;
    let by_shared = (shared_per_sm * 1024)
        .checked_div(per_block)
        .unwrap_or(blocks);
    let resident = by_registers.min(by_shared).min(blocks).min(threads / BLOCK);
    resident * BLOCK * 100 / threads
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\t.section\t.text.a,\"ax\"\n.text.a:\n.L_x_0:\n        /*0000*/                   LDS.128 R4, [R2] ;\n\
        .L_x_1:\n        /*0010*/                   FADD R4, R4, R5 ;\n        /*0020*/                   LDS R4, [R2] ;\n\
        /*0030*/                   MUFU.EX2 R4, R4 ;\n        /*0040*/               @P0 BRA `(.L_x_1) ;\n\
        /*0050*/              @!P1 BRA `(.L_x_0) ;\n        /*0060*/                   EXIT ;\n.L_x_2:\n\
        /*0070*/                   BRA `(.L_x_2);\n\t.section\t.text.b\n.text.b:\n        /*0000*/  EXIT ;\n";

    #[test]
    fn the_pair_loop_is_found() {
        let code = function(TEXT, "a");
        assert_eq!(innermost(&code).len(), 2);
        let usage = Usage {
            entry: "a".into(),
            registers: 48,
            ..Usage::default()
        };
        let row = row(&usage, "sm_90", &code, 2);
        assert_eq!(row[3..5], ["2.00", "0"]);
        assert_eq!(function(TEXT, "b").len(), 1);
    }

    #[test]
    fn occupancy_is_that_of_the_scarcest() {
        assert_eq!(occupancy("sm_90", 48, 4096), 62);
        assert_eq!(occupancy("sm_90", 100, 4096), 25);
        assert_eq!(occupancy("sm_75", 48, 4096), 100);
        assert_eq!(occupancy("sm_90", 32, 48 * 1024), 25);
    }
}
