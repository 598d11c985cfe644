//! Device memory and pinned host memory.
use super::entry;
use crate::code::Code;
use crate::pointer::{Host, Out, Pinned};
use crate::state::{Handle, HostRange, State};
use crate::stream::Work;

entry! { Plain fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) [""] |state| {
    let device = state.current_device()?;
    let memory = &state.devices[device].memory;
    free.set((memory.capacity() - memory.used()) as usize)?;
    total.set(memory.capacity() as usize)
} }

fn allocate(state: &mut State, device: usize, out: Out<u64>, length: usize) -> Result<(), Code> {
    state.check(device)?;
    if length == 0 {
        return Err(Code::INVALID_VALUE);
    }
    out.set(0)?;
    let mut address = state.devices[device].memory.allocate(length);
    if address.is_err() && !state.queued_frees().is_empty() {
        // Memory whose stream-ordered free is queued counts as free to the driver.
        state.run_device(device)?;
        address = state.devices[device].memory.allocate(length);
    }
    let address = address.map_err(|_| Code::OUT_OF_MEMORY)?;
    state.note = format!(" -> {address:#x}");
    out.set(address)
}

entry! { Plain fn cuMemAlloc_v2(out: Out<u64>, length: usize) [length] |state| {
    let device = state.current_device()?;
    allocate(state, device, out, length)
} }

entry! { Plain fn cuMemAllocAsync(out: Out<u64>, length: usize, stream: Handle) [length, format!("{stream:#x}")] |state| {
    if !state.settings.memory_pools {
        return Err(Code::NOT_SUPPORTED);
    }
    let key = state.stream(stream)?;
    allocate(state, key.0, out, length)
} }

entry! { Release fn cuMemFree_v2(address: u64) [format!("{address:#x}")] |state| {
    if address == 0 {
        return Ok(());
    }
    // The device's work ends first.
    let device = state.device_with(address, 0)?;
    let result = state.run_device(device);
    if !state.devices[device].memory.free(address) {
        return Err(Code::INVALID_VALUE);
    }
    result
} }

entry! { Release fn cuMemFreeAsync(address: u64, stream: Handle) [format!("{address:#x}"), format!("{stream:#x}")] |state| {
    if address == 0 {
        return Ok(());
    }
    state.device_with(address, 0)?;
    let key = state.stream(stream)?;
    if state.queued_frees().contains(&address) {
        return Err(Code::INVALID_VALUE);
    }
    state.submit(key, Work::Free { address })
} }

entry! { Plain fn cuMemHostAlloc(out: Out<usize>, length: usize, flags: u32) [length, flags] |state| {
    let device = state.current_device()?;
    state.check(device)?;
    if length == 0 {
        return Err(Code::INVALID_VALUE);
    }
    let mut pinned = Pinned::new(length);
    let address = pinned.address();
    state.note = format!(" -> {address:#x}");
    out.set(address)?;
    state.pinned.insert(address, HostRange { length, owned: Some(pinned) });
    Ok(())
} }

entry! { Release fn cuMemFreeHost(host: Host) [format!("{:#x}", host.address())] |state| {
    match state.pinned.get(&host.address()) {
        Some(range) if range.owned.is_some() => {
            state.pinned.remove(&host.address());
            Ok(())
        }
        _ => Err(Code::INVALID_VALUE),
    }
} }

entry! { Plain fn cuMemHostRegister_v2(host: Host, length: usize, flags: u32) [format!("{:#x}", host.address()), length, flags] |state| {
    state.current_device()?;
    if length == 0 || host.address() == 0 || state.is_pinned(host.address(), 1) {
        return Err(Code::INVALID_VALUE);
    }
    state.pinned.insert(host.address(), HostRange { length, owned: None });
    Ok(())
} }

entry! { Release fn cuMemHostUnregister(host: Host) [format!("{:#x}", host.address())] |state| {
    match state.pinned.get(&host.address()) {
        Some(range) if range.owned.is_none() => {
            state.pinned.remove(&host.address());
            Ok(())
        }
        _ => Err(Code::INVALID_VALUE),
    }
} }
