//! Device code in a context: modules, loaded at their first use and kept, and the functions in them.
//!
//! Invariant: what the driver refuses for good (text that its compiler does not take) is remembered with the compiler's
//! words; any other failure is tried again by the next call.
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{CString, c_void};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUjit_option, CUresult};

use super::driver::{Failure, words};
use super::gpu::{Gpu, lock};

/// Bytes of the compiler's words that are kept.
const LOG: usize = 8 * 1024;

/// The modules of a context. The key is the address of the PTX, which is static: a string has one, and it is never reused.
#[derive(Default)]
pub(crate) struct Modules(HashMap<(usize, usize), Module>);

enum Module {
    Loaded {
        module: sys::CUmodule,
        functions: HashMap<&'static str, sys::CUfunction>,
    },
    /// What the compiler said.
    Refused(String),
}

impl Gpu {
    /// The function `entry` of the module `ptx`. The context is bound.
    pub(super) fn function(
        &self,
        ptx: &'static str,
        entry: &'static str,
    ) -> Result<sys::CUfunction, Failure> {
        let mut modules = lock(&self.modules);
        let module = match modules.0.entry((ptx.as_ptr() as usize, ptx.len())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(self.load(ptx)?),
        };
        match module {
            Module::Loaded { module, functions } => {
                if let Some(function) = functions.get(entry) {
                    return Ok(*function);
                }
                let name = CString::new(entry).unwrap_or_default();
                // SAFETY: the module is loaded, and never unloaded.
                let function = unsafe { result::module::get_function(*module, name) }
                    .map_err(self.failed("cuModuleGetFunction"))?;
                functions.insert(entry, function);
                Ok(function)
            }
            Module::Refused(log) => Err(Failure::Refused {
                device: self.ordinal,
                log: log.clone(),
            }),
        }
    }

    /// Loads a module whose functions will be wanted, so that a refusal shows. The context is bound.
    pub(crate) fn accepts(&self, ptx: &'static str, entry: &'static str) -> Result<(), Failure> {
        self.function(ptx, entry).map(|_| ())
    }

    fn load(&self, ptx: &str) -> Result<Module, Failure> {
        let text = CString::new(ptx).map_err(|_| Failure::Refused {
            device: self.ordinal,
            log: "the device code holds a zero byte".to_owned(),
        })?;
        let mut log = vec![0u8; LOG];
        let mut options = [
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), LOG as *mut c_void];
        let mut module = std::ptr::null_mut();
        // SAFETY: the text ends with a zero; the options are as many as said, and the log has the room that they say.
        let code = unsafe {
            sys::cuModuleLoadDataEx(
                &mut module,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match code {
            CUresult::CUDA_SUCCESS => Ok(Module::Loaded {
                module,
                functions: HashMap::new(),
            }),
            CUresult::CUDA_ERROR_INVALID_PTX
            | CUresult::CUDA_ERROR_INVALID_IMAGE
            | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND => {
                let length = log.iter().position(|&byte| byte == 0).unwrap_or(LOG);
                let said = String::from_utf8_lossy(&log[..length]);
                let code = words(DriverError(code));
                Ok(Module::Refused(match said.trim() {
                    "" => code,
                    said => format!("{code}\n{said}"),
                }))
            }
            error => Err(self.failed("cuModuleLoadDataEx")(DriverError(error))),
        }
    }
}
