//! Modules and functions.
use super::device::NEWEST_PTX;
use super::entry;
use crate::code::Code;
use crate::pointer::{Kinds, List, Out, Text};
use crate::settings::shared_per_block;
use crate::state::{Function, Handle, LoadedModule, State};
use keops_sim::Module;
use std::sync::Arc;

/// `CU_JIT_*`: the two logs and their sizes.
const INFO_LOG: i32 = 3;
const INFO_LOG_SIZE: i32 = 4;
const ERROR_LOG: i32 = 5;
const ERROR_LOG_SIZE: i32 = 6;

/// The module of a text, or the code and the log of its refusal.
fn compile(state: &State, image: &str) -> Result<Module, (Code, String)> {
    let module = Module::parse(image)
        .map_err(|error| (Code::INVALID_PTX, format!("ptxas application ptx input, {error}\nptxas fatal   : Ptx assembly aborted due to errors\n")))?;
    let (major, minor) = state.settings.capability;
    if module.target() > 10 * major + minor {
        let log = format!(
            "ptxas fatal   : SM version specified by .target is higher than sm_{major}{minor}\n"
        );
        return Err((Code::INVALID_PTX, log));
    }
    if module.version() > NEWEST_PTX {
        let (major, minor) = module.version();
        return Err((
            Code::UNSUPPORTED_PTX_VERSION,
            format!("ptxas fatal   : Unsupported .version {major}.{minor}\n"),
        ));
    }
    Ok(module)
}

fn load(
    state: &mut State,
    out: Out<Handle>,
    image: Text,
    count: u32,
    kinds: Kinds,
    values: List,
) -> Result<(), Code> {
    let device = state.current_device()?;
    state.check(device)?;
    if matches!(
        image.magic(),
        [0x7f, b'E', b'L', b'F'] | [0x50, 0xed, 0x55, 0xba]
    ) {
        return Err(Code::NO_BINARY_FOR_GPU);
    }
    let text = image.get()?;
    let result = compile(state, &text);
    let (code, log) = match &result {
        Ok(_) => (None, String::new()),
        Err((code, log)) => (Some(*code), log.clone()),
    };
    write_log(&log, count, kinds, values, ERROR_LOG, ERROR_LOG_SIZE)?;
    write_log("", count, kinds, values, INFO_LOG, INFO_LOG_SIZE)?;
    if let Some(code) = code {
        state.trace_line(&format!("    refused: {}", log.trim_end()));
        return Err(code);
    }
    let Ok(module) = result else {
        return Err(Code::INVALID_PTX);
    };
    let handle = state.new_handle();
    let names: Vec<&str> = module
        .entries()
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    state.note = format!(" -> {handle:#x}, entries {names:?}");
    out.set(handle)?;
    state.modules.insert(
        handle,
        LoadedModule {
            device,
            module: Arc::new(module),
        },
    );
    Ok(())
}

/// Fills the caller's log buffer, if it gave one, and tells its length.
fn write_log(
    log: &str,
    count: u32,
    kinds: Kinds,
    values: List,
    buffer: i32,
    size: i32,
) -> Result<(), Code> {
    let find = |kind: i32| (0..count as usize).find(|n| kinds.get(*n) == kind);
    let (Some(buffer), Some(size)) = (find(buffer), find(size)) else {
        return Ok(());
    };
    let room = values.get(size)?.address();
    if room > 0 {
        let mut bytes = log.as_bytes()[..log.len().min(room - 1)].to_vec();
        bytes.push(0);
        values.get(buffer)?.write(&bytes)?;
        values.set(size, bytes.len());
    }
    Ok(())
}

entry! { Plain fn cuModuleLoadData(out: Out<Handle>, image: Text) [""] |state| {
    load(state, out, image, 0, Kinds::none(), List::none())
} }

entry! { Plain fn cuModuleLoadDataEx(out: Out<Handle>, image: Text, count: u32, kinds: Kinds, values: List) [count] |state| {
    load(state, out, image, count, kinds, values)
} }

entry! { Plain fn cuModuleLoad(out: Out<Handle>, path: Text) [path.get().unwrap_or_default()] |state| {
    let path = path.get()?;
    let text = std::fs::read_to_string(&path).map_err(|_| Code::NOT_FOUND)?;
    let text = std::ffi::CString::new(text).map_err(|_| Code::INVALID_IMAGE)?;
    load(state, out, Text::of(&text), 0, Kinds::none(), List::none())
} }

