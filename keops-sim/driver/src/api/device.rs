//! Initialisation, errors, devices.
use super::entry;
use crate::code::Code;
use crate::pointer::Out;
use crate::settings::shared_per_block;
use crate::state::State;
use std::ffi::c_char;

/// What the stand-in claims to be: CUDA 12.8.
const VERSION: i32 = 12080;
/// The newest PTX of that driver.
pub(super) const NEWEST_PTX: (u32, u32) = (8, 7);

entry! { Free fn cuInit(flags: u32) [flags] |state| {
    if flags != 0 {
        return Err(Code::INVALID_VALUE);
    }
    if state.devices.is_empty() {
        return Err(Code::NO_DEVICE);
    }
    state.initialized = true;
    crate::exit::register();
    Ok(())
} }

entry! { Free fn cuDriverGetVersion(out: Out<i32>) [""] |_| out.set(VERSION) }

/// The texts are static, so no call and no failure on request.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the driver's name")]
pub(crate) extern "C" fn cuGetErrorName(code: i32, out: Out<*const c_char>) -> i32 {
    text(Code(code).texts().map(|texts| texts.0), out)
}

/// The texts are static, so no call and no failure on request.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the driver's name")]
pub(crate) extern "C" fn cuGetErrorString(code: i32, out: Out<*const c_char>) -> i32 {
    text(Code(code).texts().map(|texts| texts.1), out)
}

fn text(text: Option<&'static str>, out: Out<*const c_char>) -> i32 {
    let result = match text {
        Some(text) => out.set(text.as_ptr().cast()),
        None => out.set(std::ptr::null()).and(Err(Code::INVALID_VALUE)),
    };
    result.map_or_else(|code| code.0, |()| 0)
}

/// The number of a device that exists.
pub(super) fn device(state: &State, device: i32) -> Result<usize, Code> {
    usize::try_from(device)
        .ok()
        .filter(|device| *device < state.devices.len())
        .ok_or(Code::INVALID_DEVICE)
}

entry! { Plain fn cuDeviceGetCount(out: Out<i32>) [""] |state| out.set(state.devices.len() as i32) }

entry! { Plain fn cuDeviceGet(out: Out<i32>, ordinal: i32) [ordinal] |state| {
    device(state, ordinal)?;
    out.set(ordinal)
} }

entry! { Plain fn cuDeviceGetName(out: Out<u8>, room: i32, ordinal: i32) [ordinal] |state| {
    device(state, ordinal)?;
    let name = b"keops-sim PTX interpreter\0";
    out.fill(name, usize::try_from(room).unwrap_or(0))
} }

fn uuid(state: &State, out: Out<[u8; 16]>, ordinal: i32) -> Result<(), Code> {
    let device = device(state, ordinal)?;
    let mut id = *b"keops-sim\0\0\0\0\0\0\0";
    id[15] = device as u8;
    out.set(id)
}

entry! { Plain fn cuDeviceGetUuid(out: Out<[u8; 16]>, ordinal: i32) [ordinal] |state| uuid(state, out, ordinal) }
entry! { Plain fn cuDeviceGetUuid_v2(out: Out<[u8; 16]>, ordinal: i32) [ordinal] |state| uuid(state, out, ordinal) }

entry! { Plain fn cuDeviceTotalMem_v2(out: Out<usize>, ordinal: i32) [ordinal] |state| {
    let device = device(state, ordinal)?;
    out.set(state.devices[device].memory.capacity() as usize)
} }

entry! { Plain fn cuDeviceGetAttribute(out: Out<i32>, attribute: i32, ordinal: i32) [attribute, ordinal] |state| {
    device(state, ordinal)?;
    let value = attribute_value(state, attribute).ok_or(Code::INVALID_VALUE)?;
    state.note = format!(" -> {value}");
    out.set(value)
} }

/// `CUdevice_attribute`, as far as a caller may depend on it; the others are 0.
fn attribute_value(state: &State, attribute: i32) -> Option<i32> {
    let settings = &state.settings;
    let optin = shared_per_block(settings.capability) as i32;
    Some(match attribute {
        // Threads of a block, in all and along each axis; blocks along each axis.
        1..=3 => 1024,
        4 => 64,
        5 => i32::MAX,
        6 | 7 => 65535,
        // Shared memory of a block, constant memory, lanes, registers of a block.
        8 => 48 * 1024,
        9 => 64 * 1024,
        10 => 32,
        12 => 64 * 1024,
        // Clock (kHz), multiprocessors.
        13 => 1_000_000,
        16 => settings.multiprocessors as i32,
        // Concurrent kernels, memory clock (kHz), bus (bits), second-level cache, threads of a multiprocessor.
        31 => 1,
        36 => 1_000_000,
        37 => 256,
        38 => 4 << 20,
        39 => 2048,
        // Copy engines, unified addressing.
        40 => 2,
        41 => 1,
        // Compute capability.
        75 => settings.capability.0 as i32,
        76 => settings.capability.1 as i32,
        // Shared memory and registers of a multiprocessor, most shared memory of a block, blocks of a multiprocessor.
        81 => optin + 1024,
        82 => 64 * 1024,
        97 => optin,
        106 => 32,
        // Stream-ordered allocation.
        115 => i32::from(settings.memory_pools),
        n if (1..=200).contains(&n) => 0,
        _ => return None,
    })
}
