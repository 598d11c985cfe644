//! What was not released, at the end of the program or when a test asks.
use crate::settings::Leaks;
use crate::state::{State, lock};
use std::sync::Once;

unsafe extern "C" {
    /// Of the C library, which every program that loads a driver has.
    safe fn atexit(function: extern "C" fn()) -> i32;
    /// Ends the program at once, without the other functions of `atexit`.
    safe fn _exit(status: i32) -> !;
}

/// Lets the leak check run at the end of the program.
pub(crate) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if atexit(at_exit) != 0 {
            eprintln!("keops-sim: the leak check cannot be registered");
        }
    });
}

extern "C" fn at_exit() {
    let (report, fails) = {
        let state = lock();
        let (memory, others) = state.leaks();
        let fails = match state.settings.leaks {
            Leaks::Ignore => return,
            Leaks::Report => false,
            Leaks::Fail => !memory.is_empty(),
            Leaks::Strict => !memory.is_empty() || !others.is_empty(),
        };
        ([memory, others].concat(), fails)
    };
    for line in report {
        eprintln!("keops-sim: not released: {line}");
    }
    if fails {
        // The program is ending already; this changes its status.
        _exit(86);
    }
}

impl State {
    /// Memory that is still allocated, and other things that are still there. Modules and contexts may stay: programs
    /// keep them for their whole life.
    pub(crate) fn leaks(&self) -> (Vec<String>, Vec<String>) {
        let mut memory = self.lost.clone();
        // Frees that were queued and never ran are no leaks.
        let queued = self.queued_frees();
        for (device, state) in self.devices.iter().enumerate() {
            for (address, length) in state.memory.allocations() {
                if !queued.contains(&address) {
                    memory.push(format!("{length} bytes at {address:#x} of device {device}"));
                }
            }
        }
        for (address, range) in &self.pinned {
            let how = if range.owned.is_some() {
                "pinned"
            } else {
                "registered"
            };
            memory.push(format!(
                "{} bytes of {how} host memory at {address:#x}",
                range.length
            ));
        }
        let mut others = Vec::new();
        let streams = self.streams.keys().filter(|key| key.1 != 0).count();
        for (count, what) in [
            (self.events.len(), "events"),
            (streams, "streams"),
            (self.modules.len(), "modules"),
            (
                self.devices
                    .iter()
                    .map(|device| device.retained as usize)
                    .sum(),
                "retained contexts",
            ),
        ] {
            if count > 0 {
                others.push(format!("{count} {what}"));
            }
        }
        (memory, others)
    }
}
