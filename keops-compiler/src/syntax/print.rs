//! Expressions as formula text: one line, the user's own brackets, readable and parsed back to the same expression.

use super::{Expr, ExprKind, Reduce, Subscript};
use std::fmt::{self, Display, Formatter};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Error => f.write_str("…"),
            ExprKind::Name(name) => f.write_str(name),
            ExprKind::Number(number) => f.write_str(&number.text),
            ExprKind::Prefix(operator, operand) => write!(f, "{operator}{operand}"),
            ExprKind::Infix(operator, left, right) => write!(f, "{left} {operator} {right}"),
            ExprKind::Call { name, args } => {
                write!(f, "{}(", name.text)?;
                list(f, args)?;
                f.write_str(")")
            }
            ExprKind::Reduce(reduce) => reduction(f, reduce),
            ExprKind::Subscript(value, subscripts) => {
                write!(f, "{value}[")?;
                for (k, subscript) in subscripts.iter().enumerate() {
                    f.write_str(if k == 0 { "" } else { ", " })?;
                    self::subscript(f, subscript)?;
                }
                f.write_str("]")
            }
            ExprKind::Array(list) => {
                f.write_str("[")?;
                self::list(f, list)?;
                f.write_str("]")
            }
            ExprKind::If(parts) => {
                let [condition, then, otherwise] = parts.as_ref();
                write!(f, "if {condition} {then} else {otherwise}")
            }
            ExprKind::Block(lets, value) => {
                f.write_str("{ ")?;
                for binding in lets {
                    write!(f, "let {} = {}; ", binding.name.text, binding.value)?;
                }
                write!(f, "{value} }}")
            }
            ExprKind::Paren(inner) => write!(f, "({inner})"),
            ExprKind::Tuple(list) => {
                f.write_str("(")?;
                self::list(f, list)?;
                // The comma keeps a tuple of one apart from brackets.
                f.write_str(if list.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}

fn list(f: &mut Formatter<'_>, list: &[Expr]) -> fmt::Result {
    for (k, expr) in list.iter().enumerate() {
        f.write_str(if k == 0 { "" } else { ", " })?;
        expr.fmt(f)?;
    }
    Ok(())
}

fn reduction(f: &mut Formatter<'_>, reduce: &Reduce) -> fmt::Result {
    f.write_str(&reduce.name.text)?;
    if let Some(k) = reduce.k {
        write!(f, "::<{}>", k.value)?;
    }
    match reduce.args.as_slice() {
        [body] => write!(f, " {body}"),
        several => {
            f.write_str("(")?;
            list(f, several)?;
            f.write_str(")")
        }
    }
}

fn subscript(f: &mut Formatter<'_>, subscript: &Subscript) -> fmt::Result {
    match subscript {
        Subscript::At(at) => write!(f, "{}", at.value),
        Subscript::Range(low, high, _) => {
            low.iter().try_for_each(|low| write!(f, "{}", low.value))?;
            f.write_str("..")?;
            high.iter().try_for_each(|high| write!(f, "{}", high.value))
        }
    }
}

/// An expression as messages quote it: shortened if it is long.
pub fn quoted(expr: &Expr) -> String {
    const LONGEST: usize = 60;
    let text = expr.to_string();
    if text.chars().count() <= LONGEST {
        return text;
    }
    let start: String = text.chars().take(LONGEST - 1).collect();
    format!("{start}…")
}
