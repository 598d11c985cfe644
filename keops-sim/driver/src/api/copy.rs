//! Copies and fills.
//!
//! As documented for the driver: a copy to the device from pageable memory has taken the bytes when the call returns, one
//! to pageable memory has ended; only pinned memory is really accessed later.
use super::entry;
use crate::code::Code;
use crate::pointer::Host;
use crate::state::{Handle, State};
use crate::stream::{StreamKey, Work};

fn to_device(
    state: &mut State,
    key: StreamKey,
    to: u64,
    from: Host,
    length: usize,
) -> Result<(), Code> {
    state.check(key.0)?;
    if length == 0 {
        return Ok(());
    }
    state.device_with(to, length)?;
    let work = if state.is_pinned(from.address(), length) {
        Work::WritePinned {
            to,
            from: from.address(),
            length,
        }
    } else {
        Work::WriteBytes {
            to,
            bytes: from.read(length)?,
        }
    };
    state.submit(key, work)
}

fn to_host(
    state: &mut State,
    key: StreamKey,
    to: Host,
    from: u64,
    length: usize,
) -> Result<(), Code> {
    state.check(key.0)?;
    if length == 0 {
        return Ok(());
    }
    state.device_with(from, length)?;
    if state.is_pinned(to.address(), length) {
        return state.submit(
            key,
            Work::ReadPinned {
                to: to.address(),
                from,
                length,
            },
        );
    }
    state.run(key)?;
    match state.read(from, length) {
        Ok(bytes) => to.write(&bytes),
        Err(error) => {
            state.fail(
                key.0,
                Code::of(&error),
                format!("copy to the host: {error}"),
            );
            Err(Code::of(&error))
        }
    }
}

fn on_device(
    state: &mut State,
    key: StreamKey,
    to: u64,
    from: u64,
    length: usize,
) -> Result<(), Code> {
    state.check(key.0)?;
    if length == 0 {
        return Ok(());
    }
    state.device_with(to, length)?;
    state.device_with(from, length)?;
    state.submit(key, Work::Copy { to, from, length })
}

fn fill(state: &mut State, key: StreamKey, to: u64, value: u8, length: usize) -> Result<(), Code> {
    state.check(key.0)?;
    if length == 0 {
        return Ok(());
    }
    state.device_with(to, length)?;
    state.submit(key, Work::Set { to, value, length })
}

entry! { Plain fn cuMemcpyHtoD_v2(to: u64, from: Host, length: usize) [format!("{to:#x}"), length] |state| {
    let key = state.stream(0)?;
    to_device(state, key, to, from, length)?;
    state.run(key)
} }

entry! { Plain fn cuMemcpyHtoDAsync_v2(to: u64, from: Host, length: usize, stream: Handle) [format!("{to:#x}"), length, format!("{stream:#x}")] |state| {
    let key = state.stream(stream)?;
    to_device(state, key, to, from, length)
} }

entry! { Plain fn cuMemcpyDtoH_v2(to: Host, from: u64, length: usize) [format!("{from:#x}"), length] |state| {
    let key = state.stream(0)?;
    to_host(state, key, to, from, length)?;
    state.run(key)
} }

entry! { Plain fn cuMemcpyDtoHAsync_v2(to: Host, from: u64, length: usize, stream: Handle) [format!("{from:#x}"), length, format!("{stream:#x}")] |state| {
    let key = state.stream(stream)?;
    to_host(state, key, to, from, length)
} }

entry! { Plain fn cuMemcpyDtoD_v2(to: u64, from: u64, length: usize) [format!("{to:#x}"), format!("{from:#x}"), length] |state| {
    let key = state.stream(0)?;
    on_device(state, key, to, from, length)?;
    state.run(key)
} }

entry! { Plain fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, length: usize, stream: Handle) [format!("{to:#x}"), format!("{from:#x}"), length, format!("{stream:#x}")] |state| {
    let key = state.stream(stream)?;
    on_device(state, key, to, from, length)
} }

entry! { Plain fn cuMemcpyPeerAsync(to: u64, to_context: Handle, from: u64, from_context: Handle, length: usize, stream: Handle)
    [format!("{to:#x}"), format!("{from:#x}"), length, format!("{stream:#x}")] |state| {
    let key = state.stream(stream)?;
    let (to_device, from_device) = (state.device_of(to_context)?, state.device_of(from_context)?);
    if length > 0 && (state.device_with(to, length)? != to_device || state.device_with(from, length)? != from_device) {
        return Err(Code::INVALID_VALUE);
    }
    on_device(state, key, to, from, length)
} }

entry! { Plain fn cuMemsetD8_v2(to: u64, value: u8, length: usize) [format!("{to:#x}"), value, length] |state| {
    let key = state.stream(0)?;
    fill(state, key, to, value, length)?;
    state.run(key)
} }

entry! { Plain fn cuMemsetD8Async(to: u64, value: u8, length: usize, stream: Handle) [format!("{to:#x}"), value, length, format!("{stream:#x}")] |state| {
    let key = state.stream(stream)?;
    fill(state, key, to, value, length)
} }
