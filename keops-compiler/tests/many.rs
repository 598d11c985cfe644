//! Jacobians, divergences and laplacians, which are made in one sweep for all numbers, against a gradient for each number.
//!
//! `KEOPS_DIFFERENTIAL=20000` runs that many random formulas, `KEOPS_DIFFERENTIAL_SEED=7` the formula of that seed alone.

mod support;

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::{expand, formulas};
use keops_compiler::function::Formula;
use keops_compiler::graph::NodeId;
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::lower::Stmt;
use keops_compiler::lower::cost::Cost;
use keops_compiler::lower::interpret::run_function;
use std::collections::BTreeMap;
use support::Random;
use support::expected::{Passed, as_rows, compare, fill, tolerances};
use support::generate::Generator;
use support::setting;

fn formula(text: &str) -> Formula {
    let (program, errors) = parse_and_check(text.parse().expect("tokens"));
    let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
    assert!(messages.is_empty(), "{messages:?}\n{text}");
    formulas(&program).pop().expect("an item")
}

fn roots(formula: &Formula) -> Vec<NodeId> {
    formula.outputs.iter().map(|o| o.node).collect()
}

/// Compares both ways to write a derivative on random rows.
fn agree(at_once: &str, written_out: &str, seed: u64) -> Result<f64, Passed> {
    let [found, expected] = [at_once, written_out].map(formula);
    if found.excess.is_some() || expected.excess.is_some() {
        return Err(Passed::Budget);
    }
    let mut random = Random(seed);
    let mut inputs = Inputs {
        variables: vec![],
        m: 3,
        n: 4,
    };
    fill(&mut inputs, &expected, &mut random);
    let limits = tolerances(&expected.graph, &roots(&expected), &inputs, seed)?;
    // The other order of evaluation has cancellations of its own.
    let other = tolerances(&found.graph, &roots(&found), &inputs, seed)?;
    let limits: Vec<f64> = limits.iter().zip(&other).map(|(a, b)| a + b).collect();
    let values = as_rows(&evaluate(&expected.graph, &roots(&expected), &inputs));
    let simplified = as_rows(&evaluate(&found.graph, &roots(&found), &inputs));
    let (m, n) = (inputs.m, inputs.n);
    let lowered = run_function(&found.compile(), &as_rows(&inputs.variables), m, n);
    let graph = compare(&simplified, &values, &limits).unwrap_or_else(|e| panic!("graph: {e}"));
    let kernel = compare(&lowered, &values, &limits).unwrap_or_else(|e| panic!("kernels: {e}"));
    Ok(graph.max(kernel))
}

#[test]
fn random_derivatives() {
    let alone = setting("KEOPS_DIFFERENTIAL_SEED");
    let wanted = alone.map_or(setting("KEOPS_DIFFERENTIAL").unwrap_or(400), |_| 1);
    let first = alone.unwrap_or(1);
    let mut generator = Generator::new(0);
    let mut passed: BTreeMap<Passed, u64> = BTreeMap::new();
    let mut failures: Vec<u64> = vec![];
    let (mut compared, mut worst) = (0, 0.0f64);
    let mut seed = first;
    while compared < wanted && seed - first < 10 + 2 * wanted {
        generator.reseed(seed.wrapping_mul(0x9e37_79b9));
        let derivative = generator.derived_two_ways();
        if alone.is_some() {
            println!("{}\n{}", derivative.at_once, derivative.written_out);
        }
        let checked =
            std::panic::catch_unwind(|| agree(&derivative.at_once, &derivative.written_out, seed));
        match checked {
            Ok(Ok(used)) => {
                compared += 1;
                worst = worst.max(used);
            }
            Ok(Err(why)) => *passed.entry(why).or_default() += 1,
            Err(_) => {
                eprintln!("seed {seed}:\n{}", derivative.at_once);
                failures.push(seed);
            }
        }
        seed += 1;
    }
    println!(
        "seeds {first} to {}: {compared} derivatives compared, passed over: {passed:?}, {worst:.3} of a tolerance used",
        seed - 1
    );
    assert!(failures.is_empty(), "seeds {failures:?}");
    if alone.is_none() {
        assert_eq!(compared, wanted, "too many derivatives say nothing");
    }
}

