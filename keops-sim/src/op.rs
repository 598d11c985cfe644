//! The decoded form of an entry: what the interpreter's loop runs.
//!
//! Registers, immediates and special registers are all *slots* of a thread, the latter two filled before it starts, so that
//! no operand needs a case distinction. A predicated instruction is a jump over itself.
use crate::math::approx::Function;
use crate::math::convert::Conversion;
use crate::math::{Binary, Ternary, Unary};
use crate::ptx::ast::{Param, Special};
use crate::ptx::types::{Space, Type};

/// Number of a thread's slot.
pub(crate) type Slot = u32;
/// No slot: a result that nobody wants.
pub(crate) const NONE: Slot = u32::MAX;

/// Where the shared memory of a block starts in the generic address space.
pub(crate) const SHARED_WINDOW: u64 = 0x00f0_0000_0000;
/// Where the local memory of a thread starts in the generic address space.
pub(crate) const LOCAL_WINDOW: u64 = 0x00f1_0000_0000;
/// Bytes of each window.
pub(crate) const WINDOW: u64 = 1 << 32;

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Unary {
        f: Unary,
        d: Slot,
        a: Slot,
    },
    Binary {
        f: Binary,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Ternary {
        f: Ternary,
        d: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
    },
    Move {
        d: Slot,
        a: Slot,
    },
    /// d = p ? a : b
    Select {
        d: Slot,
        a: Slot,
        b: Slot,
        p: Slot,
    },
    Approx {
        function: Function,
        ftz: bool,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Convert {
        conversion: Conversion,
        d: Slot,
        a: Slot,
    },
    Lop3 {
        d: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
        table: u8,
    },
    Bfi {
        wide: bool,
        d: Slot,
        s: [Slot; 4],
    },
    Jump {
        to: u32,
    },
    JumpIf {
        p: Slot,
        to: u32,
    },
    JumpUnless {
        p: Slot,
        to: u32,
    },
    /// Jumps to entry `a` of a table.
    Switch {
        table: u32,
        a: Slot,
    },
    Load(Transfer),
    Store(Transfer),
    Atomic(Box<Atomic>),
    Barrier(Box<Barrier>),
    Warp(Box<Warp>),
    ActiveMask {
        d: Slot,
    },
    /// A fault where a is 0.
    CheckNonZero {
        a: Slot,
    },
    /// A fault where the flag is 0: nobody wrote the register.
    CheckWritten {
        flag: Slot,
        register: u32,
    },
    Exit,
    Trap,
}

/// A load or a store of up to four values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) slots: [Slot; 4],
    pub(crate) base: Slot,
    pub(crate) offset: i32,
    pub(crate) count: u8,
    pub(crate) space: Space,
    pub(crate) ty: Type,
    /// Bytes of the registers, for sign extension.
    pub(crate) register: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicKind {
    Add,
    Min,
    Max,
    Exchange,
    CompareAndSwap,
    And,
    Or,
    Xor,
    Increment,
    Decrement,
}

/// `atom`, or `red` where `d` is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    pub(crate) kind: AtomicKind,
    pub(crate) ty: Type,
    pub(crate) space: Space,
    pub(crate) d: Slot,
    pub(crate) base: Slot,
    pub(crate) offset: i32,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
}

/// A barrier of all threads of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub(crate) id: Slot,
    /// Threads that take part; none: all.
    pub(crate) count: Slot,
    /// `bar.red`
    pub(crate) reduction: Option<(Reduction, Slot, Slot)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Count,
    And,
    Or,
}

/// An instruction that the lanes of a warp execute together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Warp {
    pub(crate) kind: WarpKind,
    /// The lanes that take part.
    pub(crate) mask: Slot,
    pub(crate) d: Slot,
    /// Second result, a predicate.
    pub(crate) p: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
    pub(crate) c: Slot,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum WarpKind {
    ShuffleUp,
    ShuffleDown,
    ShuffleButterfly,
    ShuffleIndex,
    VoteAll,
    VoteAny,
    VoteUniform,
    Ballot,
    MatchAny,
    MatchAll,
    /// `redux`: the fold of all lanes' values.
    Reduce(Binary),
    Synchronize,
}

/// How a slot is filled before a thread starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Init {
    Value(u64),
    Special(Special),
    /// Address of a module variable in global or constant memory, plus an offset.
    Variable(usize, i64),
}

/// A decoded entry.
pub(crate) struct Code {
    pub(crate) name: String,
    pub(crate) ops: Vec<Op>,
    /// Line of each operation.
    pub(crate) lines: Vec<u32>,
    pub(crate) slots: usize,
    pub(crate) init: Vec<(Slot, Init)>,
    pub(crate) tables: Vec<Vec<u32>>,
    pub(crate) params: Vec<Param>,
    /// Bytes of static shared memory; dynamic shared memory follows.
    pub(crate) shared: usize,
    /// Bytes of local memory of a thread.
    pub(crate) local: usize,
    pub(crate) registers: usize,
    pub(crate) max_threads: Option<[u32; 3]>,
    pub(crate) required_threads: Option<[u32; 3]>,
}

impl Op {
    /// Calls `f` for every slot that is read.
    pub(crate) fn reads(&self, mut f: impl FnMut(Slot)) {
        match self {
            Op::Unary { a, .. } | Op::Move { a, .. } | Op::Convert { a, .. } => f(*a),
            Op::Binary { a, b, .. } | Op::Approx { a, b, .. } => [*a, *b].into_iter().for_each(f),
            Op::Ternary { a, b, c, .. } | Op::Lop3 { a, b, c, .. } => {
                [*a, *b, *c].into_iter().for_each(f)
            }
            Op::Select { a, b, p, .. } => [*a, *b, *p].into_iter().for_each(f),
            Op::Bfi { s, .. } => s.iter().copied().for_each(f),
            Op::JumpIf { p, .. } | Op::JumpUnless { p, .. } => f(*p),
            Op::Switch { a, .. } | Op::CheckNonZero { a } => f(*a),
            Op::CheckWritten { flag, .. } => f(*flag),
            Op::Load(t) => f(t.base),
            Op::Store(t) => {
                f(t.base);
                t.slots[..t.count as usize].iter().copied().for_each(f);
            }
            Op::Atomic(o) => [o.base, o.a, o.b].into_iter().for_each(f),
            Op::Barrier(o) => {
                f(o.id);
                f(o.count);
                if let Some((_, _, p)) = o.reduction {
                    f(p);
                }
            }
            Op::Warp(o) => [o.mask, o.a, o.b, o.c].into_iter().for_each(f),
            Op::Jump { .. } | Op::ActiveMask { .. } | Op::Exit | Op::Trap => {}
        }
    }

    /// Calls `f` for every slot that is written.
    pub(crate) fn writes(&self, mut f: impl FnMut(Slot)) {
        match self {
            Op::Unary { d, .. }
            | Op::Binary { d, .. }
            | Op::Ternary { d, .. }
            | Op::Move { d, .. }
            | Op::Select { d, .. }
            | Op::Approx { d, .. }
            | Op::Convert { d, .. }
            | Op::Lop3 { d, .. }
            | Op::Bfi { d, .. }
            | Op::ActiveMask { d } => f(*d),
            Op::Load(t) => t.slots[..t.count as usize].iter().copied().for_each(f),
            Op::Atomic(o) => f(o.d),
            Op::Warp(o) => {
                f(o.d);
                f(o.p);
            }
            Op::Barrier(o) => {
                if let Some((_, d, _)) = o.reduction {
                    f(d);
                }
            }
            _ => {}
        }
    }
}
