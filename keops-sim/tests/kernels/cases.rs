//! The cases: what each kernel is launched with, and its results by plain loops in double precision.
use keops_gpu_kernels::abi;

use crate::kernels;

/// Exact results of one outer row: for each output column the value and what its error is measured by. Exact columns have
/// 0 there.
pub(crate) type Row = Vec<(f64, f64)>;

/// Of the parameters, the outer row with its index behind it, and all inner rows.
pub(crate) type Exact = fn(&[f64], &[f64], &[Vec<f64>]) -> Row;

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) kernel: &'static str,
    pub(crate) params: usize,
    pub(crate) outer: &'static [usize],
    pub(crate) inner: &'static [usize],
    pub(crate) outputs: &'static [(usize, bool)],
    pub(crate) launch: [Launch; 2],
    pub(crate) values: fn(usize, usize) -> Vec<f64>,
    pub(crate) exact: Exact,
}

/// What the ABI says about a kernel's launches at one value type.
pub(crate) struct Launch {
    pub(crate) grid: fn(u32) -> u32,
    pub(crate) scratch_len: fn(u32, u32) -> u64,
}

macro_rules! launch {
    ($kernel:ty) => {
        [
            Launch {
                grid: abi::grid::<f32, $kernel>,
                scratch_len: abi::scratch_len::<f32, $kernel>,
            },
            Launch {
                grid: abi::grid::<f64, $kernel>,
                scratch_len: abi::scratch_len::<f64, $kernel>,
            },
        ]
    };
}

pub(crate) fn sqdist(x: &[f64], y: &[f64], d: usize) -> f64 {
    (0..d).map(|c| (x[c] - y[c]).powi(2)).sum()
}

/// Σ terms, compensated, whose error is measured by Σ |terms|.
pub(crate) fn sum(terms: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut sum, mut rest, mut size) = (0.0, 0.0, 0.0);
    for term in terms {
        let total = sum + term;
        let t = total - sum;
        rest += (sum - (total - t)) + (term - t);
        (sum, size) = (total, size + term.abs());
    }
    (sum + rest, size)
}

pub(crate) fn smallest(k: usize, x: &[f64], ys: &[Vec<f64>]) -> Row {
    let mut all: Vec<(f64, f64)> = ys
        .iter()
        .enumerate()
        .map(|(j, y)| (sqdist(x, y, 3), j as f64))
        .collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    all.resize(all.len().max(k), (f64::INFINITY, f64::from(u32::MAX)));
    all[..k]
        .iter()
        .map(|(value, _)| (*value, 0.0))
        .chain(all[..k].iter().map(|(_, j)| (*j, 0.0)))
        .collect()
}

