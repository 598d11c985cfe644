//! Derivatives inside formulas, against finite differences of the formulas that they derive, and published values.
//!
//! Every formula is evaluated twice: by the interpreter of its graph and by that of its kernels.

mod support;

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::formulas;
use keops_compiler::function::Formula;
use keops_compiler::graph::NodeId;
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::lower::interpret::run_function;
use keops_compiler::lower::{Prim, Stmt};
use keops_compiler::value::Value;
use support::{Random, close};

/// The last formula of a macro call.
fn formula(text: &str) -> Formula {
    let (program, errors) = parse_and_check(text.parse().expect("tokens"));
    let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
    assert!(messages.is_empty(), "{text}: {messages:?}");
    formulas(&program).pop().expect("an item")
}

/// The numbers of the only result, by both interpreters.
fn value(formula: &Formula, inputs: &Inputs) -> Vec<f64> {
    let roots: Vec<NodeId> = formula.outputs.iter().map(|o| o.node).collect();
    let by_graph: Vec<f64> = evaluate(&formula.graph, &roots, inputs)[0]
        .iter()
        .flat_map(|v| v.data.clone())
        .collect();
    let slots: Vec<Vec<Vec<f64>>> = inputs
        .variables
        .iter()
        .map(|v| v.iter().map(|row| row.data.clone()).collect())
        .collect();
    let by_kernel = run_function(&formula.compile(), &slots, inputs.m, inputs.n)[0].concat();
    for (k, found) in by_kernel.iter().enumerate() {
        let expected = by_graph[k % by_graph.len()];
        assert!(
            close(*found, expected, 1e-12),
            "kernel {found}, graph {expected}"
        );
    }
    by_kernel
}

/// Random inputs for m and n rows.
fn inputs(formula: &Formula, m: usize, n: usize, seed: u64) -> Inputs {
    let mut random = Random(seed);
    let variables = formula.inputs.iter().map(|input| {
        let rows = input
            .axis
            .map_or(1, |a| if a.letter() == 'i' { m } else { n });
        (0..rows)
            .map(|_| Value {
                shape: input.shape,
                data: (0..input.shape.len())
                    .map(|_| random.within((0.3, 1.7)))
                    .collect(),
            })
            .collect()
    });
    Inputs {
        variables: variables.collect(),
        m,
        n,
    }
}

/// The derivative of `sum_j f` for one pair by every number of a variable: rows are numbers of f, columns of the variable.
fn differences(f: &Formula, inputs: &Inputs, variable: usize, step: f64) -> Vec<Vec<f64>> {
    let numbers = inputs.variables[variable][0].data.len();
    let columns: Vec<Vec<f64>> = (0..numbers)
        .map(|k| {
            let moved = |by: f64| {
                let mut inputs = inputs.clone();
                inputs.variables[variable][0].data[k] += by;
                value(f, &inputs)
            };
            let (up, down) = (moved(step), moved(-step));
            up.iter()
                .zip(&down)
                .map(|(u, d)| (u - d) / (2.0 * step))
                .collect()
        })
        .collect();
    (0..columns[0].len())
        .map(|f| columns.iter().map(|c| c[f]).collect())
        .collect()
}

fn assert_all_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (f, e) in found.iter().zip(expected) {
        assert!(
            close(*f, *e, tolerance),
            "{what}: {found:?}, not {expected:?}"
        );
    }
}

const VARIABLES: &str =
    "x_i: [f64; 3], y_j: [f64; 3], a_i: f64, b_j: f64, A: [[f64; 3]; 2], s: f64, t_i: [f64; 3]";
/// The same as a formula that uses all of them.
fn item(f: &str) -> Formula {
    formula(&format!(
        "fn f({VARIABLES}) = sum_j {{ let all = 0.0 * (sum(x_i) + sum(y_j) + a_i + b_j + sum(A) + s + sum(t_i)); ({f}) + all }};"
    ))
}

