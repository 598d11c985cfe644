//! What operations are tested on: all shapes and static parameters that they accept, of a fixed set.

use super::Subject;
use keops_compiler::graph::NodeId;
use keops_compiler::ops::{Arity, Op};
use keops_compiler::types::{Axis, Element, Shape, Type};

/// Arguments and static parameters that an operation accepts.
#[derive(Clone)]
pub struct Case {
    pub op: &'static Op,
    pub types: Vec<Type>,
    pub params: Vec<i64>,
}

/// Dimensions below and above the limit of unrolling.
const SHAPES: [Shape; 12] = [
    Shape::Scalar,
    Shape::Vector(1),
    Shape::Vector(2),
    Shape::Vector(3),
    Shape::Vector(11),
    Shape::Matrix(2, 3),
    Shape::Matrix(3, 2),
    Shape::Matrix(3, 3),
    Shape::Matrix(11, 2),
    Shape::Matrix(3, 11),
    Shape::Matrix(11, 11),
    Shape::Matrix(9, 11),
];
const PARAMETERS: [i64; 14] = [i64::MIN, -3, -1, 0, 1, 2, 3, 5, 9, 10, 11, 22, 33, i64::MAX];

fn candidates() -> Vec<Type> {
    let mut types: Vec<Type> = SHAPES.iter().map(|&shape| Type::real(shape)).collect();
    for shape in [
        Shape::Scalar,
        Shape::Vector(3),
        Shape::Vector(11),
        Shape::Matrix(2, 3),
    ] {
        types.push(Type {
            element: Element::Bool,
            shape,
        });
        types.push(Type {
            element: Element::Index,
            shape,
        });
    }
    types
}

/// All tuples of `count` elements.
pub fn tuples<T: Copy>(of: &[T], count: usize) -> Vec<Vec<T>> {
    (0..count).fold(vec![vec![]], |all, _| {
        all.iter()
            .flat_map(|t| of.iter().map(move |&x| [t.as_slice(), &[x]].concat()))
            .collect()
    })
}

/// Numbers of arguments to try.
pub fn counts(arity: Arity) -> Vec<usize> {
    match arity {
        Arity::Exactly(n) => vec![n],
        Arity::AtLeast(n) => vec![n, n + 1],
        Arity::Between(a, b) => (a..=b).collect(),
    }
}

/// Arguments and static parameters of operations that take lists, whose parameters are too many to try.
fn examples(op: &Op) -> Vec<(Vec<Type>, Vec<i64>)> {
    let v = |n: usize| Type::real(Shape::Vector(n));
    let m = |r: usize, c: usize| Type::real(Shape::Matrix(r, c));
    match op.name {
        "tensordot" => vec![
            (vec![v(6), v(3)], vec![2, 2, 3, 1, 3, 1, 1, 1, 0]),
            (vec![v(6), v(6)], vec![2, 2, 3, 2, 3, 2, 2, 1, 0, 2, 0, 1]),
            (
                vec![v(6), v(4)],
                vec![2, 2, 3, 2, 2, 2, 1, 0, 1, 0, 2, 1, 0],
            ),
            (vec![v(6), v(4)], vec![2, 2, 3, 1, 4, 0, 0, 3, 2, 0, 1]),
            (vec![m(2, 3), m(3, 11)], vec![2, 2, 3, 2, 3, 11, 1, 1, 1, 0]),
            (vec![m(11, 2), v(11)], vec![2, 11, 2, 1, 11, 1, 0, 1, 0]),
            (vec![m(2, 3), v(2)], vec![2, 2, 3, 1, 2, 0, 0, 0]),
            (vec![Type::SCALAR, v(3)], vec![0, 1, 3, 0, 0]),
            (
                vec![v(24), v(12)],
                vec![3, 2, 3, 4, 2, 4, 3, 2, 1, 2, 2, 1, 0],
            ),
            (
                vec![v(24), v(8)],
                vec![3, 2, 3, 4, 2, 2, 4, 1, 2, 1, 1, 3, 1, 2, 0],
            ),
        ],
        "kron" => vec![
            (vec![v(2), v(3)], vec![]),
            (vec![v(11), v(2)], vec![]),
            (vec![m(2, 3), m(3, 2)], vec![]),
            (vec![m(3, 3), m(1, 4)], vec![]),
            (vec![v(6), v(6)], vec![2, 2, 3, 2, 3, 2]),
            (vec![v(6), v(12)], vec![4, 3, 2, 1, 1, 4, 1, 2, 2, 3]),
        ],
        "contraction" => vec![
            (vec![v(6), v(3)], vec![0, 2, 2, 3, 1, 3, 1, 1, 1, 0, 0]),
            (
                vec![m(4, 6), v(6)],
                vec![12, 3, 2, 2, 6, 2, 2, 3, 1, 0, 1, 0, 3, 1, 0, 2],
            ),
            (vec![v(3), v(3)], vec![0, 1, 3, 1, 3, 1, 0, 1, 0, 0]),
        ],
        _ => vec![],
    }
}

/// What an operation accepts out of all candidates, thinned out evenly.
pub fn cases(op: &'static Op, most: usize) -> Vec<Case> {
    if op.params.iter().any(|p| p.list) {
        let examples = examples(op);
        assert!(!examples.is_empty(), "{} has no examples", op.name);
        for (types, params) in &examples {
            let ty = (op.infer)(types, params);
            assert!(ty.is_ok(), "{} {types:?} {params:?}: {ty:?}", op.name);
        }
        return examples
            .into_iter()
            .map(|(types, params)| Case { op, types, params })
            .collect();
    }
    let mut all = vec![];
    for types in counts(op.arity)
        .into_iter()
        .flat_map(|count| tuples(&candidates(), count))
    {
        for count in 0..=op.params.len() {
            // The product of many parameters with all types would be millions.
            let some = if count > 3 { 3..5 } else { 0..PARAMETERS.len() };
            for params in tuples(&PARAMETERS[some], count) {
                if (op.infer)(&types, &params).is_ok() {
                    all.push(Case {
                        op,
                        types: types.clone(),
                        params,
                    });
                }
            }
        }
    }
    assert!(!all.is_empty(), "{} accepts nothing", op.name);
    let stride = all.len().div_ceil(most);
    all.into_iter().step_by(stride).collect()
}

impl Case {
    /// The operation of variables, the k-th with the axis `axis(k)`.
    pub fn subject(&self, axis: impl Fn(usize) -> Option<Axis>) -> (Subject, NodeId) {
        let types: Vec<_> = self
            .types
            .iter()
            .enumerate()
            .map(|(k, &ty)| (ty, axis(k)))
            .collect();
        let mut s = Subject::new(&types, (3, 4), self.op.test_range, 7);
        let node = s.graph.apply_with(self.op, &s.variables, &self.params);
        (s, node)
    }
    /// Whether it has derivatives.
    pub fn is_real(&self) -> bool {
        (self.op.infer)(&self.types, &self.params).is_ok_and(|ty| ty.element == Element::Real)
    }
    /// Arguments that have derivatives.
    pub fn real_arguments(&self) -> Vec<usize> {
        (0..self.types.len())
            .filter(|&k| self.types[k].element == Element::Real)
            .collect()
    }
}
