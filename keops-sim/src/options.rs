//! [`Options`] of a launch and the [`Stats`] of one.

/// In which order threads of a block, or blocks of a grid, run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// From the first to the last.
    #[default]
    Forward,
    /// From the last to the first.
    Reversed,
}

/// Which value within its documented error bound an approximate instruction returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bias {
    /// The nearest to the exact one.
    #[default]
    Nearest,
    /// The largest.
    Up,
    /// The smallest.
    Down,
    /// One that a hash of the arguments and of this seed chooses.
    Hashed(u64),
}

/// How a launch runs and what it checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Error of approximate instructions.
    pub bias: Bias,
    /// Order of the threads in a block. Each runs until it waits for others or ends.
    pub threads: Order,
    /// Order of the blocks.
    pub blocks: Order,
    /// Whether unordered accesses to the same byte are faults. Accesses of different blocks are never ordered, so a kernel
    /// whose blocks exchange data by atomics and fences needs this off.
    pub races: bool,
    /// Whether reads of bytes that nobody wrote are faults.
    pub uninitialized: bool,
    /// Most instructions of the launch, all threads together.
    pub budget: u64,
    /// Most bytes of shared memory of a block, static and dynamic.
    pub shared_limit: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            bias: Bias::Nearest,
            threads: Order::Forward,
            blocks: Order::Forward,
            races: true,
            uninitialized: true,
            budget: 20_000_000_000,
            shared_limit: 48 * 1024,
        }
    }
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Executed instructions, all threads together; one that a predicate switched off counts too.
    pub instructions: u64,
    /// Block-wide barriers that were passed, all blocks together.
    pub barriers: u64,
    /// Blocks.
    pub blocks: u64,
}
