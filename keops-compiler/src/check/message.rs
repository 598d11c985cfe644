//! The wording of every [`CheckError`], in one `match`: lower case, no full stop, user code in backticks, and a help line
//! only where it can be followed literally.

use super::error::CheckError;
use super::wording::{Wording, bare, is, plain, unequal, unknown, wrong_index, wrong_type};
use crate::dimensions::MOST;
use crate::graph::integer::LARGEST_FACTOR;
use crate::types::Element;

impl CheckError {
    /// The text shown to the user, several lines.
    pub fn message(&self) -> String {
        let Wording {
            headline,
            notes,
            help,
        } = self.wording();
        let notes = notes.into_iter().map(|note| format!("  {note}"));
        let help = help.map(|help| format!("help: {help}"));
        std::iter::once(headline)
            .chain(notes)
            .chain(help)
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn wording(&self) -> Wording {
        use CheckError as E;
        match self {
            E::Empty => plain(
                "`keops!` needs a formula",
                "write `keops!(sum_j x_i * y_j where x_i: f32, y_j: f32)`",
            ),
            E::NoFormula => plain(
                "there is no formula",
                "write one, such as `sum_j x_i * y_j`",
            ),
            E::TooLong { limit } => bare(format!(
                "this call of `keops!` has more than {limit} tokens"
            )),
            E::TooDeep { limit } => plain(
                format!("the formula is nested more than {limit} levels deep"),
                "name parts of it with `let`",
            ),
            E::TooManySteps { limit } => bare(format!(
                "this takes more than {limit} operations that depend on each other"
            )),
            E::TooMuch { what, excess } => bare(format!("{what} takes {excess}")),
            E::WrittenOut => plain(
                "this is written out number by number, so there is no code for all values of its const parameters",
                "write a number for the dimension",
            ),
            E::Unexpected {
                expected,
                found,
                help,
            } => Wording {
                headline: format!("expected {expected}, found {found}"),
                notes: vec![],
                help: help.clone(),
            },
            E::MissingSemicolon => plain("`;` is missing behind this", "add `;`"),
            E::MissingEquals => plain(
                "a formula is written with `=`",
                "write `= formula;` instead of `{ … }`",
            ),
            E::InnerAttribute => plain(
                "inner attributes are not accepted",
                "write `#[…]` without `!`",
            ),
            E::UnknownOption { name, suggestion } => plain(
                format!("there is no option `{name}`"),
                match suggestion {
                    Some(suggestion) => format!("did you mean `{suggestion}`?"),
                    None => "the options are `precise`, `fast_math`, `expand`, and values of const parameters, `D = 3`"
                        .into(),
                },
            ),
            E::ContradictoryOptions => plain(
                "a formula cannot be both `precise` and `fast_math`",
                "keep one of the two",
            ),
            E::ChainedComparison => {
                plain("comparisons cannot be chained", "write `a < b && b < c`")
            }
            E::Turbofish { name } => plain(format!("`{name}` takes no `::<…>`"), "remove `::<…>`"),
            E::NoBody { name } => plain(
                format!("`{name}` is followed by nothing to reduce"),
                format!("write `{name} formula`"),
            ),
            E::EmptyBrackets => bare("these brackets are empty"),
            E::NotANumberLiteral { text } => bare(format!("`{text}` is not a number")),
            E::IndexNotLiteral => plain(
                "an index inside a value must be made of integer literals and const parameters by `+`, `-` and `*`",
                "write `v[0]` or `v[0..2]`",
            ),
            E::KNotLiteral => plain(
                "K must be made of integer literals and const parameters by `+`, `-` and `*`",
                "write `::<5>`",
            ),
            E::MissingElse => plain(
                "`if` needs an `else`: every case has a value",
                "write `if c { a } else { b }`",
            ),
            E::MissingBranch => plain("`else` needs braces", "write `else { b }`"),
            E::NoBlockValue => plain(
                "this block has no value",
                "end it with an expression without `;`",
            ),
            E::SemicolonAfterValue => plain("the last line of a block is its value", "remove `;`"),
            E::UnusedStatement => plain(
                "this value is dropped",
                "write `let name = …;`, or remove it",
            ),
            E::TypedLet { name } => plain(
                "`let` takes no type: it follows from the value",
                format!("write `let {name} = …;`"),
            ),

            E::MissingWhere => plain(
                "the types of the variables are missing",
                "add `where x_i: [f32; 3], y_j: f32` behind the formula",
            ),
            E::MissingType { name } => plain(
                format!("the type of `{name}` is missing"),
                format!("write `{name}: f32` or `{name}: [f32; 3]`"),
            ),
            E::MissingDimension { element } => plain(
                "the dimension is missing: all dimensions are known at compile time",
                format!("write `[{element}; 3]` for a vector of dimension 3"),
            ),
            E::DimensionNotLiteral => {
                plain(
                    "a dimension must be an integer literal, or a const parameter of the formula",
                    "write `[f32; 3]`, or declare `fn name<const D: usize>(x_i: [f32; D])`",
                )
            }
            E::BorrowedType => plain(
                "variables are declared by the type of one row",
                "write the type without `&`",
            ),
            E::UnknownType {
                name,
                float: Some(float),
            } => plain(
                format!("`{name}` is not a type of variables"),
                format!("write `{float}`"),
            ),
            E::UnknownType { name, float: None } if name == "Complex" => plain(
                "`Complex` needs the type of its parts",
                "write `Complex<f32>`",
            ),
            E::UnknownType { name, float: None } if is_type_parameter(name) => plain(
                format!("`{name}` is not a type of variables"),
                format!("write `fn name<{name}>(…)` to declare it"),
            ),
            E::UnknownType { name, float: None } => plain(
                format!("`{name}` is not a type of variables"),
                "the types are `f32`, `f64`, `[f32; 3]` and `[[f32; 3]; 2]`, or with `T` after `fn name<T>`",
            ),
            E::ZeroDimension => plain(
                "a dimension must be at least 1",
                "write `[f32; 1]` or `f32` for one number",
            ),
            E::TooManyDimensions => plain(
                "values are scalars, vectors or matrices",
                "write at most two dimensions, as in `[[f32; 3]; 2]`",
            ),
            E::TooLarge { limit } => bare(format!("one value may hold at most {limit} numbers")),
            E::MixedFloats {
                first,
                expected,
                name,
                found,
            } => Wording {
                headline: "all variables must have the same float type".into(),
                notes: vec![
                    format!("`{first}` has `{expected}`"),
                    format!("`{name}` has `{found}`"),
                ],
                help: Some(format!("declare `{name}` with `{expected}`")),
            },
            E::Generics => plain(
                "a formula takes one type parameter at most, without bounds, and const parameters of type `usize`",
                "write `fn name<T, const D: usize>(x_i: [T; D])`",
            ),
            E::TooManyDimensionNames => plain(
                format!("the formulas of a macro call have at most {MOST} const parameters between them"),
                "write numbers for the other dimensions",
            ),
            E::UnusedDimension { name } => plain(
                format!("no variable has the dimension `{name}`"),
                format!("remove `const {name}: usize`"),
            ),
            E::NoValues { name } => plain(
                format!("device code needs values of all const parameters, also of `{name}`"),
                format!("add `{name} = 3`"),
            ),
            E::TooManyValues { limit } => plain(
                format!("device code is made for at most {limit} combinations of values"),
                "list fewer",
            ),
            E::DimensionTaken { name } => plain(
                format!("the name `{name}` is taken"),
                "const parameters need names of their own, such as `D` and `E`",
            ),
            E::UnusedTypeParameter { name } => plain(
                format!("no variable has the type `{name}`"),
                format!("remove `<{name}>`"),
            ),
            E::Duplicate { name, what } => plain(
                format!("two {what}s are named `{name}`"),
                "rename one of them",
            ),
            E::DuplicateLet {
                name,
                variable: true,
            } => plain(
                format!("`{name}` is a variable already"),
                "choose another name",
            ),
            E::DuplicateLet {
                name,
                variable: false,
            } => plain(
                format!("`{name}` is defined already"),
                "choose another name",
            ),
            E::Reserved { name, why } => plain(
                format!("`{name}` cannot be a name: {why}"),
                "choose another name",
            ),
            E::UnusedVariable { name } => plain(
                format!("the formula does not use `{name}`"),
                format!("use `{name}`, or remove it"),
            ),
            E::UnusedLet { name } => plain(
                format!("nothing uses `{name}`"),
                "use it, or remove this `let`",
            ),

            E::Unknown {
                name,
                role,
                suggestion,
            } => unknown(name, *role, suggestion.as_ref()),
            E::NotAFunction { name, indexable } => Wording {
                headline: format!("`{name}` is a variable, not a function"),
                notes: vec![],
                help: Some(match indexable {
                    true => format!(
                        "write `{name} * (…)` to multiply, `{name}[0]` for one of its numbers"
                    ),
                    false => format!("write `{name} * (…)` to multiply"),
                }),
            },
            E::MissingOperator { left } => plain(
                format!("an operator is missing behind `{left}`"),
                format!("write `{left} * …` to multiply"),
            ),
            E::FunctionAsValue { name } => plain(
                format!("`{name}` is a function and needs arguments"),
                format!("write `{name}(…)`"),
            ),
            E::NotAVariable {
                function,
                found,
                variables,
            } => Wording {
                headline: format!(
                    "`{function}` derives by a variable of the formula, not by `{found}`"
                ),
                notes: vec![format!("its variables are {}", variables.join(", "))],
                help: Some(match function {
                    &"jvp" => "write the variable second: `jvp(f, v, t)`".into(),
                    function => format!("write the variable second: `{function}(f, v)`"),
                }),
            },
            E::DerivativeOfVector { function, argument } => Wording {
                headline: format!("`{function}(f, v)` derives scalars"),
                notes: vec![is(argument)],
                help: Some(match *function {
                    _ if argument.ty.element == Element::Complex => {
                        "derive `re(f)`, or write `grad(f, v, e)` with a complex weight `e`".into()
                    }
                    "grad" => "write `jacobian(f, v)` for all derivatives, `grad(f, v, e)` for that of their sum with weights `e`".into(),
                    function => format!("write `{function}(f[0], v)` for one number"),
                }),
            },
            E::DerivativeMixesRows {
                function,
                reduction,
                axis,
            } => {
                let letter = axis.letter();
                Wording {
                    headline: format!(
                        "`{function}` would mix two rows {letter}: those that `{reduction}` reduces, and that of the pair"
                    ),
                    notes: vec![],
                    help: Some(format!(
                        "derive what depends on {letter} and what is reduced over {letter} one by one, or use `grad` of an item"
                    )),
                }
            }
            E::DerivativeInFormula { name } => plain(
                format!("`{name}` of another formula makes a formula of its own and cannot be part of one"),
                format!("write `fn derivative = {name}(item, variable);`, without variables"),
            ),
            E::Arity {
                name,
                usage,
                expected,
                found,
            } => plain(
                format!(
                    "`{name}` takes {expected}, but {found} {} given",
                    if *found == 1 { "is" } else { "are" }
                ),
                format!("write `{usage}`"),
            ),
            E::NotAnInteger {
                name,
                parameter,
                list,
                found,
            } => {
                let help = match name.as_str() {
                    _ if *list => "write a list of literals such as `[2, 3]`".to_string(),
                    "pow" => "write `pow(a, 2)` with a literal, or `powf(a, b)` for any exponent"
                        .to_string(),
                    _ => "write a literal such as `2`, or `+`, `-` and `*` of literals and const parameters".to_string(),
                };
                plain(
                    format!(
                        "the {parameter} of `{name}` must be {}, not `{found}`",
                        if *list {
                            "a list of integers known at compile time"
                        } else {
                            "an integer known at compile time"
                        }
                    ),
                    help,
                )
            }
            E::ParameterRange {
                operation,
                parameter,
                value,
                expected,
            } => bare(format!(
                "the {parameter} of {operation} is {value}, but must be {expected}"
            )),

            E::Unequal {
                operation,
                left,
                right,
                broadcast,
            } => unequal(operation, left, right, *broadcast),
            E::WrongType {
                operation,
                argument,
                expected,
                reduction,
            } => wrong_type(operation, argument, expected, reduction.as_deref()),
            E::LiteralType {
                number,
                suffix,
                scalar,
            } => Wording {
                headline: format!("a literal of type `{suffix}` in a formula of `{scalar}`"),
                notes: vec![],
                help: Some(format!(
                    "write `{number}`: literals have the type of the variables"
                )),
            },
            E::LiteralRange { scalar } => bare(format!("this number is too large for `{scalar}`")),
            E::OutOfBounds {
                index,
                value,
                dimension,
            } => Wording {
                headline: format!("index {index} is out of bounds"),
                notes: vec![is(value)],
                help: Some(format!(
                    "the indices are 0 to {}",
                    dimension.saturating_sub(1)
                )),
            },
            E::EmptyRange { start, end } => plain(
                format!("the range {start}..{end} is empty"),
                format!(
                    "write `{start}..{}` for one number: the end is not included",
                    start.saturating_add(1)
                ),
            ),
            E::TooManySubscripts { value } => Wording {
                headline: "there is nothing to index".into(),
                notes: vec![is(value)],
                help: None,
            },

            E::WrongIndex {
                name,
                base,
                axis,
                on_other,
                declared,
            } => wrong_index(name, base, *axis, *on_other, *declared),
            E::Nested {
                outer,
                inner,
                bracketed,
            } => Wording {
                headline: format!("a reduction inside the body of `{outer}`"),
                notes: match bracketed {
                    Some(_) => vec![format!(
                        "the body of `{outer}` reaches to the end of the enclosing bracket"
                    )],
                    None => vec![format!("`{inner}` is reduced already")],
                },
                help: Some(match bracketed {
                    Some(text) => format!("write `({text})`"),
                    None => format!(
                        "compute `{inner}` in a formula of its own and pass its result as a variable"
                    ),
                }),
            },
            E::MissingK { name } => plain(
                format!("`{name}` needs a K"),
                format!("write `{name}::<5>` for five rows"),
            ),
            E::UnexpectedK { name } => plain(format!("`{name}` takes no K"), "remove `::<…>`"),
            E::ZeroK { name } => plain(
                format!("the K of `{name}` must be at least 1"),
                format!("write `{name}::<1>`"),
            ),
            E::LargeK { name, k, limit } => bare(format!(
                "the K of `{name}` is {k}, but must be at most {limit}"
            )),
            E::NoReduction { example, in_tuple } => plain(
                if *in_tuple {
                    "this result reduces nothing"
                } else {
                    "the formula reduces nothing"
                },
                match in_tuple {
                    true => "compute it in Rust, or remove it".to_string(),
                    false => format!(
                        "write `{example} …` to reduce over {}",
                        example.chars().last().unwrap_or('j')
                    ),
                },
            ),
            E::FreeIndex { text, axis } => {
                let letter = axis.letter();
                Wording {
                    headline: format!("the index {letter} is left in the result"),
                    notes: vec![format!(
                        "`{text}` depends on {letter} outside of the reduction over {letter}"
                    )],
                    help: Some(format!(
                        "move it into the body of the reduction over {letter}"
                    )),
                }
            }
            E::DerivativeLeavesIndex {
                text,
                variable,
                axis,
                summed,
            } => {
                let (letter, other) = (axis.letter(), axis.other().letter());
                Wording {
                    headline: format!("the index {letter} is left in the result"),
                    notes: vec![format!(
                        "the derivative by `{variable}` has a value for each {letter}"
                    )],
                    help: Some(match summed {
                        true => format!("write `sum_{other} {text}` for the sum over all {other}"),
                        false => format!("derive an item: `fn derivative = grad(item, {variable});`"),
                    }),
                }
            }
            E::MixedIndices { name, first } => plain(
                format!("`{name}` and `{first}` reduce over different indices"),
                "write one formula for each index",
            ),
            E::ConditionResult => plain(
                "the result is a condition, not a number",
                "write `if c { 1.0 } else { 0.0 }`",
            ),
            E::ComplexWithReal {
                operation,
                complex,
                other,
            } => Wording {
                headline: format!("{operation} does not mix real and complex values"),
                notes: vec![is(complex), is(other)],
                help: Some(format!("write `complex({}, 0.0)`", other.text)),
            },
            E::ComplexDerivative { function } => plain(
                format!("`{function}` derives real values by real variables"),
                "use `grad` or `jvp`, or derive by two real variables",
            ),
            E::IntegerResult => plain(
                "the result is an integer made of row numbers",
                "write `real(…)` for a number",
            ),
            E::NoRows { axis } => {
                let letter = axis.letter();
                plain(
                    format!("no variable ends in `_{letter}`, so there are no rows for `{letter}` to count"),
                    format!("declare a variable that ends in `_{letter}`"),
                )
            }
            E::IntegerWithReal {
                operation,
                integer,
                other,
            } => Wording {
                headline: format!("{operation} of an integer needs another integer, or a parameter"),
                notes: vec![is(integer), is(other)],
                help: Some(format!("write `real({})` for a number", integer.text)),
            },
            E::IntegerTooMuch => plain(
                format!(
                    "integers are sums of `i`, `j`, integer literals and one parameter, with factors up to {LARGEST_FACTOR} in all"
                ),
                "write `real(i)` and `real(j)` to compute with numbers",
            ),
            E::NestedTuple => plain(
                "a tuple can only be the whole formula",
                "write one number here",
            ),

            E::MissingVariables { name } => plain(
                format!("`{name}` has no variables"),
                format!(
                    "write `fn {name}(x_i: f32) = …;`, or `fn {name} = grad(item, variable);` for a derivative"
                ),
            ),
            E::GradArguments { function } => plain(
                "a derivative is of an item, by one of its variables",
                format!("write `{function}(item, variable)` with two names"),
            ),
            E::UnknownItem {
                name, later: true, ..
            } => plain(
                format!("the formula `{name}` comes later"),
                format!("move `{name}` before its derivative"),
            ),
            E::UnknownItem {
                name, suggestion, ..
            } => Wording {
                headline: format!("there is no formula `{name}` in this `keops!`"),
                notes: vec![],
                help: suggestion
                    .as_ref()
                    .map(|s| format!("did you mean `{}`?", s.name)),
            },
            E::UnknownItemVariable {
                name,
                item,
                variables,
                suggestion,
            } => Wording {
                headline: format!("`{item}` has no variable `{name}`"),
                notes: vec![format!("its variables are {}", variables.join(", "))],
                help: suggestion
                    .as_ref()
                    .map(|s| format!("did you mean `{}`?", s.name)),
            },
            E::NotDifferentiable { item, reduction } => bare(format!(
                "`{item}` has no derivative: `{reduction}` gives indices"
            )),
            E::TupleDerivative { item } => plain(
                format!("`{item}` has several results: derivative items are of items with one"),
                "write one formula for each result",
            ),
        }
    }
}

/// Whether a name looks like `T`.
fn is_type_parameter(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(char::is_uppercase) && chars.next().is_none()
}
