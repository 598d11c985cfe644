//! Every operation's record against itself: shape rule, definition, lowering, derivatives and simplifications against the
//! f64 reference, over all shapes that it accepts.

mod support;

use keops_compiler::graph::rebuild::decompose;
use keops_compiler::graph::simplify::{late, simplify};
use keops_compiler::graph::{Graph, NodeId};
use keops_compiler::interpret::{apply, evaluate};
use keops_compiler::item::Arithmetic;
use keops_compiler::ops::{self, Body, OPS, Syntax, neg, place};
use keops_compiler::types::{Axis, Element, Shape, Type};
use keops_compiler::value::Value;
use support::cases::{Case, cases, counts};
use support::{Random, assert_close, record_files};

fn each_case(most: usize, mut f: impl FnMut(&Case, &str)) {
    for op in OPS {
        for case in cases(op, most) {
            // Powers of 2^63 are accepted, but have no meaningful differences; nor have steps closer than the numbers.
            let fine = op.name == "round" && case.params.iter().any(|&p| p > 1);
            if case.params.iter().all(|p| p.unsigned_abs() < 100) && !fine {
                f(
                    &case,
                    &format!("{}{:?} of {:?}", op.name, case.params, case.types),
                );
            }
        }
    }
}

#[test]
fn the_list_has_every_file() {
    // `mod.rs` is the list itself.
    let file = |name: &str| if name == "mod" { "modulo" } else { name }.to_string();
    let mut names: Vec<String> = OPS.iter().map(|op| file(op.name)).collect();
    names.sort();
    assert_eq!(names, record_files("ops"));
}

#[test]
fn records_are_complete() {
    for op in OPS {
        assert!(op.doc.ends_with('.'), "{}: the doc is a sentence", op.name);
        assert!(op.test_range.0 < op.test_range.1, "{}", op.name);
        assert_eq!(
            ops::find(op.name).is_some(),
            op.syntax == Syntax::Call,
            "{}",
            op.name
        );
        assert!(
            counts(op.arity).iter().all(|&n| op.arity.accepts(n)),
            "{}",
            op.name
        );
        assert!(!op.arity.accepts(0), "{}", op.name);
    }
}

#[test]
fn shape_rules_give_the_shape_of_the_reference() {
    each_case(200, |case, what| {
        let ty = (case.op.infer)(&case.types, &case.params).expect("accepted");
        let mut random = Random(3);
        let mut taken = vec![];
        let args: Vec<Value> = case
            .types
            .iter()
            .map(|&ty| random.value(ty, case.op.test_range, &mut taken))
            .collect();
        let value = apply(case.op.reference, &args, &case.params, ty.shape);
        assert_eq!(value.shape, ty.shape, "{what}");
        assert_eq!(value.data.len(), ty.shape.len(), "{what}");
        assert!(
            value.data.iter().all(|x| x.is_finite()),
            "{what}: {value:?}"
        );
    });
}

#[test]
fn definitions_equal_the_reference() {
    each_case(60, |case, what| {
        if let Body::Composite(_) = case.op.body {
            let (s, node) = case.subject(|_| None);
            let expected = &evaluate(&s.graph, &[node], &s.inputs)[0][0];
            let (g, roots) = decompose(&s.graph, &[node]);
            assert_eq!(g.ty(roots[0]), s.graph.ty(node), "{what}");
            let found = &evaluate(&g, &roots, &s.inputs)[0][0];
            assert_close(found, expected, 1e-13, what);
        }
    });
}

#[test]
fn lowering_equals_the_reference() {
    each_case(60, |case, what| {
        // Without indices, then split over i, j and parameters inside a sum.
        let (mut s, node) = case.subject(|_| None);
        let node = s.real(node);
        s.check_lowering(node, 1e-12, what);
        if !case.is_real() && case.op.name != "select" && s.graph.ty(node).element != Element::Real
        {
            return;
        }
        for shift in 0..2 {
            let axes = [Some(Axis::J), Some(Axis::I), None];
            let (mut s, node) = case.subject(|k| axes[(k + shift) % 3]);
            let node = s.real(node);
            let total = s.graph.sum_over(Axis::J, node);
            s.check_lowering(total, 1e-11, &format!("Σ {what}"));
        }
    });
}

#[test]
fn derivatives_equal_differences() {
    each_case(40, |case, what| {
        if case.is_real() {
            let (mut s, node) = case.subject(|_| None);
            let node = s.weighted(node, 5);
            s.check_derivatives(node, &case.real_arguments(), 1e-6, what);
        }
    });
}

#[test]
fn second_derivatives_equal_differences() {
    each_case(16, |case, what| {
        if !case.is_real() || case.types.iter().any(|t| t.shape.len() > 40) {
            return;
        }
        let (mut s, node) = case.subject(|_| None);
        let node = s.weighted(node, 5);
        let wrt = case.real_arguments();
        if let Some(first) = s.first_derivatives(node, &wrt) {
            s.check_derivatives(first, &wrt, 1e-5, &format!("derivatives of {what}"));
        }
    });
}

