//! Statements of kernel IR as Rust text.

use crate::lower::{ArrayId, Ix, LoopVar, Operand, Reducer, Space, Stmt, keeps_form};
use std::fmt::Write;

/// What a function calls its accessors.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    /// Where columns are put.
    pub(super) sink: &'static str,
    /// Parameters.
    pub(super) params: &'static str,
    /// The outer row.
    pub(super) outer: &'static str,
    /// The inner row.
    pub(super) inner: &'static str,
    /// How arrays are written.
    pub(super) lengths: Lengths,
    /// The function's arrays that are in the work, with their first words.
    pub(super) work: &'a [(ArrayId, usize)],
    /// The function's short loops that are not to be written out.
    pub(super) stay: &'a [LoopVar],
}

/// How arrays are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lengths {
    /// `[A; n]`
    Plain,
    /// `words![A; n]`, where the length stands for a polynomial of const parameters.
    Words,
}

impl Lengths {
    /// An array type.
    pub(super) fn array(self, element: &str, length: usize) -> String {
        match self {
            Lengths::Plain => format!("[{element}; {length}]"),
            Lengths::Words => format!("words![{element}; {length}]"),
        }
    }
    /// An array of equal values.
    pub(super) fn filled(self, value: &str, length: usize) -> String {
        match self {
            Lengths::Plain => format!("[{value}; {length}]"),
            Lengths::Words => format!("kernel::Array::fill({value})"),
        }
    }
}

impl Names<'_> {
    pub(super) const DEFAULT: Names<'static> = Names {
        sink: "out",
        params: "p",
        outer: "x",
        inner: "y",
        lengths: Lengths::Plain,
        work: &[],
        stay: &[],
    };

    /// Where an array begins in the work, if it is there.
    fn in_work(&self, array: ArrayId) -> Option<usize> {
        let found = self.work.iter().find(|(id, _)| *id == array)?;
        Some(found.1)
    }

    fn space(&self, space: Space) -> &'static str {
        match space {
            Space::Parameter => self.params,
            Space::Outer => self.outer,
            Space::Inner => self.inner,
        }
    }

    fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Const(c) => literal(*c),
            Operand::Reg(r) => format!("v{r}"),
            Operand::Column(space, at) => format!("{}.get({})", self.space(*space), ix(at)),
            Operand::Element(array, at) => match self.in_work(*array) {
                Some(first) => format!("work.word({})", ix(&at.plus(first))),
                None => format!("a{array}[{}]", ix(at)),
            },
            Operand::RowIndex(space) => format!("{}.index()", self.space(*space)),
        }
    }
}

/// A constant; `Debug` prints the shortest text that reads back to the same `f64`.
fn literal(value: f64) -> String {
    if value.is_nan() {
        "s.lit(0.0f64 / 0.0f64)".into()
    } else if value.is_infinite() {
        format!(
            "s.lit({}1.0f64 / 0.0f64)",
            if value < 0.0 { "-" } else { "" }
        )
    } else {
        format!("s.lit({value:?}f64)")
    }
}

/// An index. Where code keeps its form, strides of 1 and the place 0 are written as others are.
fn ix(at: &Ix) -> String {
    let keeps_form = keeps_form();
    let mut parts: Vec<String> = at
        .terms
        .iter()
        .map(|&(var, stride)| {
            if stride == 1 && !keeps_form {
                format!("d{var}")
            } else {
                format!("d{var} * {stride}")
            }
        })
        .collect();
    if at.base != 0 || parts.is_empty() || keeps_form {
        parts.push(at.base.to_string());
    }
    parts.join(" + ")
}

/// Values that one `let` declares, where there are more.
const DECLARED: usize = 128;

/// Writes a block.
///
/// Each `let` opens a scope inside that of the one before, and the compiler recurses over these: thousands, where it writes debug
/// information, run it out of its stack. A long block declares its values first, many at a time.
pub(super) fn write_block(out: &mut String, stmts: &[Stmt], names: Names<'_>) {
    let declared: Vec<String> = stmts
        .iter()
        .filter_map(|stmt| match stmt {
            Stmt::Let(r, ..)
            | Stmt::Pick(r, ..)
            | Stmt::SumValue(r, _)
            | Stmt::RowWord(r, _)
            | Stmt::LogSumExpValue(r, _) => Some(format!("v{r},")),
            _ => None,
        })
        .collect();
    let is_long = declared.len() > DECLARED;
    for values in declared.chunks(DECLARED).filter(|_| is_long) {
        let _ = writeln!(out, "let ({});", values.concat());
    }
    for stmt in stmts {
        write_stmt(out, stmt, names, if is_long { "" } else { "let " });
    }
}

