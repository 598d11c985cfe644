//! The state of the stand-in, behind one lock, and the frame of every call: counting, tracing, failing on request.
use crate::code::Code;
use crate::pointer::Pinned;
use crate::settings::{Failure, Settings};
use crate::stream::{Event, Stream, StreamKey};
use keops_sim::{Memory, Module};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A handle that callers hold.
pub(crate) type Handle = usize;

pub(crate) struct Device {
    pub(crate) memory: Memory,
    /// How often its primary context is retained.
    pub(crate) retained: u32,
    /// After a fault, every call on the context fails with it.
    pub(crate) fault: Option<Code>,
}

pub(crate) struct LoadedModule {
    pub(crate) device: usize,
    pub(crate) module: Arc<Module>,
}

#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) module: Handle,
    pub(crate) device: usize,
    pub(crate) code: Arc<Module>,
    pub(crate) entry: String,
    /// Dynamic shared memory that it may be launched with.
    pub(crate) dynamic_shared: u32,
}

/// Pinned host memory: ours, or the caller's that it registered.
pub(crate) struct HostRange {
    pub(crate) length: usize,
    pub(crate) owned: Option<Pinned>,
}

pub(crate) struct State {
    pub(crate) settings: Settings,
    pub(crate) initialized: bool,
    pub(crate) calls: u64,
    /// Calls of the function whose failure is awaited.
    failure_calls: u64,
    pub(crate) devices: Vec<Device>,
    pub(crate) streams: BTreeMap<StreamKey, Stream>,
    pub(crate) events: BTreeMap<Handle, Event>,
    pub(crate) modules: BTreeMap<Handle, LoadedModule>,
    pub(crate) functions: BTreeMap<Handle, Function>,
    pub(crate) pinned: BTreeMap<usize, HostRange>,
    /// What was still there when its context went.
    pub(crate) lost: Vec<String>,
    /// Message of the last fault.
    pub(crate) message: String,
    next_handle: Handle,
    trace: Option<File>,
    /// What a call wants to add to its line in the trace.
    pub(crate) note: String,
}

thread_local! {
    /// The thread's current context; 0: none.
    static CURRENT: Cell<Handle> = const { Cell::new(0) };
}

/// Handle of device 0's primary context; those of the others follow.
const CONTEXT: Handle = 0xc0de_0000;

pub(crate) fn current() -> Handle {
    CURRENT.get()
}

pub(crate) fn set_current(context: Handle) {
    CURRENT.set(context);
}

/// Locks the state, which the first call creates.
pub(crate) fn lock() -> MutexGuard<'static, State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    let state = STATE.get_or_init(|| Mutex::new(State::new(Settings::from_environment())));
    // A call that panicked has said so; the state stays usable.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn new(settings: Settings) -> State {
        let devices = (0..settings.devices).map(|n| Device {
            memory: Memory::of_device(n, settings.memory),
            retained: 0,
            fault: None,
        });
        let trace = settings.trace.as_ref().map(|path| {
            let file = File::options().create(true).append(true).open(path);
            file.unwrap_or_else(|error| {
                eprintln!("keops-sim: KEOPS_SIM_TRACE={}: {error}", path.display());
                std::process::exit(86)
            })
        });
        State {
            devices: devices.collect(),
            initialized: false,
            calls: 0,
            failure_calls: 0,
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            modules: BTreeMap::new(),
            functions: BTreeMap::new(),
            pinned: BTreeMap::new(),
            lost: Vec::new(),
            message: String::new(),
            next_handle: 0xd000_0000,
            trace,
            note: String::new(),
            settings,
        }
    }

    /// Forgets everything but settings and addresses: what callers hold becomes invalid.
    pub(crate) fn reset(&mut self) {
        let handle = self.next_handle;
        *self = State {
            next_handle: handle,
            ..State::new(self.settings.clone())
        };
    }

    pub(crate) fn new_handle(&mut self) -> Handle {
        self.next_handle += 0x10;
        self.next_handle
    }

    pub(crate) fn context_of(device: usize) -> Handle {
        CONTEXT + 0x10 * device
    }

    /// The device of a live context.
    pub(crate) fn device_of(&self, context: Handle) -> Result<usize, Code> {
        let device = context.wrapping_sub(CONTEXT) / 0x10;
        match self.devices.get(device) {
            Some(found) if State::context_of(device) == context && found.retained > 0 => Ok(device),
            _ => Err(Code::INVALID_CONTEXT),
        }
    }

    /// The device of the thread's current context.
    pub(crate) fn current_device(&self) -> Result<usize, Code> {
        self.device_of(current())
    }

    /// The device whose memory holds a range.
    pub(crate) fn device_with(&self, address: u64, length: usize) -> Result<usize, Code> {
        self.devices
            .iter()
            .position(|device| device.memory.contains(address, length))
            .ok_or(Code::INVALID_VALUE)
    }

    /// Whether a range of host memory is all pinned.
    pub(crate) fn is_pinned(&self, address: usize, length: usize) -> bool {
        self.pinned
            .range(..=address)
            .next_back()
            .is_some_and(|(start, range)| {
                address - start <= range.length && length <= range.length - (address - start)
            })
    }

    /// Records a fault of a device: its context is lost, as the driver has it.
    pub(crate) fn fail(&mut self, device: usize, code: Code, message: String) {
        eprintln!("keops-sim: {message}");
        self.trace_line(&format!("    fault: {message}"));
        self.message = message;
        self.devices[device].fault.get_or_insert(code);
    }

    pub(crate) fn trace_line(&mut self, line: &str) {
        if let Some(file) = &mut self.trace {
            // A trace that cannot be written is missing where it is read; nothing else depends on it.
            drop(writeln!(file, "{line}"));
        }
    }

    /// Lets the n-th call from now on fail; 0: none.
    pub(crate) fn set_failure(&mut self, at: u64, code: i32) {
        self.calls = 0;
        self.failure_calls = 0;
        self.settings.failure = (at > 0).then_some(Failure { function: None, at });
        self.settings.failure_code = Code(code);
    }

    /// Whether this call is the one that must fail.
    fn must_fail(&mut self, function: &str) -> bool {
        let Some(failure) = &self.settings.failure else {
            return false;
        };
        if failure
            .function
            .as_ref()
            .is_some_and(|name| name != function)
        {
            return false;
        }
        self.failure_calls += 1;
        self.failure_calls == failure.at
    }
}

/// How a call takes a failure that it is told to have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It does nothing.
    Plain,
    /// It releases something, which it does before it fails: the driver reports earlier errors so.
    Release,
    /// It works before `cuInit` as well.
    Free,
}

/// The frame of every call.
pub(crate) fn call(
    function: &str,
    kind: Kind,
    arguments: std::fmt::Arguments<'_>,
    body: impl FnOnce(&mut State) -> Result<(), Code>,
) -> i32 {
    let mut state = lock();
    state.calls += 1;
    state.note.clear();
    let fails = state.must_fail(function);
    let result = if fails && kind != Kind::Release {
        Err(state.settings.failure_code)
    } else if kind != Kind::Free && !state.initialized {
        Err(Code::NOT_INITIALIZED)
    } else {
        body(&mut state)
    };
    let code = match result {
        _ if fails => state.settings.failure_code,
        Ok(()) => Code::SUCCESS,
        Err(code) => code,
    };
    if state.trace.is_some() {
        let (number, note) = (state.calls, std::mem::take(&mut state.note));
        let injected = if fails { " (on request)" } else { "" };
        state.trace_line(&format!(
            "{number} {function}({arguments}) = {}{injected}{note}",
            code.0
        ));
    }
    code.0
}
