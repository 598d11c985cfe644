//! Complex values: every operation against plain complex arithmetic, gradients against finite differences.

mod support;

use keops_compiler::check::parse_and_check;
use keops_compiler::expand::formulas;
use keops_compiler::function::Formula;
use keops_compiler::lower::interpret::run_function;
use keops_compiler::types::Shape;
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
/// Σ a·b, without a conjugate.
fn dot(a: [Z; 2], b: [Z; 2]) -> Z {
    let (x, y) = (mul(a[0], b[0]), mul(a[1], b[1]));
    (x.0 + y.0, x.1 + y.1)
}
fn conj(z: Z) -> Z {
    (z.0, -z.1)
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
const CASES: [Case; 41] = [
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
    ("u_i | v_j", |q| dot(q.u, q.v)),
    ("dot(conj(u_i), v_j)", |q| dot(q.u.map(conj), q.v)),
    ("dot(re(u_i), v_j)", |q| dot(q.u.map(|u| (u.0, 0.0)), q.v)),
    ("dot(v_j, im(u_i))", |q| dot(q.u.map(|u| (u.1, 0.0)), q.v)),
    ("matvec([u_i, v_j], v_j * z_i)[0]", |q| {
        mul(dot(q.u, q.v), q.z)
    }),
    ("matvec([[a_i, 2.0], [a_i, 3.0]], v_j)[1]", |q| {
        dot([(q.a, 0.0), (3.0, 0.0)], q.v)
    }),
    ("vecmat(u_i, [u_i, v_j])[1]", |q| dot(q.u, [q.u[1], q.v[1]])),
    ("matmul([u_i, v_j], [v_j, u_i])[0, 1]", |q| {
        dot(q.u, [q.v[1], q.u[1]])
    }),
    ("matmul(re([u_i, v_j]), transpose([v_j, u_i]))[0, 0]", |q| {
        dot(q.u.map(|u| (u.0, 0.0)), q.v)
    }),
    (
        "matvec(outer(u_i, v_j), u_i)[1] * trace(outer(u_i, re(v_j)))",
        |q| {
            let real = q.v.map(|v| (v.0, 0.0));
            mul(mul(q.u[1], dot(q.v, q.u)), dot(q.u, real))
        },
    ),
    ("cross(concat(u_i, z_i), concat(v_j, w_j))[2]", |q| {
        let (a, b) = (mul(q.u[0], q.v[1]), mul(q.u[1], q.v[0]));
        (a.0 - b.0, a.1 - b.1)
    }),
    ("sumt(z_i, 3)[2] * w_j", |q| mul(q.z, q.w)),
    ("sum(sumt(z_i * w_j, 3))", |q| {
        let z = mul(q.z, q.w);
        (3.0 * z.0, 3.0 * z.1)
    }),
    ("sum(elemt(z_i, 3, 1) * concat(u_i, w_j))", |q| {
        mul(q.z, q.u[1])
    }),
    ("extractt(u_i, 1, 4)[2] * extractt(v_j, 0, 3)[0]", |q| {
        mul(q.u[1], q.v[0])
    }),
    ("ifelse(re(z_i) - re(w_j), z_i, w_j * p)", |q| {
        if q.z.0 >= q.w.0 { q.z } else { mul(q.w, q.p) }
    }),
    ("normalize(u_i)[1] * w_j", |q| {
        let size =
            q.u.iter()
                .map(|z| z.0 * z.0 + z.1 * z.1)
                .sum::<f64>()
                .sqrt();
        mul((q.u[1].0 / size, q.u[1].1 / size), q.w)
    }),
    ("complex(sqdist(u_i, v_j), dist(u_i, v_j))", |q| {
        let square = |k: usize| (q.u[k].0 - q.v[k].0).powi(2) + (q.u[k].1 - q.v[k].1).powi(2);
        (square(0) + square(1), (square(0) + square(1)).sqrt())
    }),
    ("trace(kron([u_i, v_j], [v_j, u_i]))", |q| {
        let trace = |a: Z, b: Z| (a.0 + b.0, a.1 + b.1);
        mul(trace(q.u[0], q.v[1]), trace(q.v[0], q.u[1]))
    }),
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
        let (one, two) = (Some(Shape::Scalar), Some(Shape::Vector(2)));
        assert_eq!(gradient.complex, [one, one, two, two, None, one]);
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
    assert_eq!(mean.complex, [Some(Shape::Vector(2))]);
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

/// Attention with complex values: both parts have the same weights.
#[test]
fn weighted_means_have_complex_values() {
    let mean = formula(&format!(
        "fn f({VARIABLES}) = (softmax_j(a_i * re(w_j), v_j * z_i)) + 0.0 * p * u_i * (sum_j w_j);"
    ));
    let at = inputs(&mean);
    assert_eq!(mean.complex, [Some(Shape::Vector(2))]);
    for (i, found) in run(&mean, &at).iter().enumerate() {
        for k in 0..2 {
            let (mut total, mut sum) = (0.0, (0.0, 0.0));
            for j in 0..N {
                let q = pair(&at, i, j);
                let (weight, z) = ((q.a * q.w.0).exp(), mul(q.v[k], q.z));
                total += weight;
                sum = (sum.0 + weight * z.0, sum.1 + weight * z.1);
            }
            let expected = (sum.0 / total, sum.1 / total);
            assert!(close(found[k], expected.0, 1e-12) && close(found[2 + k], expected.1, 1e-12));
        }
    }
}

/// The complex numbers of a row, row-major: the real parts are the first half.
fn numbers(row: &[f64]) -> Vec<Z> {
    let (re, im) = row.split_at(row.len() / 2);
    re.iter().zip(im).map(|(&re, &im)| (re, im)).collect()
}

/// The product of r×n and n×c matrices.
fn matmul(a: &[Z], b: &[Z], n: usize) -> Vec<Z> {
    let (r, c) = (a.len() / n, b.len() / n);
    let number = |k: usize| {
        let (row, column) = (k / c, k % c);
        (0..n).fold((0.0, 0.0), |sum: Z, m| {
            let z = mul(a[row * n + m], b[m * c + column]);
            (sum.0 + z.0, sum.1 + z.1)
        })
    };
    (0..r * c).map(number).collect()
}
fn transposed(a: &[Z], columns: usize) -> Vec<Z> {
    let rows = a.len() / columns;
    (0..a.len())
        .map(|k| a[k % rows * columns + k / rows])
        .collect()
}

/// A formula of a 2×3 matrix a_i, a 3×2 matrix b_j, a 1×3 matrix c_j, a vector w_j and a 2×2 matrix p, with its value.
type MatrixCase = (&'static str, Shape, fn(&[Vec<Z>; 5]) -> Vec<Z>);
const MATRICES: [MatrixCase; 7] = [
    ("matmul(a_i, b_j)", Shape::Matrix(2, 2), |q| {
        matmul(&q[0], &q[1], 3)
    }),
    ("matmul(c_j, b_j)", Shape::Matrix(1, 2), |q| {
        matmul(&q[2], &q[1], 3)
    }),
    ("matvec(matmul(p, a_i), w_j)", Shape::Vector(2), |q| {
        matmul(&matmul(&q[4], &q[0], 2), &q[3], 3)
    }),
    ("vecmat(w_j, transpose(a_i))", Shape::Vector(2), |q| {
        matmul(&q[3], &transposed(&q[0], 3), 3)
    }),
    ("outer(w_j, conj(c_j[0]))", Shape::Matrix(3, 3), |q| {
        let c: Vec<Z> = q[2].iter().map(|&z| conj(z)).collect();
        matmul(&q[3], &c, 1)
    }),
    ("trace(matmul(a_i, b_j)) * p", Shape::Matrix(2, 2), |q| {
        let m = matmul(&q[0], &q[1], 3);
        let trace = (m[0].0 + m[3].0, m[0].1 + m[3].1);
        q[4].iter().map(|&z| mul(z, trace)).collect()
    }),
    (
        "if re(w_j[0]) < 0.9 { c_j } else { transpose(b_j)[0..1] * im(w_j[1]) }",
        Shape::Matrix(1, 3),
        |q| {
            if q[3][0].0 < 0.9 {
                return q[2].clone();
            }
            let b = transposed(&q[1], 2);
            b[..3]
                .iter()
                .map(|&z| (z.0 * q[3][1].1, z.1 * q[3][1].1))
                .collect()
        },
    ),
];

#[test]
fn matrices_are_variables_and_results() {
    for (text, shape, value) in MATRICES {
        let formula = formula(&format!(
            "fn f(a_i: [[Complex<f64>; 3]; 2], b_j: [[Complex<f64>; 2]; 3], c_j: [[Complex<f64>; 3]; 1], w_j: [Complex<f64>; 3], p: [[Complex<f64>; 2]; 2]) =
                sum_j {{ let all = re(sum(w_j)) + re(trace(p)) + re(a_i[0, 0] + b_j[0, 0] + c_j[0, 0]); ({text}) + complex(0.0 * all, 0.0) * ({text}) }};"
        ));
        assert_eq!(formula.complex, [Some(shape)], "{text}");
        let gradient = formula.vjp(&[0, 1, 2, 3, 4]);
        let of_inputs: Vec<_> = formula.inputs.iter().map(|i| i.complex).collect();
        assert_eq!(gradient.complex, of_inputs, "{text}");
        let at = inputs(&gradient);
        let found = run(&formula, &at[..5]);
        for (i, found) in found.iter().enumerate() {
            let mut expected = vec![(0.0, 0.0); shape.len()];
            for j in 0..N {
                let row = |n: usize| numbers(&at[n][[i, j, j, j, 0][n]]);
                let terms = value(&[0, 1, 2, 3, 4].map(row));
                for (sum, term) in expected.iter_mut().zip(terms) {
                    *sum = (sum.0 + term.0, sum.1 + term.1);
                }
            }
            for (found, expected) in numbers(found).iter().zip(&expected) {
                let near = close(found.0, expected.0, 1e-12) && close(found.1, expected.1, 1e-12);
                assert!(near, "{text}: {found:?}, not {expected:?}");
            }
        }
        // Re Σ conj(e)·f is the real scalar product of the parts.
        let loss = |at: &[Vec<Vec<f64>>]| -> f64 {
            let f = run(&formula, at).concat();
            f.iter()
                .zip(at_e(&gradient).concat())
                .map(|(f, e)| f * e)
                .sum()
        };
        let slopes = run_function(&gradient.compile(), &at, M, N);
        for (n, rows) in slopes.iter().enumerate() {
            for (row, slopes) in rows.iter().enumerate() {
                for (k, slope) in slopes.iter().enumerate() {
                    let moved = |by: f64| {
                        let mut at = at[..5].to_vec();
                        at[n][row][k] += by;
                        loss(&at)
                    };
                    let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                    assert!(
                        close(*slope, expected, 1e-7),
                        "{text} by input {n}: {slope}, not {expected}"
                    );
                }
            }
        }
    }
}

/// The cotangent of a gradient's inputs.
fn at_e(gradient: &Formula) -> Vec<Vec<f64>> {
    inputs(gradient).pop().expect("a cotangent")
}

/// Of matrices inside formulas: the gradient is a matrix like the variable, a tangent one like the value.
#[test]
fn derivatives_by_matrices() {
    let head = "fn f(a_i: [[Complex<f64>; 2]; 2], w_j: [Complex<f64>; 2])";
    let gradient = formula(&format!("{head} = sum_j grad(matvec(a_i, w_j), a_i, w_j);"));
    let tangent = formula(&format!(
        "{head} = sum_j jvp(matmul(a_i, a_i), a_i, outer(w_j, w_j));"
    ));
    let matrix = [Some(Shape::Matrix(2, 2))];
    assert_eq!(
        (&gradient.complex[..], &tangent.complex[..]),
        (&matrix[..], &matrix[..])
    );
    let at = inputs(&gradient);
    let (gradient, tangent) = (run(&gradient, &at), run(&tangent, &at));
    for i in 0..M {
        let a = numbers(&at[0][i]);
        let mut sums = [vec![(0.0, 0.0); 4], vec![(0.0, 0.0); 4]];
        for w in &at[1] {
            let w = numbers(w);
            let (t, w_conj) = (
                matmul(&w, &w, 1),
                w.iter().map(|&z| conj(z)).collect::<Vec<_>>(),
            );
            let slope = matmul(&w, &w_conj, 1);
            let (left, right) = (matmul(&t, &a, 2), matmul(&a, &t, 2));
            for k in 0..4 {
                sums[0][k] = (sums[0][k].0 + slope[k].0, sums[0][k].1 + slope[k].1);
                let along = (left[k].0 + right[k].0, left[k].1 + right[k].1);
                sums[1][k] = (sums[1][k].0 + along.0, sums[1][k].1 + along.1);
            }
        }
        for (found, expected) in [(&gradient[i], &sums[0]), (&tangent[i], &sums[1])] {
            for (f, e) in numbers(found).iter().zip(expected) {
                assert!(
                    close(f.0, e.0, 1e-12) && close(f.1, e.1, 1e-12),
                    "{f:?}, not {e:?}"
                );
            }
        }
    }
}
