//! What the flow of control says about registers: reads that no write surely precedes get a check, and loaded values
//! that nobody reads are dropped, so that a padded vector may be loaded whole.
//!
//! The checks are exact and cost nothing where the flow alone shows that a register was written.
use super::Lower;
use crate::op::{Init, NONE, Op, Slot};

/// A set of registers.
#[derive(Clone, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn empty(registers: usize) -> Set {
        Set(vec![0; registers.div_ceil(64)])
    }
    fn full(registers: usize) -> Set {
        Set(vec![u64::MAX; registers.div_ceil(64)])
    }
    fn has(&self, r: Slot) -> bool {
        self.0[r as usize / 64] >> (r % 64) & 1 == 1
    }
    fn add(&mut self, r: Slot) {
        self.0[r as usize / 64] |= 1 << (r % 64);
    }
    fn remove(&mut self, r: Slot) {
        self.0[r as usize / 64] &= !(1 << (r % 64));
    }
    /// Whether the set became smaller.
    fn intersect(&mut self, other: &Set) -> bool {
        self.0
            .iter_mut()
            .zip(&other.0)
            .fold(false, |changed, (a, b)| {
                let before = *a;
                *a &= b;
                changed | (*a != before)
            })
    }
    /// Whether the set became larger.
    fn unite(&mut self, other: &Set) -> bool {
        self.0
            .iter_mut()
            .zip(&other.0)
            .fold(false, |changed, (a, b)| {
                let before = *a;
                *a |= b;
                changed | (*a != before)
            })
    }
}

/// Straight-line pieces `start .. end` and the pieces after each.
struct Graph {
    blocks: Vec<(usize, usize)>,
    next: Vec<Vec<usize>>,
}

fn targets(op: &Op, tables: &[Vec<u32>]) -> Vec<u32> {
    match op {
        Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpUnless { to, .. } => vec![*to],
        Op::Switch { table, .. } => tables[*table as usize].clone(),
        _ => Vec::new(),
    }
}

fn ends_flow(op: &Op) -> bool {
    matches!(
        op,
        Op::Jump { .. } | Op::Switch { .. } | Op::Exit | Op::Trap
    )
}

impl Graph {
    fn new(ops: &[Op], tables: &[Vec<u32>]) -> Graph {
        let mut leaders = vec![false; ops.len() + 1];
        leaders[0] = true;
        for (at, op) in ops.iter().enumerate() {
            let targets = targets(op, tables);
            leaders[at + 1] |= ends_flow(op) || !targets.is_empty();
            targets.iter().for_each(|to| leaders[*to as usize] = true);
        }
        leaders[ops.len()] = true;
        let starts: Vec<usize> = (0..=ops.len()).filter(|at| leaders[*at]).collect();
        let blocks: Vec<_> = starts.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let block_at = |at: usize| starts.partition_point(|start| *start <= at) - 1;
        let next = blocks
            .iter()
            .map(|&(_, end)| {
                let last = &ops[end - 1];
                let mut next: Vec<usize> = targets(last, tables)
                    .iter()
                    .map(|to| block_at(*to as usize))
                    .collect();
                if !ends_flow(last) && end < ops.len() {
                    next.push(block_at(end));
                }
                next
            })
            .collect();
        Graph { blocks, next }
    }
}

/// For each block, the registers that every path to it writes.
fn surely_written(graph: &Graph, ops: &[Op], registers: usize) -> Vec<Set> {
    let mut at_start = vec![Set::full(registers); graph.blocks.len()];
    if let Some(first) = at_start.first_mut() {
        *first = Set::empty(registers);
    }
    let mut work: Vec<usize> = (0..graph.blocks.len()).rev().collect();
    while let Some(block) = work.pop() {
        let (start, end) = graph.blocks[block];
        let mut set = at_start[block].clone();
        for op in &ops[start..end] {
            op.writes(|r| {
                if (r as usize) < registers {
                    set.add(r)
                }
            });
        }
        for &next in &graph.next[block] {
            if at_start[next].intersect(&set) {
                work.push(next);
            }
        }
    }
    at_start
}