pub(crate) const CASES: [Case; 9] = [
    Case {
        name: "gauss",
        kernel: "Gauss",
        params: 0,
        outer: &[3],
        inner: &[3, 1],
        outputs: &[(1, false)],
        launch: launch!(kernels::Gauss),
        values: coarse,
        exact: |_, x, ys| vec![sum(ys.iter().map(|y| (-sqdist(x, y, 3)).exp() * y[3]))],
    },
    Case {
        name: "gradient",
        kernel: "GaussGradient",
        params: 0,
        outer: &[3, 1],
        inner: &[3, 1],
        outputs: &[(3, false)],
        launch: launch!(kernels::GaussGradient),
        values: coarse,
        exact: |_, x, ys| {
            let term = |y: &Vec<f64>, c: usize| {
                -2.0 * x[3] * (-sqdist(x, y, 3)).exp() * y[3] * (x[c] - y[c])
            };
            (0..3).map(|c| sum(ys.iter().map(|y| term(y, c)))).collect()
        },
    },
    Case {
        name: "diagonal",
        kernel: "OffDiagonal",
        params: 0,
        outer: &[1],
        inner: &[1],
        outputs: &[(1, false)],
        launch: launch!(kernels::OffDiagonal),
        values: fine,
        exact: |_, x, ys| {
            // The index of the row is behind its columns.
            let others = ys.iter().enumerate().filter(|(j, _)| *j as f64 != x[1]);
            vec![sum(others.map(|(_, y)| x[0] * y[0]))]
        },
    },
    Case {
        name: "nearest",
        kernel: "Nearest",
        params: 0,
        outer: &[3],
        inner: &[3],
        outputs: &[(1, false), (1, true)],
        launch: launch!(kernels::Nearest),
        values: coarse,
        exact: |_, x, ys| smallest(1, x, ys),
    },
    Case {
        name: "five",
        kernel: "FiveNearest",
        params: 0,
        outer: &[3],
        inner: &[3],
        outputs: &[(5, false), (5, true)],
        launch: launch!(kernels::FiveNearest),
        values: coarse,
        exact: |_, x, ys| smallest(5, x, ys),
    },
    Case {
        name: "logsumexp",
        kernel: "LogSumExp",
        params: 0,
        outer: &[3],
        inner: &[3],
        outputs: &[(1, false)],
        launch: launch!(kernels::LogSumExp),
        values: coarse,
        exact: |_, x, ys| {
            let (sum, _) = sum(ys.iter().map(|y| (-sqdist(x, y, 3)).exp()));
            vec![(sum.ln(), 1.0 + sum.ln().abs())]
        },
    },
    Case {
        name: "prepared",
        kernel: "Prepared",
        params: 0,
        outer: &[1],
        inner: &[1],
        outputs: &[(1, false)],
        launch: launch!(kernels::Prepared),
        values: coarse,
        exact: |_, x, ys| vec![sum(ys.iter().map(|y| (2.0 * x[0]).sin() * y[0] * y[0]))],
    },
    Case {
        name: "long16",
        kernel: "Long<16>",
        params: 1,
        outer: &[16],
        inner: &[16],
        outputs: &[(1, false)],
        launch: launch!(kernels::Long<16>),
        values: coarse,
        exact: long,
    },
    Case {
        name: "long20",
        kernel: "Long<20>",
        params: 1,
        outer: &[20],
        inner: &[20],
        outputs: &[(1, false)],
        launch: launch!(kernels::Long<20>),
        values: coarse,
        exact: long,
    },
];

/// Σ_j exp(x·y + ln |γ|): a rounding error of the argument counts by its size.
pub(crate) fn long(p: &[f64], x: &[f64], ys: &[Vec<f64>]) -> Row {
    let dot = |y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let (sum, size) = ys.iter().fold((0.0, 0.0), |(sum, size), y| {
        let term = dot(y).exp() * p[0].abs();
        (sum + term, size + term * (1.0 + dot(y).abs()))
    });
    vec![(sum, size)]
}

/// Powers of two on one side and values of full single precision on the other: products are exact, sums are not.
pub(crate) fn fine(count: usize, seed: usize) -> Vec<f64> {
    let value = |i: usize| match seed {
        1 => [0.5, 1.0, 4.0][i % 3],
        _ => f64::from((i as u32).wrapping_mul(0x9e37_79b9) >> 8) / f64::from(1 << 23),
    };
    (0..count).map(value).collect()
}

/// Values on a coarse grid, so that squared distances are exact and ties many.
pub(crate) fn coarse(count: usize, seed: usize) -> Vec<f64> {
    (0..count)
        .map(|i| ((i * 7919 + seed * 104_729) % 61) as f64 / 32.0 - 0.9375)
        .collect()
}

/// The exact results.
pub(crate) fn exact(case: &Case, m: usize, n: usize) -> Vec<Row> {
    let rows = |count: usize, columns: &[usize], seed: usize| -> Vec<Vec<f64>> {
        let variables: Vec<Vec<f64>> = columns
            .iter()
            .enumerate()
            .map(|(v, c)| (case.values)(count * c, seed + v))
            .collect();
        let row = |i: usize| {
            variables
                .iter()
                .zip(columns)
                .flat_map(|(values, c)| values[i * c..(i + 1) * c].to_vec())
                .collect()
        };
        (0..count).map(row).collect()
    };
    let (xs, ys) = (rows(m, case.outer, 1), rows(n, case.inner, 5));
    let params = (case.values)(case.params, 9);
    let with_index = |(i, x): (usize, &Vec<f64>)| [x.as_slice(), &[i as f64]].concat();
    let xs = xs.iter().enumerate().map(with_index);
    xs.map(|x| (case.exact)(&params, &x, &ys)).collect()
}
