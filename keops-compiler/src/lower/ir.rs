//! The kernel IR: straight-line scalar primitives and loops over dimensions, the only language back ends know.
//!
//! Invariants: every register is assigned before use and once, except loop accumulators (`Stmt::Mutable`), which live in
//! the block that declares them; a loop variable is only mentioned inside its loop; code size does not grow with a
//! dimension beyond [`UNROLL`](super::UNROLL).

/// A loop variable, numbered within one function.
pub type LoopVar = u32;
/// A register, numbered within one function.
pub type Reg = u32;
/// A local array, numbered within one function.
pub type ArrayId = u32;

/// An affine index: `base + Σ stride · variable`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ix {
    /// The constant part.
    pub base: usize,
    /// Loop variables with their strides.
    pub terms: Vec<(LoopVar, usize)>,
}

impl Ix {
    /// A constant index.
    pub fn at(base: usize) -> Ix {
        Ix {
            base,
            terms: vec![],
        }
    }
    /// A loop variable.
    pub fn var(var: LoopVar) -> Ix {
        Ix {
            base: 0,
            terms: vec![(var, 1)],
        }
    }
    /// This index, further by a constant.
    #[must_use]
    pub fn plus(&self, offset: usize) -> Ix {
        Ix {
            base: self.base + offset,
            terms: self.terms.clone(),
        }
    }
    /// This index times a constant.
    #[must_use]
    pub fn times(&self, factor: usize) -> Ix {
        if factor == 0 {
            return Ix::at(0);
        }
        Ix {
            base: self.base * factor,
            terms: self.terms.iter().map(|&(v, s)| (v, s * factor)).collect(),
        }
    }
    /// The sum of two indices.
    #[must_use]
    pub fn add(&self, other: &Ix) -> Ix {
        let mut terms = self.terms.clone();
        for &(var, stride) in &other.terms {
            match terms.iter_mut().find(|(v, _)| *v == var) {
                Some((_, s)) => *s += stride,
                None => terms.push((var, stride)),
            }
        }
        terms.sort_unstable();
        Ix {
            base: self.base + other.base,
            terms,
        }
    }
    /// The constant, if it is one.
    pub fn constant(&self) -> Option<usize> {
        self.terms.is_empty().then_some(self.base)
    }
}

/// Where the columns of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// Parameters.
    Parameter,
    /// The outer row.
    Outer,
    /// The inner row.
    Inner,
}

/// A number that a primitive can use.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A constant.
    Const(f64),
    /// A register (a number or a truth value).
    Reg(Reg),
    /// A column of a row.
    Column(Space, Ix),
    /// An element of a local array.
    Element(ArrayId, Ix),
    /// The index of the outer or inner row.
    RowIndex(Space),
}

/// The scalar primitives, named as the methods of `Isa`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(
    missing_docs,
    reason = "each is documented at the method of the same name in keops-gpu-kernels::isa::Isa"
)]
pub enum Prim {
    Add,
    Sub,
    Mul,
    Div,
    Fma,
    Fnma,
    Square,
    SqdiffAdd,
    Neg,
    Abs,
    XorSign,
    Sqrt,
    Rsqrt,
    Rint,
    PickMin,
    PickMax,
    Exp,
    Exp2Sum,
    Exp2SumNonpositive,
    Log,
    Sin,
    Cos,
    Tanh,
    Exp2,
    Expm1,
    Log2,
    Log1p,
    Tan,
    Asin,
    Acos,
    Atan2,
    Sinh,
    Cosh,
    Erf,
    Erfc,
    Powf,
    Select,
    Lt,
    Le,
    Eq,
    IndexEq,
    IndexLow,
    IndexHigh,
    IndexLt,
    And,
    Or,
    Not,
}

