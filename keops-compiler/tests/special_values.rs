//! The documented values and derivatives at special points: infinities, NaN, kinks, ties; and values that users of KeOps
//! know.

mod support;

use keops_compiler::graph::simplify::simplify;
use keops_compiler::interpret::{Inputs, evaluate};
use keops_compiler::ops::{self, OPS, Op, place};
use keops_compiler::types::{Shape, Type};
use keops_compiler::value::Value;
use support::Subject;

/// An operation of constants, through its reference and through lowering.
fn number(name: &str, args: &[f64], params: &[i64]) -> f64 {
    let values: Vec<Value> = args.iter().map(|&x| Value::scalar(x)).collect();
    whole(name, &values, params).first()
}

fn op(name: &str) -> &'static Op {
    OPS.iter()
        .find(|op| op.name == name)
        .unwrap_or_else(|| panic!("no operation {name}"))
}

fn whole(name: &str, args: &[Value], params: &[i64]) -> Value {
    let mut s = Subject::new(&[], (1, 1), (0.0, 1.0), 1);
    for value in args {
        s.add_with(Type::real(value.shape), None, vec![value.clone()]);
    }
    let node = s.graph.apply_with(op(name), &s.variables, params);
    let node = s.real(node);
    s.check_lowering(node, 1e-15, name);
    evaluate(&s.graph, &[node], &s.inputs)[0][0].clone()
}

/// First and second derivative by the first argument, cotangents 1.
fn slopes(name: &str, args: &[Value], params: &[i64]) -> (Value, Value) {
    let mut s = Subject::new(&[], (1, 1), (0.0, 1.0), 1);
    for value in args {
        s.add_with(Type::real(value.shape), None, vec![value.clone()]);
    }
    let node = s.graph.apply_with(op(name), &s.variables, params);
    let zero = Value::filled(0.0, args[0].shape);
    let (g, found) = s.gradient(node, &[0]);
    let Some(first) = found[0] else {
        return (zero.clone(), zero);
    };
    s.graph = g;
    let (g, found) = s.gradient(first, &[0]);
    let second = found[0].map_or(zero, |f| evaluate(&g, &[f], &s.inputs)[0][0].clone());
    (
        evaluate(&s.graph, &[first], &s.inputs)[0][0].clone(),
        second,
    )
}

#[test]
fn special_values() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let table: &[(&str, &[f64], &[i64], f64)] = &[
        ("inv", &[0.0], &[], inf),
        ("inv", &[-0.0], &[], -inf),
        ("inv_or_zero", &[0.0], &[], 0.0),
        ("log", &[0.0], &[], -inf),
        ("log", &[-1.0], &[], nan),
        ("exp", &[-inf], &[], 0.0),
        ("exp", &[inf], &[], inf),
        ("sqrt", &[-1.0], &[], nan),
        ("rsqrt", &[0.0], &[], inf),
        ("rsqrt", &[-1.0], &[], nan),
        ("abs", &[-inf], &[], inf),
        ("sign", &[0.0], &[], 0.0),
        ("sign", &[-3.0], &[], -1.0),
        ("sign", &[nan], &[], nan),
        ("step", &[0.0], &[], 1.0),
        ("step", &[-0.0], &[], 1.0),
        ("step", &[-1.0], &[], 0.0),
        ("step", &[nan], &[], nan),
        ("relu", &[-1.0], &[], 0.0),
        ("relu", &[nan], &[], nan),
        ("relu", &[inf], &[], inf),
        ("clamp", &[nan, 0.0, 1.0], &[], nan),
        ("clamp", &[-1.23, -1.0, 1.54], &[], -1.0),
        ("clamp", &[2.0, -1.0, 1.54], &[], 1.54),
        ("clamp", &[0.5, 1.0, 0.0], &[], 1.0),
        ("min", &[nan, 1.0], &[], 1.0),
        ("min", &[1.0, nan], &[], 1.0),
        ("max", &[nan, 1.0], &[], 1.0),
        ("max", &[1.0, nan], &[], 1.0),
        ("max", &[nan, nan], &[], nan),
        ("pow", &[0.0], &[0], 1.0),
        ("pow", &[nan], &[0], 1.0),
        ("pow", &[-2.0], &[-2], 0.25),
        ("pow", &[-2.0], &[3], -8.0),
        ("pow", &[0.0], &[-1], inf),
        ("powf", &[-2.0, 2.0], &[], 4.0),
        ("powf", &[2.0, 0.5], &[], std::f64::consts::SQRT_2),
        ("powf", &[nan, 0.0], &[], 1.0),
        ("powf", &[-1.0, 0.5], &[], nan),
        ("lt", &[nan, 1.0], &[], 0.0),
        ("ge", &[nan, 1.0], &[], 0.0),
        ("eq", &[nan, nan], &[], 0.0),
        ("ne", &[nan, nan], &[], 1.0),
        ("eq", &[0.0, -0.0], &[], 1.0),
        ("mul", &[0.0, inf], &[], nan),
        ("sub", &[inf, inf], &[], nan),
        ("tanh", &[-inf], &[], -1.0),
        ("sin", &[inf], &[], nan),
    ];
    for (name, args, params, expected) in table {
        let found = number(name, args, params);
        assert!(
            support::close(found, *expected, 1e-15),
            "{name}({args:?}) is {found}, not {expected}"
        );
    }
}

