//! Single values that KeOps gives, and those that it gets wrong where keops does not: operations, constants, derivatives at
//! special points.
//!
//! `special_values.rs` and `reductions.rs` test more of them operation by operation; here they go through the whole compiler
//! as formulas of one pair.

mod support;

use support::text::{assert_rows, run};

/// A formula of one row `a_j`, and `b_j`, `c_j` if there are as many values.
fn pair(text: &str, values: &[&[f64]]) -> Vec<f64> {
    let ty = |n: usize| match n {
        1 => "f64".into(),
        n => format!("[f64; {n}]"),
    };
    let arguments: Vec<String> = values
        .iter()
        .zip(["a_j", "b_j", "c_j"])
        .map(|(v, name)| format!("{name}: {}", ty(v.len())))
        .collect();
    let text = format!("fn f({}) = sum_j {text};", arguments.join(", "));
    let rows: Vec<_> = values.iter().map(|v| vec![v.to_vec()]).collect();
    run(&text, &rows.iter().collect::<Vec<_>>()).concat()
}

type Row<'a> = (&'a str, &'a [&'a [f64]], &'a [f64]);

fn check(table: &[Row<'_>]) {
    for (text, values, expected) in table {
        let what = format!("{text} of {values:?}");
        assert_rows(&[pair(text, values)], &[expected.to_vec()], 1e-10, &what);
    }
}

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

#[test]
fn values_of_keops() {
    check(&[
        ("round(a_j)", &[&[0.5, 2.5, -0.5]], &[1.0, 3.0, -1.0]),
        ("round(a_j, 1)", &[&[1.25, -1.25, 3.04]], &[1.3, -1.3, 3.0]),
        ("floor(a_j)", &[&[-0.5, 1.5]], &[-1.0, 1.0]),
        ("xlogx(a_j)", &[&[0.0, 1.0, -1.0]], &[0.0, 0.0, NAN]),
        ("sinxdivx(a_j)", &[&[0.0, 2.0]], &[1.0, 0.454648713412841]),
        ("mod(a_j, 3)", &[&[-1.0, 4.0]], &[2.0, 1.0]),
        ("mod(a_j, -3)", &[&[5.0]], &[-1.0]),
        ("mod(a_j, 3, -1.5)", &[&[5.0]], &[-1.0]),
        (
            "ifelse(a_j, 1.0, 2.0)",
            &[&[0.0, -0.0, -1.0, NAN]],
            &[1.0, 1.0, 2.0, 2.0],
        ),
        ("argmax(a_j)", &[&[1.0, 2.0, 2.0]], &[1.0]),
        ("argmin(a_j)", &[&[NAN, 2.0, 2.0]], &[1.0]),
        (
            "weightedsqnorm([[1.0, 2.0], [3.0, 4.0]], a_j)",
            &[&[1.0, 2.0]],
            &[27.0],
        ),
        (
            "weightedsqnorm(b_j, a_j)",
            &[&[1.0, 2.0], &[3.0, 5.0]],
            &[23.0],
        ),
        (
            "weightedsqdist(b_j, a_j, [1.0, 1.0])",
            &[&[1.0, 3.0], &[3.0]],
            &[12.0],
        ),
        ("elemt(a_j, 3, 1)", &[&[5.0]], &[0.0, 5.0, 0.0]),
        ("extractt(a_j, 1, 4)", &[&[5.0, 6.0]], &[0.0, 5.0, 6.0, 0.0]),
        ("extract(a_j, 1, 2)", &[&[5.0, 6.0, 7.0]], &[6.0, 7.0]),
        ("sumt(a_j, 3)", &[&[5.0]], &[5.0, 5.0, 5.0]),
        ("one_hot(a_j, 3)", &[&[1.4]], &[0.0, 1.0, 0.0]),
        (
            "bspline([0.0, 1.0, 2.0, 3.0], a_j, 0)",
            &[&[1.0]],
            &[0.0, 1.0, 0.0],
        ),
        (
            "bspline([0.0, 1.0, 2.0, 3.0], a_j, 1)",
            &[&[1.5]],
            &[0.5, 0.5],
        ),
        (
            "bspline([0.0, 1.0, 2.0, 3.0], a_j, 1)",
            &[&[3.0]],
            &[0.0, 0.0],
        ),
        ("bspline([0.0, 1.0, 2.0, 3.0], a_j, 2)", &[&[1.5]], &[0.75]),
        ("exp(-a_j) * log(1.0 + a_j)", &[&[2.0]], &[0.1486810053]),
        (
            "4.0 * exp(-sqdist(a_j, b_j))",
            &[&[0.0, 0.0], &[1.0, 1.0]],
            &[0.541341132946],
        ),
        (
            "grad_matrix(matvec([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], a_j), a_j)",
            &[&[0.5, 0.7]],
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        ),
        // A weight that is not symmetric.
        (
            "grad(weightedsqnorm([[1.0, 2.0], [3.0, 4.0]], a_j), a_j)",
            &[&[1.0, 2.0]],
            &[12.0, 21.0],
        ),
        (
            "grad(a_j * b_j, b_j, [1.0, 1.0])",
            &[&[1.0, 2.0], &[1.0]],
            &[3.0],
        ),
        (
            "re(complex(a_j, b_j) * complex(3.0, 4.0))",
            &[&[1.0], &[2.0]],
            &[-5.0],
        ),
        (
            "im(complex(a_j, b_j) * complex(3.0, 4.0))",
            &[&[1.0], &[2.0]],
            &[10.0],
        ),
    ]);
    // Four rows, and weights of either sign with a positive total.
    let text = "fn f(x_i: [f64; 2], y_j: [f64; 2]) = sum_j exp(-sqdist(x_i, y_j));";
    let found = run(text, &[&vec![vec![0.0; 2]], &vec![vec![1.0; 2]; 4]]);
    assert_rows(&found, &[vec![0.541341132946]], 1e-12, text);
    let y = [3.0, 1.0, 2.0, 1.0, 5.0].map(|y| vec![y]).to_vec();
    let text = "fn f(y_j: f64) = logsumexp_j(y_j, y_j - 3.0);";
    assert_rows(&run(text, &[&y]), &[vec![5.629648319363]], 1e-12, text);
}

/// −γ·log Σ exp(−cost/γ) over all ways through two series, one after another.
#[test]
fn soft_time_warping_sums_over_all_ways() {
    let (x, y, gamma) = ([1.2, 0.7, 2.0], [2.2, 1.7, 3.0, 0.4], 0.7);
    /// Adds exp(−cost/γ) of all ways on from a cell.
    fn ways(x: &[f64], y: &[f64], cost: f64, gamma: f64) -> f64 {
        let cost = cost + (x[0] - y[0]) * (x[0] - y[0]);
        if x.len() == 1 && y.len() == 1 {
            return (-cost / gamma).exp();
        }
        [(1, 0), (0, 1), (1, 1)]
            .into_iter()
            .filter(|&(a, b)| a < x.len() && b < y.len())
            .map(|(a, b)| ways(&x[a..], &y[b..], cost, gamma))
            .sum()
    }
    let expected = -gamma * ways(&x, &y, 0.0, gamma).ln();
    let text = "softdtw_sqdist(a_j, b_j, c_j)";
    let found = pair(text, &[&x, &y, &[gamma]]);
    assert_rows(&[found], &[vec![expected]], 1e-13, text);
}

/// What KeOps computes in single precision, sums wrongly, or writes out of bounds.
#[test]
fn values_that_keops_gets_wrong() {
    check(&[
        ("16777217 * a_j", &[&[1.0]], &[16777217.0]),
        // Broadcast exponents and arguments of angles: the gradient has one number.
        (
            "grad(powf(a_j, b_j), b_j, [1.0, 1.0])",
            &[&[2.0, 3.0], &[2.0]],
            &[4.0 * 2.0f64.ln() + 9.0 * 3.0f64.ln()],
        ),
        (
            "grad(atan2(a_j, b_j), b_j, [1.0, 1.0])",
            &[&[1.0, 2.0], &[1.0]],
            &[-0.9],
        ),
        // Branches that mix numbers, and one that is a scalar.
        (
            "grad(ifelse(a_j, sum(a_j), 2.0 * a_j), a_j, [1.0, 1.0])",
            &[&[1.0, -1.0]],
            &[1.0, 3.0],
        ),
        (
            "grad(ifelse(a_j, b_j, a_j), b_j, [1.0, 1.0])",
            &[&[1.0, 2.0], &[7.0]],
            &[2.0],
        ),
        ("grad(clamp(a_j, b_j, b_j), a_j)", &[&[2.0], &[1.0]], &[0.0]),
        ("grad(clamp(a_j, b_j, b_j), b_j)", &[&[2.0], &[1.0]], &[1.0]),
        // No such place: zeros.
        ("one_hot(a_j, 3)", &[&[-1.0]], &[0.0; 3]),
        ("one_hot(a_j, 3)", &[&[3.0]], &[0.0; 3]),
        ("one_hot(a_j, 3)", &[&[-7.0]], &[0.0; 3]),
        ("one_hot(a_j, 3)", &[&[NAN]], &[0.0; 3]),
        // What is written is computed.
        ("a_j - a_j", &[&[INF]], &[NAN]),
        ("0.0 * a_j", &[&[NAN]], &[NAN]),
    ]);
    // In double precision to its last digits.
    for (text, expected) in [
        ("1 / 3 * a_j", 1.0 / 3.0),
        ("a_j / 3", 1.0 / 3.0),
        ("powf(2.0 * a_j, 0.5)", std::f64::consts::SQRT_2),
    ] {
        let found = pair(text, &[&[1.0]])[0];
        assert!((found - expected).abs() <= f64::EPSILON, "{text}: {found}");
    }
}

#[test]
fn derivatives_at_special_points() {
    check(&[
        (
            "grad(asin(a_j), a_j, [1.0, 1.0])",
            &[&[1.0, -1.0]],
            &[0.0, 0.0],
        ),
        (
            "grad(acos(a_j), a_j, [1.0, 1.0])",
            &[&[1.0, -1.0]],
            &[0.0, 0.0],
        ),
        ("grad(xlogx(a_j), a_j)", &[&[0.0]], &[0.0]),
        ("grad(sinxdivx(a_j), a_j)", &[&[0.0]], &[0.0]),
        ("laplacian(sinxdivx(a_j), a_j)", &[&[0.0]], &[-1.0 / 3.0]),
        ("grad(atan2(a_j, b_j), a_j)", &[&[0.0], &[0.0]], &[0.0]),
        ("grad(atan2(a_j, b_j), b_j)", &[&[0.0], &[0.0]], &[0.0]),
        (
            "grad(sum(normalize(a_j)), a_j)",
            &[&[0.0, 0.0]],
            &[0.0, 0.0],
        ),
        ("grad(mod(a_j, b_j), a_j)", &[&[7.0], &[3.0]], &[1.0]),
        ("grad(mod(a_j, b_j), b_j)", &[&[7.0], &[3.0]], &[-2.0]),
        ("grad(round(a_j) * a_j, a_j)", &[&[2.5]], &[3.0]),
        (
            "grad(bspline([0.0, 1.0, 2.0, 3.0], a_j, 1)[0], a_j)",
            &[&[1.5]],
            &[-1.0],
        ),
    ]);
}
