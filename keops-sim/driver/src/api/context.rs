//! Primary contexts, and the current one of a thread.
use super::device::device;
use super::entry;
use crate::code::Code;
use crate::pointer::Out;
use crate::state::{Handle, State, current, set_current};

entry! { Plain fn cuDevicePrimaryCtxRetain(out: Out<Handle>, ordinal: i32) [ordinal] |state| {
    let device = device(state, ordinal)?;
    out.set(State::context_of(device))?;
    state.devices[device].retained += 1;
    Ok(())
} }

entry! { Release fn cuDevicePrimaryCtxRelease_v2(ordinal: i32) [ordinal] |state| {
    let device = device(state, ordinal)?;
    match state.devices[device].retained {
        0 => return Err(Code::INVALID_CONTEXT),
        1 => destroy(state, device),
        _ => {}
    }
    state.devices[device].retained -= 1;
    Ok(())
} }

/// Ends a context: work ends, and what was not released is remembered as lost.
fn destroy(state: &mut State, device: usize) {
    // A fault of the context ends with it.
    let _ = state.run_device(device);
    let left: Vec<(u64, usize)> = state.devices[device].memory.allocations().collect();
    for (address, length) in left {
        state.lost.push(format!(
            "{length} bytes at {address:#x} of device {device}, when its context was released"
        ));
        state.devices[device].memory.free(address);
    }
    let gone: Vec<Handle> = state
        .modules
        .iter()
        .filter(|(_, m)| m.device == device)
        .map(|(handle, _)| *handle)
        .collect();
    for handle in gone {
        if let Some(module) = state.modules.remove(&handle) {
            module.module.unload(&mut state.devices[device].memory);
        }
        state
            .functions
            .retain(|_, function| function.module != handle);
    }
    state.streams.retain(|key, _| key.0 != device);
    state.events.retain(|_, event| event.device != device);
    state.devices[device].fault = None;
}

entry! { Plain fn cuDevicePrimaryCtxGetState(ordinal: i32, flags: Out<u32>, active: Out<i32>) [ordinal] |state| {
    let device = device(state, ordinal)?;
    flags.set(0)?;
    active.set(i32::from(state.devices[device].retained > 0))
} }

entry! { Plain fn cuCtxGetCurrent(out: Out<Handle>) [""] |_| out.set(current()) }

entry! { Plain fn cuCtxSetCurrent(context: Handle) [format!("{context:#x}")] |state| {
    if context != 0 {
        state.device_of(context)?;
    }
    set_current(context);
    Ok(())
} }

entry! { Plain fn cuCtxGetDevice(out: Out<i32>) [""] |state| out.set(state.current_device()? as i32) }

entry! { Plain fn cuCtxSynchronize() [""] |state| {
    let device = state.current_device()?;
    state.run_device(device)
} }

entry! { Plain fn cuCtxGetLimit(out: Out<usize>, limit: i32) [limit] |state| {
    state.current_device()?;
    // Stack, print buffer, heap.
    out.set(match limit {
        0 => 1024,
        1 => 1 << 20,
        2 => 8 << 20,
        _ => return Err(Code::NOT_SUPPORTED),
    })
} }

entry! { Plain fn cuCtxSetLimit(limit: i32, value: usize) [limit, value] |state| {
    state.current_device()?;
    if (0..=2).contains(&limit) { Ok(()) } else { Err(Code::NOT_SUPPORTED) }
} }

entry! { Plain fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) [""] |state| {
    state.current_device()?;
    least.set_if_wanted(0);
    greatest.set_if_wanted(-5);
    Ok(())
} }

entry! { Plain fn cuCtxSetFlags(flags: u32) [flags] |state| state.current_device().map(|_| ()) }
entry! { Plain fn cuCtxGetCacheConfig(out: Out<i32>) [""] |_| out.set(0) }
entry! { Plain fn cuCtxSetCacheConfig(config: i32) [config] |state| state.current_device().map(|_| ()) }
