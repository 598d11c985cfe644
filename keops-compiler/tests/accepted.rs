//! Formulas that must be accepted. Each file ends with what the checker made of it: results and text of every item.
//!
//! `KEOPS_BLESS=1` rewrites that part. Every formula's text is also parsed again: the same text must come out.

use keops_compiler::check::parse_and_check;
use keops_compiler::item::{Item, Origin, Program, Variable};
use keops_compiler::types::{Axis, Shape};
use std::fmt::Write;
use std::path::Path;

const MARK: &str = "//= ";

#[test]
fn accepted_formulas_have_the_expected_types() {
    let mut failures = String::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let source: String = text
            .lines()
            .filter(|l| !l.starts_with(MARK))
            .map(|l| format!("{l}\n"))
            .collect();
        let (program, errors) = parse_and_check(source.parse().unwrap());
        let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
        assert!(
            messages.is_empty(),
            "{}: {}",
            path.display(),
            messages.join("\n")
        );
        let actual = format!("{source}{}", describe(&program));
        if std::env::var_os("KEOPS_BLESS").is_some() {
            std::fs::write(&path, &actual).unwrap();
        } else if actual != text {
            writeln!(failures, "{}:\n{actual}", path.display()).unwrap();
        }
    }
    assert!(
        failures.is_empty(),
        "not as expected; KEOPS_BLESS=1 accepts:\n{failures}"
    );
}

#[test]
fn formula_text_parses_back_to_itself() {
    for path in files() {
        let source = std::fs::read_to_string(&path).unwrap();
        let (program, _) = parse_and_check(source.parse().unwrap());
        for item in &program.items {
            let declaration = redeclared(item, &program);
            let (again, errors) = parse_and_check(declaration.parse().unwrap());
            let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
            assert!(
                messages.is_empty(),
                "{declaration}: {}",
                messages.join("\n")
            );
            let last = again.items.last().unwrap();
            assert_eq!(last.formula, item.formula);
            assert_eq!(last.results, item.results);
            assert_eq!(last.outputs, item.outputs);
        }
    }
}

fn files() -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accepted");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    files
}

fn describe(program: &Program) -> String {
    let mut text = String::new();
    for item in &program.items {
        let rows =
            |axis: Option<Axis>| axis.map_or(String::new(), |a| format!(" per {}", a.letter()));
        let results: Vec<String> = item
            .results
            .iter()
            .map(|r| format!("{}{}", r.ty, rows(r.rows)))
            .collect();
        let tuple = if item.is_tuple { "a tuple: " } else { "" };
        writeln!(
            text,
            "{MARK}{}: {tuple}{}",
            signature(item),
            results.join(", ")
        )
        .unwrap();
        writeln!(text, "{MARK}    {}", item.formula).unwrap();
    }
    text
}

fn signature(item: &Item) -> String {
    let scalar = item.signature.scalar.text();
    let variables: Vec<String> = item
        .signature
        .variables
        .iter()
        .map(|v| declared(v, scalar))
        .collect();
    format!("{}({})", item.signature.name.text, variables.join(", "))
}

fn declared(variable: &Variable, scalar: &str) -> String {
    let scalar = variable.scalar(scalar);
    let ty = match variable.ty().shape {
        Shape::Scalar => scalar,
        Shape::Vector(n) => format!("[{scalar}; {n}]"),
        Shape::Matrix(r, c) => format!("[[{scalar}; {c}]; {r}]"),
    };
    format!("{}: {ty}", variable.name.text)
}

/// An item as a declaration made from what the checker knows, after those it may be a derivative of.
fn redeclared(item: &Item, program: &Program) -> String {
    let mut text = String::new();
    for earlier in &program.items {
        let generic = match earlier.signature.scalar.text() {
            "f32" | "f64" => "",
            _ => "<T>",
        };
        let signature = signature(earlier).replacen('(', &format!("{generic}("), 1);
        let name = &earlier.signature.name.text;
        match earlier.origin != Origin::Formula {
            true => writeln!(text, "fn {name} = {};", earlier.formula).unwrap(),
            false => writeln!(text, "fn {signature} = {};", earlier.formula).unwrap(),
        }
        if name == &item.signature.name.text {
            break;
        }
    }
    text
}
