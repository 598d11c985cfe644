//! Complex values: every operation against plain complex arithmetic, gradients against finite differences.

mod support;

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::formulas;
use keops_compiler::function::Formula;
use keops_compiler::lower::interpret::run_function;
use support::{Random, close};

/// A complex number: real and imaginary part.
type Z = (f64, f64);

fn formula(text: &str) -> Formula {
    let (program, errors) = parse_and_check(text.parse().expect("tokens"));
    let messages: Vec<String> = errors.iter().map(|e| e.message()).collect();
    assert!(messages.is_empty(), "{text}: {messages:?}");
    formulas(&program).pop().expect("an item")
}

const M: usize = 3;
const N: usize = 4;
const VARIABLES: &str = "z_i: Complex<f64>, w_j: Complex<f64>, u_i: [Complex<f64>; 2], v_j: [Complex<f64>; 2], a_i: f64, p: Complex<f64>";

/// Random inputs for [`VARIABLES`], all parts in one interval.
fn inputs(formula: &Formula) -> Vec<Vec<Vec<f64>>> {
    let mut random = Random(5);
    formula
        .inputs
        .iter()
        .map(|input| {
            let rows = match input.axis.map(|a| a.letter()) {
                None => 1,
                Some('i') => M,
                Some(_) => N,
            };
            (0..rows)
                .map(|_| {
                    (0..input.shape.len())
                        .map(|_| random.within((0.4, 1.4)))
                        .collect()
                })
                .collect()
        })
        .collect()
}

fn item(body: &str) -> Formula {
    formula(&format!(
        "fn f({VARIABLES}) = sum_j {{ let all = 0.0 * (re(z_i + w_j + p + sum(u_i) + sum(v_j)) + a_i); ({body}) + complex(all, 0.0) }};"
    ))
}

fn run(formula: &Formula, inputs: &[Vec<Vec<f64>>]) -> Vec<Vec<f64>> {
    run_function(&formula.compile(), inputs, M, N)[0].clone()
}

fn mul(a: Z, b: Z) -> Z {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}
fn div(a: Z, b: Z) -> Z {
    let n = b.0 * b.0 + b.1 * b.1;
    let z = mul(a, (b.0, -b.1));
    (z.0 / n, z.1 / n)
}
fn exp(z: Z) -> Z {
    (z.0.exp() * z.1.cos(), z.0.exp() * z.1.sin())
}

/// Numbers of one pair: z, w, u, v, a, p.
struct Pair {
    z: Z,
    w: Z,
    u: [Z; 2],
    v: [Z; 2],
    a: f64,
    p: Z,
}

fn pair(inputs: &[Vec<Vec<f64>>], i: usize, j: usize) -> Pair {
    let one = |x: &[f64]| (x[0], x[1]);
    let two = |x: &[f64]| [(x[0], x[2]), (x[1], x[3])];
    Pair {
        z: one(&inputs[0][i]),
        w: one(&inputs[1][j]),
        u: two(&inputs[2][i]),
        v: two(&inputs[3][j]),
        a: inputs[4][i][0],
        p: one(&inputs[5][0]),
    }
}

