//! [`Error`]: what is wrong with a module, a launch or a running kernel, and where.
use std::fmt;

/// The kind of a fault, for tests and for the driver's error codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The text is not PTX.
    Syntax,
    /// An instruction, a type or a modifier that PTX does not allow.
    Illegal,
    /// Valid PTX that the interpreter does not run.
    Unsupported,
    /// A launch that the driver would refuse: sizes, parameters, a missing entry.
    Launch,
    /// An access outside every live allocation.
    OutOfBounds,
    /// A write to constant memory.
    ReadOnly,
    /// An access off its natural alignment.
    Misaligned,
    /// A read of memory or of a register that nobody wrote.
    Uninitialized,
    /// Two accesses of different threads that nothing orders, one of them a write.
    Race,
    /// A barrier or a warp instruction that not all its threads reach.
    Barrier,
    /// More instructions than the launch may execute.
    Budget,
    /// `trap` was executed.
    Trap,
    /// An integer division by zero, whose value is unspecified.
    DivisionByZero,
}

/// The thread that met a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The block in the grid.
    pub block: [u32; 3],
    /// The thread in the block.
    pub thread: [u32; 3],
}

/// A fault with its place in the module's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of fault.
    pub kind: ErrorKind,
    /// Line of the module's text, from 1; 0 where no line is at fault.
    pub line: u32,
    /// The entry, once one is known.
    pub entry: Option<String>,
    /// The thread, once one runs.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, line: u32, message: impl Into<String>) -> Error {
        Error {
            kind,
            line,
            entry: None,
            place: None,
            message: message.into(),
        }
    }

    pub(crate) fn in_entry(mut self, entry: &str) -> Error {
        self.entry.get_or_insert_with(|| entry.to_owned());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.message)?;
        if let Some(entry) = &self.entry {
            write!(f, " (entry {entry}")?;
            if let Some(place) = &self.place {
                write!(f, ", block {:?}, thread {:?}", place.block, place.thread)?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// A fault of a running thread before its place is known.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
}

impl Fault {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: String) -> Box<Fault> {
        Box::new(Fault { kind, message })
    }
}
