//! What `docs/` says of operations, reductions and messages is what the compiler says.
//!
//! Tables in `docs/language.md` come from the records, examples in `docs/errors.md` from the corpus of rejected formulas.
//! `KEOPS_BLESS=1` rewrites them.

use keops_compiler::check::error::CheckError;
use keops_compiler::check::keops::{here, spellings};
use keops_compiler::check::parse_and_check;
use keops_compiler::graph::derive::Derivative;
use keops_compiler::ops::{self, Arity, OPS, Op, Syntax};
use keops_compiler::reductions::{self, PAIRS, REDUCTIONS};
use std::fmt::Write;
use std::path::Path;

/// A table cell: no bar may end it early.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn keops_name(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!("`{name}`")
    }
}

/// `elemt(a, dimension, index)`: the order of the arguments that are literals.
fn call(op: &Op) -> String {
    let count = match op.arity {
        Arity::Exactly(n) | Arity::AtLeast(n) | Arity::Between(_, n) => n,
    };
    let values = ["a", "b", "c"].into_iter().take(count);
    let all: Vec<&str> = values.chain(op.params.iter().map(|p| p.name)).collect();
    format!("{}({})", op.name, all.join(", "))
}

fn operations() -> String {
    let mut table = "| written | KeOps | value |\n|---|---|---|\n".to_owned();
    for op in OPS {
        let written = match op.syntax {
            Syntax::Call if op.params.is_empty() => format!("`{}`", op.name),
            Syntax::Call => format!("`{}`", call(op)),
            Syntax::Operator(token) => format!("`{}`", cell(token)),
            Syntax::Internal => continue,
        };
        writeln!(
            table,
            "| {written} | {} | {} |",
            keops_name(op.keops_name),
            cell(op.doc)
        )
        .unwrap();
    }
    table
}

fn reductions() -> String {
    let mut table = "| written | KeOps | value |\n|---|---|---|\n".to_owned();
    for pair in PAIRS {
        let k = if pair.index.takes_k { "::<K>" } else { "" };
        let (name, keops) = (pair.name, keops_name(pair.keops_name));
        writeln!(table, "| `{name}_j{k} s` | {keops} | {} |", cell(pair.doc)).unwrap();
    }
    for reduction in REDUCTIONS {
        let k = if reduction.takes_k { "::<K>" } else { "" };
        let arguments = if reduction.arity == 1 { " s" } else { "(s, v)" };
        let mut written = format!("`{}_j{k}{arguments}`", reduction.name);
        for alias in reduction.aliases {
            write!(written, ", `{alias}_j{k}{arguments}`").unwrap();
        }
        writeln!(
            table,
            "| {written} | {} | {} |",
            keops_name(reduction.keops_name),
            cell(reduction.doc)
        )
        .unwrap();
    }
    table
}

/// The text with what is between the two markers of `name` replaced.
fn replaced(text: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
    format!("{before}{begin}{table}{end}{after}")
}

/// What KeOps 2.3 has: everything that its formulas are made of.
const KEOPS: &str = "Minus Square Inv Exp Sin Cos Atan Log Asin Acos Abs Sqrt Rsqrt Sign Step ReLU Floor Round XLogX SinXDivX Pow \
    ClampInt DiffClampInt Add Subtract Mult Divide Powf Atan2 Equal NotEqual LessThan LessOrEqual Clamp IfElse Mod Sum SumT Max \
    Min ArgMax ArgMin Scalprod SqNorm2 Norm2 Normalize SqDist SqNormIso SqNormDiag SymSqNorm WeightedSqNorm WeightedSqDist Elem \
    ElemT Extract ExtractT Concat OneHot BSpline MatVecMult VecMatMult TensorProd TensorDot Kron GradMatrix SoftDTW_SqDist Vi Vj \
    Pm Var IntCst IntInv Zero ComplexReal ComplexImag ComplexAbs ComplexSquareAbs ComplexAngle Real2Complex Imag2Complex \
    ComplexExp1j Conj ComplexExp ComplexAdd ComplexSubtract ComplexMult ComplexDivide ComplexRealScal ComplexSum ComplexSumT Grad \
    Grad_WithSavedForward Diff Diff_WithSavedForward Divergence Laplacian TraceOperator AdjointOperator SumLinOperator Factorize \
    AutoFactorize LogSumExp SumSoftMaxWeight SoftMax Max_SumShiftExp Min_ArgMin Max_ArgMax KMin ArgKMin KMin_ArgKMin";

