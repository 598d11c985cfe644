//! Events.
use super::entry;
use crate::code::Code;
use crate::pointer::Out;
use crate::state::{Handle, State};
use crate::stream::{Event, Work};

/// `CU_EVENT_DISABLE_TIMING`
const NO_TIME: u32 = 2;

entry! { Plain fn cuEventCreate(out: Out<Handle>, flags: u32) [flags] |state| {
    let device = state.current_device()?;
    state.check(device)?;
    let handle = state.new_handle();
    out.set(handle)?;
    state.note = format!(" -> {handle:#x}");
    state.events.insert(handle, Event { device, timed: flags & NO_TIME == 0, recorded: None, time: None });
    Ok(())
} }

entry! { Release fn cuEventDestroy_v2(event: Handle) [format!("{event:#x}")] |state| {
    state.events.remove(&event).map(|_| ()).ok_or(Code::INVALID_HANDLE)
} }

fn record(state: &mut State, event: Handle, stream: Handle) -> Result<(), Code> {
    let key = state.stream(stream)?;
    let device = state.events.get(&event).ok_or(Code::INVALID_HANDLE)?.device;
    if device != key.0 {
        return Err(Code::INVALID_HANDLE);
    }
    let result = state.submit(key, Work::Record { event });
    let position = state.submitted(key);
    if let Some(event) = state.events.get_mut(&event) {
        event.recorded = Some((key, position));
    }
    result
}

entry! { Plain fn cuEventRecord(event: Handle, stream: Handle) [format!("{event:#x}"), format!("{stream:#x}")] |state| {
    record(state, event, stream)
} }

entry! { Plain fn cuEventSynchronize(event: Handle) [format!("{event:#x}")] |state| {
    let event = state.events.get(&event).ok_or(Code::INVALID_HANDLE)?;
    let device = event.device;
    if let Some((key, position)) = event.recorded {
        state.run_to(key, position);
    }
    state.check(device)
} }

entry! { Plain fn cuEventQuery(event: Handle) [format!("{event:#x}")] |state| {
    let event = state.events.get(&event).ok_or(Code::INVALID_HANDLE)?;
    let device = event.device;
    if let Some((key, position)) = event.recorded {
        let done = state.is_done(key, position);
        // Asked again, the work is done: a loop of queries ends.
        state.run_to(key, position);
        state.check(device)?;
        return if done { Ok(()) } else { Err(Code::NOT_READY) };
    }
    Ok(())
} }

fn elapsed(state: &mut State, out: Out<f32>, from: Handle, to: Handle) -> Result<(), Code> {
    let time = |state: &State, event: Handle| {
        let event = state.events.get(&event).ok_or(Code::INVALID_HANDLE)?;
        let (key, position) = event
            .recorded
            .filter(|_| event.timed)
            .ok_or(Code::INVALID_HANDLE)?;
        if !state.is_done(key, position) {
            return Err(Code::NOT_READY);
        }
        event.time.ok_or(Code::NOT_READY)
    };
    let (from, to) = (time(state, from)?, time(state, to)?);
    let seconds = match to.checked_duration_since(from) {
        Some(time) => time.as_secs_f32(),
        None => -from.duration_since(to).as_secs_f32(),
    };
    out.set(1e3 * seconds)
}

entry! { Plain fn cuEventElapsedTime(out: Out<f32>, from: Handle, to: Handle) [format!("{from:#x}"), format!("{to:#x}")] |state| {
    elapsed(state, out, from, to)
} }
entry! { Plain fn cuEventElapsedTime_v2(out: Out<f32>, from: Handle, to: Handle) [format!("{from:#x}"), format!("{to:#x}")] |state| {
    elapsed(state, out, from, to)
} }
