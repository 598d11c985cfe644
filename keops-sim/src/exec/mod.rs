//! Running a launch: blocks one after another, in each of them the threads one after another until each waits or ends.
mod access;
mod barrier;
mod block;
mod thread;
mod warp;

use crate::error::{Error, ErrorKind};
use crate::memory::Memory;
use crate::op::Code;
use crate::options::{Options, Order, Stats};
use block::Block;

/// A launch.
pub(crate) struct Launch<'a> {
    pub(crate) code: &'a Code,
    /// Addresses of the module's variables.
    pub(crate) variables: &'a [Option<u64>],
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_shared: u32,
    pub(crate) params: &'a [u8],
    pub(crate) options: &'a Options,
}

const GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
const BLOCK: [u32; 3] = [1024, 1024, 64];
const THREADS: u32 = 1024;

impl Launch<'_> {
    /// Refuses what the driver would.
    fn check(&self) -> Result<(), Error> {
        let refuse = |message: String| Err(Error::new(ErrorKind::Launch, 0, message));
        let (grid, block) = (self.grid, self.block);
        if (0..3).any(|axis| grid[axis] == 0 || grid[axis] > GRID[axis]) {
            return refuse(format!("a grid of {grid:?} blocks"));
        }
        let threads = block.iter().map(|n| u64::from(*n)).product::<u64>();
        if (0..3).any(|axis| block[axis] == 0 || block[axis] > BLOCK[axis])
            || threads > u64::from(THREADS)
        {
            return refuse(format!("a block of {block:?} threads"));
        }
        if let Some(most) = self.code.max_threads
            && threads > most.iter().map(|n| u64::from(*n)).product()
        {
            return refuse(format!(
                "a block of {block:?} threads, more than the entry's {most:?}"
            ));
        }
        if let Some(required) = self.code.required_threads
            && required != block
        {
            return refuse(format!(
                "a block of {block:?} threads instead of the entry's {required:?}"
            ));
        }
        let shared = self.code.shared as u64 + u64::from(self.dynamic_shared);
        let limit = self.options.shared_limit;
        if shared > u64::from(limit) {
            return refuse(format!(
                "{shared} bytes of shared memory, more than {limit}"
            ));
        }
        let bytes = self
            .code
            .params
            .last()
            .map_or(0, |last| last.offset + last.size);
        if self.params.len() != bytes {
            return refuse(format!(
                "{} bytes of parameters instead of {bytes}",
                self.params.len()
            ));
        }
        Ok(())
    }
}

/// Runs a launch to its end or to its first fault.
pub(crate) fn launch(memory: &mut Memory, launch: &Launch<'_>) -> Result<Stats, Error> {
    launch.check()?;
    let [x, y, z] = launch.grid.map(u64::from);
    let blocks = x * y * z;
    let mut block = Block::new(memory, launch);
    for n in 0..blocks {
        let n = if launch.options.blocks == Order::Reversed {
            blocks - 1 - n
        } else {
            n
        };
        block.run([(n % x) as u32, (n / x % y) as u32, (n / (x * y)) as u32])?;
    }
    Ok(block.stats())
}