/// For each block, the registers that somebody may still read at its end.
fn read_later(graph: &Graph, ops: &[Op], registers: usize) -> Vec<Set> {
    let mut at_end = vec![Set::empty(registers); graph.blocks.len()];
    let mut before = vec![Vec::new(); graph.blocks.len()];
    for (block, next) in graph.next.iter().enumerate() {
        next.iter().for_each(|next| before[*next].push(block));
    }
    let mut work: Vec<usize> = (0..graph.blocks.len()).collect();
    while let Some(block) = work.pop() {
        let (start, end) = graph.blocks[block];
        let mut set = at_end[block].clone();
        for op in ops[start..end].iter().rev() {
            step_back(op, &mut set, registers);
        }
        for &previous in &before[block] {
            if at_end[previous].unite(&set) {
                work.push(previous);
            }
        }
    }
    at_end
}

fn step_back(op: &Op, set: &mut Set, registers: usize) {
    op.writes(|r| {
        if (r as usize) < registers {
            set.remove(r)
        }
    });
    op.reads(|r| {
        if (r as usize) < registers {
            set.add(r)
        }
    });
}

/// Drops loads' results that nobody reads, and inserts the checks.
pub(super) fn insert_checks(lower: &mut Lower<'_>, registers: usize) {
    let graph = Graph::new(&lower.ops, &lower.tables);
    let live = read_later(&graph, &lower.ops, registers);
    for (&(start, end), live) in graph.blocks.iter().zip(&live) {
        let mut set = live.clone();
        for op in lower.ops[start..end].iter_mut().rev() {
            let after = set.clone();
            step_back(op, &mut set, registers);
            if let Op::Load(transfer) = op {
                for slot in &mut transfer.slots {
                    if (*slot as usize) < registers && !after.has(*slot) {
                        *slot = NONE;
                    }
                }
            }
        }
    }
    let written = surely_written(&graph, &lower.ops, registers);
    // Reads that need a check, by position.
    let mut checks: Vec<(usize, Slot)> = Vec::new();
    let mut suspects = Set::empty(registers);
    for (&(start, end), written) in graph.blocks.iter().zip(&written) {
        let mut set = written.clone();
        for (at, op) in lower.ops.iter().enumerate().take(end).skip(start) {
            op.reads(|r| {
                if (r as usize) < registers && !set.has(r) {
                    checks.push((at, r));
                    suspects.add(r);
                }
            });
            op.writes(|r| {
                if (r as usize) < registers {
                    set.add(r)
                }
            });
        }
    }
    if checks.is_empty() {
        return;
    }
    rebuild(lower, &checks, &suspects, registers);
}

/// The operations with a check before each listed read, and a mark after each write of a suspect.
fn rebuild(lower: &mut Lower<'_>, checks: &[(usize, Slot)], suspects: &Set, registers: usize) {
    let one = lower.constant(1);
    let mut flags = vec![NONE; registers];
    for r in 0..registers as Slot {
        if suspects.has(r) {
            let flag = lower.new_slot();
            lower.init.push((flag, Init::Value(0)));
            flags[r as usize] = flag;
        }
    }
    let (ops, lines) = (
        std::mem::take(&mut lower.ops),
        std::mem::take(&mut lower.lines),
    );
    let mut moved = Vec::with_capacity(ops.len());
    let mut checks = checks.iter().peekable();
    for (at, (op, line)) in ops.into_iter().zip(lines).enumerate() {
        moved.push(lower.ops.len() as u32);
        lower.line = line;
        while let Some((_, register)) = checks.next_if(|(place, _)| *place == at) {
            lower.emit(Op::CheckWritten {
                flag: flags[*register as usize],
                register: *register,
            });
        }
        let mut marks = Vec::new();
        op.writes(|r| {
            if (r as usize) < registers && suspects.has(r) {
                marks.push(flags[r as usize])
            }
        });
        lower.emit(op);
        for d in marks {
            lower.emit(Op::Move { d, a: one });
        }
    }
    for op in &mut lower.ops {
        if let Op::Jump { to } | Op::JumpIf { to, .. } | Op::JumpUnless { to, .. } = op {
            *to = moved[*to as usize];
        }
    }
    for to in lower.tables.iter_mut().flatten() {
        *to = moved[*to as usize];
    }
}