/// Scalar formulas of one pair, through the operations that KeOps' own operators fail on.
const SCALARS: [&str; 14] = [
    "exp(-sqdist(x_i, y_j) / s) * b_j",
    "norm2(matvec(A, x_i - y_j)) * a_i",
    "sum(square(concat(x_i * a_i, y_j, b_j)))",
    "(vecmat([a_i, b_j], A) | x_i) * s",
    "sum(matmul(A, outer(x_i, y_j)))",
    "trace(matmul(transpose(A), A)) * (x_i | x_i)",
    "log(1.0 + sqnorm2(x_i)) / (a_i + b_j)",
    "cos(x_i | y_j) * sin(s * a_i)",
    "pow(x_i[0], 3) * x_i[1] / x_i[2]",
    "dist(x_i, y_j) * tanh(x_i[1] * s)",
    "max(x_i) * min(y_j) + abs(x_i[2])",
    "if a_i < b_j { square(x_i[0]) * x_i[1] } else { exp(x_i[2]) * a_i * a_i }",
    "powf(a_i, b_j) * sqrt(x_i | y_j)",
    "sum(normalize(x_i) * y_j) * square(s)",
];

#[test]
fn gradients_of_a_pair() {
    for f in SCALARS {
        let base = item(f);
        for (number, input) in base.inputs.iter().enumerate() {
            let name = &input.name;
            let at = inputs(&base, 1, 1, 7);
            let expected = differences(&base, &at, number, 1e-6).concat();
            let found = value(&item(&format!("grad({f}, {name})")), &at);
            // Broadcast against the scalar zero that uses all variables: the shapes agree.
            assert_all_close(&found, &expected, 1e-7, &format!("grad({f}, {name})"));
        }
    }
}

#[test]
fn second_derivatives_of_a_pair() {
    for f in SCALARS {
        let gradient = item(&format!("grad({f}, x_i)"));
        let at = inputs(&gradient, 1, 1, 8);
        let hessian = differences(&gradient, &at, 0, 1e-6);
        let found = value(&item(&format!("jacobian(grad({f}, x_i), x_i)")), &at);
        assert_all_close(
            &found,
            &hessian.concat(),
            1e-7,
            &format!("the Hessian of {f}"),
        );

        let trace: f64 = (0..3).map(|k| hessian[k][k]).sum();
        for laplacian in ["laplacian({f}, x_i)", "divergence(grad({f}, x_i), x_i)"] {
            let text = laplacian.replace("{f}", f);
            assert_all_close(&value(&item(&text), &at), &[trace], 1e-7, &text);
        }

        let t = &at.variables[6][0].data;
        let product: Vec<f64> = hessian
            .iter()
            .map(|row| row.iter().zip(t).map(|(h, t)| h * t).sum())
            .collect();
        for text in [
            format!("grad(grad({f}, x_i) | t_i, x_i)"),
            format!("grad(grad({f}, x_i), x_i, t_i)"),
            format!("jvp(grad({f}, x_i), x_i, t_i)"),
            format!("grad(jvp({f}, x_i, t_i), x_i)"),
        ] {
            assert_all_close(&value(&item(&text), &at), &product, 1e-7, &text);
        }

        let mixed = differences(&gradient, &at, 1, 1e-6);
        let text = format!("jacobian(grad({f}, x_i), y_j)");
        assert_all_close(&value(&item(&text), &at), &mixed.concat(), 1e-7, &text);
    }
}

#[test]
fn third_derivatives_of_a_pair() {
    for f in [
        "exp(-sqdist(x_i, y_j) / s) * b_j",
        "log(1.0 + sqnorm2(x_i)) / (a_i + b_j)",
    ] {
        let laplacian = item(&format!("laplacian({f}, x_i)"));
        let at = inputs(&laplacian, 1, 1, 9);
        let expected = differences(&laplacian, &at, 0, 1e-6).concat();
        let text = format!("grad(laplacian({f}, x_i), x_i)");
        assert_all_close(&value(&item(&text), &at), &expected, 1e-7, &text);
    }
}

