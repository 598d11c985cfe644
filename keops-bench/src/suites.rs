//! What the suites measure. `--m` and `--n` set the numbers of rows of `baseline`, `dims` and `rates`; `shapes` has its own.

/// One case at one size.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) case: &'static str,
    pub(crate) d: usize,
    pub(crate) f32: bool,
    pub(crate) m: usize,
    pub(crate) n: usize,
}

/// The cases that the peers have too: name, dimension, at f32, at f64.
const BASELINE: &[(&str, usize, bool, bool)] = &[
    ("gauss", 3, true, true),
    ("gauss", 10, true, true),
    ("gauss", 64, true, true),
    ("gauss_grad", 3, true, true),
    ("logsumexp", 3, true, true),
    ("softmaxweight", 3, false, true),
    ("argmin", 3, true, true),
    ("argmin", 64, true, true),
    ("argkmin10", 3, true, true),
    ("dist", 3, true, true),
    ("laplace", 3, true, true),
    ("cauchy", 3, true, true),
];

/// Pairs of sizes that a naive cutting into vectors, tiles and threads would be slow at.
const SHAPES: &[(usize, usize)] = &[
    (10, 10),
    (100, 100),
    (1000, 1000),
    (1, 1_000_000),
    (1_000_000, 1),
    (10, 1_000_000),
    (1_000_000, 10),
    (100, 100_000),
    (100_000, 100),
    (7, 30_000),
    (8, 30_000),
    (9, 30_000),
    (15, 30_000),
    (16, 30_000),
    (17, 30_000),
    (31, 30_000),
    (33, 30_000),
    (65, 30_000),
    (255, 30_000),
    (257, 30_000),
    (30_000, 2),
    (30_000, 5),
    (30_000, 17),
    (30_000, 255),
    (30_000, 257),
];

/// Sizes that show how time and memory grow.
const SCALING: &[(usize, usize)] = &[
    (100, 100),
    (300, 300),
    (1000, 1000),
    (3000, 3000),
    (10_000, 10_000),
    (30_000, 30_000),
    (100_000, 100_000),
    (1_000_000, 10_000),
    (10_000, 1_000_000),
];

/// The runs of a suite.
pub(crate) fn suite(name: &str, m: usize, n: usize) -> Result<Vec<Run>, String> {
    let run = |case, d, f32, (m, n)| Run { case, d, f32, m, n };
    Ok(match name {
        "baseline" => BASELINE
            .iter()
            .flat_map(|&(case, d, single, double)| {
                [(single, true), (double, false)]
                    .into_iter()
                    .filter(|&(wanted, _)| wanted)
                    .map(move |(_, f32)| run(case, d, f32, (m, n)))
            })
            .collect(),
        "shapes" => SHAPES
            .iter()
            .map(|&size| run("gauss", 3, true, size))
            .collect(),
        "scaling" => [true, false]
            .into_iter()
            .flat_map(|f32| SCALING.iter().map(move |&size| run("gauss", 3, f32, size)))
            .collect(),
        "more" => [true, false]
            .into_iter()
            .flat_map(|f32| {
                [
                    "gauss",
                    "gauss_gradients",
                    "gauss_and_gradients",
                    "gauss_columns",
                    "gauss_narrow",
                ]
                .map(|case| run(case, 3, f32, (m, n)))
            })
            .collect(),
        "expanded" => [true, false]
            .into_iter()
            .flat_map(|f32| {
                [
                    ("gauss", 64),
                    ("gauss_expanded", 64),
                    ("gauss", 512),
                    ("gauss_expanded", 512),
                    ("argmin", 64),
                    ("argmin_expanded", 64),
                ]
                .map(|(case, d)| run(case, d, f32, (m, n)))
            })
            .collect(),
        #[cfg(feature = "sweep")]
        "dims" => crate::sweep::DIMS
            .iter()
            .map(|&d| run("gauss", d, true, (m, n)))
            .collect(),
        #[cfg(not(feature = "sweep"))]
        "dims" => return Err("the suite dims needs the feature `sweep`".to_owned()),
        _ => {
            return Err(format!(
                "there is no suite {name}; there are baseline, more, expanded, shapes, scaling and dims"
            ));
        }
    })
}
