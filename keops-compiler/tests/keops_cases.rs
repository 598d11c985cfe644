//! The cases of KeOps' own test suite that are formulas, under its names, against plain loops; and single values that KeOps
//! gives, or that it gets wrong.
//!
//! Every formula is evaluated twice: by the interpreter of its graph and by that of its kernels. The expected numbers come
//! from loops that share no code with the compiler. What is not here: batch dimensions, `ranges` and block sparsity (no such
//! inputs), half precision (no such type), chunk modes (schedules are the compiler's choice; their dimensions are tested), and
//! strided, host, pickled or preallocated arrays, which are not a formula's business.

mod support;

use std::f64::consts::PI;
use support::Random;
use support::text::{Rows, assert_rows, formula, run};

/// Random rows.
fn rows(count: usize, width: usize, seed: u64) -> Rows {
    let mut random = Random(seed);
    (0..count)
        .map(|_| (0..width).map(|_| random.within((-1.0, 1.0))).collect())
        .collect()
}

/// One row per row of `outer`: the sum of a value per row of `inner`.
fn sums(outer: usize, inner: usize, term: impl Fn(usize, usize) -> Vec<f64>) -> Rows {
    let add = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(b).map(|(a, b)| a + b).collect();
    (0..outer)
        .map(|o| (0..inner).map(|k| term(o, k)).reduce(add).expect("rows"))
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
fn sqdist(a: &[f64], b: &[f64]) -> f64 {
    let d = minus(a, b);
    dot(&d, &d)
}
fn scaled(by: f64, v: &[f64]) -> Vec<f64> {
    v.iter().map(|x| by * x).collect()
}

const M: usize = 10;
const N: usize = 6;

#[test]
fn generic_syntax_sum() {
    let (p, a) = (rows(1, 1, 1), rows(N, 1, 2));
    let (x, y) = (rows(M, 3, 3), rows(N, 3, 4));
    let term = |i: usize, j: usize| -> Vec<f64> {
        let weight = (p[0][0] - a[j][0]) * (p[0][0] - a[j][0]);
        (0..3).map(|d| weight * (x[i][d] + y[j][d]).exp()).collect()
    };
    let text = |axis: char| {
        format!(
            "fn f(p: f64, a_j: f64, x_i: [f64; 3], y_j: [f64; 3]) = sum_{axis} square(p - a_j) * exp(x_i + y_j);"
        )
    };
    let data = [&p, &a, &x, &y];
    assert_rows(&run(&text('j'), &data), &sums(M, N, term), 1e-12, "over j");
    let over_i = sums(N, M, |j, i| term(i, j));
    assert_rows(&run(&text('i'), &data), &over_i, 1e-12, "over i");
}

const SCORES: &str = "(p: f64, a_j: f64, x_i: [f64; 3], y_j: [f64; 3], w_j: [f64; 2])";
const SCORE: &str = "square(p - a_j) * exp(-sqnorm2(x_i - y_j))";

/// The score of every pair, its data, and weights.
fn scores() -> ([Rows; 5], Rows) {
    let (p, a, x, y) = (rows(1, 1, 1), rows(N, 1, 2), rows(M, 3, 3), rows(N, 3, 4));
    let score = |i: usize, j: usize| (p[0][0] - a[j][0]).powi(2) * (-sqdist(&x[i], &y[j])).exp();
    let all = (0..M)
        .map(|i| (0..N).map(|j| score(i, j)).collect())
        .collect();
    ([p, a, x, y, rows(N, 2, 5)], all)
}

#[test]
fn generic_syntax_lse() {
    let (data, scores) = scores();
    let expected: Rows = scores
        .iter()
        .map(|s| vec![s.iter().map(|s| s.exp()).sum::<f64>().ln()])
        .collect();
    let text = format!("fn f{SCORES} = (logsumexp_j {SCORE}) + 0.0 * (sum_j w_j[0]);");
    assert_rows(&run(&text, &data.each_ref()), &expected, 1e-12, &text);
}

#[test]
fn generic_syntax_softmax() {
    let (data, scores) = scores();
    let w = &data[4];
    let expected: Rows = scores
        .iter()
        .map(|s| {
            let total: f64 = s.iter().map(|s| s.exp()).sum();
            (0..2)
                .map(|d| (0..N).map(|j| s[j].exp() * w[j][d]).sum::<f64>() / total)
                .collect()
        })
        .collect();
    let text = format!("fn f{SCORES} = softmax_j({SCORE}, w_j);");
    assert_rows(&run(&text, &data.each_ref()), &expected, 1e-12, &text);
}

#[test]
fn heterogeneous_var_aliases() {
    let (p, x, y) = (rows(1, 2, 1), rows(M, 3, 2), rows(N, 3, 3));
    let text = "fn f(p: [f64; 2], x_i: [f64; 3], y_j: [f64; 3]) = sum_j pow(x_i | y_j, 2) * ((p[0] * x_i) + (p[1] * y_j));";
    let expected = sums(M, N, |i, j| {
        let square = dot(&x[i], &y[j]).powi(2);
        (0..3)
            .map(|d| square * (p[0][0] * x[i][d] + p[0][1] * y[j][d]))
            .collect()
    });
    assert_rows(&run(text, &[&p, &x, &y]), &expected, 1e-12, text);
}

#[test]
fn formula_simplification() {
    let text = "fn f(x_i: [f64; 3], y_j: [f64; 3], e_i: [f64; 3]) = sum_j grad(grad(x_i + y_j, x_i, e_i), x_i, e_i);";
    let data = [&rows(M, 3, 1), &rows(N, 3, 2), &rows(M, 3, 3)];
    assert_eq!(run(text, &data), vec![vec![0.0; 3]; M]);
    for pass in &formula(text).compile().passes {
        assert!(pass.inner.is_none(), "a pass over pairs for zeros");
    }
}

#[test]
fn argkmin() {
    let (x, y) = (rows(M, 3, 1), rows(N, 3, 2));
    let expected: Rows = x
        .iter()
        .map(|x| {
            let mut order: Vec<usize> = (0..N).collect();
            order.sort_by(|&a, &b| sqdist(x, &y[a]).total_cmp(&sqdist(x, &y[b])));
            order[..3].iter().map(|&j| j as f64).collect()
        })
        .collect();
    let text = "fn f(x_i: [f64; 3], y_j: [f64; 3]) = argkmin_j::<3> sqdist(x_i, y_j);";
    assert_eq!(run(text, &[&x, &y]), expected);
}

/// Conjugate gradients with products by a kernel, against elimination in the dense matrix.
#[test]
fn invkernel() {
    let (n, alpha) = (12, 0.1);
    let (x, b) = (rows(n, 2, 1), rows(n, 1, 2));
    let text =
        "fn f(x_i: [f64; 2], y_j: [f64; 2], b_j: f64) = sum_j exp(-2.0 * sqdist(x_i, y_j)) * b_j;";
    let product = |v: &[f64]| -> Vec<f64> {
        let column: Rows = v.iter().map(|&v| vec![v]).collect();
        let kernel = run(text, &[&x, &x, &column]).concat();
        kernel.iter().zip(v).map(|(k, v)| k + alpha * v).collect()
    };
    let mut found = vec![0.0; n];
    let mut residual = b.concat();
    let mut direction = residual.clone();
    for _ in 0..4 * n {
        let moved = product(&direction);
        let square = dot(&residual, &residual);
        if square < 1e-24 {
            break;
        }
        let step = square / dot(&direction, &moved);
        for k in 0..n {
            found[k] += step * direction[k];
            residual[k] -= step * moved[k];
        }
        let next = dot(&residual, &residual) / square;
        for (d, r) in direction.iter_mut().zip(&residual) {
            *d = r + next * *d;
        }
    }
    let mut system: Rows = (0..n)
        .map(|i| {
            let entry =
                |j: usize| (-2.0 * sqdist(&x[i], &x[j])).exp() + if i == j { alpha } else { 0.0 };
            (0..n).map(entry).chain([b[i][0]]).collect()
        })
        .collect();
    for pivot in 0..n {
        let row = scaled(1.0 / system[pivot][pivot], &system[pivot]);
        for (k, other) in system.iter_mut().enumerate() {
            *other = match k == pivot {
                true => row.clone(),
                false => minus(other, &scaled(other[pivot], &row)),
            };
        }
    }
    let expected: Vec<f64> = system.iter().map(|row| row[n]).collect();
    assert_rows(&[found], &[expected], 1e-9, "the solution");
}

const GAUSS: &str =
    "fn f(x_i: [f64; 3], y_j: [f64; 3], b_j: f64) = sum_j exp(-sqdist(x_i, y_j)) * b_j;";

/// Value, first and second gradients.
#[test]
fn lazytensor_gaussian() {
    let (x, y, b) = (rows(M, 3, 1), rows(N, 3, 2), rows(N, 1, 3));
    let (e, t) = (rows(M, 1, 4), rows(M, 3, 5));
    let k = |i: usize, j: usize| (-sqdist(&x[i], &y[j])).exp() * b[j][0];
    let value = sums(M, N, |i, j| vec![k(i, j)]);
    assert_rows(&run(GAUSS, &[&x, &y, &b]), &value, 1e-12, "value");

    let first = format!("{GAUSS} fn g = grad(f, x_i);");
    let slope = |i: usize, j: usize| scaled(-2.0 * k(i, j) * e[i][0], &minus(&x[i], &y[j]));
    let expected = sums(M, N, slope);
    assert_rows(&run(&first, &[&x, &y, &b, &e]), &expected, 1e-12, &first);

    // ∂²k/∂x² t = k·(4 d⟨d, t⟩ − 2 t) with d = x − y, and ∂²k/∂x∂y is its negative.
    let curve = |i: usize, j: usize| {
        let d = minus(&x[i], &y[j]);
        let curved = minus(&scaled(4.0 * dot(&d, &t[i]), &d), &scaled(2.0, &t[i]));
        scaled(k(i, j) * e[i][0], &curved)
    };
    let data = [&x, &y, &b, &e, &t];
    let text = format!("{first} fn h = grad(g, x_i);");
    assert_rows(&run(&text, &data), &sums(M, N, curve), 1e-12, &text);
    let text = format!("{first} fn h = grad(g, y_j);");
    let expected = sums(N, M, |j, i| scaled(-1.0, &curve(i, j)));
    assert_rows(&run(&text, &data), &expected, 1e-12, &text);
    let text = format!("{first} fn h = grad(g, b_j);");
    let expected = sums(N, M, |j, i| vec![dot(&slope(i, j), &t[i]) / b[j][0]]);
    assert_rows(&run(&text, &data), &expected, 1e-11, &text);
}

/// Value, gradient, tangent and product by the Hessian of what is not a sum.
#[test]
fn lazytensor_logsumexp_and_min() {
    let (x, y, e, t) = (rows(M, 3, 1), rows(N, 3, 2), rows(M, 1, 3), rows(M, 3, 4));
    let text = "fn f(x_i: [f64; 3], y_j: [f64; 3]) = logsumexp_j -sqdist(x_i, y_j);";
    // Scores, softmax weights and their means.
    let weight = |i: usize, j: usize| {
        let total: f64 = y.iter().map(|y| (-sqdist(&x[i], y)).exp()).sum();
        (-sqdist(&x[i], &y[j])).exp() / total
    };
    let slope = |i: usize, j: usize| scaled(-2.0, &minus(&x[i], &y[j]));
    let mean = sums(M, N, |i, j| scaled(weight(i, j), &slope(i, j)));
    let value = sums(M, N, |i, j| vec![(-sqdist(&x[i], &y[j])).exp()]);
    let value: Rows = value.iter().map(|v| vec![v[0].ln()]).collect();
    assert_rows(&run(text, &[&x, &y]), &value, 1e-12, text);
    let first = format!("{text} fn g = grad(f, x_i);");
    let gradient: Rows = (0..M).map(|i| scaled(e[i][0], &mean[i])).collect();
    assert_rows(&run(&first, &[&x, &y, &e]), &gradient, 1e-12, &first);
    let second = format!("{first} fn h = grad(g, x_i);");
    let expected = sums(M, N, |i, j| {
        let curved = scaled(
            dot(&slope(i, j), &t[i]) - dot(&mean[i], &t[i]),
            &slope(i, j),
        );
        scaled(e[i][0] * weight(i, j), &minus(&curved, &scaled(2.0, &t[i])))
    });
    assert_rows(&run(&second, &[&x, &y, &e, &t]), &expected, 1e-11, &second);
    let tangent = format!("{text} fn h = jvp(f, x_i);");
    let expected: Rows = (0..M).map(|i| vec![dot(&mean[i], &t[i])]).collect();
    assert_rows(&run(&tangent, &[&x, &y, &t]), &expected, 1e-12, &tangent);

    let text = "fn f(x_i: [f64; 3], y_j: [f64; 3]) = min_j sqdist(x_i, y_j);";
    let nearest = |i: usize| {
        let closer = |a: &&Vec<f64>, b: &&Vec<f64>| sqdist(&x[i], a).total_cmp(&sqdist(&x[i], b));
        y.iter().min_by(closer).expect("rows")
    };
    let value: Rows = (0..M).map(|i| vec![sqdist(&x[i], nearest(i))]).collect();
    assert_rows(&run(text, &[&x, &y]), &value, 1e-13, text);
    let first = format!("{text} fn g = grad(f, x_i);");
    let expected: Rows = (0..M)
        .map(|i| scaled(2.0 * e[i][0], &minus(&x[i], nearest(i))))
        .collect();
    assert_rows(&run(&first, &[&x, &y, &e]), &expected, 1e-13, &first);
    let second = format!("{first} fn h = grad(g, x_i);");
    let expected: Rows = (0..M).map(|i| scaled(2.0 * e[i][0], &t[i])).collect();
    assert_rows(&run(&second, &[&x, &y, &e, &t]), &expected, 1e-13, &second);
}

#[test]
fn lazytensor_grad() {
    let (x, y, e, t) = (rows(M, 2, 1), rows(N, 2, 2), rows(M, 2, 3), rows(M, 2, 4));
    let text = "fn f(x_i: [f64; 2], y_j: [f64; 2]) = sum_j square(cos(x_i) - y_j);";
    let each = |of: &dyn Fn(f64, f64, f64, f64) -> f64| {
        sums(M, N, |i, j| {
            (0..2)
                .map(|d| of(x[i][d], y[j][d], e[i][d], t[i][d]))
                .collect()
        })
    };
    let value = each(&|x, y, _, _| (x.cos() - y).powi(2));
    assert_rows(&run(text, &[&x, &y]), &value, 1e-12, text);
    let first = format!("{text} fn g = grad(f, x_i);");
    let expected = each(&|x, y, e, _| -2.0 * e * x.sin() * (x.cos() - y));
    assert_rows(&run(&first, &[&x, &y, &e]), &expected, 1e-12, &first);
    let second = format!("{first} fn h = grad(g, x_i);");
    let expected = each(&|x, y, e, t| 2.0 * e * t * (y * x.cos() - (2.0 * x).cos()));
    assert_rows(&run(&second, &[&x, &y, &e, &t]), &expected, 1e-12, &second);
}

/// `torch.func`'s grad, vjp, jvp, jacrev, jacfwd and hessian; `vmap` is a batch, which there is not.
#[test]
fn torch_func() {
    let (x, y, b, c) = (rows(M, 3, 1), rows(N, 3, 2), rows(N, 2, 3), rows(N, 1, 6));
    let (e, t, ones) = (rows(M, 2, 4), rows(M, 3, 5), vec![vec![1.0]; M]);
    let k = |i: usize, j: usize| (-sqdist(&x[i], &y[j])).exp();
    let slope = |i: usize, j: usize| scaled(-2.0 * k(i, j), &minus(&x[i], &y[j]));

    // grad: of the sum of all numbers.
    let scalar =
        "fn f(x_i: [f64; 3], y_j: [f64; 3], b_j: f64) = sum_j exp(-sqdist(x_i, y_j)) * b_j;";
    let text = format!("{scalar} fn g = grad(f, x_i);");
    let expected = sums(M, N, |i, j| scaled(c[j][0], &slope(i, j)));
    assert_rows(&run(&text, &[&x, &y, &c, &ones]), &expected, 1e-12, &text);

    // vjp and jvp of vectors.
    let vector =
        "fn f(x_i: [f64; 3], y_j: [f64; 3], b_j: [f64; 2]) = sum_j exp(-sqdist(x_i, y_j)) * b_j;";
    let text = format!("{vector} fn g = grad(f, x_i);");
    let expected = sums(M, N, |i, j| scaled(dot(&b[j], &e[i]), &slope(i, j)));
    assert_rows(&run(&text, &[&x, &y, &b, &e]), &expected, 1e-12, &text);
    let text = format!("{vector} fn g = jvp(f, x_i);");
    let expected = sums(M, N, |i, j| scaled(dot(&slope(i, j), &t[i]), &b[j]));
    assert_rows(&run(&text, &[&x, &y, &b, &t]), &expected, 1e-12, &text);

    // jacrev by unit cotangents, jacfwd by unit tangents, and the matrix at once. Rows i are independent.
    let matrix = "fn f(x_i: [f64; 3], y_j: [f64; 3], b_j: [f64; 2]) = jacobian(sum_j exp(-sqdist(x_i, y_j)) * b_j, x_i);";
    let expected = sums(M, N, |i, j| {
        [0, 1].map(|a| scaled(b[j][a], &slope(i, j))).concat()
    });
    assert_rows(&run(matrix, &[&x, &y, &b]), &expected, 1e-12, matrix);
    let unit = |n: usize, k: usize| -> Rows {
        let row: Vec<f64> = (0..n).map(|d| f64::from(u8::from(d == k))).collect();
        vec![row; M]
    };
    let column = |k: &dyn Fn(usize) -> bool| -> Rows {
        let pick = |row: &Vec<f64>| {
            let all = row.iter().enumerate();
            all.filter(|(n, _)| k(*n)).map(|(_, x)| *x).collect()
        };
        expected.iter().map(pick).collect()
    };
    for a in 0..2 {
        let text = format!("{vector} fn g = grad(f, x_i);");
        let found = run(&text, &[&x, &y, &b, &unit(2, a)]);
        assert_rows(&found, &column(&|n| n / 3 == a), 1e-12, "jacrev");
    }
    for d in 0..3 {
        let text = format!("{vector} fn g = jvp(f, x_i);");
        let found = run(&text, &[&x, &y, &b, &unit(3, d)]);
        assert_rows(&found, &column(&|n| n % 3 == d), 1e-12, "jacfwd");
    }

    // hessian: k·(4·d·dᵀ − 2·1) with d = x − y.
    let hessian = "fn f(x_i: [f64; 3], y_j: [f64; 3], b_j: f64) = jacobian(grad(sum_j exp(-sqdist(x_i, y_j)) * b_j, x_i), x_i);";
    let expected = sums(M, N, |i, j| {
        let d = minus(&x[i], &y[j]);
        let entry = |n: usize| {
            let one = f64::from(u8::from(n / 3 == n % 3));
            c[j][0] * k(i, j) * (4.0 * d[n / 3] * d[n % 3] - 2.0 * one)
        };
        (0..9).map(entry).collect()
    });
    assert_rows(&run(hessian, &[&x, &y, &c]), &expected, 1e-12, hessian);
}

#[test]
fn torch_func_logsumexp() {
    let (x, y, e, t) = (rows(M, 3, 1), rows(N, 3, 2), rows(M, 1, 3), rows(M, 3, 4));
    let weight = |i: usize, j: usize| {
        let total: f64 = y.iter().map(|y| (-sqdist(&x[i], y)).exp()).sum();
        (-sqdist(&x[i], &y[j])).exp() / total
    };
    let slope = |i: usize, j: usize| scaled(-2.0, &minus(&x[i], &y[j]));
    let mean = sums(M, N, |i, j| scaled(weight(i, j), &slope(i, j)));
    let text = "fn f(x_i: [f64; 3], y_j: [f64; 3]) = logsumexp_j -sqdist(x_i, y_j);";
    let vjp = format!("{text} fn g = grad(f, x_i);");
    let expected: Rows = (0..M).map(|i| scaled(e[i][0], &mean[i])).collect();
    assert_rows(&run(&vjp, &[&x, &y, &e]), &expected, 1e-12, &vjp);
    let jvp = format!("{text} fn g = jvp(f, x_i);");
    let expected: Rows = (0..M).map(|i| vec![dot(&mean[i], &t[i])]).collect();
    assert_rows(&run(&jvp, &[&x, &y, &t]), &expected, 1e-12, &jvp);
    let jacobian =
        "fn f(x_i: [f64; 3], y_j: [f64; 3]) = jacobian(logsumexp_j(-sqdist(x_i, y_j)), x_i);";
    assert_rows(&run(jacobian, &[&x, &y]), &mean, 1e-12, jacobian);
    let hessian = "fn f(x_i: [f64; 3], y_j: [f64; 3]) = jacobian(grad(logsumexp_j(-sqdist(x_i, y_j)), x_i), x_i);";
    // Covariance of the slopes, and the curvature −2·1 that all scores share.
    let expected = sums(M, N, |i, j| {
        let (s, m) = (slope(i, j), &mean[i]);
        let entry = |n: usize| {
            let one = f64::from(u8::from(n / 3 == n % 3));
            weight(i, j) * (s[n / 3] * (s[n % 3] - m[n % 3]) - 2.0 * one)
        };
        (0..9).map(entry).collect()
    });
    assert_rows(&run(hessian, &[&x, &y]), &expected, 1e-11, hessian);
}

#[test]
fn lazytensor_clamp() {
    let (low, high) = (-1.23, 1.54);
    let x: Rows = rows(M, 2, 1).iter().map(|x| scaled(3.0, x)).collect();
    let (y, e) = (rows(N, 2, 2), rows(M, 2, 3));
    let text = "fn f(x_i: [f64; 2], y_j: [f64; 2]) = sum_j clamp(x_i + y_j, -1.23, 1.54) * y_j;";
    let expected = sums(M, N, |i, j| {
        (0..2)
            .map(|d| (x[i][d] + y[j][d]).clamp(low, high) * y[j][d])
            .collect()
    });
    assert_rows(&run(text, &[&x, &y]), &expected, 1e-12, text);
    let text = format!("{text} fn g = grad(f, x_i);");
    let inside = |i: usize, j: usize, d: usize| (low..=high).contains(&(x[i][d] + y[j][d]));
    let expected = sums(M, N, |i, j| {
        (0..2)
            .map(|d| {
                if inside(i, j, d) {
                    e[i][d] * y[j][d]
                } else {
                    0.0
                }
            })
            .collect()
    });
    assert_rows(&run(&text, &[&x, &y, &e]), &expected, 1e-12, &text);
}

#[test]
fn sinc() {
    let (x, y, e) = (rows(M, 2, 1), rows(N, 2, 2), rows(M, 2, 3));
    let text = "fn f(x_i: [f64; 2], y_j: [f64; 2]) = sum_j sinxdivx(x_i - y_j);";
    let each = |of: &dyn Fn(f64, f64) -> f64| {
        sums(M, N, |i, j| {
            (0..2).map(|d| of(x[i][d] - y[j][d], e[i][d])).collect()
        })
    };
    assert_rows(
        &run(text, &[&x, &y]),
        &each(&|r, _| r.sin() / r),
        1e-12,
        text,
    );
    let text = format!("{text} fn g = grad(f, x_i);");
    let expected = each(&|r, e| e * (r * r.cos() - r.sin()) / (r * r));
    assert_rows(&run(&text, &[&x, &y, &e]), &expected, 1e-11, &text);
}

/// K·b over j, and its transpose over i: another formula, and the gradient by b.
#[test]
fn transpose() {
    let (x, y, b, c) = (rows(M, 3, 1), rows(N, 3, 2), rows(N, 1, 3), rows(M, 1, 4));
    let k = |i: usize, j: usize| (-sqdist(&x[i], &y[j])).exp();
    let expected = sums(N, M, |j, i| vec![k(i, j) * c[i][0]]);
    let text = "fn f(x_i: [f64; 3], y_j: [f64; 3], c_i: f64) = sum_i exp(-sqdist(x_i, y_j)) * c_i;";
    assert_rows(&run(text, &[&x, &y, &c]), &expected, 1e-12, text);
    let text = format!("{GAUSS} fn g = grad(f, b_j);");
    assert_rows(&run(&text, &[&x, &y, &b, &c]), &expected, 1e-12, &text);
}

#[test]
fn complex() {
    let (p, f, x, e) = (rows(M, 1, 1), rows(N, 1, 2), rows(N, 2, 3), rows(M, 2, 4));
    let arguments = "(p_i: f64, f_j: f64, x_j: Complex<f64>)";
    // x·exp(−2πi p f), and how it turns with p: times −2πi f.
    let term = |i: usize, j: usize| {
        let (sin, cos) = (-2.0 * PI * p[i][0] * f[j][0]).sin_cos();
        vec![x[j][0] * cos - x[j][1] * sin, x[j][0] * sin + x[j][1] * cos]
    };
    let expected = sums(M, N, term);
    for body in [
        "x_j * exp1j(-2.0 * PI * p_i * f_j)",
        "x_j * exp(complex(0.0, -2.0 * PI * p_i * f_j))",
    ] {
        let text = format!("fn f{arguments} = sum_j {body};");
        assert_rows(&run(&text, &[&p, &f, &x]), &expected, 1e-12, &text);
        let text = format!("{text} fn g = grad(f, p_i);");
        let slope = sums(M, N, |i, j| {
            let z = term(i, j);
            vec![2.0 * PI * f[j][0] * (e[i][0] * z[1] - e[i][1] * z[0])]
        });
        assert_rows(&run(&text, &[&p, &f, &x, &e]), &slope, 1e-11, &text);
    }
}

/// All indices of a tensor, row-major.
fn indices(dims: &[usize]) -> Vec<Vec<usize>> {
    dims.iter().fold(vec![vec![]], |all, &dim| {
        all.iter()
            .flat_map(|index| (0..dim).map(move |k| [index.as_slice(), &[k]].concat()))
            .collect()
    })
}
/// Where an index lies in the numbers of a tensor.
fn position(dims: &[usize], index: &[usize]) -> usize {
    dims.iter().zip(index).fold(0, |at, (dim, k)| at * dim + k)
}

/// x(2,3,2,2,4)·y(2,4,2,3,2,3) over three axes, the others in the order that KeOps' test asks for, and both gradients.
#[test]
fn tensordot_with_permute() {
    const DIMS_X: [usize; 5] = [2, 3, 2, 2, 4];
    const DIMS_Y: [usize; 6] = [2, 4, 2, 3, 2, 3];
    let (m, n) = (2, 3);
    let (x, y, e) = (rows(m, 96, 1), rows(n, 288, 2), rows(m, 108, 3));
    // Kept: x's axes 1 and 3, y's axes 0, 3 and 5, of dimensions 3, 2, 2, 3, 3. Axis k goes to place order[k].
    let (kept, order) = ([3, 2, 2, 3, 3], [4, 3, 2, 0, 1]);
    let mut dims = [0; 5];
    for (k, place) in order.into_iter().enumerate() {
        dims[place] = kept[k];
    }
    // Positions of a product: in x, in y, in the result.
    let mut products = vec![];
    for r in indices(&kept) {
        let mut index = [0; 5];
        for (k, place) in order.into_iter().enumerate() {
            index[place] = r[k];
        }
        let at = position(&dims, &index);
        for s in indices(&[4, 2, 2]) {
            let of_x = [s[1], r[0], s[2], r[1], s[0]];
            let of_y = [r[2], s[0], s[2], r[3], s[1], r[4]];
            products.push((position(&DIMS_X, &of_x), position(&DIMS_Y, &of_y), at));
        }
    }
    let text = "fn f(x_i: [f64; 96], y_j: [f64; 288]) = sum_j tensordot(x_i, y_j, [2, 3, 2, 2, 4], [2, 4, 2, 3, 2, 3], [4, 0, 2], [1, 4, 2], [4, 3, 2, 0, 1]);";
    let expected = sums(m, n, |i, j| {
        let mut value = vec![0.0; 108];
        for &(a, b, r) in &products {
            value[r] += x[i][a] * y[j][b];
        }
        value
    });
    assert_rows(&run(text, &[&x, &y]), &expected, 1e-12, text);
    let by_x = sums(m, n, |i, j| {
        let mut slope = vec![0.0; 96];
        for &(a, b, r) in &products {
            slope[a] += e[i][r] * y[j][b];
        }
        slope
    });
    let gradient = format!("{text} fn g = grad(f, x_i);");
    assert_rows(&run(&gradient, &[&x, &y, &e]), &by_x, 1e-12, &gradient);
    let by_y = sums(n, m, |_, i| {
        let mut slope = vec![0.0; 288];
        for &(a, b, r) in &products {
            slope[b] += e[i][r] * x[i][a];
        }
        slope
    });
    let gradient = format!("{text} fn g = grad(f, y_j);");
    assert_rows(&run(&gradient, &[&x, &y, &e]), &by_y, 1e-12, &gradient);
}

/// A 4×7 matrix times 7 numbers.
#[test]
fn lazytensor_tensordot() {
    let (x, y, e) = (rows(M, 28, 1), rows(N, 7, 2), rows(M, 4, 3));
    let text =
        "fn f(x_i: [f64; 28], y_j: [f64; 7]) = sum_j tensordot(x_i, y_j, [4, 7], [7], [1], [0]);";
    let expected = sums(M, N, |i, j| {
        x[i].chunks(7).map(|row| dot(row, &y[j])).collect()
    });
    assert_rows(&run(text, &[&x, &y]), &expected, 1e-12, text);
    let text = format!("{text} fn g = grad(f, x_i);");
    let expected = sums(M, N, |i, j| {
        e[i].iter().flat_map(|&e| scaled(e, &y[j])).collect()
    });
    assert_rows(&run(&text, &[&x, &y, &e]), &expected, 1e-12, &text);
}

/// No axes to sum over, as NumPy has it: every product, and a number is a tensor of no axes.
#[test]
fn tensordot_of_no_axes() {
    let (x, y, e) = (rows(M, 4, 1), rows(N, 3, 2), rows(M, 12, 3));
    let text =
        "fn f(x_i: [f64; 4], y_j: [f64; 3]) = sum_j tensordot(x_i, y_j, [2, 2], [3], [], []);";
    let expected = sums(M, N, |i, j| {
        x[i].iter().flat_map(|&x| scaled(x, &y[j])).collect()
    });
    assert_rows(&run(text, &[&x, &y]), &expected, 1e-12, text);
    let gradient = format!("{text} fn g = grad(f, x_i);");
    let expected = sums(M, N, |i, j| e[i].chunks(3).map(|e| dot(e, &y[j])).collect());
    assert_rows(&run(&gradient, &[&x, &y, &e]), &expected, 1e-12, &gradient);

    let text =
        "fn f(x_i: [f64; 4], y_j: [f64; 3]) = sum_j tensordot(x_i[1], y_j, [], [3], [], [], [0]);";
    let expected = sums(M, N, |i, j| scaled(x[i][1], &y[j]));
    assert_rows(&run(text, &[&x, &y]), &expected, 1e-12, text);
}

#[test]
fn kron() {
    const DIMS_X: [usize; 4] = [3, 2, 1, 2];
    const DIMS_Y: [usize; 4] = [1, 2, 2, 3];
    let (x, y) = (rows(3, 12, 1), rows(4, 12, 2));
    let dims: Vec<usize> = DIMS_X.iter().zip(DIMS_Y).map(|(a, b)| a * b).collect();
    let text =
        "fn f(x_i: [f64; 12], y_j: [f64; 12]) = sum_j kron(x_i, y_j, [3, 2, 1, 2], [1, 2, 2, 3]);";
    let expected = sums(3, 4, |i, j| {
        let product = |index: &Vec<usize>| {
            let a: Vec<usize> = index.iter().zip(DIMS_Y).map(|(k, d)| k / d).collect();
            let b: Vec<usize> = index.iter().zip(DIMS_Y).map(|(k, d)| k % d).collect();
            x[i][position(&DIMS_X, &a)] * y[j][position(&DIMS_Y, &b)]
        };
        indices(&dims).iter().map(product).collect()
    });
    assert_rows(&run(text, &[&x, &y]), &expected, 1e-12, text);
}

/// The dimensions that KeOps cuts into chunks: long vectors inside the kernel, and long vectors of weights.
#[test]
fn chunks_and_finalchunks() {
    let (x, y, b) = (rows(3, 300, 1), rows(4, 300, 2), rows(4, 1, 3));
    let text = "fn f(x_i: [f64; 300], y_j: [f64; 300], b_j: f64) = sum_j exp(-sqdist(x_i, y_j) / 100.0) * b_j;";
    let expected = sums(3, 4, |i, j| {
        vec![(-sqdist(&x[i], &y[j]) / 100.0).exp() * b[j][0]]
    });
    assert_rows(&run(text, &[&x, &y, &b]), &expected, 1e-12, text);
    let (x, y, b) = (rows(3, 3, 1), rows(4, 3, 2), rows(4, 300, 3));
    let text =
        "fn f(x_i: [f64; 3], y_j: [f64; 3], b_j: [f64; 300]) = sum_j exp(-sqdist(x_i, y_j)) * b_j;";
    let expected = sums(3, 4, |i, j| scaled((-sqdist(&x[i], &y[j])).exp(), &b[j]));
    assert_rows(&run(text, &[&x, &y, &b]), &expected, 1e-12, text);
}
