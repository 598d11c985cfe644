//! Pointers that callers of the C interface pass, each followed in one place.
//!
//! The driver's interface promises: a pointer argument is null or valid for what the function does with it, for as long as
//! the call runs, or longer where the interface says so (pinned memory, pageable memory of a synchronous copy).
use crate::code::Code;
use std::ffi::{CStr, c_char, c_void};

/// Where a result goes.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes the result; a null pointer is the caller's error.
    pub(crate) fn set(self, value: T) -> Result<(), Code> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so valid for a write by the interface's promise.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Writes the result if the caller wants it.
    pub(crate) fn set_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // Not null, so it cannot fail.
            let _ = self.set(value);
        }
    }

    /// Writes the beginning of `values`, at most `room` of them.
    pub(crate) fn fill(self, values: &[T], room: usize) -> Result<(), Code>
    where
        T: Copy,
    {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        for (n, value) in values.iter().take(room).enumerate() {
            // SAFETY: the caller has room for `room` values.
            unsafe { self.0.add(n).write(*value) };
        }
        Ok(())
    }
}

/// A text that the caller passes.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// A text of ours, for as long as it lives.
    pub(crate) fn of(text: &CStr) -> Text {
        Text(text.as_ptr())
    }

    pub(crate) fn get(self) -> Result<String, Code> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so a terminated string by the interface's promise.
        let text = unsafe { CStr::from_ptr(self.0) };
        Ok(text.to_string_lossy().into_owned())
    }

    /// The first bytes, of an image that may be no text. Stops at a zero.
    pub(crate) fn magic(self) -> [u8; 4] {
        let mut out = [0; 4];
        if self.0.is_null() {
            return out;
        }
        for (n, byte) in out.iter_mut().enumerate() {
            // SAFETY: not null, and no zero came before, so the string goes on to here.
            *byte = unsafe { self.0.add(n).read() } as u8;
            if *byte == 0 {
                break;
            }
        }
        out
    }
}

/// Host memory that the caller passes.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Host(*mut c_void);

impl Host {
    pub(crate) fn address(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn of(address: usize) -> Host {
        Host(address as *mut c_void)
    }

    /// A copy of `length` bytes.
    pub(crate) fn read(self, length: usize) -> Result<Vec<u8>, Code> {
        if self.0.is_null() && length > 0 {
            return Err(Code::INVALID_VALUE);
        }
        let mut out = vec![0; length];
        if length > 0 {
            // SAFETY: not null, so valid for reads of `length` bytes by the interface's promise; the copy is ours.
            unsafe { std::ptr::copy_nonoverlapping(self.0.cast::<u8>(), out.as_mut_ptr(), length) };
        }
        Ok(out)
    }

    pub(crate) fn write(self, bytes: &[u8]) -> Result<(), Code> {
        if bytes.is_empty() {
            return Ok(());
        }
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so valid for writes of as many bytes by the interface's promise; the source is ours.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast::<u8>(), bytes.len()) };
        Ok(())
    }
}

/// Pointers to the values of a launch's parameters, or the options of a module.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct List(*const *mut c_void);

impl List {
    pub(crate) fn none() -> List {
        List(std::ptr::null())
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Element `n`, of a list that is at least that long.
    pub(crate) fn get(self, n: usize) -> Result<Host, Code> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, and as long as the interface says of the call.
        Ok(Host(unsafe { self.0.add(n).read() }))
    }

    /// Overwrites element `n` with a number, as module options are.
    pub(crate) fn set(self, n: usize, value: usize) {
        if !self.0.is_null() {
            // SAFETY: not null, as long as the interface says, and writable where the interface returns numbers so.
            unsafe { self.0.cast_mut().add(n).write(value as *mut c_void) };
        }
    }
}

/// Kinds of module options.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Kinds(*const i32);

impl Kinds {
    pub(crate) fn none() -> Kinds {
        Kinds(std::ptr::null())
    }

    pub(crate) fn get(self, n: usize) -> i32 {
        if self.0.is_null() {
            return -1;
        }
        // SAFETY: not null, and as long as the caller's count.
        unsafe { self.0.add(n).read() }
    }
}

/// A function of the host that a stream calls.
pub(crate) type HostFunction = extern "C" fn(*mut c_void);

/// Memory that the stand-in itself hands out as pinned.
pub(crate) struct Pinned {
    bytes: Vec<u64>,
}

impl Pinned {
    pub(crate) fn new(length: usize) -> Pinned {
        // Whoever reads what was never written sees a pattern, NaN at every width.
        Pinned {
            bytes: vec![u64::MAX; length.div_ceil(8)],
        }
    }

    pub(crate) fn address(&mut self) -> usize {
        self.bytes.as_mut_ptr() as usize
    }
}
