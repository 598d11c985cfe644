//! What only the stand-in driver can answer: its calls, its leaks, failures on request.

/// The stand-in's own functions.
pub(crate) struct StandIn(libloading::Library);

impl StandIn {
    pub(crate) fn open() -> StandIn {
        // SAFETY: the stand-in's own library, whose initialisation does nothing.
        StandIn(unsafe { libloading::Library::new("libcuda.so") }.expect("the stand-in"))
    }

    /// Lets the n-th call from now on fail; 0: none.
    pub(crate) fn fail_at(&self, n: u64, code: i32) {
        // SAFETY: the function has this signature.
        unsafe {
            self.0
                .get::<extern "C" fn(u64, i32)>(b"keops_sim_fail_at\0")
                .expect("the stand-in")(n, code)
        }
    }

    /// Calls since the last [`StandIn::fail_at`].
    pub(crate) fn calls(&self) -> u64 {
        // SAFETY: the function has this signature.
        unsafe {
            self.0
                .get::<extern "C" fn() -> u64>(b"keops_sim_calls\0")
                .expect("the stand-in")()
        }
    }

    /// Memory that is allocated, after everything that is not in use has been given back.
    pub(crate) fn leaks(&self) -> String {
        keops::cuda::release_unused(0).expect("gives back");
        self.allocated()
    }

    /// Memory that is allocated.
    pub(crate) fn allocated(&self) -> String {
        let mut buffer = vec![0u8; 1 << 16];
        // SAFETY: the function has this signature, and the buffer its length.
        unsafe {
            self.0
                .get::<extern "C" fn(*mut u8, usize) -> usize>(b"keops_sim_leaks\0")
                .expect("the stand-in")(buffer.as_mut_ptr(), buffer.len())
        };
        let end = buffer
            .iter()
            .position(|byte| *byte == 0)
            .expect("a terminated text");
        String::from_utf8_lossy(&buffer[..end]).into_owned()
    }
}
