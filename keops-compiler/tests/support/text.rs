//! Formulas as text, evaluated twice: by the interpreter of their graph and by that of their kernels.

use super::close;
use keops_compiler::check::parse_and_check;
use keops_compiler::expand::formulas;
use keops_compiler::function::Formula;
use keops_compiler::graph::NodeId;
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::lower::interpret::run_function;
use keops_compiler::value::Value;
use std::slice::from_ref;

/// Rows of a variable or result.
pub type Rows = Vec<Vec<f64>>;

/// The last formula of a macro call.
pub fn formula(text: &str) -> Formula {
    let (program, errors) = parse_and_check(text.parse().expect("tokens"));
    let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
    assert!(messages.is_empty(), "{text}: {messages:?}");
    formulas(&program).pop().expect("an item")
}

/// The rows of the only result of the last formula, by both interpreters. The data are in the order of its arguments.
pub fn run(text: &str, data: &[&Rows]) -> Rows {
    let formula = formula(text);
    assert_eq!(formula.inputs.len(), data.len(), "{text}: arguments");
    let (mut m, mut n) = (1, 1);
    let mut variables = vec![];
    for (input, &rows) in formula.inputs.iter().zip(data) {
        match input.axis.map(|a| a.letter()) {
            Some('i') => m = rows.len(),
            Some(_) => n = rows.len(),
            None => assert_eq!(rows.len(), 1, "{text}: {}", input.name),
        }
        let value = |row: &Vec<f64>| {
            assert_eq!(row.len(), input.shape.len(), "{text}: {}", input.name);
            Value {
                shape: input.shape,
                data: row.clone(),
            }
        };
        variables.push(rows.iter().map(value).collect());
    }
    let inputs = Inputs { variables, m, n };
    let roots: Vec<NodeId> = formula.outputs.iter().map(|o| o.node).collect();
    let by_graph = evaluate(&formula.graph, &roots, &inputs).remove(0);
    let slots: Vec<Rows> = data.iter().map(|&rows| rows.clone()).collect();
    let by_kernel = run_function(&formula.compile(), &slots, m, n)[0].clone();
    for (row, found) in by_kernel.iter().enumerate() {
        // What is the same for all rows may have one.
        let expected = &by_graph[row % by_graph.len()].data;
        assert_rows(from_ref(found), from_ref(expected), 1e-12, text);
    }
    by_kernel
}

/// All numbers close, as many rows of as many numbers.
pub fn assert_rows(found: &[Vec<f64>], expected: &[Vec<f64>], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: rows");
    for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len(), "{what}: numbers of row {row}");
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|(f, e)| close(*f, *e, tolerance)),
            "{what}, row {row}: {found:?}, not {expected:?}"
        );
    }
}
