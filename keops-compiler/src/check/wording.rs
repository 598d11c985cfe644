//! Parts of the wording that depend on types: what was probably meant, and how shapes could be made equal.

use super::error::{Role, Typed};
use super::suggest::Suggestion;
use crate::types::{Axis, Element, Shape};

/// A message: what is wrong, facts about it, what to write.
pub(super) struct Wording {
    pub(super) headline: String,
    pub(super) notes: Vec<String>,
    pub(super) help: Option<String>,
}

pub(super) fn bare(headline: impl Into<String>) -> Wording {
    Wording {
        headline: headline.into(),
        notes: vec![],
        help: None,
    }
}

pub(super) fn plain(headline: impl Into<String>, help: impl Into<String>) -> Wording {
    Wording {
        headline: headline.into(),
        notes: vec![],
        help: Some(help.into()),
    }
}

/// `` `x_i` is a vector of dimension 3 ``
pub(super) fn is(value: &Typed) -> String {
    format!("`{}` is {}", value.text, value.ty)
}

pub(super) fn unknown(name: &str, role: Role, suggestion: Option<&Suggestion>) -> Wording {
    let what = match role {
        Role::Value => "variable",
        Role::Function => "function",
        Role::Reduction => "reduction",
    };
    let help = match (suggestion, role) {
        (
            Some(Suggestion {
                name,
                from_keops: true,
            }),
            _,
        ) => Some(format!("what KeOps calls so is {name} here")),
        (
            Some(Suggestion {
                name,
                from_keops: false,
            }),
            _,
        ) => Some(format!("did you mean `{name}`?")),
        (None, Role::Value) => Some(format!("declare it: `{name}: f32` or `{name}: [f32; 3]`")),
        (None, _) => None,
    };
    Wording {
        headline: format!("there is no {what} `{name}`"),
        notes: vec![],
        help,
    }
}

pub(super) fn unequal(operation: &str, left: &Typed, right: &Typed, broadcast: bool) -> Wording {
    let headline = match broadcast {
        true => format!("{operation} needs values of the same shape, or a scalar"),
        false => format!("{operation} needs values of the same dimension"),
    };
    Wording {
        headline,
        notes: vec![is(left), is(right)],
        help: product(operation, left, right).or_else(|| equalize(left, right)),
    }
}

/// The matrix product that `*` was probably meant as.
fn product(operation: &str, left: &Typed, right: &Typed) -> Option<String> {
    let name = match (left.ty.shape, right.ty.shape) {
        (Shape::Matrix(_, c), Shape::Vector(n)) if c == n => "matvec",
        (Shape::Vector(n), Shape::Matrix(r, _)) if n == r => "vecmat",
        (Shape::Matrix(_, c), Shape::Matrix(r, _)) if c == r => "matmul",
        _ => return None,
    };
    let call = format!("{name}({}, {})", left.text, right.text);
    (operation == "`*`").then(|| format!("write `{call}` for the product"))
}

/// What would make two shapes equal: another declaration, or part of the longer vector.
fn equalize(left: &Typed, right: &Typed) -> Option<String> {
    let declare = |this: &Typed, like: &Typed| {
        let scalar = this.scalar.as_ref()?;
        Some(format!(
            "declare `{}: {}`",
            this.text,
            written(like.ty.shape, scalar)
        ))
    };
    let shorten = |this: &Typed, like: &Typed| match (this.ty.shape, like.ty.shape) {
        (Shape::Vector(long), Shape::Vector(short)) if long > short => {
            let simple = this.text.chars().all(|c| c.is_alphanumeric() || c == '_');
            let text = if simple {
                this.text.clone()
            } else {
                format!("({})", this.text)
            };
            Some(format!(
                "write `{text}[0..{short}]` for the first {short} numbers"
            ))
        }
        _ => None,
    };
    declare(right, left)
        .or_else(|| declare(left, right))
        .or_else(|| shorten(left, right))
        .or_else(|| shorten(right, left))
}

/// A type as Rust writes it.
fn written(shape: Shape, scalar: &str) -> String {
    match shape {
        Shape::Scalar => scalar.to_string(),
        Shape::Vector(n) => format!("[{scalar}; {n}]"),
        Shape::Matrix(r, c) => format!("[[{scalar}; {c}]; {r}]"),
    }
}

pub(super) fn wrong_type(
    operation: &str,
    argument: &Typed,
    expected: &str,
    reduction: Option<&str>,
) -> Wording {
    let text = &argument.text;
    let help = match (argument.ty.element, argument.ty.shape) {
        _ if reduction.is_some() => reduction.map(|r| format!("write `{r} …` to reduce over rows")),
        (Element::Bool, _) if expected != "a condition" => {
            Some(format!("write `if {text} {{ 1.0 }} else {{ 0.0 }}`"))
        }
        (Element::Complex, Shape::Vector(_)) if expected == "a scalar" => {
            Some("write `v[0]` for one number, `sum(v)` or `norm2(v)` for all".into())
        }
        (Element::Complex, _) if expected == "a real number" || expected == "a scalar" => {
            Some(format!(
                "apply it to `re({text})` and `im({text})`, or to `abs({text})`; `complex(x, y)` puts two parts together"
            ))
        }
        (Element::Real, _) if expected == "a complex number" => {
            Some(format!("write `complex({text}, 0.0)`"))
        }
        (Element::Integer, _) => Some(format!("write `real({text})` for a number")),
        (Element::Index, _) => Some("return the index itself, and compute with it in Rust".into()),
        (Element::Real, Shape::Scalar) if expected == "a condition" => {
            Some(format!("write `{text} != 0.0`"))
        }
        (Element::Real, Shape::Vector(n)) if expected == "a scalar" && n > 1 => {
            Some("write `v[0]` for one number, `sum(v)` or `norm2(v)` for all".into())
        }
        (Element::Real, shape) => match (&argument.scalar, expected, shape) {
            (Some(scalar), "a vector", Shape::Scalar) => {
                Some(format!("declare `{text}: [{scalar}; 3]`"))
            }
            (Some(scalar), "a vector", Shape::Matrix(_, c)) => Some(format!(
                "declare `{text}: [{scalar}; {c}]`, or write `{text}[0]` for its first row"
            )),
            (None, "a vector", Shape::Scalar) => {
                Some(format!("write `[{text}]` for a vector of dimension 1"))
            }
            _ => None,
        },
        _ => None,
    };
    let operation = if operation.is_empty() {
        "this"
    } else {
        operation
    };
    Wording {
        headline: format!("{operation} needs {expected}"),
        notes: vec![is(argument)],
        help,
    }
}

pub(super) fn wrong_index(
    name: &str,
    base: &str,
    axis: Axis,
    on_other: bool,
    declared: bool,
) -> Wording {
    let (letter, other) = (axis.letter(), axis.other().letter());
    let note = match declared {
        true => format!("what `{name}` reduces does not depend on {letter}"),
        false => format!("no variable ends in `_{letter}`, so the number of rows is unknown"),
    };
    let help = match on_other {
        true => format!("write `{base}_{other}` to reduce over {other}"),
        false => format!("use a variable that ends in `_{letter}` in the body"),
    };
    Wording {
        headline: format!("`{name}` has nothing to reduce over {letter}"),
        notes: vec![note],
        help: Some(help),
    }
}
