//! The tree of a module: names are resolved, types and modifiers not yet checked.
use super::types::{Space, Type};

pub(crate) struct Module {
    pub(crate) version: (u32, u32),
    /// The number in `sm_75`.
    pub(crate) target: u32,
    /// Variables at module scope; the functions' variables are in [`Function::variables`].
    pub(crate) variables: Vec<Variable>,
    pub(crate) entries: Vec<Function>,
}

/// A variable in memory.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) space: Space,
    pub(crate) align: usize,
    /// Bytes; 0 for an external array, which is the launch's dynamic shared memory.
    pub(crate) size: usize,
    pub(crate) external: bool,
    /// Initial bytes, as many as `size`.
    pub(crate) initial: Option<Vec<u8>>,
    pub(crate) line: u32,
}

/// Where a variable is declared, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum VariableId {
    Module(usize),
    Function(usize),
    /// A parameter of the entry.
    Param(usize),
}

pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: u32,
    pub(crate) params: Vec<Param>,
    /// `.maxntid`: most threads of a block.
    pub(crate) max_threads: Option<[u32; 3]>,
    /// `.reqntid`: the block's exact shape.
    pub(crate) required_threads: Option<[u32; 3]>,
    pub(crate) registers: Vec<Type>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) body: Vec<Statement>,
    /// Labels in all; `.branchtargets` lists have labels too.
    pub(crate) labels: usize,
    /// `.branchtargets` by the label before it.
    pub(crate) tables: Vec<(usize, Vec<usize>)>,
}

pub(crate) enum Statement {
    Label(usize),
    Instruction(Instruction),
}

pub(crate) struct Instruction {
    pub(crate) line: u32,
    /// Register of the predicate, and whether it must be false.
    pub(crate) guard: Option<(usize, bool)>,
    pub(crate) name: String,
    /// What follows the name, between dots.
    pub(crate) modifiers: Vec<String>,
    pub(crate) operands: Vec<Operand>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Lane,
    Warp,
    Warps,
    LaneMask(LaneMask),
    /// `%clock` and the like, `%smid`, `%gridid`.
    Zero,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaneMask {
    Eq,
    Le,
    Lt,
    Ge,
    Gt,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    Register(usize),
    /// `!%p1`
    Not(usize),
    /// An integer, in two's complement.
    Int(u64),
    F32(u32),
    F64(u64),
    Decimal(f64),
    Special(Special),
    /// The address of a variable, as an operand without brackets.
    Symbol(VariableId, i64),
    Label(usize),
    Address(Base, i64),
    Vector(Vec<Operand>),
    /// `%r1|%p1`
    Pair(Box<(Operand, Operand)>),
    /// `_`
    Sink,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Register(usize),
    Symbol(VariableId),
    Absolute,
}
