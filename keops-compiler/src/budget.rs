//! What one function may take, so that a build never runs for minutes or a kernel out of its stack: [`Excess`].
//!
//! The limits are far beyond what one writes by hand, and far below what a compiler chokes on. Dimensions count little: vectors
//! are loops. What counts is how many different operations there are, after derivatives are made.
//!
//! With const parameters, sizes are limited where the parameters have values ([`Size`]): at those that device code is made
//! for, and in a constant assertion where a formula is called.

use crate::graph::{Graph, NodeId};
use crate::lower::kernel::KernelIr;
use crate::lower::{Stmt, keeps_form};
use std::fmt;

/// Most operations of a function.
pub const MOST_OPERATIONS: usize = 1 << 14;
/// Longest chain of operations that depend on each other: later stages recurse over it.
pub const LONGEST_CHAIN: usize = 1 << 11;
/// Most statements of a function's kernels, in which short vectors are written out.
pub const MOST_STATEMENTS: usize = 10_000;
/// Most numbers that one pair keeps in memory: each is a tile of vectors, on the stack of a thread.
pub const MOST_NUMBERS: usize = 4096;

/// A size that depends on const parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// Of what, behind its number.
    pub what: String,
    /// How much it is.
    pub size: usize,
    /// How much is possible.
    pub limit: usize,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Size { what, size, limit } = self;
        write!(
            f,
            "it takes {size} {what}, but at most {limit} are possible"
        )
    }
}

/// What is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Operations, at least so many.
    Operations(usize),
    /// Operations that depend on each other.
    Chain(usize),
    /// Statements.
    Statements(usize),
    /// Numbers in memory.
    Numbers(usize),
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, found, limit) = match self {
            Excess::Operations(n) => ("operations", n, MOST_OPERATIONS),
            Excess::Chain(n) => ("operations that depend on each other", n, LONGEST_CHAIN),
            Excess::Statements(n) => ("statements", n, MOST_STATEMENTS),
            Excess::Numbers(n) => ("numbers in memory for each pair", n, MOST_NUMBERS),
        };
        write!(f, "{found} {what}, but at most {limit} are possible")
    }
}

/// Whether a graph is too large.
pub fn of_graph(g: &Graph, roots: &[NodeId]) -> Option<Excess> {
    let needed = g.reachable(roots);
    if needed.len() > MOST_OPERATIONS {
        return Some(Excess::Operations(needed.len()));
    }
    let mut depths = vec![0usize; g.ids().count()];
    let mut deepest = 0;
    for id in needed {
        let below = g.node(id).args.iter().map(|a| depths[a.0 as usize]).max();
        let depth = below.map_or(0, |d| d + 1);
        depths[id.0 as usize] = depth;
        deepest = deepest.max(depth);
    }
    (deepest > LONGEST_CHAIN).then_some(Excess::Chain(deepest))
}

/// Whether the kernels of a function are too long, or keep too many numbers.
pub fn of_passes(passes: &[KernelIr]) -> Option<Excess> {
    let parts = |ir: &KernelIr| -> Vec<usize> {
        let all = [
            &ir.prepare_params,
            &ir.prepare_outer,
            &ir.prepare_inner,
            &ir.step,
            &ir.finish,
        ];
        all.iter().map(|part| count(part, &|_| 1)).collect()
    };
    let statements = passes.iter().flat_map(parts).sum();
    if statements > MOST_STATEMENTS {
        return Some(Excess::Statements(statements));
    }
    let numbers = passes.iter().map(kept).max().unwrap_or(0);
    // The samples of const parameters stand for smaller values too: it is checked for those that are used.
    (numbers > MOST_NUMBERS && !keeps_form()).then_some(Excess::Numbers(numbers))
}

/// Numbers that one pair of a kernel keeps in memory.
pub fn kept(ir: &KernelIr) -> usize {
    count(&ir.step, &|stmt| match stmt {
        Stmt::Array(_, n) => *n,
        _ => 0,
    })
}

fn count(stmts: &[Stmt], of: &dyn Fn(&Stmt) -> usize) -> usize {
    let inside = |stmt: &Stmt| match stmt {
        Stmt::Loop(_, _, body) => count(body, of),
        _ => 0,
    };
    stmts.iter().map(|stmt| of(stmt) + inside(stmt)).sum()
}
