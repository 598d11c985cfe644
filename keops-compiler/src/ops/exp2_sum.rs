//! 2 to the power of a rounded sum, the form that `exp` takes in kernels such as exp(−|x − y|²)
//!
//! The argument's own rounding dominates there, so log2 e (with any coefficient) is folded into one factor, the second argument,
//! and the range reduction is a subtraction. The bound: the end-to-end error at most doubles (DESIGN part 3).

use super::*;
use crate::graph::Kind;
use crate::lower::Prim;

/// Coefficients whose product with a finite number of either type is never infinite or 0 where 2^(coefficient · number) is neither.
const PLAIN: std::ops::Range<f64> = 1e-30..1e30;

/// The record: 2^(sum · coefficient). The static parameter is 1 where the sum is proven not to be negative and the coefficient is a
/// negative number.
pub static OP: Op = Op {
    name: "exp2_sum",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "2 to the power of a rounded sum times a coefficient.",
    arity: Arity::Exactly(2),
    params: &[Param::integer("nonpositive")],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, params| {
            if params == [1] {
                return l.prim(Prim::Exp2SumNonpositive, a);
            }
            let exponent = l.prim(Prim::Mul, a);
            l.prim(Prim::Exp2Sum, &[exponent])
        },
        vjp: |g, call| {
            let slope = g.literal(std::f64::consts::LN_2);
            let derivative = g.apply(&mul::OP, &[slope, call.node]);
            let exponent = g.apply(&mul::OP, &[call.cotangent, derivative]);
            let [sum, coefficient] = [call.args[0], call.args[1]];
            vec![
                Some(g.apply(&mul::OP, &[exponent, coefficient])),
                Some(g.apply(&mul::OP, &[exponent, sum])),
            ]
        },
        linear: Linear::No,
        simplify: no_simplification,
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| (a[0] * a[1]).exp2()),
    test_range: (-2.0, 2.0),
};

/// exp(a) as 2^(coefficient · sum) where `a` is a product of one rounded sum of the pair with factors that are constant
/// along the loop over pairs (constants, parameters, hoisted values).
pub fn from_exp(g: &mut Graph, a: NodeId) -> Option<NodeId> {
    let mut factors = Factors {
        coefficient: std::f64::consts::LOG2_E,
        hoisted: vec![],
        sum: None,
    };
    if !factors.split(g, a, false) || !PLAIN.contains(&factors.coefficient.abs()) {
        return None;
    }
    let sum = factors.sum?;
    let nonpositive =
        factors.hoisted.is_empty() && factors.coefficient < 0.0 && is_nonnegative(g, sum);
    let mut coefficient = g.literal(factors.coefficient);
    for (factor, inverse) in factors.hoisted {
        let op = if inverse { &div::OP } else { &mul::OP };
        coefficient = g.apply(op, &[coefficient, factor]);
    }
    Some(g.apply_with(&OP, &[sum, coefficient], &[i64::from(nonpositive)]))
}

struct Factors {
    coefficient: f64,
    hoisted: Vec<(NodeId, bool)>,
    sum: Option<NodeId>,
}

impl Factors {
    /// Splits a product or quotient; false if it does not have the form.
    fn split(&mut self, g: &Graph, node: NodeId, inverse: bool) -> bool {
        if let Some(value) = g.as_constant(node) {
            self.coefficient = if inverse {
                self.coefficient / value
            } else {
                self.coefficient * value
            };
            return g.shape(node) == Shape::Scalar;
        }
        if !g.indices(node).is_pair() && g.shape(node) == Shape::Scalar {
            self.hoisted.push((node, inverse));
            return true;
        }
        if let Some(&[a]) = g.as_op(node, &neg::OP) {
            self.coefficient = -self.coefficient;
            return self.split(g, a, inverse);
        }
        if let Some(&[a, b]) = g.as_op(node, &mul::OP) {
            return self.split(g, a, inverse) && self.split(g, b, inverse);
        }
        if let Some(&[a, b]) = g.as_op(node, &div::OP) {
            return self.split(g, a, inverse) && self.split(g, b, !inverse);
        }
        let first = self.sum.replace(node).is_none();
        first && !inverse && is_rounded_sum(g, node)
    }
}

fn is_rounded_sum(g: &Graph, node: NodeId) -> bool {
    [&add::OP, &sub::OP, &dot::OP, &sum::OP]
        .iter()
        .any(|op| g.as_op(node, op).is_some())
}

/// Whether a value is proven to have a clear sign bit or to be NaN: 0 but not −0, by which a quotient is negative.
fn is_positive(g: &Graph, node: NodeId) -> bool {
    if let Some(value) = g.as_constant(node) {
        return value > 0.0;
    }
    let Kind::Op(op, _) = &g.node(node).kind else {
        return false;
    };
    let args = &g.node(node).args;
    match op.0.name {
        "dot" | "mul" if args[0] == args[1] => true,
        "mul" | "div" => args.iter().all(|&a| is_positive(g, a)),
        // The sum of −0 and 0 is 0.
        "add" => {
            args.iter().all(|&a| is_nonnegative(g, a)) && args.iter().any(|&a| is_positive(g, a))
        }
        "sqrt" => is_positive(g, args[0]),
        "abs" | "exp" | "exp2_sum" | "square" => true,
        _ => false,
    }
}

/// Whether a value is proven to be ≥ 0 or NaN.
pub fn is_nonnegative(g: &Graph, node: NodeId) -> bool {
    if let Some(value) = g.as_constant(node) {
        return value >= 0.0;
    }
    let Kind::Op(op, _) = &g.node(node).kind else {
        return false;
    };
    let args = &g.node(node).args;
    match op.0.name {
        "dot" | "mul" if args[0] == args[1] => true,
        "mul" | "add" | "dot" => args.iter().all(|&a| is_nonnegative(g, a)),
        "div" => is_nonnegative(g, args[0]) && is_positive(g, args[1]),
        "sum" => is_nonnegative(g, args[0]),
        "abs" | "sqrt" | "exp" | "exp2_sum" | "square" | "step" | "relu" => true,
        _ => false,
    }
}