/// Formulas over `D`, each with the same as a gradient for each number: a sum over k.
const KERNELS: [(&str, &str); 9] = [
    (
        "laplacian(exp(-sqdist(x_i, y_j) / D), x_i)",
        "grad(grad(exp(-sqdist(x_i, y_j) / D), x_i)[k], x_i)[k]",
    ),
    (
        "laplacian(exp(-dist(x_i, y_j)), x_i)",
        "grad(grad(exp(-dist(x_i, y_j)), x_i)[k], x_i)[k]",
    ),
    // The trace of mixed derivatives of a Stein kernel.
    (
        "divergence(grad(1.0 / (1.0 + sqdist(x_i, y_j)), x_i), y_j)",
        "grad(grad(1.0 / (1.0 + sqdist(x_i, y_j)), x_i)[k], y_j)[k]",
    ),
    (
        "divergence(grad(pow(0.5 + (x_i | y_j) / D, 3), x_i), y_j)",
        "grad(grad(pow(0.5 + (x_i | y_j) / D, 3), x_i)[k], y_j)[k]",
    ),
    // A Hessian.
    (
        "sum(jacobian(grad(exp(-sqdist(x_i, y_j)), x_i), x_i) * outer(y_j, x_i))",
        "dot(grad(grad(exp(-sqdist(x_i, y_j)), x_i)[k], x_i), x_i) * y_j[k]",
    ),
    (
        "sum(jacobian(softmax(x_i * y_j), x_i) * outer(y_j, x_i))",
        "dot(grad(softmax(x_i * y_j)[k], x_i), x_i) * y_j[k]",
    ),
    // A network with a kink, derived through matrices.
    (
        "divergence(vecmat(relu(matvec(a, x_i) + 0.1) * b_j, a) + y_j, x_i)",
        "grad((vecmat(relu(matvec(a, x_i) + 0.1) * b_j, a) + y_j)[k], x_i)[k]",
    ),
    (
        "(grad(laplacian(exp(-sqdist(x_i, y_j) / D), x_i), x_i) | y_j)",
        "(grad(grad(grad(exp(-sqdist(x_i, y_j) / D), x_i)[k], x_i)[k], x_i) | y_j)",
    ),
    (
        "laplacian(log(1.0 + sum(exp(x_i * y_j) * tanh(x_i))) * (x_i[0] + 2.0), x_i)",
        "grad(grad(log(1.0 + sum(exp(x_i * y_j) * tanh(x_i))) * (x_i[0] + 2.0), x_i)[k], x_i)[k]",
    ),
];

/// A formula of `KERNELS`, with a number in the place of `D`.
fn of_dimension(f: &str, d: usize) -> String {
    let f = f.replace("/ D", &format!("/ {d}.0"));
    format!(
        "fn f(x_i: [f64; {d}], y_j: [f64; {d}], b_j: f64, a: [[f64; {d}]; 2]) = sum_j {f} + 0.0 * (b_j + sum(a));"
    )
}

#[test]
fn kernels_of_any_dimension_are_as_written_out() {
    for (at_once, one) in KERNELS {
        for d in [1, 2, 3, 7, 64] {
            let numbers: Vec<String> = (0..d)
                .map(|k| one.replace("[k]", &format!("[{k}]")))
                .collect();
            let written_out = format!("({})", numbers.join(" + "));
            let used = agree(
                &of_dimension(at_once, d),
                &of_dimension(&written_out, d),
                d as u64,
            );
            assert!(used.is_ok(), "{at_once} at {d}: {used:?}");
        }
    }
}

#[test]
fn traces_are_finite_differences() {
    for (f, gradient) in [
        (
            "exp(-sqdist(x_i, y_j) / D)",
            "grad(exp(-sqdist(x_i, y_j) / D), x_i)",
        ),
        (
            "log(2.0 + (x_i | y_j)) * (x_i | x_i)",
            "grad(log(2.0 + (x_i | y_j)) * (x_i | x_i), x_i)",
        ),
    ] {
        for d in [1, 2, 3, 7, 64] {
            let [laplacian, gradient] =
                [&format!("laplacian({f}, x_i)"), gradient].map(|f| formula(&of_dimension(f, d)));
            let mut inputs = Inputs {
                variables: vec![],
                m: 1,
                n: 1,
            };
            fill(&mut inputs, &laplacian, &mut Random(d as u64));
            for row in &mut inputs.variables[..2] {
                // Away from the logarithm's pole.
                row[0]
                    .data
                    .iter_mut()
                    .for_each(|x| *x = x.abs() / (d as f64).sqrt());
            }
            let at = |inputs: &Inputs, f: &Formula| {
                run_function(&f.compile(), &as_rows(&inputs.variables), 1, 1)[0].concat()
            };
            let step = 1e-5;
            let trace: f64 = (0..d)
                .map(|k| {
                    let moved = |by: f64| {
                        let mut inputs = inputs.clone();
                        inputs.variables[0][0].data[k] += by;
                        at(&inputs, &gradient)[k]
                    };
                    (moved(step) - moved(-step)) / (2.0 * step)
                })
                .sum();
            let found = at(&inputs, &laplacian)[0];
            let scale = 1.0 + trace.abs();
            assert!(
                (found - trace).abs() < 1e-7 * scale,
                "{f} at {d}: {found}, not {trace}"
            );
        }
    }
}

