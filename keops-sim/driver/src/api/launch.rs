//! Launches.
use super::entry;
use super::module::function;
use crate::code::Code;
use crate::pointer::List;
use crate::state::{Handle, State};
use crate::stream::{Launch, Work};
use keops_sim::Options;

fn launch(
    state: &mut State,
    handle: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    stream: Handle,
    params: List,
) -> Result<(), Code> {
    let key = state.stream(stream)?;
    state.check(key.0)?;
    let function = function(state, handle)?.clone();
    if function.device != key.0 || state.current_device()? != key.0 {
        return Err(Code::INVALID_HANDLE);
    }
    let entry = function
        .code
        .entry(&function.entry)
        .ok_or(Code::INVALID_HANDLE)?;
    let threads: u64 = block.iter().map(|n| u64::from(*n)).product();
    let out_of_range =
        |n: [u32; 3], most: [u32; 3]| (0..3).any(|axis| n[axis] == 0 || n[axis] > most[axis]);
    if out_of_range(grid, [i32::MAX as u32, 65535, 65535])
        || out_of_range(block, [1024, 1024, 64])
        || threads > 1024
    {
        return Err(Code::INVALID_VALUE);
    }
    if threads > u64::from(entry.max_threads.unwrap_or(1024)) {
        return Err(Code::LAUNCH_OUT_OF_RESOURCES);
    }
    if dynamic_shared > 0
        && dynamic_shared as usize + entry.shared
            > (function.dynamic_shared as usize).max(48 * 1024)
    {
        return Err(Code::INVALID_VALUE);
    }
    let mut bytes = vec![
        0;
        entry
            .parameters
            .last()
            .map_or(0, |last| last.offset + last.size)
    ];
    for (n, parameter) in entry.parameters.iter().enumerate() {
        let value = params.get(n)?.read(parameter.size)?;
        bytes[parameter.offset..parameter.offset + parameter.size].copy_from_slice(&value);
    }
    let options = Options {
        shared_limit: state.settings.options.shared_limit,
        ..state.settings.options.clone()
    };
    state.submit(
        key,
        Work::Launch(Box::new(Launch {
            module: function.code,
            entry: function.entry,
            grid,
            block,
            dynamic_shared,
            params: bytes,
            options,
        })),
    )
}

entry! { Plain fn cuLaunchKernel(
    handle: Handle, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: Handle, params: List, extra: List,
) [state_name(handle), format!("grid {gx}x{gy}x{gz}"), format!("block {bx}x{by}x{bz}"), format!("shared {shared}"), format!("{stream:#x}")] |state| {
    if params.is_null() && !extra.is_null() {
        return Err(Code::NOT_SUPPORTED);
    }
    launch(state, handle, [gx, gy, gz], [bx, by, bz], shared, stream, params)
} }

entry! { Plain fn cuLaunchCooperativeKernel(
    handle: Handle, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: Handle, params: List,
) [state_name(handle)] |state| {
    launch(state, handle, [gx, gy, gz], [bx, by, bz], shared, stream, params)
} }

/// A function's name for the trace.
fn state_name(handle: Handle) -> String {
    let state = crate::state::lock();
    state
        .functions
        .get(&handle)
        .map_or_else(|| format!("{handle:#x}"), |function| function.entry.clone())
}
