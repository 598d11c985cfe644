//! A stand-in for NVIDIA's `libcuda.so`: the driver's C interface, as far as `cudarc` uses it, on the PTX interpreter.
//!
//! Device addresses are synthetic, so that a host dereference faults and a stray index misses. Streams run their work late,
//! when a caller waits for it, so that a missing synchronisation shows. Every handle is checked. `README.md` of `keops-sim`
//! lists the settings.
//!
//! Invariants: all state is behind one lock; no call panics across the C interface; a pointer is only followed in
//! `pointer`, where its contract is written down.
mod api;
mod code;
mod exit;
mod pointer;
mod settings;
mod state;
mod stream;