type Case = (&'static str, fn(&Pair) -> Z);
/// Scalar formulas with their values; real ones have an imaginary part of 0.
const CASES: [Case; 22] = [
    ("z_i + w_j", |q| (q.z.0 + q.w.0, q.z.1 + q.w.1)),
    ("z_i - w_j", |q| (q.z.0 - q.w.0, q.z.1 - q.w.1)),
    ("-z_i", |q| (-q.z.0, -q.z.1)),
    ("z_i * w_j", |q| mul(q.z, q.w)),
    ("z_i / w_j", |q| div(q.z, q.w)),
    ("a_i * z_i", |q| (q.a * q.z.0, q.a * q.z.1)),
    ("z_i / a_i", |q| (q.z.0 / q.a, q.z.1 / q.a)),
    ("a_i / z_i", |q| div((q.a, 0.0), q.z)),
    ("conj(z_i) * p", |q| mul((q.z.0, -q.z.1), q.p)),
    ("exp(z_i * w_j)", |q| exp(mul(q.z, q.w))),
    ("exp1j(a_i * re(w_j))", |q| exp((0.0, q.a * q.w.0))),
    ("complex(a_i, im(z_i)) * w_j", |q| mul((q.a, q.z.1), q.w)),
    ("square(z_i) * w_j", |q| mul(mul(q.z, q.z), q.w)),
    ("sum(u_i * v_j)", |q| {
        let (a, b) = (mul(q.u[0], q.v[0]), mul(q.u[1], q.v[1]));
        (a.0 + b.0, a.1 + b.1)
    }),
    ("u_i[1] * v_j[0]", |q| mul(q.u[1], q.v[0])),
    ("sum([z_i, w_j][0..1] * p)", |q| mul(q.z, q.p)),
    ("if re(z_i) < re(w_j) { z_i } else { w_j * p }", |q| {
        if q.z.0 < q.w.0 { q.z } else { mul(q.w, q.p) }
    }),
    ("complex(abs(z_i * w_j), 0.0)", |q| {
        let z = mul(q.z, q.w);
        (z.0.hypot(z.1), 0.0)
    }),
    ("complex(sqabs(z_i) * im(w_j), 1.0)", |q| {
        ((q.z.0 * q.z.0 + q.z.1 * q.z.1) * q.w.1, 1.0)
    }),
    ("complex(angle(z_i * w_j), a_i)", |q| {
        let z = mul(q.z, q.w);
        (z.1.atan2(z.0), q.a)
    }),
    ("complex(norm2(u_i), sqnorm2(v_j))", |q| {
        let square = |z: &[Z; 2]| z.iter().map(|z| z.0 * z.0 + z.1 * z.1).sum::<f64>();
        (square(&q.u).sqrt(), square(&q.v))
    }),
    ("concat(u_i, v_j)[3]", |q| q.v[1]),
];

#[test]
fn operations_equal_complex_arithmetic() {
    for (text, value) in CASES {
        let formula = item(text);
        let at = inputs(&formula);
        let found = run(&formula, &at);
        for (i, found) in found.iter().enumerate() {
            let expected = (0..N).fold((0.0, 0.0), |sum: Z, j| {
                let z = value(&pair(&at, i, j));
                (sum.0 + z.0, sum.1 + z.1)
            });
            assert!(
                close(found[0], expected.0, 1e-12) && close(found[1], expected.1, 1e-12),
                "{text}: {found:?}, not {expected:?}"
            );
        }
    }
}

/// ∂L/∂re + i ∂L/∂im of L = Re Σ conj(e)·f, through every operation.
#[test]
fn gradients_equal_differences() {
    for (text, _) in CASES {
        let value = item(text);
        let all: Vec<usize> = (0..value.inputs.len()).collect();
        let gradient = value.vjp(&all);
        assert_eq!(gradient.complex, [true, true, true, true, false, true]);
        let at = inputs(&gradient);
        let e = &at[6];
        let loss = |at: &[Vec<Vec<f64>>]| -> f64 {
            let f = run(&value, at);
            f.iter()
                .zip(e)
                .map(|(f, e)| f[0] * e[0] + f[1] * e[1])
                .sum()
        };
        let function = gradient.compile();
        let found = run_function(&function, &at, M, N);
        for (n, rows) in found.iter().enumerate() {
            for (row, numbers) in at[n].iter().enumerate() {
                for k in 0..numbers.len() {
                    let moved = |by: f64| {
                        let mut at = at[..6].to_vec();
                        at[n][row][k] += by;
                        loss(&at)
                    };
                    let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                    assert!(
                        close(rows[row][k], expected, 1e-7),
                        "{text} by input {n}: {}, not {expected}",
                        rows[row][k]
                    );
                }
            }
        }
    }
}

/// Inside formulas: with respect to a complex variable, of a complex value, along a complex tangent.
#[test]
fn derivatives_inside_formulas() {
    let f = "exp(z_i * w_j) * p";
    let value = item(f);
    // grad(f, z, e) is the gradient of Re(conj(e)·f): conj(w·exp(z·w)·p)·e.
    let gradient = item(&format!("grad({f}, z_i, w_j)"));
    let tangent = item(&format!("jvp({f}, z_i, w_j)"));
    let real = item("complex(re(grad(abs(z_i), z_i) * conj(z_i)), 0.0)");
    let at = inputs(&value);
    let (gradient, tangent, real) = (run(&gradient, &at), run(&tangent, &at), run(&real, &at));
    for i in 0..M {
        let mut sums = [(0.0, 0.0); 2];
        for j in 0..N {
            let q = pair(&at, i, j);
            let slope = mul(mul(q.w, exp(mul(q.z, q.w))), q.p);
            let terms = [mul((slope.0, -slope.1), q.w), mul(slope, q.w)];
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum = (sum.0 + term.0, sum.1 + term.1);
            }
        }
        for (found, sum) in [(&gradient[i], sums[0]), (&tangent[i], sums[1])] {
            assert!(
                close(found[0], sum.0, 1e-11) && close(found[1], sum.1, 1e-11),
                "{found:?}, not {sum:?}"
            );
        }
        let z = pair(&at, i, 0).z;
        assert!(close(real[i][0], N as f64 * z.0.hypot(z.1), 1e-12));
    }
}

#[test]
fn means_and_vectors_of_results() {
    let mean = formula(&format!(
        "fn f({VARIABLES}) = (mean_j u_i * w_j) + 0.0 * (sum_j v_j * z_i * p * a_i);"
    ));
    let at = inputs(&mean);
    assert_eq!(mean.complex, [true]);
    for (i, found) in run(&mean, &at).iter().enumerate() {
        for k in 0..2 {
            let expected = (0..N).fold((0.0, 0.0), |sum: Z, j| {
                let q = pair(&at, i, j);
                let z = mul(q.u[k], q.w);
                (sum.0 + z.0 / N as f64, sum.1 + z.1 / N as f64)
            });
            assert!(close(found[k], expected.0, 1e-12) && close(found[2 + k], expected.1, 1e-12));
        }
    }
}
