//! What KeOps' names are here: from the records, which hold their own, and from one list of what has no record.
//!
//! Every name has a replacement that can be written as it stands, with values of one's own for the letters.

use super::complexes::FUNCTIONS;
use crate::graph::derive::Derivative;
use crate::ops::{OPS, Op, Syntax};
use crate::reductions::{PAIRS, REDUCTIONS};

/// A name of KeOps and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// As KeOps spells it.
    pub keops: String,
    /// What to write here, code in backticks.
    pub here: String,
}

/// Names, with commas between, that are no operation's, reduction's or derivative's.
const OTHERS: &[(&str, &str)] = &[
    ("ComplexAdd", "`z + w`"),
    ("ComplexSubtract", "`z - w`"),
    ("ComplexMult", "`z * w`"),
    ("ComplexDivide", "`z / w`"),
    ("ComplexRealScal, ComplexScal", "`x * z`"),
    ("ComplexExp", "`exp(z)`"),
    ("ComplexAbs", "`abs(z)`"),
    ("ComplexSum", "`sum`"),
    ("ComplexSumT", "`sumt(z, 3)` for 3 complex numbers"),
    ("Real2Complex", "`complex(x, 0.0)`"),
    ("Imag2Complex", "`complex(0.0, x)`"),
    ("DiffClampInt", "`if a <= x && x <= b { 1.0 } else { 0.0 }`"),
    ("IntCst", "a number such as `2.0`"),
    ("IntInv", "a quotient such as `1.0 / 3.0`"),
    ("Zero", "`sumt(0.0, 3)`"),
    ("Ind", "a list such as `[2, 3]`"),
    ("Grad_WithSavedForward", "`grad(f, v, e)`"),
    ("Diff_WithSavedForward", "`jvp(f, v, t)`"),
    ("TraceOperator, trace_operator", "`divergence(f, v)`"),
    ("AdjointOperator", "`grad(f, v, e)`"),
    ("SumLinOperator", "`a + b`"),
    ("Factorize", "`{ let k = a * b; k + x }`"),
    ("AutoFactorize, auto_factorize", "done to every formula"),
    ("Vi, Vx", "a variable declared `x_i: [f32; 3]`"),
    ("Vj, Vy", "a variable declared `y_j: [f32; 3]`"),
    ("Pm", "a variable declared `p: [f32; 3]`"),
    (
        "Var",
        "a variable declared `x_i: [f32; 3]`, `y_j: [f32; 3]` or `p: [f32; 3]`",
    ),
    ("Max_SumShiftExp, Max_SumShiftExpWeight", "`logsumexp_j`"),
    ("SoftMax", "`softmax_j`"),
    ("keops_tensordot", "`tensordot`"),
    ("keops_kron", "`kron`"),
    ("concatenate, cat", "`concat`"),
    ("power", "`pow(x, 2)` or `powf(a, b)`"),
    ("sinc", "`sinxdivx(PI * x)`"),
];

/// How an operation is written.
fn written(op: &Op) -> String {
    match op.syntax {
        Syntax::Operator("if") => "`if c { a } else { b }`".into(),
        Syntax::Operator(token) if op.arity.accepts(1) => format!("`{token}a`"),
        Syntax::Operator(token) => format!("`a {token} b`"),
        _ => format!("`{}`", op.name),
    }
}

/// All of them, in the order of the documentation. Where two have one name, the first is meant in a call.
pub fn spellings() -> Vec<Spelling> {
    let mut all = vec![];
    let mut add = |names: &str, here: &str| {
        for keops in names.split(", ").filter(|name| !name.is_empty()) {
            all.push(Spelling {
                keops: keops.into(),
                here: here.into(),
            });
        }
    };
    let users = || OPS.iter().filter(|op| op.syntax != Syntax::Internal);
    let (calls, operators): (Vec<&Op>, Vec<&Op>) =
        users().copied().partition(|op| op.syntax == Syntax::Call);
    for op in calls.into_iter().chain(operators) {
        add(op.keops_name, &written(op));
    }
    for (_, usage, keops) in FUNCTIONS {
        add(keops, &format!("`{usage}`"));
    }
    for derivative in Derivative::ALL {
        add(derivative.keops_name(), &format!("`{}`", derivative.name()));
    }
    for (names, here) in OTHERS {
        add(names, here);
    }
    let pairs = PAIRS.iter().map(|p| (p.name, p.keops_name));
    for (name, keops) in REDUCTIONS
        .iter()
        .map(|r| (r.name, r.keops_name))
        .chain(pairs)
    {
        add(keops, &format!("`{name}_j`"));
    }
    all
}

/// What to write for a name of KeOps, in capitals or not.
pub fn here(unknown: &str) -> Option<String> {
    let mut all = spellings().into_iter();
    all.find(|s| s.keops.eq_ignore_ascii_case(unknown))
        .map(|s| s.here)
}
