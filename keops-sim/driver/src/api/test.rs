//! What tests may ask of the stand-in, beyond the driver's interface. Find these with the dynamic loader: a real driver
//! does not have them.
use crate::pointer::Out;
use crate::state::lock;

/// Lets the n-th driver call from now on fail with `code`; 0: none. Also restarts the count of [`keops_sim_calls`].
#[unsafe(no_mangle)]
pub(crate) extern "C" fn keops_sim_fail_at(at: u64, code: i32) {
    lock().set_failure(at, code);
}

/// Driver calls so far.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn keops_sim_calls() -> u64 {
    lock().calls
}

/// Allocations of device memory and pinned memory that are still there; their list goes to `out`, cut at `room` bytes with
/// a terminating zero.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn keops_sim_leaks(out: Out<u8>, room: usize) -> usize {
    let (memory, _) = lock().leaks();
    text(out, &memory.join("\n"), room);
    memory.len()
}

/// Everything that is still there, with modules, streams, events and contexts.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn keops_sim_live(out: Out<u8>, room: usize) -> usize {
    let (memory, others) = lock().leaks();
    let all = [memory, others].concat();
    text(out, &all.join("\n"), room);
    all.len()
}

/// Message of the last fault.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn keops_sim_fault(out: Out<u8>, room: usize) -> usize {
    let message = lock().message.clone();
    text(out, &message, room);
    message.len()
}

/// Forgets all that was allocated, created and retained. Handles that are still held become invalid.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn keops_sim_reset() {
    lock().reset();
}

fn text(out: Out<u8>, text: &str, room: usize) {
    if room > 0 {
        let mut bytes = text.as_bytes()[..text.len().min(room - 1)].to_vec();
        bytes.push(0);
        // A null pointer: the caller wants the count only.
        let _ = out.fill(&bytes, room);
    }
}
