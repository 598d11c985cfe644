//! A block: its threads, its shared memory, and who runs next.
use super::Launch;
use super::access::Spaces;
use crate::error::{Error, Fault, Place};
use crate::memory::Memory;
use crate::op::{Code, Init};
use crate::options::{Order, Stats};
use crate::ptx::ast::{LaneMask, Special};

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// At the barrier that its program counter points to.
    Barrier,
    /// At the warp instruction that its program counter points to.
    Warp,
    Done,
}

#[derive(Clone, Copy)]
pub(super) struct Thread {
    pub(super) pc: u32,
    pub(super) state: State,
}

/// A fault with the thread and the operation.
pub(super) struct Stop {
    pub(super) thread: usize,
    pub(super) pc: u32,
    pub(super) fault: Box<Fault>,
}

/// One block at a time; the memory of threads is used again for the next.
pub(super) struct Block<'a> {
    pub(super) launch: &'a Launch<'a>,
    pub(super) code: &'a Code,
    pub(super) threads: Vec<Thread>,
    /// All threads' slots, one thread after another.
    pub(super) slots: Vec<u64>,
    pub(super) spaces: Spaces<'a>,
    /// Operations that may still run.
    pub(super) budget: u64,
    pub(super) stats: Stats,
    /// Slots as they start, but for special registers.
    template: Vec<u64>,
    specials: Vec<(u32, Special)>,
}

impl<'a> Block<'a> {
    pub(super) fn new(memory: &'a mut Memory, launch: &'a Launch<'a>) -> Block<'a> {
        let code = launch.code;
        let threads = launch.block.iter().product::<u32>() as usize;
        let mut template = vec![0; code.slots];
        let mut specials = Vec::new();
        for &(slot, init) in &code.init {
            match init {
                Init::Value(value) => template[slot as usize] = value,
                Init::Variable(number, offset) => {
                    let address = launch.variables.get(number).copied().flatten().unwrap_or(0);
                    template[slot as usize] = address.wrapping_add(offset as u64);
                }
                Init::Special(special) => specials.push((slot, special)),
            }
        }
        Block {
            launch,
            code,
            threads: vec![
                Thread {
                    pc: 0,
                    state: State::Ready
                };
                threads
            ],
            slots: vec![0; threads * code.slots],
            spaces: Spaces::new(memory, launch, threads),
            budget: launch.options.budget,
            stats: Stats::default(),
            template,
            specials,
        }
    }

    pub(super) fn stats(&self) -> Stats {
        Stats {
            instructions: self.launch.options.budget - self.budget,
            ..self.stats
        }
    }

    fn start(&mut self, block: [u32; 3]) {
        self.stats.blocks += 1;
        self.spaces.start_block();
        for (t, slots) in self
            .slots
            .chunks_exact_mut(self.code.slots.max(1))
            .enumerate()
        {
            slots.copy_from_slice(&self.template);
            for &(slot, special) in &self.specials {
                slots[slot as usize] = value(special, self.launch, block, t as u32);
            }
        }
        self.threads.fill(Thread {
            pc: 0,
            state: State::Ready,
        });
    }

    /// Runs the block at `block` of the grid.
    pub(super) fn run(&mut self, block: [u32; 3]) -> Result<(), Error> {
        self.start(block);
        self.run_to_end().map_err(|stop| {
            let line = self.code.lines.get(stop.pc as usize).copied().unwrap_or(0);
            let mut error = Error::new(stop.fault.kind, line, stop.fault.message);
            error.place = Some(Place {
                block,
                thread: position(self.launch.block, stop.thread as u32),
            });
            error
        })
    }

    fn run_to_end(&mut self) -> Result<(), Stop> {
        let count = self.threads.len();
        loop {
            for t in 0..count {
                let t = if self.launch.options.threads == Order::Reversed {
                    count - 1 - t
                } else {
                    t
                };
                if self.threads[t].state == State::Ready {
                    self.run_thread(t)?;
                }
            }
            let mut moved = false;
            for warp in 0..count.div_ceil(32) {
                moved |= self.run_warp(warp)?;
            }
            if moved {
                continue;
            }
            if self
                .threads
                .iter()
                .all(|thread| thread.state == State::Done)
            {
                return Ok(());
            }
            self.pass_barrier()?;
        }
    }
}

/// Coordinates of thread `t` of a block.
pub(super) fn position(block: [u32; 3], t: u32) -> [u32; 3] {
    [
        t % block[0],
        t / block[0] % block[1],
        t / (block[0] * block[1]),
    ]
}

fn value(special: Special, launch: &Launch<'_>, block: [u32; 3], t: u32) -> u64 {
    let lane = t % 32;
    u64::from(match special {
        Special::Tid(axis) => position(launch.block, t)[axis as usize],
        Special::Ntid(axis) => launch.block[axis as usize],
        Special::Ctaid(axis) => block[axis as usize],
        Special::Nctaid(axis) => launch.grid[axis as usize],
        Special::Lane => lane,
        Special::Warp => t / 32,
        Special::Warps => launch.block.iter().product::<u32>().div_ceil(32),
        Special::LaneMask(mask) => match mask {
            LaneMask::Eq => 1 << lane,
            LaneMask::Lt => (1 << lane) - 1,
            LaneMask::Le => (2u64 << lane).wrapping_sub(1) as u32,
            LaneMask::Ge => !((1 << lane) - 1),
            LaneMask::Gt => !((2u64 << lane).wrapping_sub(1) as u32),
        },
        Special::Zero => 0,
    })
}
