//! Occupancy: a simple model of what limits the blocks of a multiprocessor.
use super::entry;
use super::module::function;
use crate::code::Code;
use crate::pointer::Out;
use crate::settings::shared_per_block;
use crate::state::{Handle, State};

/// Blocks of `threads` threads and `dynamic` bytes of shared memory on one multiprocessor.
fn blocks(state: &State, handle: Handle, threads: i32, dynamic: usize) -> Result<i32, Code> {
    let function = function(state, handle)?;
    let entry = function
        .code
        .entry(&function.entry)
        .ok_or(Code::INVALID_HANDLE)?;
    let threads = u32::try_from(threads)
        .ok()
        .filter(|threads| *threads > 0)
        .ok_or(Code::INVALID_VALUE)?;
    if threads > entry.max_threads.unwrap_or(1024).min(1024) {
        return Ok(0);
    }
    let shared = entry.shared + dynamic;
    let all = shared_per_block(state.settings.capability) as usize;
    let by_shared = all.checked_div(shared).unwrap_or(32);
    Ok((2048 / threads.next_multiple_of(32))
        .min(32)
        .min(by_shared as u32) as i32)
}

entry! { Plain fn cuOccupancyMaxActiveBlocksPerMultiprocessor(out: Out<i32>, handle: Handle, threads: i32, dynamic: usize)
[format!("{handle:#x}"), threads, dynamic] |state| out.set(blocks(state, handle, threads, dynamic)?) }

entry! { Plain fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out: Out<i32>, handle: Handle, threads: i32, dynamic: usize, flags: u32)
[format!("{handle:#x}"), threads, dynamic, flags] |state| out.set(blocks(state, handle, threads, dynamic)?) }

entry! { Plain fn cuOccupancyAvailableDynamicSMemPerBlock(out: Out<usize>, handle: Handle, count: i32, threads: i32)
    [format!("{handle:#x}"), count, threads] |state| {
    let function = function(state, handle)?;
    let entry = function.code.entry(&function.entry).ok_or(Code::INVALID_HANDLE)?;
    let all = shared_per_block(state.settings.capability) as usize;
    out.set((all / count.max(1) as usize).saturating_sub(entry.shared))
} }
