//! Prints every stage of a formula, and what each of its functions costs per pair: `cargo run -p keops-compiler --example explain --
//! 'FORMULA where x_i: [f32; 3], …'`.
//!
//! The stages: the graph as typed, then for the value and each derivative the simplified graph, the kernel IR and the Rust text of each
//! pass; at last the PTX of all, made by the `rustc` in the path or the one that `RUSTC` names.

use keops_compiler::check::parse_and_check;
use keops_compiler::dimensions::Samples;
use keops_compiler::emit::{self, Dialect, ValueTypes};
use keops_compiler::expand::{device_code, formulas};
use keops_compiler::function::Formula;
use keops_compiler::graph::print::print;
use keops_compiler::lower::Stmt;
use keops_compiler::lower::cost::Cost;
use keops_compiler::lower::kernel::KernelIr;
use keops_compiler::ptx;
use keops_compiler::syntax::Form;
use proc_macro2::TokenStream;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let text: Vec<String> = std::env::args().skip(1).collect();
    let tokens: TokenStream = match text.join(" ").parse() {
        Ok(tokens) => tokens,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let samples = Samples::of(&tokens);
    if !samples.is_empty() {
        let place = samples.place(samples.values(0));
        println!("Const parameters are compiled at several values, this is {place}.\n");
    }
    let (program, errors) = parse_and_check(tokens);
    if !errors.is_empty() {
        for error in errors.iter() {
            eprintln!("error: {}\n", error.message());
        }
        return ExitCode::FAILURE;
    }
    for (item, formula) in program.items.iter().zip(formulas(&program)) {
        let name = if program.form == Form::Expression {
            "formula"
        } else {
            &item.signature.name.text
        };
        println!("# {name} = {}\n", item.formula);
        if !item.outputs.is_empty() {
            println!("## as typed\n");
            let names = |n: usize| item.signature.variables[n].name.text.clone();
            println!("{}", print(&item.graph, &item.outputs, &names));
        }
        let mut costs = vec![];
        explain("value", &formula, &mut costs);
        if formula.cotangent_names().iter().any(Option::is_some) {
            for (n, input) in formula.inputs.iter().enumerate() {
                explain(
                    &format!("derivative with respect to {}", input.name),
                    &formula.vjp(&[n]),
                    &mut costs,
                );
            }
            let all: Vec<usize> = (0..formula.inputs.len()).collect();
            explain("all derivatives", &formula.vjp(&all), &mut costs);
            explain(
                "value and all derivatives",
                &formula.value_and_vjp(),
                &mut costs,
            );
        }
        println!("## per pair\n\n{}\n", table(&costs));
    }
    let rustc = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
    match ptx::compile_with(&rustc, &device_code(&program).source) {
        Ok(text) => println!("# PTX\n\n{text}"),
        Err(reason) => println!("# No PTX\n\n{reason}"),
    }
    ExitCode::SUCCESS
}

/// The kernel IR of a pass: what its rows hold, and its functions.
fn ir_text(ir: &KernelIr) -> String {
    let mut out = format!(
        "Kernel IR: parameters {:?} in {} columns and {} derived, outer slots {:?} in {} and {}, inner slots {:?} in {}, {} of them \
         read by pairs; states {:?}, {} words in memory\n",
        ir.parameters,
        ir.params,
        ir.params_derived,
        ir.outer_slots,
        ir.outer_raw,
        ir.outer_derived,
        ir.inner_slots,
        ir.inner_raw,
        ir.inner_used,
        ir.slots,
        ir.row_words
    );
    if let Some(bounds) = &ir.bounds {
        out += &format!("  rows that matter: {bounds:?}\n");
    }
    for (name, stmts) in [
        ("prepare_params", &ir.prepare_params),
        ("prepare_outer", &ir.prepare_outer),
        ("prepare_inner", &ir.prepare_inner),
        ("step", &ir.step),
        ("finish", &ir.finish),
    ] {
        if !stmts.is_empty() {
            out += &format!("  {name}\n");
            block(&mut out, stmts, 2);
        }
    }
    out
}

fn block(out: &mut String, stmts: &[Stmt], depth: usize) {
    for stmt in stmts {
        let indent = "  ".repeat(depth);
        match stmt {
            Stmt::Loop(var, n, body) => {
                *out += &format!("{indent}Loop({var:?}, {n})\n");
                block(out, body, depth + 1);
            }
            stmt => *out += &format!("{indent}{stmt:?}\n"),
        }
    }
}

/// One row for each pass over pairs.
fn table(costs: &[(String, Cost)]) -> String {
    let header =
        "| function | flops | divisions, roots | special | bytes at f32 | at f64 | accumulators |";
    let rows = costs.iter().map(|(title, c)| {
        // One inner row is read for a whole tile of outer rows.
        let bytes = |size: usize| c.inner_reads * size;
        format!(
            "| {title} | {} | {} | {} | {} | {} | {} |",
            c.flops,
            c.divisions,
            c.special,
            bytes(4),
            bytes(8),
            c.registers
        )
    });
    let mut lines = vec![header.to_string(), "|---|---|---|---|---|---|---|".into()];
    lines.extend(rows);
    lines.join("\n")
}

fn explain(title: &str, formula: &Formula, costs: &mut Vec<(String, Cost)>) {
    if let Some(excess) = formula.excess {
        println!("## {title}\n\ntakes {excess}\n");
        return;
    }
    let roots: Vec<_> = formula.outputs.iter().map(|o| o.node).collect();
    println!(
        "## {title}\n\nGraph:\n{}",
        print(&formula.graph, &roots, &|n| formula.inputs[n].name.clone())
    );
    let function = formula.compile();
    for (p, ir) in function.passes.iter().enumerate() {
        let axis = |a: Option<keops_compiler::types::Axis>| {
            a.map_or("-".into(), |a| a.letter().to_string())
        };
        if ir.inner.is_some() {
            let pass = if p == 0 {
                String::new()
            } else {
                format!(", pass {p}")
            };
            let listed = if ir.listed.is_empty() {
                ""
            } else {
                ", only listed pairs"
            };
            costs.push((format!("{title}{pass}{listed}"), Cost::of(ir)));
        }
        let listed = match ir.listed.as_slice() {
            [] => String::new(),
            [slot] => format!(", only pairs that slot {slot} lists"),
            slots => format!(", only pairs that slots {slots:?} list"),
        };
        println!(
            "Pass {p}: rows of {}, folds {}{listed}: per pair {}",
            axis(ir.outer),
            axis(ir.inner),
            Cost::of(ir)
        );
        println!("{}", ir_text(ir));
        println!(
            "{}",
            emit::kernel(
                ir,
                &format!("Pass{p}"),
                ValueTypes::Generic,
                Dialect {
                    kernels: "::keops_gpu_kernels",
                    copy: "",
                    dimensions: &[],
                }
            )
        );
    }
}