#[test]
fn vector_formulas() {
    for f in [
        "x_i / norm2(x_i)",
        "matvec(matmul(transpose(A), A), x_i) * b_j",
        "[x_i[0] * x_i[1], y_j[0] * x_i[2], exp(x_i[0])]",
        "concat(x_i[1..3], a_i) * exp(-sqdist(x_i, y_j))",
    ] {
        let base = item(f);
        let at = inputs(&base, 1, 1, 10);
        let jacobian = differences(&base, &at, 0, 1e-6);
        let text = format!("jacobian({f}, x_i)");
        assert_all_close(&value(&item(&text), &at), &jacobian.concat(), 1e-7, &text);
        let trace: f64 = (0..3).map(|k| jacobian[k][k]).sum();
        let text = format!("divergence({f}, x_i)");
        assert_all_close(&value(&item(&text), &at), &[trace], 1e-7, &text);
        let t = &at.variables[6][0].data;
        let along: Vec<f64> = jacobian
            .iter()
            .map(|row| row.iter().zip(t).map(|(h, t)| h * t).sum())
            .collect();
        let text = format!("jvp({f}, x_i, t_i)");
        assert_all_close(&value(&item(&text), &at), &along, 1e-7, &text);
        let back: Vec<f64> = (0..3)
            .map(|k| (0..3).map(|r| jacobian[r][k] * t[r]).sum())
            .collect();
        let text = format!("grad({f}, x_i, t_i)");
        assert_all_close(&value(&item(&text), &at), &back, 1e-7, &text);
    }
}

/// The rows that are not a pair's own do not enter its derivative.
#[test]
fn each_pair_is_derived_alone() {
    for f in SCALARS {
        for name in ["x_i", "y_j", "s"] {
            let text = format!("grad({f}, {name})");
            let formula = item(&text);
            let all = inputs(&formula, 3, 4, 11);
            let found = value(&formula, &all);
            let width = found.len() / 3;
            for i in 0..3 {
                let mut sum = vec![0.0; width];
                for j in 0..4 {
                    let mut pair = all.clone();
                    (pair.m, pair.n) = (1, 1);
                    for (rows, input) in pair.variables.iter_mut().zip(&formula.inputs) {
                        let row = match input.axis.map(|a| a.letter()) {
                            Some('i') => i,
                            Some(_) => j,
                            None => 0,
                        };
                        *rows = vec![rows[row].clone()];
                    }
                    for (s, v) in sum.iter_mut().zip(value(&formula, &pair)) {
                        *s += v;
                    }
                }
                assert_all_close(&found[i * width..(i + 1) * width], &sum, 1e-11, &text);
            }
        }
    }
}

/// Kernel matrices with derivative blocks: Σ_j ⟨a_i, ∂²k/∂x∂y b_j⟩.
#[test]
fn mixed_second_derivatives_of_a_kernel() {
    let variables = "x_i: [f64; 2], y_j: [f64; 2], a_i: f64, b_j: [f64; 2]";
    let block = formula(&format!(
        "fn f({variables}) = sum_j jvp(grad(exp(-sqdist(x_i, y_j)), x_i, a_i), y_j, b_j);"
    ));
    let alternative = formula(&format!(
        "fn f({variables}) = sum_j grad(grad(exp(-sqdist(x_i, y_j)), y_j, a_i) | b_j, x_i);"
    ));
    let at = inputs(&block, 3, 4, 12);
    let found = value(&block, &at);
    assert_all_close(&value(&alternative, &at), &found, 1e-12, "either order");
    let k = |x: &[f64], y: &[f64]| (-(x[0] - y[0]).powi(2) - (x[1] - y[1]).powi(2)).exp();
    let h = 1e-4;
    for i in 0..3 {
        let (x, a) = (&at.variables[0][i].data, at.variables[2][i].data[0]);
        for d in 0..2 {
            let mut expected = 0.0;
            for j in 0..4 {
                let (y, b) = (&at.variables[1][j].data, &at.variables[3][j].data);
                let moved = |dx: f64, dy: f64| {
                    let mut x = x.clone();
                    x[d] += dx;
                    k(&x, &[y[0] + dy * b[0], y[1] + dy * b[1]])
                };
                expected +=
                    a * (moved(h, h) - moved(h, -h) - moved(-h, h) + moved(-h, -h)) / (4.0 * h * h);
            }
            assert!(
                close(found[i * 2 + d], expected, 1e-6),
                "{found:?}, {expected}"
            );
        }
    }
}