/// Nodes of the graph, statements of all kernels, and the cost of a pair, of a formula and its gradients.
fn sizes(text: &str) -> (usize, usize, Cost) {
    fn count(stmts: &[Stmt]) -> usize {
        let inside = |stmt: &Stmt| match stmt {
            Stmt::Loop(_, _, body) => count(body),
            _ => 0,
        };
        stmts.iter().map(|stmt| 1 + inside(stmt)).sum()
    }
    let formula = formula(text);
    let all: Vec<usize> = (0..formula.inputs.len()).collect();
    let function = formula.compile();
    let gradient = formula.vjp(&all).compile();
    assert_eq!((function.excess, gradient.excess), (None, None), "{text}");
    let parts = function.passes.iter().chain(&gradient.passes);
    let statements = parts.map(|ir| count(&ir.step) + count(&ir.prepare_outer) + count(&ir.finish));
    let nodes = formula.graph.reachable(&roots(&formula)).len();
    (nodes, statements.sum(), Cost::of(&function.passes[0]))
}

/// What is derived, and the most operations per number of a pair beside those of the values.
const LONG: [(&str, usize); 7] = [
    ("laplacian(exp(-sqdist(x_i, y_j)), x_i)", 3),
    ("divergence(grad(exp(-sqdist(x_i, y_j)), x_i), y_j)", 3),
    ("laplacian(exp(-dist(x_i, y_j)), x_i)", 3),
    ("laplacian(1.0 / (1.0 + sqdist(x_i, y_j)), x_i)", 3),
    ("laplacian(pow(x_i | y_j, 3), x_i)", 4),
    ("divergence(tanh(x_i) * y_j, x_i)", 5),
    ("divergence(softmax(x_i * y_j), x_i)", 14),
];

#[test]
fn long_vectors_take_no_more_code_and_a_trace_no_matrix() {
    for (f, each) in LONG {
        let [short, long] = [100, 1000].map(|d| {
            sizes(&format!(
                "fn f(x_i: [f32; {d}], y_j: [f32; {d}]) = sum_j {f};"
            ))
        });
        assert_eq!((short.0, short.1), (long.0, long.1), "{f}");
        assert!(long.2.flops <= each * 1000 + 40, "{f}: {}", long.2);
    }
    let (.., cost) = sizes(
        "fn f(x_i: [f32; 1000], y_j: [f32; 1000]) = sum_j laplacian(exp(-sqdist(x_i, y_j)), x_i);",
    );
    assert_eq!((cost.special, cost.divisions, cost.registers), (1, 0, 1));
    // The laplacian of a logarithm of a sum over rows is one pass: sums over rows are of traces.
    let f = formula(
        "fn f(x_i: [f32; 1000], y_j: [f32; 1000]) = laplacian(log(sum_j exp(-sqdist(x_i, y_j))), x_i);",
    );
    let function = f.compile();
    assert_eq!(function.passes.len(), 1);
    let cost = Cost::of(&function.passes[0]);
    assert!(cost.flops < 7000 && cost.special == 1, "{cost}");
    // A Hessian is a matrix per pair, of which nothing is kept but sums.
    let hessian = |d: usize| {
        sizes(&format!(
            "fn f(x_i: [f32; {d}], y_j: [f32; {d}]) = sum_j jacobian(grad(exp(-sqdist(x_i, y_j)), x_i), x_i);"
        ))
    };
    let (short, long) = (hessian(30), hessian(60));
    assert_eq!((short.0, short.1), (long.0, long.1));
    assert!(long.2.flops < 6 * 60 * 60, "{}", long.2);
}

#[test]
fn const_parameters_are_derived_by() {
    let more = [
        "divergence(cos(x_i) * y_j, x_i)",
        "jacobian(grad(exp(-sqdist(x_i, y_j)), x_i), y_j)",
        "sum(jacobian(concat([norm2(x_i)], x_i * y_j), x_i))",
        "divergence(matvec(outer(x_i, y_j), x_i), x_i)",
        "divergence(if x_i[0] < 0.5 { x_i / x_i[0] } else { y_j }, x_i)",
        "laplacian(tensordot(x_i, x_i * y_j, [D], [D], [0], [0]), x_i)",
    ];
    for f in KERNELS.iter().map(|(f, ..)| *f).chain(more) {
        let text = format!(
            "fn f<const D: usize>(x_i: [f64; D], y_j: [f64; D], b_j: f64, a: [[f64; D]; 2]) = sum_j {f} + 0.0 * (b_j + sum(a));"
        );
        let expanded = expand(text.parse().expect("tokens")).to_string();
        let error = expanded.find("compile_error").map(|at| &expanded[at..]);
        assert_eq!(error, None, "{f}");
    }
}
