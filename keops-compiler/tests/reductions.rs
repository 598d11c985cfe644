//! Every reduction's record against itself: type rule, definition, lowering and derivatives against the f64 reference; and
//! the documented values for ties, NaN, infinities and no rows.

mod support;

use keops_compiler::graph::rebuild::decompose;
use keops_compiler::graph::{Graph, NodeId};
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::ops::{mul, sub};
use keops_compiler::reductions::{Body, PAIRS, REDUCTIONS, Reduction, find, find_for};
use keops_compiler::types::{Axis, Element, Shape, Type};
use keops_compiler::value::Value;
use support::{Subject, close, record_files};

const SHAPES: [Shape; 5] = [
    Shape::Scalar,
    Shape::Vector(1),
    Shape::Vector(3),
    Shape::Vector(11),
    Shape::Matrix(2, 3),
];
const ROWS: [(usize, usize); 3] = [(3, 4), (1, 1), (4, 7)];

/// All argument shapes that a reduction accepts, with K.
fn cases(reduction: &'static Reduction) -> Vec<(Vec<Type>, usize)> {
    let types: Vec<Type> = SHAPES.iter().map(|&s| Type::real(s)).collect();
    let tuples: Vec<Vec<Type>> = match reduction.arity {
        1 => types.iter().map(|&t| vec![t]).collect(),
        _ => types
            .iter()
            .flat_map(|&a| types.iter().map(move |&b| vec![a, b]))
            .collect(),
    };
    let ks: &[usize] = if reduction.takes_k {
        &[1, 2, 5, 9]
    } else {
        &[0]
    };
    let mut accepted = vec![];
    for types in tuples {
        for &k in ks {
            if (reduction.infer)(&types, k).is_ok() {
                accepted.push((types.clone(), k));
            }
        }
    }
    assert!(!accepted.is_empty(), "{} accepts nothing", reduction.name);
    accepted
}

/// Reduces, over an axis, one argument x_i − y_j (and y_j·x_i) per type; the last variables are those of the first type.
fn subject(
    reduction: &'static Reduction,
    types: &[Type],
    k: usize,
    axis: Axis,
    rows: (usize, usize),
) -> (Subject, NodeId) {
    let variables: Vec<_> = types
        .iter()
        .flat_map(|&ty| [(ty, Some(Axis::I)), (ty, Some(Axis::J))])
        .collect();
    let mut s = Subject::new(&variables, rows, (-2.0, 2.0), 11);
    let args: Vec<NodeId> = (0..types.len())
        .map(|a| {
            let (x, y) = (s.variables[2 * a], s.variables[2 * a + 1]);
            let op = if a == 0 { &sub::OP } else { &mul::OP };
            let arg = s.graph.apply(op, &[x, y]);
            // Weights of a logarithm are positive.
            match (a, reduction.name) {
                (1, "logsumexpweight") => s.graph.apply(&mul::OP, &[arg, arg]),
                _ => arg,
            }
        })
        .collect();
    let node = s.graph.reduce(reduction, axis, &args, k);
    (s, node)
}