#[test]
fn every_name_of_keops_has_a_replacement() {
    for name in KEOPS.split_whitespace() {
        assert!(here(name).is_some(), "{name}");
        let lower = name.to_lowercase();
        assert_eq!(here(&lower), here(name), "{lower}");
    }
}

/// Whether an expression of what the replacements are made of is accepted, except that it is no whole formula.
fn is_accepted(code: &str) -> bool {
    let item = format!(
        "fn f(a: f64, b: f64, x: f64, v: f64, e: f64, t: f64, z: Complex<f64>, w: Complex<f64>) = \
         {{ let c = a < b; let f = v * v; {code} }};"
    );
    let (_, errors) = parse_and_check(item.parse().expect("tokens"));
    errors.iter().all(|d| {
        matches!(
            d.error,
            CheckError::UnusedVariable { .. }
                | CheckError::UnusedLet { .. }
                | CheckError::NoReduction { .. }
                | CheckError::ConditionResult
        )
    })
}

#[test]
fn replacements_can_be_followed() {
    assert!(!is_accepted("a + z") && !is_accepted("Mult(a, b)"));
    for spelling in spellings() {
        for code in spelling.here.split('`').skip(1).step_by(2) {
            let is_name = code.chars().all(|c| c.is_alphanumeric() || c == '_');
            let known = match code.strip_suffix("_j") {
                Some(base) if is_name => {
                    reductions::find(base).is_some() || reductions::find_pair(base).is_some()
                }
                _ if is_name => ops::find(code).is_some() || Derivative::find(code).is_some(),
                // The declaration of a variable.
                _ if code.contains(": ") => {
                    let (_, errors) =
                        parse_and_check(format!("fn f({code}) = 0.0;").parse().expect("tokens"));
                    errors
                        .iter()
                        .all(|d| !matches!(d.error, CheckError::Unexpected { .. }))
                }
                _ => is_accepted(code),
            };
            assert!(known, "{}: {code}", spelling.keops);
        }
    }
}

fn names() -> String {
    let mut table = "| KeOps | here |\n|---|---|\n".to_owned();
    for spelling in spellings() {
        writeln!(table, "| `{}` | {} |", spelling.keops, cell(&spelling.here)).unwrap();
    }
    table
}

#[test]
fn names_of_keops_are_current() {
    check("keops.md", &[("names", names())]);
}

/// The mistakes that `docs/errors.md` shows, in order.
const MISTAKES: &[&str] = &[
    "unequal_vectors",
    "matrix_for_vector",
    "matvec_dimensions",
    "unknown_function",
    "keops_function",
    "unknown_variable",
    "mixed_float_types",
    "reduction_over_wrong_index",
    "free_index",
    "nested_reduction_by_reach",
    "no_reduction",
    "index_out_of_bounds",
    "k_zero",
    "gradient_of_index",
    "gradient_of_vector",
    "gradient_across_rows",
    "unused_variable",
    "several_in_one_formula",
];

fn mistakes() -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rejected");
    let mut text = String::new();
    for name in MISTAKES {
        let case = std::fs::read_to_string(directory.join(format!("{name}.keops"))).unwrap();
        writeln!(
            text,
            "```text\n{}\n```\n",
            case.trim_end().replace("//>", "   ")
        )
        .unwrap();
    }
    text
}

/// Compares a file of `docs/` with the same file after its marked parts are replaced.
fn check(file: &str, parts: &[(&str, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let current = parts.iter().fold(text.clone(), |text, (name, part)| {
        replaced(&text, name, part)
    });
    if std::env::var_os("KEOPS_BLESS").is_some() {
        std::fs::write(&path, current).unwrap();
    } else {
        assert!(
            text == current,
            "docs/{file} is not current: run this test with KEOPS_BLESS=1"
        );
    }
}

#[test]
fn language_is_current() {
    check(
        "language.md",
        &[("operations", operations()), ("reductions", reductions())],
    );
}

#[test]
fn errors_are_current() {
    check("errors.md", &[("mistakes", mistakes())]);
}
