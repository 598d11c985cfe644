//! [`Launch`]: what the host must know of a kernel to start it, and the start.
//!
//! The order of the parameters, the grid and the layout of the state rows are those of the launch ABI
//! ([`keops_gpu_kernels::abi`]).
use std::ffi::c_void;

use cudarc::driver::sys;
use keops_gpu_kernels::abi;
use keops_gpu_kernels::kernel::Kernel;

use super::driver::Failure;
use super::gpu::Gpu;
use crate::float::Float;

/// A kernel's entry and constants on a device, made by [`launch`].
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Its name in the PTX.
    pub(crate) entry: &'static str,
    /// Raw parameter columns.
    pub(crate) params: usize,
    /// Words of a state row.
    pub(crate) state: usize,
    rows_per_thread: usize,
    tile_rows: usize,
}

/// The constants of kernel `K`, whose entries at f32 and at f64 have these names, for an expansion's
/// `const { &[launch::<T, K0>([..]), ..] }`. Nothing of the kernel is compiled for it.
pub const fn launch<T: Float, K: Kernel<T>>(entries: [&'static str; 2]) -> Launch {
    Launch {
        entry: entries[T::IS_F64 as usize],
        params: K::PARAMS,
        state: K::ROW,
        rows_per_thread: abi::rows_per_thread::<T, K>(),
        tile_rows: abi::tile_rows::<T, K>(),
    }
}

/// What one launch is given.
pub(super) struct Arguments {
    pub(super) m: u32,
    pub(super) n: u32,
    pub(super) first: u32,
    pub(super) parts: u32,
    pub(super) flush: u32,
    pub(super) states: u64,
    /// The parameters, outer variables, inner variables and outputs.
    pub(super) pointers: Vec<u64>,
}

impl Launch {
    fn grid(&self, m: u32) -> u32 {
        m.div_ceil(abi::BLOCK * self.rows_per_thread as u32)
    }

    /// Into how many parts the inner rows are split, to keep a device with so many multiprocessors busy.
    pub(super) fn parts(&self, m: u32, n: u32, multiprocessors: u32) -> u32 {
        // Eight blocks of four warps fill most of a multiprocessor, as far as registers allow.
        let blocks = multiprocessors.saturating_mul(8);
        abi::split(self.grid(m), n.div_ceil(self.tile_rows as u32), blocks)
    }

    /// Queues the pass. The context is bound.
    ///
    /// # Safety
    /// The pointers are as the entry's parameters say, for `m` and `n` rows; `states` has room for the state rows where
    /// there are several parts.
    pub(super) unsafe fn start(
        &self,
        gpu: &'static Gpu,
        ptx: &'static str,
        arguments: &Arguments,
    ) -> Result<(), Failure> {
        if arguments.m == 0 {
            return Ok(());
        }
        let function = gpu.function(ptx, self.entry)?;
        let phases: &[(u32, u32)] = if arguments.parts == 1 {
            &[(abi::WHOLE, 1)]
        } else {
            &[(abi::FOLD, arguments.parts), (abi::COMBINE, 1)]
        };
        for &(phase, parts) in phases {
            let numbers = [
                arguments.m,
                arguments.n,
                arguments.first,
                phase,
                arguments.parts,
                arguments.flush,
            ];
            let mut parameters: Vec<*mut c_void> = numbers
                .iter()
                .map(|number| std::ptr::from_ref(number).cast_mut().cast())
                .collect();
            parameters.extend(
                std::iter::once(&arguments.states)
                    .chain(&arguments.pointers)
                    .map(|pointer| std::ptr::from_ref(pointer).cast_mut().cast::<c_void>()),
            );
            // SAFETY: the parameters are those of the ABI, and the driver copies them; the caller vouches for what they
            // point to.
            unsafe {
                sys::cuLaunchKernel(
                    function,
                    self.grid(arguments.m),
                    parts,
                    1,
                    abi::BLOCK,
                    1,
                    1,
                    0,
                    gpu.stream(),
                    parameters.as_mut_ptr(),
                    std::ptr::null_mut(),
                )
            }
            .result()
            .map_err(gpu.failed("cuLaunchKernel"))?;
        }
        Ok(())
    }
}
