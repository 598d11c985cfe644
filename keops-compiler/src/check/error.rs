//! [`CheckError`]: every mistake that a user can make in a formula, as data. The wording is in `message.rs`.
//!
//! Variants hold texts of sub-expressions and types, no spans: the place is kept beside them. One mistake is one error:
//! what failed has no type afterwards, and things without a type raise nothing.

use super::suggest::Suggestion;
use crate::budget::Excess;
use crate::types::{Axis, Type};

/// A sub-expression and its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Typed {
    /// As written.
    pub text: String,
    /// Its type.
    pub ty: Type,
    /// How its type is written, if it is a variable and could be declared otherwise: the scalar (`f32`).
    pub scalar: Option<String>,
}

/// What a name was used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `name`
    Value,
    /// `name(…)`
    Function,
    /// `name_j …`
    Reduction,
}

/// A mistake.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckError {
    // Syntax.
    /// No tokens at all.
    Empty,
    /// `fn f(…) = ;`
    NoFormula,
    /// Too many tokens.
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// Too many levels.
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// Too many operations in a row, named with `let`.
    TooManySteps {
        /// The limit.
        limit: usize,
    },
    /// Something else should be here.
    Unexpected {
        /// What should be.
        expected: String,
        /// What is.
        found: String,
        /// What to write.
        help: Option<String>,
    },
    /// An item or `let` without its `;`.
    MissingSemicolon,
    /// `fn f(…) { … }`
    MissingEquals,
    /// `#![…]`
    InnerAttribute,
    /// `#[keops(other)]`
    UnknownOption {
        /// The option.
        name: String,
        /// What was probably meant.
        suggestion: Option<String>,
    },
    /// `#[keops(precise, fast_math)]`
    ContradictoryOptions,
    /// `a < b < c`
    ChainedComparison,
    /// `f::<3>(x)` of something that is not a reduction.
    Turbofish {
        /// The name.
        name: String,
    },
    /// `sum_j` followed by nothing.
    NoBody {
        /// The reduction.
        name: String,
    },
    /// `()` or `[]`
    EmptyBrackets,
    /// `"text"`
    NotANumberLiteral {
        /// The literal.
        text: String,
    },
    /// `v[k]`
    IndexNotLiteral,
    /// `kmin_j::<K>`
    KNotLiteral,
    /// `if c { a }`
    MissingElse,
    /// `else` followed by no block.
    MissingBranch,
    /// `{ let a = b; }`
    NoBlockValue,
    /// `{ a; }`
    SemicolonAfterValue,
    /// `{ a; b }`
    UnusedStatement,
    /// `let a: f32 = b;`
    TypedLet {
        /// The name.
        name: String,
    },

    /// A correct formula that takes too much of something.
    TooMuch {
        /// What takes it.
        what: String,
        /// Of what.
        excess: Excess,
    },
    /// A formula whose code grows with its const parameters, too long at the samples.
    WrittenOut,

    // Variables.
    /// The expression form without `where`.
    MissingWhere,
    /// `x_i` without `: type`.
    MissingType {
        /// The variable.
        name: String,
    },
    /// `[f32]`
    MissingDimension {
        /// The element type.
        element: String,
    },
    /// `[f32; N]`
    DimensionNotLiteral,
    /// `&f32`
    BorrowedType,
    /// A type that is not a float.
    UnknownType {
        /// The type.
        name: String,
        /// What it may have meant.
        float: Option<&'static str>,
    },
    /// `[f32; 0]`
    ZeroDimension,
    /// `[[[f32; 2]; 2]; 2]`
    TooManyDimensions,
    /// A value of too many numbers.
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// Two float types in one signature.
    MixedFloats {
        /// The first variable.
        first: String,
        /// Its float type.
        expected: String,
        /// The variable at fault.
        name: String,
        /// Its float type.
        found: String,
    },
    /// More const parameters in a macro call than [`MOST`](crate::dimensions::MOST).
    TooManyDimensionNames,
    /// A const parameter that is no dimension of a variable.
    UnusedDimension {
        /// Its name.
        name: String,
    },
    /// Values for device code that leave a const parameter out.
    NoValues {
        /// The parameter.
        name: String,
    },
    /// Device code for more combinations of values than this.
    TooManyValues {
        /// The most.
        limit: usize,
    },
    /// A const parameter's name that something else has, maybe in the expansion.
    DimensionTaken {
        /// The name.
        name: String,
    },
    /// More or other generics than one type parameter and const parameters.
    Generics,
    /// `fn f<T>(x_i: f32)`
    UnusedTypeParameter {
        /// The parameter.
        name: String,
    },
    /// A name declared twice.
    Duplicate {
        /// The name.
        name: String,
        /// What it is: "variable", "formula", …
        what: &'static str,
    },
    /// A `let` with the name of a variable or of another `let`.
    DuplicateLet {
        /// The name.
        name: String,
        /// Whether the other one is a variable.
        variable: bool,
    },
    /// A name that cannot be used.
    Reserved {
        /// The name.
        name: String,
        /// Why.
        why: &'static str,
    },
    /// A variable that the formula does not need.
    UnusedVariable {
        /// The variable.
        name: String,
    },
    /// A `let` that nothing needs.
    UnusedLet {
        /// The name.
        name: String,
    },

    // Names and calls.
    /// A name that nothing has.
    Unknown {
        /// The name.
        name: String,
        /// What it was used as.
        role: Role,
        /// What it may have meant.
        suggestion: Option<Suggestion>,
    },
    /// A variable before brackets.
    NotAFunction {
        /// The variable.
        name: String,
        /// Whether it is a vector or matrix, which could be indexed.
        indexable: bool,
    },
    /// Two operands side by side.
    MissingOperator {
        /// The left one.
        left: String,
    },
    /// A function without its arguments.
    FunctionAsValue {
        /// The function.
        name: String,
    },
    /// A derivative by something that is no variable.
    NotAVariable {
        /// `grad`, `jvp`, …
        function: &'static str,
        /// What is there.
        found: String,
        /// The formula's variables.
        variables: Vec<String>,
    },
    /// The gradient of something that is no scalar.
    DerivativeOfVector {
        /// `grad` or `laplacian`.
        function: &'static str,
        /// What is derived.
        argument: Box<Typed>,
    },
    /// A derivative of a value that depends on the rows which a reduction in it folds.
    DerivativeMixesRows {
        /// `grad`, `jvp`, …
        function: &'static str,
        /// The reduction.
        reduction: String,
        /// The index.
        axis: Axis,
    },
    /// A derivative of an item inside a formula.
    DerivativeInFormula {
        /// `grad`, `jvp`, …
        name: String,
    },
    /// The wrong number of arguments.
    Arity {
        /// The function or reduction.
        name: String,
        /// How it is called, as in `pow(a, exponent)`.
        usage: String,
        /// How many arguments it takes, as in "2 arguments".
        expected: String,
        /// How many there are.
        found: usize,
    },
    /// A static parameter that is not an integer literal.
    NotAnInteger {
        /// The function.
        name: String,
        /// The parameter's name.
        parameter: &'static str,
        /// Whether it is a list of integers.
        list: bool,
        /// What is there.
        found: String,
    },
    /// A static parameter out of range.
    ParameterRange {
        /// The operation or reduction.
        operation: String,
        /// The parameter's name.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        expected: String,
    },

    // Types.
    /// Shapes that should be equal.
    Unequal {
        /// The operation, as in "`-`" or "`sqdist`".
        operation: String,
        /// One side.
        left: Box<Typed>,
        /// The other.
        right: Box<Typed>,
        /// Whether a scalar would do.
        broadcast: bool,
    },
    /// A type that does not fit.
    WrongType {
        /// The operation.
        operation: String,
        /// The argument.
        argument: Box<Typed>,
        /// What would fit.
        expected: String,
        /// The reduction of the same name, where that was probably meant.
        reduction: Option<String>,
    },
    /// A literal with a suffix of another type.
    LiteralType {
        /// The literal without suffix.
        number: String,
        /// The suffix.
        suffix: String,
        /// The item's type.
        scalar: String,
    },
    /// A literal that is infinite in the item's type.
    LiteralRange {
        /// The item's type.
        scalar: String,
    },
    /// An index outside of the value.
    OutOfBounds {
        /// The index.
        index: i64,
        /// The value.
        value: Box<Typed>,
        /// Its extent.
        dimension: usize,
    },
    /// A range that holds nothing.
    EmptyRange {
        /// Its start.
        start: i64,
        /// Its end.
        end: i64,
    },
    /// Subscripts of something that has not that many indices.
    TooManySubscripts {
        /// The value.
        value: Box<Typed>,
    },

    // Reductions and indices.
    /// The body does not depend on the index that is reduced.
    WrongIndex {
        /// The reduction.
        name: String,
        /// Its name without the index.
        base: String,
        /// The index.
        axis: Axis,
        /// Whether the body depends on the other one.
        on_other: bool,
        /// Whether a variable has the index.
        declared: bool,
    },
    /// A reduction in the body of another.
    Nested {
        /// The outer one.
        outer: String,
        /// What is inside.
        inner: String,
        /// The outer one in brackets, where that was probably meant.
        bracketed: Option<String>,
    },
    /// A reduction that needs a K has none.
    MissingK {
        /// The reduction.
        name: String,
    },
    /// A reduction that takes no K has one.
    UnexpectedK {
        /// The reduction.
        name: String,
    },
    /// `::<0>`
    ZeroK {
        /// The reduction.
        name: String,
    },
    /// A K beyond the limit.
    LargeK {
        /// The reduction.
        name: String,
        /// K.
        k: i64,
        /// The limit.
        limit: usize,
    },
    /// A formula that reduces nothing.
    NoReduction {
        /// The reduction to write, `sum_j`.
        example: String,
        /// Whether it is one of several results.
        in_tuple: bool,
    },
    /// A result that depends on an index it should not have.
    FreeIndex {
        /// What has it.
        text: String,
        /// The index.
        axis: Axis,
    },
    /// A derivative by a variable whose index the derived value has not, or not any more.
    DerivativeLeavesIndex {
        /// The derivative.
        text: String,
        /// The variable.
        variable: String,
        /// Its index.
        axis: Axis,
        /// Whether it has a value for each row of the other index too, over which it can be summed.
        summed: bool,
    },
    /// Reductions over i and over j in one formula.
    MixedIndices {
        /// The reduction at fault.
        name: String,
        /// The first one.
        first: String,
    },
    /// A condition as the result.
    ConditionResult,
    /// A complex value beside a real one.
    ComplexWithReal {
        /// The operation.
        operation: String,
        /// The complex value.
        complex: Box<Typed>,
        /// The real one.
        other: Box<Typed>,
    },
    /// A derivative that complex values do not have.
    ComplexDerivative {
        /// `laplacian`, …
        function: &'static str,
    },
    /// An integer as the result.
    IntegerResult,
    /// `i` or `j` where no variable has such rows.
    NoRows {
        /// The index.
        axis: Axis,
    },
    /// An integer beside a number that is not the same for all rows.
    IntegerWithReal {
        /// The operation.
        operation: String,
        /// The integer.
        integer: Box<Typed>,
        /// The number.
        other: Box<Typed>,
    },
    /// Integers that are no sums of multiples of `i` and `j`.
    IntegerTooMuch,
    /// A tuple inside a formula.
    NestedTuple,

    // Derivatives of items.
    /// An item without variables that is not a derivative.
    MissingVariables {
        /// The item.
        name: String,
    },
    /// `grad` with other arguments than an item and a variable.
    GradArguments {
        /// `grad` or `jvp`.
        function: String,
    },
    /// An item that does not exist.
    UnknownItem {
        /// The name.
        name: String,
        /// What it may have meant.
        suggestion: Option<Suggestion>,
        /// Whether it comes later.
        later: bool,
    },
    /// A variable that the item does not have.
    UnknownItemVariable {
        /// The name.
        name: String,
        /// The item.
        item: String,
        /// The item's variables.
        variables: Vec<String>,
        /// What it may have meant.
        suggestion: Option<Suggestion>,
    },
    /// An item without a derivative.
    NotDifferentiable {
        /// The item.
        item: String,
        /// The reduction that has none.
        reduction: String,
    },
    /// The derivative of a tuple.
    TupleDerivative {
        /// The item.
        item: String,
    },
}