/// Derivatives of what is reduced: the same as those of items.
#[test]
fn derivatives_of_reductions() {
    for f in [
        "sum_j exp(-sqdist(x_i, y_j)) * b_j",
        "logsumexp_j -sqdist(x_i, y_j) * b_j",
        "(sum_j exp(-sqdist(x_i, y_j)) * b_j) / (sum_j exp(-sqdist(x_i, y_j)))",
        "log(sum_j exp(x_i | y_j) + b_j) * (x_i | x_i)",
        "min_j sqdist(x_i, y_j) * b_j",
    ] {
        let variables = "x_i: [f64; 2], y_j: [f64; 2], b_j: f64";
        let item = |g: &str| formula(&format!("fn f({variables}) = {f}; fn g = {g};"));
        let gradient = formula(&format!("fn f({variables}) = grad({f}, x_i);"));
        let at = inputs(&gradient, 3, 4, 13);
        let with = |values: Vec<f64>| {
            let mut at = at.clone();
            let width = values.len() / 3;
            at.variables.push(
                values
                    .chunks(width)
                    .map(|c| Value {
                        shape: if width == 1 {
                            keops_compiler::types::Shape::Scalar
                        } else {
                            keops_compiler::types::Shape::Vector(width)
                        },
                        data: c.to_vec(),
                    })
                    .collect(),
            );
            at
        };
        let found = value(&gradient, &at);
        let expected = value(&item("grad(f, x_i)"), &with(vec![1.0; 3]));
        assert_all_close(&found, &expected, 1e-11, f);

        // Forwards along x, of the item and in the formula.
        let direction: Vec<f64> = (0..6).map(|k| 0.3 + f64::from(k) / 7.0).collect();
        let expected: Vec<f64> = found
            .chunks(2)
            .zip(direction.chunks(2))
            .map(|(g, t)| g[0] * t[0] + g[1] * t[1])
            .collect();
        let forward = value(&item("jvp(f, x_i)"), &with(direction.clone()));
        assert_all_close(&forward, &expected, 1e-11, f);
        let inside = formula(&format!(
            "fn f({variables}, t_i: [f64; 2]) = jvp({f}, x_i, t_i);"
        ));
        assert_all_close(&value(&inside, &with(direction)), &expected, 1e-11, f);

        // Second derivatives of the whole row.
        let laplacian = formula(&format!("fn f({variables}) = laplacian({f}, x_i);"));
        let h = 1e-5;
        for (i, found) in value(&laplacian, &at).into_iter().enumerate() {
            let mut expected = 0.0;
            for d in 0..2 {
                let moved = |by: f64| {
                    let mut at = at.clone();
                    at.variables[0][i].data[d] += by;
                    value(&gradient, &at)[i * 2 + d]
                };
                expected += (moved(h) - moved(-h)) / (2.0 * h);
            }
            assert!(
                close(found, expected, 1e-6),
                "laplacian of {f}: {found}, {expected}"
            );
        }
    }
}

/// KeOps' gradient of a reduction by a variable of the index that it reduces over is a sum over the other index.
#[test]
fn derivatives_by_reduced_rows() {
    let variables = "x_i: [f64; 2], y_j: [f64; 2], b_j: f64";
    for f in [
        "sum_j exp(-sqdist(x_i, y_j)) * b_j",
        "logsumexp_j -sqdist(x_i, y_j) * b_j",
        "min_j sqdist(x_i, y_j) * b_j",
    ] {
        let inside = formula(&format!(
            "fn f({variables}, e_i: f64) = sum_i grad({f}, y_j, e_i);"
        ));
        let of_item = formula(&format!("fn f({variables}) = {f}; fn g = grad(f, y_j);"));
        let value_of = formula(&format!("fn f({variables}) = {f};"));
        let at = inputs(&inside, 3, 4, 15);
        let found = value(&inside, &at);
        assert_all_close(&found, &value(&of_item, &at), 1e-12, f);
        let loss = |at: &Inputs| -> f64 {
            let (mut at, e) = (at.clone(), &at.variables[3]);
            at.variables.truncate(3);
            let f = value(&value_of, &at);
            f.iter().zip(e).map(|(f, e)| f * e.data[0]).sum()
        };
        let moved = |n: usize, row: usize, d: usize, by: f64| {
            let mut at = at.clone();
            at.variables[n][row].data[d] += by;
            at
        };
        let h = 1e-6;
        for (k, found) in found.iter().enumerate() {
            let at = |by: f64| loss(&moved(1, k / 2, k % 2, by));
            let expected = (at(h) - at(-h)) / (2.0 * h);
            assert!(close(*found, expected, 1e-8), "{f}: {found}, {expected}");
        }
        // Its own derivative, by the rows that it sums over, with all cotangents 1.
        let second = formula(&format!(
            "fn f({variables}, e_i: f64) = sum_i grad({f}, y_j, e_i); fn g = grad(f, x_i);"
        ));
        let mut with = at.clone();
        let ones = Value::filled(1.0, keops_compiler::types::Shape::Vector(2));
        with.variables.push(vec![ones; 4]);
        for (k, found) in value(&second, &with).into_iter().enumerate() {
            let at = |by: f64| {
                value(&inside, &moved(0, k / 2, k % 2, by))
                    .iter()
                    .sum::<f64>()
            };
            let expected = (at(h) - at(-h)) / (2.0 * h);
            assert!(close(found, expected, 1e-7), "{f}: {found}, {expected}");
        }
    }
}

