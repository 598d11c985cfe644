//! 2 to the power of a rounded sum, the form that `exp` takes in kernels such as exp(−|x − y|²)
//!
//! The argument's own rounding dominates there, so log2 e (with any coefficient) is folded into one factor and the
//! range reduction is a subtraction. The bound: the end-to-end error at most doubles (DESIGN part 3).

use super::*;
use crate::graph::Kind;
use crate::lower::Prim;

/// The record. The static parameter is 1 where the argument is proven not to be positive.
pub static OP: Op = Op {
    name: "exp2_sum",
    syntax: Syntax::Internal,
    keops_name: "",
    doc: "2 to the power of a rounded sum.",
    arity: Arity::Exactly(1),
    params: &[Param::integer("nonpositive")],
    infer: broadcast,
    body: Body::Elementwise {
        lower: |l, a, params| {
            l.prim(
                if params == [1] {
                    Prim::Exp2SumNonpositive
                } else {
                    Prim::Exp2Sum
                },
                a,
            )
        },
        vjp: |g, call| {
            let slope = g.literal(std::f64::consts::LN_2);
            let derivative = g.apply(&mul::OP, &[slope, call.node]);
            vec![Some(g.apply(&mul::OP, &[call.cotangent, derivative]))]
        },
        simplify: no_simplification,
        late: no_simplification,
    },
    reference: Reference::Elementwise(|a, _| a[0].exp2()),
    test_range: (-4.0, 0.0),
};

/// exp(a) as 2^(coefficient · sum) where `a` is a product of one rounded sum of the pair with factors that are constant
/// along the loop over pairs (constants, parameters, hoisted values).
pub fn from_exp(g: &mut Graph, a: NodeId) -> Option<NodeId> {
    let mut factors = Factors {
        coefficient: std::f64::consts::LOG2_E,
        hoisted: vec![],
        sum: None,
    };
    if !factors.split(g, a, false) {
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
    let scaled = g.apply(&mul::OP, &[sum, coefficient]);
    Some(g.apply_with(&OP, &[scaled], &[i64::from(nonpositive)]))
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
        "mul" | "add" | "div" | "dot" => args.iter().all(|&a| is_nonnegative(g, a)),
        "sum" => is_nonnegative(g, args[0]),
        "abs" | "sqrt" | "exp" | "exp2_sum" | "square" | "step" | "relu" => true,
        _ => false,
    }
}