#[test]
fn derivatives_at_kinks() {
    let scalar = |x: f64| vec![Value::scalar(x)];
    let table: &[(&str, Vec<Value>, f64)] = &[
        ("abs", scalar(0.0), 0.0),
        ("sqrt", scalar(0.0), 0.0),
        ("relu", scalar(0.0), 0.0),
        ("sign", scalar(0.0), 0.0),
        ("step", scalar(0.0), 0.0),
        ("norm2", vec![Value::vector(vec![0.0; 3])], 0.0),
        ("norm2", vec![Value::vector(vec![0.0; 11])], 0.0),
        ("normalize", vec![Value::vector(vec![0.0; 3])], 0.0),
        (
            "dist",
            vec![Value::vector(vec![2.0; 3]), Value::vector(vec![2.0; 3])],
            0.0,
        ),
        (
            "clamp",
            vec![Value::scalar(0.0), Value::scalar(0.0), Value::scalar(1.0)],
            1.0,
        ),
        (
            "clamp",
            vec![Value::scalar(1.0), Value::scalar(0.0), Value::scalar(1.0)],
            1.0,
        ),
        (
            "clamp",
            vec![Value::scalar(1.1), Value::scalar(0.0), Value::scalar(1.0)],
            0.0,
        ),
        (
            "clamp",
            vec![Value::scalar(0.5), Value::scalar(0.5), Value::scalar(0.5)],
            1.0,
        ),
        ("min", vec![Value::scalar(1.0), Value::scalar(1.0)], 1.0),
        ("max", vec![Value::scalar(1.0), Value::scalar(1.0)], 1.0),
        (
            "max",
            vec![Value::scalar(f64::NAN), Value::scalar(1.0)],
            0.0,
        ),
        (
            "max",
            vec![Value::scalar(1.0), Value::scalar(f64::NAN)],
            1.0,
        ),
        ("powf", vec![Value::scalar(0.0), Value::scalar(0.0)], 0.0),
        ("powf", vec![Value::scalar(0.0), Value::scalar(2.0)], 0.0),
    ];
    for (name, args, expected) in table {
        let (first, second) = slopes(name, args, &[]);
        assert!(
            first.data.iter().all(|x| x == expected),
            "{name} of {args:?}: {first:?}"
        );
        if *name != "powf" {
            assert!(
                second.data.iter().all(|x| *x == 0.0),
                "{name} of {args:?}, second: {second:?}"
            );
        }
    }
    // The whole derivative of a maximum goes to the first one.
    let ties = vec![Value::vector(vec![2.0, 2.0, 1.0])];
    assert_eq!(slopes("max", &ties, &[]).0.data, [1.0, 0.0, 0.0]);
    assert_eq!(slopes("min", &ties, &[]).0.data, [0.0, 0.0, 1.0]);
    let nan = vec![Value::vector([&[f64::NAN][..], &[3.0; 10]].concat())];
    assert_eq!(
        slopes("max", &nan, &[]).0.data,
        [&[0.0, 1.0][..], &[0.0; 9]].concat()
    );
}

