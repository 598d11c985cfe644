//! Streams.
use super::entry;
use crate::code::Code;
use crate::pointer::{Host, HostFunction, Out};
use crate::state::{Handle, State};
use crate::stream::{Stream, Work};

/// `CU_STREAM_NON_BLOCKING`
const INDEPENDENT: u32 = 1;

fn create(state: &mut State, out: Out<Handle>, flags: u32) -> Result<(), Code> {
    let device = state.current_device()?;
    state.check(device)?;
    let handle = state.new_handle();
    out.set(handle)?;
    state.note = format!(" -> {handle:#x}");
    let stream = Stream::new(flags & INDEPENDENT != 0);
    state.streams.insert((device, handle), stream);
    Ok(())
}

entry! { Plain fn cuStreamCreate(out: Out<Handle>, flags: u32) [flags] |state| create(state, out, flags) }

entry! { Plain fn cuStreamCreateWithPriority(out: Out<Handle>, flags: u32, priority: i32) [flags, priority] |state| {
    create(state, out, flags)
} }

entry! { Release fn cuStreamDestroy_v2(stream: Handle) [format!("{stream:#x}")] |state| {
    let key = state.stream(stream)?;
    if key.1 == 0 {
        return Err(Code::INVALID_HANDLE);
    }
    // Work that was queued still runs.
    let result = state.run(key);
    state.streams.remove(&key);
    result
} }

entry! { Plain fn cuStreamSynchronize(stream: Handle) [format!("{stream:#x}")] |state| {
    let key = state.stream(stream)?;
    state.run(key)
} }

entry! { Plain fn cuStreamQuery(stream: Handle) [format!("{stream:#x}")] |state| {
    let key = state.stream(stream)?;
    let done = state.is_done(key, state.submitted(key));
    // Asked again, the work is done: a loop of queries ends.
    state.run(key)?;
    if done { Ok(()) } else { Err(Code::NOT_READY) }
} }

entry! { Plain fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) [format!("{stream:#x}"), format!("{event:#x}"), flags] |state| {
    let key = state.stream(stream)?;
    let recorded = state.events.get(&event).ok_or(Code::INVALID_HANDLE)?.recorded;
    match recorded {
        Some((stream, position)) => state.submit(key, Work::Wait { stream, position }),
        // An event that was never recorded is no reason to wait.
        None => Ok(()),
    }
} }

entry! { Plain fn cuStreamIsCapturing(stream: Handle, out: Out<i32>) [format!("{stream:#x}")] |state| {
    state.stream(stream)?;
    out.set(0)
} }

entry! { Plain fn cuStreamBeginCapture_v2(stream: Handle, mode: i32) [format!("{stream:#x}"), mode] |_| Err(Code::NOT_SUPPORTED) }
entry! { Plain fn cuStreamEndCapture(stream: Handle, out: Out<Handle>) [format!("{stream:#x}")] |_| {
    out.set_if_wanted(0);
    Err(Code::NOT_SUPPORTED)
} }

entry! { Plain fn cuLaunchHostFunc(stream: Handle, function: HostFunction, data: Host) [format!("{stream:#x}")] |state| {
    let key = state.stream(stream)?;
    state.submit(key, Work::Call { function, data: data.address() })
} }