/// An argument made of the variable in its place.
type Variant<'a> = Box<dyn Fn(&mut Graph, NodeId) -> NodeId + 'a>;

#[test]
fn simplification_is_exact() {
    each_case(12, |case, what| {
        for &at in &case.real_arguments() {
            let ty = case.types[at];
            let mut variants: Vec<(String, Variant<'_>)> = vec![
                ("negated".into(), Box::new(|g, v| g.apply(&neg::OP, &[v]))),
                (
                    "twice negated".into(),
                    Box::new(|g, v| {
                        let n = g.apply(&neg::OP, &[v]);
                        g.apply(&neg::OP, &[n])
                    }),
                ),
                (
                    "itself".into(),
                    Box::new(move |g, v| g.apply_with(case.op, &[v], &case.params)),
                ),
            ];
            if case.types.len() != 1 || (case.op.infer)(&case.types, &case.params) != Ok(ty) {
                variants.pop();
            }
            for value in [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, f64::INFINITY, f64::NAN] {
                variants.push((
                    format!("{value}"),
                    Box::new(move |g, _| g.constant(value, ty.shape)),
                ));
            }
            if let Shape::Vector(n @ 2..) = ty.shape {
                variants.push((
                    "one number in zeros".into(),
                    Box::new(move |g, v| {
                        let part = ops::take::block(g, v, n - 1, Shape::Scalar);
                        place::in_zeros(g, part, n - 1, Shape::Vector(n))
                    }),
                ));
                variants.push((
                    "an array".into(),
                    Box::new(move |g, v| {
                        let parts: Vec<NodeId> = (0..n)
                            .map(|k| ops::take::block(g, v, k, Shape::Scalar))
                            .collect();
                        g.apply(&ops::array::OP, &parts)
                    }),
                ));
            }
            // A structural zero wins over infinity, so it must not be a modulus.
            if case.op.name == "mod" && at == 1 {
                variants.retain(|(name, _)| name != "one number in zeros");
            }
            for (name, variant) in variants {
                let (mut s, _) = case.subject(|_| None);
                let mut args = s.variables.clone();
                args[at] = variant(&mut s.graph, args[at]);
                let node = s.graph.apply_with(case.op, &args, &case.params);
                let what = format!("{what}, argument {at} {name}");
                let (g, roots) = decompose(&s.graph, &[node]);
                let expected = &evaluate(&g, &roots, &s.inputs)[0][0];
                let (simple, simple_roots) = simplify(&g, &roots);
                assert_eq!(simple.ty(simple_roots[0]), g.ty(roots[0]), "{what}");
                assert_close(
                    &evaluate(&simple, &simple_roots, &s.inputs)[0][0],
                    expected,
                    1e-15,
                    &what,
                );
                let (kernel, kernel_roots) =
                    late(&simple, &simple_roots, Arithmetic::Default, false);
                assert_close(
                    &evaluate(&kernel, &kernel_roots, &s.inputs)[0][0],
                    expected,
                    1e-13,
                    &what,
                );
            }
        }
    });
}

#[test]
fn wrong_arguments_are_errors() {
    // Every rule was asked about all candidates above without a panic; here is what users will meet most.
    let v = |n: usize| Type::real(Shape::Vector(n));
    let refused: &[(&str, Vec<Type>, &[i64])] = &[
        ("dot", vec![v(2), v(3)], &[]),
        ("dot", vec![Type::SCALAR, v(3)], &[]),
        ("add", vec![v(2), v(3)], &[]),
        ("add", vec![Type::BOOL, v(3)], &[]),
        ("and", vec![Type::SCALAR, Type::BOOL], &[]),
        ("select", vec![Type::SCALAR, v(3), v(3)], &[]),
        (
            "select",
            vec![
                Type {
                    element: Element::Bool,
                    shape: Shape::Vector(2),
                },
                v(3),
                v(3),
            ],
            &[],
        ),
        ("matvec", vec![Type::real(Shape::Matrix(2, 3)), v(2)], &[]),
        ("elem", vec![v(3)], &[-1]),
        ("elem", vec![v(3)], &[3]),
        ("extract", vec![v(3)], &[1, 3]),
        ("extract", vec![v(3)], &[1, i64::MAX]),
        ("slice", vec![v(3)], &[2, 2]),
        ("slice", vec![v(3)], &[0, 4]),
        ("index", vec![v(3)], &[0, 0]),
        ("trace", vec![Type::real(Shape::Matrix(2, 3))], &[]),
        ("array", vec![v(2), v(3)], &[]),
        ("array", vec![v(2), Type::SCALAR], &[]),
        ("concat", vec![v(1 << 20), v(1)], &[]),
        ("outer", vec![v(1 << 20), v(2)], &[]),
        ("sum", vec![Type::SCALAR], &[]),
    ];
    for (name, types, params) in refused {
        let op = OPS
            .iter()
            .find(|op| op.name == *name)
            .expect("an operation");
        assert!(
            (op.infer)(types, params).is_err(),
            "{name} accepts {types:?} {params:?}"
        );
    }
}
