//! Prints every stage of a formula: `cargo run -p keops-compiler --example explain -- 'FORMULA where x_i: [f32; 3], …'`.

use keops_compiler::check::parse_and_check;
use keops_compiler::emit::{self, ValueTypes};
use keops_compiler::expand::formulas;
use keops_compiler::function::Formula;
use keops_compiler::graph::print::print;
use keops_compiler::lower::cost::Cost;
use keops_compiler::syntax::Form;
use std::process::ExitCode;

fn main() -> ExitCode {
    let text: Vec<String> = std::env::args().skip(1).collect();
    let tokens = match text.join(" ").parse() {
        Ok(tokens) => tokens,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
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
        explain("value", &formula);
        if formula.cotangent_names().iter().any(Option::is_some) {
            for (n, input) in formula.inputs.iter().enumerate() {
                explain(
                    &format!("derivative with respect to {}", input.name),
                    &formula.vjp(&[n]),
                );
            }
        }
    }
    ExitCode::SUCCESS
}

fn explain(title: &str, formula: &Formula) {
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
        println!(
            "Pass {p}: rows of {}, folds {}: per pair {}",
            axis(ir.outer),
            axis(ir.inner),
            Cost::of(ir)
        );
        println!(
            "{}",
            emit::kernel(
                ir,
                &format!("Pass{p}"),
                ValueTypes::Generic,
                "::keops_gpu_kernels",
                ""
            )
        );
    }
}