impl Prim {
    /// The method of `Isa`.
    pub fn method(self) -> &'static str {
        match self {
            Prim::Add => "add",
            Prim::Sub => "sub",
            Prim::Mul => "mul",
            Prim::Div => "div",
            Prim::Fma => "fma",
            Prim::Fnma => "fnma",
            Prim::Square => "square",
            Prim::SqdiffAdd => "sqdiff_add",
            Prim::Neg => "neg",
            Prim::Abs => "abs",
            Prim::XorSign => "xor_sign",
            Prim::Sqrt => "sqrt",
            Prim::Rsqrt => "rsqrt",
            Prim::Rint => "rint",
            Prim::PickMin => "pick_min",
            Prim::PickMax => "pick_max",
            Prim::Exp => "exp",
            Prim::Exp2Sum => "exp2_sum",
            Prim::Exp2SumNonpositive => "exp2_sum_nonpositive",
            Prim::Log => "log",
            Prim::Sin => "sin",
            Prim::Cos => "cos",
            Prim::Tanh => "tanh",
            Prim::Exp2 => "exp2",
            Prim::Expm1 => "expm1",
            Prim::Log2 => "log2",
            Prim::Log1p => "log1p",
            Prim::Tan => "tan",
            Prim::Asin => "asin",
            Prim::Acos => "acos",
            Prim::Atan2 => "atan2",
            Prim::Sinh => "sinh",
            Prim::Cosh => "cosh",
            Prim::Erf => "erf",
            Prim::Erfc => "erfc",
            Prim::Powf => "powf",
            Prim::Select => "select",
            Prim::Lt => "lt",
            Prim::Le => "le",
            Prim::Eq => "eq",
            Prim::IndexEq => "index_eq",
            Prim::IndexLow => "index_low",
            Prim::IndexHigh => "index_high",
            Prim::IndexLt => "index_lt",
            Prim::And => "and",
            Prim::Or => "or",
            Prim::Not => "not",
        }
    }
}

/// What a kernel folds a number into, named as the modules of `keops-gpu-kernels::reduce`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reducer {
    /// Σ
    Sum,
    /// Π of what is not 0, and how many are.
    Prod,
    /// min
    Min,
    /// max
    Max,
    /// The K smallest values with their indices.
    KMin(usize),
    /// log Σ exp of a scalar score, with this many weighted sums Σ exp(score)·v beside it.
    LogSumExp(usize),
}

impl Reducer {
    /// Accumulators for one number (for `LogSumExp`: for the score and its sums).
    pub fn registers(self) -> usize {
        match self {
            Reducer::Sum | Reducer::Min | Reducer::Max => 1,
            Reducer::Prod => 2,
            Reducer::KMin(k) => 2 * k,
            Reducer::LogSumExp(sums) => 2 + sums,
        }
    }
    /// Words of a state row for one number.
    pub fn row_words(self) -> usize {
        match self {
            Reducer::Sum | Reducer::Prod => 2,
            Reducer::Min | Reducer::Max => 1,
            Reducer::KMin(k) => 2 * k,
            Reducer::LogSumExp(sums) => 3 + 2 * sums,
        }
    }
}

/// One use of a reducer in a kernel: `count` numbers, each with its own state, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The reducer.
    pub reducer: Reducer,
    /// Numbers reduced (1 for `LogSumExp` with sums).
    pub count: usize,
    /// Its first accumulator.
    pub register: usize,
    /// Its first word in a state row.
    pub row: usize,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// reg = prim(args)
    Let(Reg, Prim, Vec<Operand>),
    /// reg = the first number where two indices are equal, else the second
    Pick(Reg, [Ix; 2], [Operand; 2]),
    /// reg = the finished sum at this word of the state row
    SumValue(Reg, Ix),
    /// reg = this word of the state row
    RowWord(Reg, Ix),
    /// reg = log Σ exp of the state at this word
    LogSumExpValue(Reg, Ix),
    /// A mutable number with its first value.
    Mutable(Reg, Operand),
    /// Assigns a mutable number.
    Assign(Reg, Operand),
    /// A local array of this length.
    Array(ArrayId, usize),
    /// `array[ix] = value`
    Store(ArrayId, Ix, Operand),
    /// for var in 0..count
    Loop(LoopVar, usize, Vec<Stmt>),
    /// Writes an output or derived column.
    Put(Ix, Operand),
    /// Σ: `state[ix] += value`
    Sum(Ix, Operand),
    /// Σ: `state[ix] += a·b`
    SumMul(Ix, Operand, Operand),
    /// Π: folds value into `state[ix..]`
    Prod(Ix, Operand),
    /// min or max: `state[ix] = fold(state[ix], value)`
    Extremum(Reducer, Ix, Operand),
    /// K smallest: inserts value with the inner row's index at `state[ix..]`
    KMin(usize, Ix, Operand),
    /// log Σ exp: (shrink, weight) registers from the score, `state[ix..]`
    LogSumExp(Reg, Reg, Ix, Operand),
    /// A weighted sum beside it: `state[ix] = state[ix]·shrink + Σ weight·value`
    Weigh(Ix, Reg, Reg, Operand),
}