entry! { Release fn cuModuleUnload(handle: Handle) [format!("{handle:#x}")] |state| {
    let Some(module) = state.modules.remove(&handle) else { return Err(Code::INVALID_HANDLE) };
    let result = state.run_device(module.device);
    module.module.unload(&mut state.devices[module.device].memory);
    state.functions.retain(|_, function| function.module != handle);
    result
} }

entry! { Plain fn cuModuleGetFunction(out: Out<Handle>, handle: Handle, name: Text) [format!("{handle:#x}"), name.get().unwrap_or_default()] |state| {
    let module = state.modules.get(&handle).ok_or(Code::INVALID_HANDLE)?;
    let entry = name.get()?;
    if module.module.entry(&entry).is_none() {
        return Err(Code::NOT_FOUND);
    }
    let function = Function {
        module: handle,
        device: module.device,
        code: Arc::clone(&module.module),
        entry,
        dynamic_shared: 48 * 1024,
    };
    // The same function has the same handle.
    let same = state.functions.iter().find(|(_, other)| other.module == handle && other.entry == function.entry);
    let function_handle = match same {
        Some((handle, _)) => *handle,
        None => state.new_handle(),
    };
    state.functions.entry(function_handle).or_insert(function);
    out.set(function_handle)
} }

entry! { Plain fn cuModuleGetGlobal_v2(address: Out<u64>, length: Out<usize>, handle: Handle, name: Text) [format!("{handle:#x}")] |state| {
    let module = state.modules.get(&handle).ok_or(Code::INVALID_HANDLE)?;
    let (device, module) = (module.device, Arc::clone(&module.module));
    let variable = module.variable(&mut state.devices[device].memory, &name.get()?);
    let (at, bytes) = variable.map_err(|_| Code::NOT_FOUND)?;
    address.set_if_wanted(at);
    length.set_if_wanted(bytes);
    Ok(())
} }

/// A live function.
pub(super) fn function(state: &State, handle: Handle) -> Result<&Function, Code> {
    state.functions.get(&handle).ok_or(Code::INVALID_HANDLE)
}

entry! { Plain fn cuFuncGetAttribute(out: Out<i32>, attribute: i32, handle: Handle) [attribute, format!("{handle:#x}")] |state| {
    let function = function(state, handle)?;
    let entry = function.code.entry(&function.entry).ok_or(Code::INVALID_HANDLE)?;
    let (major, minor) = function.code.version();
    let most = shared_per_block(state.settings.capability);
    out.set(match attribute {
        0 => entry.max_threads.unwrap_or(1024) as i32,
        1 => entry.shared as i32,
        2 => 0,
        3 => entry.local as i32,
        // What an assembler would make of the declared ones is unknown; this is a bound that no card exceeds.
        4 => entry.registers.min(255) as i32,
        5 => (10 * major + minor) as i32,
        6 => (10 * state.settings.capability.0 + state.settings.capability.1) as i32,
        7 => 0,
        8 => function.dynamic_shared.min(most - entry.shared as u32) as i32,
        9 => -1,
        _ => return Err(Code::INVALID_VALUE),
    })
} }

entry! { Plain fn cuFuncSetAttribute(handle: Handle, attribute: i32, value: i32) [format!("{handle:#x}"), attribute, value] |state| {
    let most = shared_per_block(state.settings.capability);
    let shared = {
        let function = function(state, handle)?;
        function.code.entry(&function.entry).map_or(0, |entry| entry.shared as u32)
    };
    match attribute {
        // Most dynamic shared memory.
        8 => {
            let value = u32::try_from(value).ok().filter(|value| value + shared <= most).ok_or(Code::INVALID_VALUE)?;
            if let Some(function) = state.functions.get_mut(&handle) {
                function.dynamic_shared = value;
            }
            Ok(())
        }
        // The preferred share of shared memory.
        9 => Ok(()),
        _ => Err(Code::INVALID_VALUE),
    }
} }

entry! { Plain fn cuFuncSetCacheConfig(handle: Handle, config: i32) [format!("{handle:#x}"), config] |state| function(state, handle).map(|_| ()) }
