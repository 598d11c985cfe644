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
    /// Words of the scratch memory for each part, and where there is one part.
    words: [usize; 2],
    rows_per_thread: usize,
    tile_rows: usize,
}

/// The constants of kernel `K`, whose entries at f32 and at f64 have these names, for an expansion's
/// `const { &[launch::<T, K0>([..]), ..] }`. Nothing of the kernel is compiled for it.
pub const fn launch<T: Float, K: Kernel<T>>(entries: [&'static str; 2]) -> Launch {
    Launch {
        entry: entries[T::IS_F64 as usize],
        params: K::PARAMS,
        words: [
            abi::scratch_words::<T, K>(),
            abi::scratch_words_whole::<T, K>(),
        ],
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
    /// Whether only listed rows are folded.
    pub(super) listed: bool,
    pub(super) scratch: u64,
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
        let tile = self.tile_rows as u32;
        abi::split(self.grid(m), n.div_ceil(tile), tile, blocks)
    }

    /// Whether to fold listed rows only, out of `n` inner ones for `m` outer ones in all, where variables hold `pairs` indices: a block
    /// folds every row that any of its outer rows needs, and to leave out half of the rows pays for looking for them, which takes
    /// as long as a few dozen rows.
    pub(super) fn runs_listed(&self, pairs: usize, m: u32, n: u32) -> bool {
        let block = self.rows(1) as u128;
        let least = u32::try_from(abi::MOST_TILE_ROWS).unwrap_or(u32::MAX);
        n >= least && pairs > 0 && 2 * pairs as u128 * block <= u128::from(m) * u128::from(n)
    }

    /// Values of scratch memory for each outer row, or nearly: there are whole blocks of lanes.
    pub(super) fn scratch(&self, parts: u32) -> usize {
        match parts {
            1 => self.words[1],
            parts => parts as usize * self.words[0],
        }
    }

    /// Outer rows of so many blocks.
    pub(super) fn rows(&self, blocks: usize) -> usize {
        blocks.saturating_mul(abi::BLOCK as usize * self.rows_per_thread)
    }

    /// Lanes of the scratch memory for so many outer rows.
    pub(super) fn lanes(&self, m: u32) -> usize {
        self.rows(self.grid(m) as usize)
    }

    /// Queues the pass. The context is bound.
    ///
    /// # Safety
    /// The pointers are as the entry's parameters say, for `m` and `n` rows; `scratch` has room for [`Launch::scratch`]
    /// values in each of [`Launch::lanes`].
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
        let listed = if arguments.listed { abi::LISTED } else { 0 };
        for &(phase, parts) in phases {
            let numbers = [
                arguments.m,
                arguments.n,
                arguments.first,
                if phase == abi::COMBINE {
                    phase
                } else {
                    phase | listed
                },
                arguments.parts,
                arguments.flush,
            ];
            let mut parameters: Vec<*mut c_void> = numbers
                .iter()
                .map(|number| std::ptr::from_ref(number).cast_mut().cast())
                .collect();
            parameters.extend(
                std::iter::once(&arguments.scratch)
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