/// A tangent of the reduced rows moves the reduction as a whole.
#[test]
fn tangents_of_reduced_rows() {
    let variables = "x_i: f64, y_j: f64, t_j: f64";
    let inside = formula(&format!(
        "fn f({variables}) = jvp(logsumexp_j x_i * y_j, y_j, t_j);"
    ));
    let at = inputs(&inside, 2, 3, 14);
    let base = formula("fn f(x_i: f64, y_j: f64) = logsumexp_j x_i * y_j;");
    let h = 1e-6;
    let moved = |by: f64| {
        let mut at = at.clone();
        for j in 0..3 {
            let t = at.variables[2][j].data[0];
            at.variables[1][j].data[0] += by * t;
        }
        at.variables.truncate(2);
        value(&base, &at)
    };
    let expected: Vec<f64> = moved(h)
        .iter()
        .zip(moved(-h))
        .map(|(u, d)| (u - d) / (2.0 * h))
        .collect();
    assert_all_close(&value(&inside, &at), &expected, 1e-8, "jvp of a reduction");
}

fn at(values: &[&[&[f64]]]) -> Inputs {
    let rows = |rows: &[&[f64]]| {
        rows.iter()
            .map(|r| Value {
                shape: keops_compiler::types::Shape::Vector(r.len()),
                data: r.to_vec(),
            })
            .collect::<Vec<_>>()
    };
    Inputs {
        variables: values.iter().map(|v| rows(v)).collect(),
        m: values[0].len(),
        n: values.get(1).map_or(1, |v| v.len()),
    }
}

/// Values that KeOps gives for formulas that it can derive.
#[test]
fn values_of_keops() {
    let pair = at(&[&[&[0.0, 0.0]], &[&[1.0, 1.0]]]);
    let xy = "where x_i: [f64; 2], y_j: [f64; 2]";
    let check = |text: &str, at: &Inputs, expected: f64| {
        let found = value(&formula(text), at)[0];
        assert!(
            (found - expected).abs() < 1e-9,
            "{text}: {found}, not {expected}"
        );
    };
    check(
        &format!("sum_j laplacian(exp(-sqdist(x_i, y_j)), x_i) {xy}"),
        &pair,
        0.5413411329,
    );
    check(
        &format!("sum_j jvp(exp(-sqdist(x_i, y_j)), x_i, [1.0, 0.0]) {xy}"),
        &pair,
        0.2706705665,
    );
    check(
        &format!("sum_j laplacian(cos(x_i | y_j), x_i) {xy}"),
        &at(&[&[&[1.0, -1.0]], &[&[1.0, -1.0]]]),
        0.8322936731,
    );
    check(
        "sum_j divergence(x_i / norm2(x_i), x_i) + 0.0 * y_j[0] where x_i: [f64; 3], y_j: [f64; 1]",
        &at(&[&[&[1.2, 0.7, 2.0]], &[&[0.0]]]),
        0.8213015624,
    );
}