fn each_case(mut f: impl FnMut(&'static Reduction, Subject, NodeId, &str)) {
    for reduction in REDUCTIONS {
        for (types, k) in cases(reduction) {
            for axis in [Axis::I, Axis::J] {
                for rows in ROWS {
                    let (s, node) = subject(reduction, &types, k, axis, rows);
                    let what = format!(
                        "{}_{}::<{k}> of {types:?}, rows {rows:?}",
                        reduction.name,
                        axis.letter()
                    );
                    f(reduction, s, node, &what);
                }
            }
        }
    }
}

fn is_differentiable(reduction: &Reduction) -> bool {
    !matches!(reduction.body, Body::Primitive { vjp: None, .. })
}

#[test]
fn the_list_has_every_file() {
    let reductions = REDUCTIONS.iter().map(|r| r.name.to_string());
    let mut names: Vec<String> = reductions
        .chain(PAIRS.iter().map(|p| p.name.to_string()))
        .collect();
    names.sort();
    assert_eq!(names, record_files("reductions"));
}

#[test]
fn records_are_complete() {
    for reduction in REDUCTIONS {
        assert!(reduction.doc.ends_with('.'), "{}", reduction.name);
        for name in reduction.aliases.iter().chain([&reduction.name]) {
            assert!(
                find_for(name, reduction.arity).is_some_and(|found| found.name == reduction.name),
                "{name}"
            );
        }
        for (types, k) in cases(reduction) {
            let real = (reduction.infer)(&types, k).is_ok_and(|ty| ty.element == Element::Real);
            assert_eq!(
                is_differentiable(reduction),
                real,
                "{}: all but indices have derivatives",
                reduction.name
            );
        }
    }
}

#[test]
fn type_rules_give_the_shape_of_the_reference() {
    each_case(|_, s, node, what| {
        for value in &evaluate(&s.graph, &[node], &s.inputs)[0] {
            assert_eq!(value.shape, s.graph.shape(node), "{what}");
            assert_eq!(value.data.len(), value.shape.len(), "{what}");
        }
    });
}

#[test]
fn wrong_arguments_are_errors() {
    let refused: &[(&str, Vec<Type>, usize)] = &[
        ("kmin", vec![Type::SCALAR], 0),
        ("argkmin", vec![Type::SCALAR], usize::MAX),
        ("kmin", vec![Type::real(Shape::Vector(1 << 20))], 4096),
        ("kmin", vec![Type::real(Shape::Matrix(2, 2))], 2),
        (
            "logsumexpweight",
            vec![Type::real(Shape::Vector(2)), Type::SCALAR],
            0,
        ),
        (
            "softmax",
            vec![Type::real(Shape::Vector(2)), Type::SCALAR],
            0,
        ),
        ("softmax", vec![Type::SCALAR, Type::BOOL], 0),
        ("sum", vec![Type::BOOL], 0),
    ];
    for (name, types, k) in refused {
        let reduction = find(name).expect("a reduction");
        assert!(
            (reduction.infer)(types, *k).is_err(),
            "{name}::<{k}> accepts {types:?}"
        );
    }
}

#[test]
fn definitions_equal_the_reference() {
    each_case(|_, s, node, what| {
        let (g, roots) = decompose(&s.graph, &[node]);
        let found = evaluate(&g, &roots, &s.inputs).remove(0);
        let expected = evaluate(&s.graph, &[node], &s.inputs).remove(0);
        for (found, expected) in found.iter().zip(&expected) {
            support::assert_close(found, expected, 1e-13, what);
        }
    });
}

#[test]
fn lowering_equals_the_reference() {
    each_case(|_, s, node, what| s.check_lowering(node, 1e-12, what));
}

#[test]
fn a_body_of_few_indices_still_counts_all_rows() {
    for reduction in REDUCTIONS {
        for (types, k) in cases(reduction) {
            for of in [None, Some(Axis::I), Some(Axis::J)] {
                let variables: Vec<_> = types.iter().map(|&ty| (ty, of)).collect();
                let mut s = Subject::new(&variables, (3, 4), (-2.0, 2.0), 2);
                let node = s.graph.reduce(reduction, Axis::J, &s.variables, k);
                s.check_lowering(
                    node,
                    1e-12,
                    &format!("{}_j::<{k}> of {types:?} over {of:?}", reduction.name),
                );
            }
        }
    }
}

#[test]
fn derivatives_equal_differences() {
    each_case(|reduction, mut s, node, what| {
        // Fewer rows than K: the padding is infinite, and so are its differences.
        if is_differentiable(reduction) && s.total(node).is_finite() {
            let wrt: Vec<usize> = (0..s.variables.len()).collect();
            let node = s.weighted(node, 5);
            s.check_derivatives(node, &wrt, 1e-6, what);
        }
    });
}

#[test]
fn second_derivatives_equal_differences() {
    for reduction in REDUCTIONS.iter().filter(|r| is_differentiable(r)) {
        for (types, k) in cases(reduction) {
            if types.iter().any(|t| t.shape.len() > 6) {
                continue;
            }
            let (mut s, node) = subject(reduction, &types, k, Axis::J, (3, 4));
            // Something curved after the reduction.
            let node = s.graph.apply(&mul::OP, &[node, node]);
            let wrt: Vec<usize> = (0..s.variables.len()).collect();
            if let Some(first) = s.first_derivatives(node, &wrt) {
                s.check_derivatives(
                    first,
                    &wrt,
                    1e-5,
                    &format!("derivatives of {}² of {types:?}", reduction.name),
                );
            }
        }
    }
}

/// A reduction of these numbers over j, by the reference and lowered.
fn of(name: &str, k: usize, args: &[&[f64]]) -> Vec<f64> {
    let mut s = Subject::new(&[], (1, args[0].len()), (0.0, 1.0), 1);
    for values in args {
        s.add_with(
            Type::SCALAR,
            Some(Axis::J),
            values.iter().map(|&x| Value::scalar(x)).collect(),
        );
    }
    let node = s
        .graph
        .reduce(find(name).expect("a reduction"), Axis::J, &s.variables, k);
    s.check_lowering(node, 1e-15, &format!("{name} of {args:?}"));
    evaluate(&s.graph, &[node], &s.inputs)[0][0].data.clone()
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const NONE: f64 = u32::MAX as f64;

#[test]
fn documented_values() {
    let y: &[f64] = &[3.0, 1.0, 2.0, 1.0, 5.0];
    type Row<'a> = (&'a str, usize, Vec<&'a [f64]>, Vec<f64>);
    let table: Vec<Row<'_>> = vec![
        ("sum", 0, vec![y], vec![12.0]),
        ("mean", 0, vec![y], vec![2.4]),
        ("min", 0, vec![y], vec![1.0]),
        ("argmin", 0, vec![y], vec![1.0]),
        ("max", 0, vec![y], vec![5.0]),
        ("argmax", 0, vec![y], vec![4.0]),
        ("kmin", 3, vec![y], vec![1.0, 1.0, 2.0]),
        ("argkmin", 3, vec![y], vec![1.0, 3.0, 2.0]),
        ("logsumexp", 0, vec![y], vec![5.200287227806]),
        ("logsumexpweight", 0, vec![y, y], vec![6.712393566289]),
        ("prod", 0, vec![y], vec![30.0]),
        ("softmax", 0, vec![y, y], vec![4.536275670428]),
        // no rows
        ("sum", 0, vec![&[]], vec![0.0]),
        ("min", 0, vec![&[]], vec![INF]),
        ("max", 0, vec![&[]], vec![-INF]),
        ("logsumexp", 0, vec![&[]], vec![-INF]),
        ("logsumexpweight", 0, vec![&[], &[]], vec![-INF]),
        ("prod", 0, vec![&[]], vec![1.0]),
        ("kmin", 2, vec![&[]], vec![INF, INF]),
        ("argkmin", 2, vec![&[]], vec![NONE, NONE]),
        // NaN
        ("sum", 0, vec![&[1.0, NAN]], vec![NAN]),
        ("mean", 0, vec![&[1.0, NAN]], vec![NAN]),
        ("logsumexp", 0, vec![&[1.0, NAN]], vec![NAN]),
        ("logsumexp", 0, vec![&[INF, NAN]], vec![NAN]),
        (
            "logsumexpweight",
            0,
            vec![&[1.0, NAN], &[1.0, 2.0]],
            vec![NAN],
        ),
        (
            "logsumexpweight",
            0,
            vec![&[1.0, 2.0], &[1.0, NAN]],
            vec![NAN],
        ),
        (
            "logsumexpweight",
            0,
            vec![&[1.0, 2.0], &[1.0, -2.0]],
            vec![NAN],
        ),
        (
            "logsumexpweight",
            0,
            vec![&[-INF, 2.0], &[5.0, 1.0]],
            vec![2.0],
        ),
        (
            "logsumexpweight",
            0,
            vec![&[-INF, -INF], &[5.0, 1.0]],
            vec![-INF],
        ),
        (
            "logsumexpweight",
            0,
            vec![&[INF, 2.0], &[5.0, 1.0]],
            vec![INF],
        ),
        ("prod", 0, vec![&[2.0, NAN]], vec![NAN]),
        ("prod", 0, vec![&[0.0, NAN]], vec![NAN]),
        ("prod", 0, vec![&[0.0, INF]], vec![NAN]),
        ("prod", 0, vec![&[0.0, 3.0, 0.0]], vec![0.0]),
        ("softmax", 0, vec![&[1.0, NAN], &[1.0, 2.0]], vec![NAN]),
        ("softmax", 0, vec![&[1.0, 2.0], &[1.0, NAN]], vec![NAN]),
        ("min", 0, vec![&[NAN, 2.0, 1.0, NAN]], vec![1.0]),
        ("argmin", 0, vec![&[NAN, 2.0, 1.0, NAN]], vec![2.0]),
        ("argmax", 0, vec![&[NAN, 2.0, 1.0, NAN]], vec![1.0]),
        ("kmin", 3, vec![&[NAN, 2.0, 1.0, NAN]], vec![1.0, 2.0, INF]),
        (
            "argkmin",
            3,
            vec![&[NAN, 2.0, 1.0, NAN]],
            vec![2.0, 1.0, NONE],
        ),
        ("min", 0, vec![&[NAN, NAN]], vec![INF]),
        ("max", 0, vec![&[NAN, NAN]], vec![-INF]),
        ("argmin", 0, vec![&[NAN, NAN]], vec![NONE]),
        ("argmax", 0, vec![&[NAN, NAN]], vec![NONE]),
        // infinities
        ("argmin", 0, vec![&[NAN, INF, INF]], vec![1.0]),
        ("argmax", 0, vec![&[NAN, -INF, -INF]], vec![1.0]),
        ("argkmin", 3, vec![&[INF, 1.0]], vec![1.0, 0.0, NONE]),
        ("kmin", 3, vec![&[INF, -INF]], vec![-INF, INF, INF]),
        ("logsumexp", 0, vec![&[-INF, -INF]], vec![-INF]),
        ("logsumexp", 0, vec![&[-INF, 1.0]], vec![1.0]),
        ("logsumexp", 0, vec![&[1.0, -INF]], vec![1.0]),
        ("logsumexp", 0, vec![&[INF, 1.0]], vec![INF]),
        ("logsumexp", 0, vec![&[INF, -INF]], vec![INF]),
        (
            "logsumexp",
            0,
            vec![&[1000.0, 1000.0]],
            vec![1000.0 + std::f64::consts::LN_2],
        ),
        ("softmax", 0, vec![&[-INF, 1.0], &[5.0, 7.0]], vec![7.0]),
        ("softmax", 0, vec![&[-INF, -INF], &[5.0, 7.0]], vec![NAN]),
    ];
    for (name, k, args, expected) in table {
        let found = of(name, k, &args);
        assert_eq!(found.len(), expected.len(), "{name} of {args:?}");
        for (a, b) in found.iter().zip(&expected) {
            assert!(
                close(*a, *b, 1e-12),
                "{name} of {args:?} is {found:?}, not {expected:?}"
            );
        }
    }
}

#[test]
fn no_rows_that_have_no_value() {
    for reduction in REDUCTIONS {
        let without = ["mean", "argmin", "argmax", "sumsoftmaxweight"].contains(&reduction.name);
        assert_eq!(reduction.empty_has_value, !without, "{}", reduction.name);
    }
}

/// The derivative of a reduction of scalars over j by its arguments.
fn slopes(name: &str, k: usize, args: &[&[f64]]) -> Vec<Vec<f64>> {
    let mut s = Subject::new(&[], (1, args[0].len()), (0.0, 1.0), 1);
    for values in args {
        s.add_with(
            Type::SCALAR,
            Some(Axis::J),
            values.iter().map(|&x| Value::scalar(x)).collect(),
        );
    }
    let node = s
        .graph
        .reduce(find(name).expect("a reduction"), Axis::J, &s.variables, k);
    let wrt: Vec<usize> = (0..args.len()).collect();
    let (g, found) = s.gradient(node, &wrt);
    found
        .into_iter()
        .map(|f| {
            evaluate(&g, &[f.expect("differentiable")], &s.inputs)[0]
                .iter()
                .map(Value::first)
                .collect()
        })
        .collect()
}

#[test]
fn derivatives_at_special_points() {
    // The whole derivative of an extremum goes to the first row that has it.
    assert_eq!(
        slopes("min", 0, &[&[2.0, 1.0, 1.0, NAN]]),
        [[0.0, 1.0, 0.0, 0.0]]
    );
    assert_eq!(
        slopes("max", 0, &[&[NAN, 2.0, 2.0, 1.0]]),
        [[0.0, 1.0, 0.0, 0.0]]
    );
    assert_eq!(slopes("min", 0, &[&[NAN, NAN]]), [[0.0, 0.0]]);
    assert_eq!(
        slopes("kmin", 2, &[&[3.0, 1.0, 3.0, 2.0]]),
        [[0.0, 1.0, 0.0, 1.0]]
    );
    assert_eq!(slopes("kmin", 3, &[&[3.0, 1.0]]), [[1.0, 1.0]]);
    // Scores of −inf have no weight.
    assert_eq!(slopes("logsumexp", 0, &[&[-INF, -INF]]), [[0.0, 0.0]]);
    assert_eq!(slopes("logsumexp", 0, &[&[-INF, 1.0]]), [[0.0, 1.0]]);
    assert_eq!(
        slopes("softmax", 0, &[&[-INF, 1.0], &[5.0, 7.0]]),
        [[0.0, 0.0], [0.0, 1.0]]
    );
}

#[test]
fn second_derivatives_of_masked_scores_are_finite() {
    let mut s = Subject::new(&[], (1, 2), (0.0, 1.0), 1);
    let masked = vec![Value::scalar(f64::NEG_INFINITY); 2];
    let score = s.add_with(Type::SCALAR, Some(Axis::J), masked);
    let node = s.graph.reduce(
        find("logsumexp").expect("a reduction"),
        Axis::J,
        &[score],
        0,
    );
    let first = s.first_derivatives(node, &[0]).expect("differentiable");
    let (g, found) = s.gradient(first, &[0]);
    let values = &evaluate(&g, &[found[0].expect("differentiable")], &s.inputs)[0];
    assert!(values.iter().all(|v| v.first() == 0.0), "{values:?}");
}

#[test]
fn nested_reductions_evaluate() {
    // Σ_i (x_i · Σ_j y_j) with exact numbers: the oracle itself.
    let mut g = Graph::new();
    let x = g.variable(0, Type::SCALAR, Some(Axis::I));
    let y = g.variable(1, Type::SCALAR, Some(Axis::J));
    let inner = g.sum_over(Axis::J, y);
    let product = g.apply(&mul::OP, &[x, inner]);
    let outer = g.sum_over(Axis::I, product);
    let pair = g.apply(&sub::OP, &[x, y]);
    let (row, count) = (g.row(Axis::J), g.extent(Axis::J));
    let scalars = |of: &[f64]| of.iter().map(|&x| Value::scalar(x)).collect::<Vec<_>>();
    let inputs = Inputs {
        variables: vec![scalars(&[1.0, 2.0]), scalars(&[3.0, 4.0, 5.0])],
        m: 2,
        n: 3,
    };
    let found = evaluate(&g, &[outer, product, pair, row, count], &inputs);
    assert_eq!(found[0], scalars(&[36.0]));
    assert_eq!(found[1], scalars(&[12.0, 24.0]));
    assert_eq!(found[2], scalars(&[-2.0, -3.0, -4.0, -1.0, -2.0, -3.0]));
    assert_eq!(found[3], scalars(&[0.0, 1.0, 2.0]));
    assert_eq!(found[4], scalars(&[3.0]));
}

/// Π of rows some of which are 0, with all its derivatives up to the third against differences.
#[test]
fn products_have_derivatives_where_factors_are_zero() {
    let n = 5;
    for zeros in [vec![], vec![1], vec![0, 3], vec![0, 2, 3], vec![0, 1, 2, 3]] {
        let mut s = Subject::new(&[(Type::SCALAR, Some(Axis::J))], (1, n), (0.5, 2.0), 3);
        for &row in &zeros {
            s.inputs.variables[0][row].data[0] = 0.0;
        }
        let product = find("prod").expect("a reduction");
        let mut node = s.graph.reduce(product, Axis::J, &[s.variables[0]], 0);
        for order in 1..=3 {
            let what = format!("derivative {order} of a product with zeros at {zeros:?}");
            s.check_derivatives(node, &[0], 1e-5, &what);
            let Some(next) = s.first_derivatives(node, &[0]) else {
                break;
            };
            node = next;
        }
    }
}