#[test]
fn values_that_keops_users_know() {
    let vector = |x: &[f64]| Value::vector(x.to_vec());
    let matrix = |r: usize, c: usize, x: &[f64]| Value {
        shape: Shape::Matrix(r, c),
        data: x.to_vec(),
    };
    let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(
        whole("matvec", &[matrix(3, 2, &a), vector(&[1.0, 10.0])], &[]).data,
        [21.0, 43.0, 65.0]
    );
    assert_eq!(
        whole(
            "vecmat",
            &[vector(&[1.0, 10.0, 100.0]), matrix(3, 2, &a)],
            &[]
        )
        .data,
        [531.0, 642.0]
    );
    assert_eq!(
        whole(
            "outer",
            &[vector(&[1.0, 2.0]), vector(&[1.0, 10.0, 100.0])],
            &[]
        )
        .data,
        [1.0, 10.0, 100.0, 2.0, 20.0, 200.0]
    );
    assert_eq!(
        whole("transpose", &[matrix(3, 2, &a)], &[]).data,
        [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]
    );
    let identity = matrix(2, 2, &[1.0, 0.0, 0.0, 1.0]);
    assert_eq!(whole("matmul", &[matrix(3, 2, &a), identity], &[]).data, a);
    assert_eq!(
        whole("trace", &[matrix(2, 2, &[1.0, 2.0, 3.0, 4.0])], &[]).data,
        [5.0]
    );
    assert_eq!(
        whole("max", &[vector(&[2.0, f64::NAN, 1.0])], &[]).data,
        [2.0]
    );
    assert_eq!(
        whole("min", &[vector(&[f64::NAN; 9])], &[]).data,
        [f64::INFINITY]
    );
    assert_eq!(whole("index", &[matrix(3, 2, &a)], &[1]).data, [3.0, 4.0]);
    assert_eq!(whole("index", &[matrix(3, 2, &a)], &[2, 1]).data, [6.0]);
    assert_eq!(
        whole("slice", &[matrix(3, 2, &a)], &[1, 3]).data,
        [3.0, 4.0, 5.0, 6.0]
    );
    assert_eq!(whole("slice", &[vector(&a)], &[1, 3]).data, [2.0, 3.0]);
    assert_eq!(
        whole("concat", &[vector(&a[..2]), Value::scalar(7.0)], &[]).data,
        [1.0, 2.0, 7.0]
    );
    assert_eq!(
        whole("array", &[vector(&a[..2]), vector(&a[2..4])], &[]),
        matrix(2, 2, &a[..4])
    );

    // The divergence of x/|x| in three dimensions is 2/|x|.
    let x = [1.2, 0.7, 2.0];
    let mut s = Subject::new(&[], (1, 1), (0.0, 1.0), 1);
    s.add_with(Type::real(Shape::Vector(3)), None, vec![vector(&x)]);
    let direction = s.graph.apply(op("normalize"), &s.variables);
    let divergence: f64 = (0..3)
        .map(|k| {
            let part = s.graph.apply_with(op("elem"), &[direction], &[k]);
            let (g, found) = s.gradient(part, &[0]);
            evaluate(&g, &[found[0].expect("depends on x")], &s.inputs)[0][0].data[k as usize]
        })
        .sum();
    assert!((divergence - 0.8213015624).abs() < 1e-10, "{divergence}");
}

#[test]
fn a_choice_differentiates_the_chosen_branch() {
    // KeOps has [4, 0] here: the branch mixes coordinates.
    let mut s = Subject::new(&[], (1, 1), (0.0, 1.0), 1);
    let v = Type::real(Shape::Vector(2));
    let x = s.add_with(v, None, vec![Value::vector(vec![1.0, -1.0])]);
    let zero = s.graph.literal(0.0);
    let positive = s.graph.apply(op("lt"), &[zero, x]);
    let total = s.graph.apply(op("sum"), &[x]);
    let twice = s.graph.apply(op("add"), &[x, x]);
    let chosen = s.graph.apply(op("select"), &[positive, total, twice]);
    let (g, found) = s.gradient(chosen, &[0]);
    let value = &evaluate(&g, &[found[0].expect("depends on x")], &s.inputs)[0][0];
    assert_eq!(value.data, [1.0, 3.0]);
}

#[test]
fn zeros_of_derivatives_meet_infinities() {
    // d/dx of x[0]·inf-valued neighbours: the zeros that indexing leaves are structural.
    let mut s = Subject::new(&[], (1, 1), (0.0, 1.0), 1);
    let v = Type::real(Shape::Vector(2));
    let x = s.add_with(v, None, vec![Value::vector(vec![1.0, 2.0])]);
    let y = s.add_with(v, None, vec![Value::vector(vec![3.0, f64::INFINITY])]);
    let part = ops::take::block(&mut s.graph, x, 0, Shape::Scalar);
    let alone = place::in_zeros(&mut s.graph, part, 0, Shape::Vector(2));
    let product = s.graph.apply(&ops::dot::OP, &[alone, y]);
    let (g, roots) = simplify(&s.graph, &[product]);
    let inputs: &Inputs = &s.inputs;
    assert_eq!(evaluate(&g, &roots, inputs)[0][0].data, [3.0]);
}