fn count(stmts: &[Stmt], prim: &dyn Fn(Prim) -> bool) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Let(_, p, _) => usize::from(prim(*p)),
        Stmt::Loop(_, _, body) => count(body, prim),
        _ => 0,
    };
    stmts.iter().map(of).sum()
}

/// One exponential and no division, for any number of derivatives of a Gaussian.
#[test]
fn derivatives_of_a_gaussian_share_its_exponential() {
    for derivative in [
        "grad(k, x_i)",
        "grad(k, x_i) + grad(k, y_j)",
        "laplacian(k, x_i)",
        "grad(laplacian(k, x_i), y_j)",
    ] {
        let body = derivative.replace('k', "exp(-sqdist(x_i, y_j))");
        let function =
            formula(&format!("sum_j {body} where x_i: [f32; 3], y_j: [f32; 3]")).compile();
        assert_eq!(function.passes.len(), 1, "{derivative}");
        let ir = &function.passes[0];
        let exps = count(&ir.step, &|p| {
            matches!(p, Prim::Exp | Prim::Exp2Sum | Prim::Exp2SumNonpositive)
        });
        let divisions = count(&ir.step, &|p| {
            matches!(p, Prim::Div | Prim::Sqrt | Prim::Rsqrt | Prim::Log)
        });
        assert_eq!((exps, divisions), (1, 0), "{derivative}");
    }
}

/// The second derivative of what is linear is zero, without a pass over pairs.
#[test]
fn structural_zeros_cost_nothing() {
    for text in [
        "sum_j grad(grad(x_i | y_j, x_i) | y_j, x_i) where x_i: [f32; 3], y_j: [f32; 3]",
        "sum_j laplacian(matvec(A, x_i) | y_j, x_i) where x_i: [f32; 3], y_j: [f32; 2], A: [[f32; 3]; 2]",
        "fn f(x_i: [f32; 3], y_j: [f32; 3]) = sum_j x_i | y_j; fn g = grad(f, x_i); fn h = grad(g, x_i);",
        "fn f(x_i: [f32; 3], y_j: [f32; 3]) = sum_j x_i | y_j; fn g = grad(f, x_i); fn h = jvp(g, x_i);",
    ] {
        let function = formula(text).compile();
        for pass in &function.passes {
            assert!(pass.inner.is_none() && pass.step.is_empty(), "{text}");
        }
    }
}

/// Value and gradients in one function take no more passes than the gradients alone where these fold the same rows, and never
/// more than the two one after the other.
#[test]
fn value_and_gradients_share_passes() {
    let gauss = "sum_j exp(-sqdist(x_i, y_j)) * b_j where x_i: [f32; 3], y_j: [f32; 3], b_j: f32";
    let smooth = "{ let k = exp(-sqdist(x_i, y_j)); (sum_j k * b_j) / (sum_j k) } \
                  where x_i: [f32; 3], y_j: [f32; 3], b_j: f32";
    let soft = "logsumexp_j(x_i | y_j) where x_i: [f32; 3], y_j: [f32; 3]";
    let nearest = "min_j sqdist(x_i, y_j) where x_i: [f32; 3], y_j: [f32; 3]";
    // Of the formula, its gradients, and both: how many passes fold something.
    for (text, counts) in [
        (gauss, [1, 2, 2]),
        (smooth, [1, 3, 3]),
        (soft, [1, 3, 3]),
        (nearest, [1, 3, 3]),
    ] {
        let formula = formula(text);
        let all: Vec<usize> = (0..formula.inputs.len()).collect();
        let functions = [
            formula.compile(),
            formula.vjp(&all).compile(),
            formula.value_and_vjp().compile(),
        ];
        let found = functions.map(|f| f.passes.iter().filter(|p| p.inner.is_some()).count());
        assert_eq!(found, counts, "{text}");
    }
    // The Gaussian's value is one more accumulator beside those of the gradient: one exponential for both.
    let both = formula(gauss).value_and_vjp().compile();
    let exps = both
        .passes
        .iter()
        .map(|pass| count(&pass.step, &|p| p == Prim::Exp2SumNonpositive));
    assert_eq!(exps.collect::<Vec<_>>(), [1, 1]);
}