/// Writes a statement; `bind` stands before a value that it makes.
fn write_stmt(out: &mut String, stmt: &Stmt, names: Names<'_>, bind: &str) {
    let value = |v: &Operand| names.operand(v);
    let _ = match stmt {
        Stmt::Let(r, prim, args) => {
            let args: Vec<String> = args.iter().map(value).collect();
            writeln!(
                out,
                "{bind}v{r} = s.{}({});",
                prim.method(),
                args.join(", ")
            )
        }
        Stmt::Pick(r, [a, b], [equal, other]) => writeln!(
            out,
            "{bind}v{r} = if {} == {} {{ {} }} else {{ {} }};",
            ix(a),
            ix(b),
            value(equal),
            value(other)
        ),
        Stmt::SumValue(r, at) => {
            writeln!(out, "{bind}v{r} = reduce::sum::value(s, row, {});", ix(at))
        }
        Stmt::RowWord(r, at) => writeln!(out, "{bind}v{r} = row.get({});", ix(at)),
        Stmt::LogSumExpValue(r, at) => writeln!(
            out,
            "{bind}v{r} = reduce::logsumexp::value(s, row, {});",
            ix(at)
        ),
        Stmt::Mutable(r, v) => writeln!(out, "let mut v{r} = {};", value(v)),
        Stmt::Assign(r, v) => writeln!(out, "v{r} = {};", value(v)),
        Stmt::Array(a, _) if names.in_work(*a).is_some() => Ok(()),
        Stmt::Array(a, n) => writeln!(
            out,
            "let mut a{a}: {} = {};",
            names.lengths.array("S::F", *n),
            names.lengths.filled("s.lit(0.0f64)", *n)
        ),
        Stmt::Store(a, at, v) => match names.in_work(*a) {
            Some(first) => writeln!(
                out,
                "{{\nlet element = {};\nwork.set({}, element);\n}}",
                value(v),
                ix(&at.plus(first))
            ),
            None => writeln!(out, "a{a}[{}] = {};", ix(at), value(v)),
        },
        Stmt::Loop(var, n, body) => {
            let end = if names.stay.contains(var) {
                let _ = writeln!(out, "let n{var} = s.count({n});");
                format!("n{var}")
            } else {
                n.to_string()
            };
            let _ = writeln!(out, "let mut d{var} = 0;\nwhile d{var} < {end} {{");
            write_block(out, body, names);
            writeln!(out, "d{var} += 1;\n}}")
        }
        Stmt::Put(at, v) => writeln!(
            out,
            "{{\nlet put = {};\n{}.put({}, put);\n}}",
            value(v),
            names.sink,
            ix(at)
        ),
        Stmt::Sum(at, v) => {
            let at = ix(at);
            writeln!(
                out,
                "{{\nlet sum = reduce::sum::step(s, state.word({at}), {});\nstate.set({at}, sum);\n}}",
                value(v)
            )
        }
        Stmt::SumMul(at, a, b) => {
            let at = ix(at);
            writeln!(
                out,
                "{{\nlet sum = reduce::sum::step_mul(s, state.word({at}), {}, {});\nstate.set({at}, sum);\n}}",
                value(a),
                value(b)
            )
        }
        Stmt::Prod(at, v) => writeln!(
            out,
            "reduce::prod::step(s, state, {}, {});",
            ix(at),
            value(v)
        ),
        Stmt::Extremum(reducer, at, v) => {
            let (at, module) = (
                ix(at),
                if *reducer == Reducer::Min {
                    "min"
                } else {
                    "max"
                },
            );
            writeln!(
                out,
                "{{\nlet extremum = reduce::{module}::step(s, state.word({at}), {});\nstate.set({at}, extremum);\n}}",
                value(v)
            )
        }
        Stmt::KMin(k, at, v) => {
            let index = names.operand(&Operand::RowIndex(Space::Inner));
            writeln!(
                out,
                "reduce::kmin::step(s, state, {}, {k}, {}, {index});",
                ix(at),
                value(v)
            )
        }
        Stmt::LogSumExp(shrink, weight, at, v) => {
            writeln!(
                out,
                "let (v{shrink}, v{weight}) = reduce::logsumexp::step(s, state, {}, {});",
                ix(at),
                value(v)
            )
        }
        Stmt::Weigh(at, shrink, weight, v) => {
            let at = ix(at);
            writeln!(
                out,
                "{{\nlet sum = reduce::logsumexp::weigh(s, state.word({at}), v{shrink}, v{weight}, {});\nstate.set({at}, sum);\n}}",
                value(v)
            )
        }
    };
}
