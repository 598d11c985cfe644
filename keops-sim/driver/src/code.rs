//! Result codes of the driver's interface.
use keops_sim::{Error, ErrorKind};

/// `CUresult`, as far as it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) i32);

macro_rules! codes {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        impl Code {
            $(pub(crate) const $name: Code = Code($number);)*

            /// Name and explanation, with a terminating zero.
            pub(crate) fn texts(self) -> Option<(&'static str, &'static str)> {
                match self {
                    $(Code::$name => Some((concat!("CUDA_", codes!(@ $name), "\0"), concat!($text, "\0"))),)*
                    _ => None,
                }
            }
        }
    };
    (@ SUCCESS) => { "SUCCESS" };
    (@ $name:ident) => { concat!("ERROR_", stringify!($name)) };
}

codes! {
    SUCCESS = 0, "no error";
    INVALID_VALUE = 1, "invalid argument";
    OUT_OF_MEMORY = 2, "out of memory";
    NOT_INITIALIZED = 3, "initialization error";
    NO_DEVICE = 100, "no CUDA-capable device is detected";
    INVALID_DEVICE = 101, "invalid device ordinal";
    INVALID_IMAGE = 200, "device kernel image is invalid";
    INVALID_CONTEXT = 201, "invalid device context";
    NO_BINARY_FOR_GPU = 209, "no kernel image is available for execution on the device";
    INVALID_PTX = 218, "a PTX JIT compilation failed";
    UNSUPPORTED_PTX_VERSION = 222, "the provided PTX was compiled with an unsupported toolchain.";
    INVALID_HANDLE = 400, "invalid resource handle";
    NOT_FOUND = 500, "named symbol not found";
    NOT_READY = 600, "device not ready";
    ILLEGAL_ADDRESS = 700, "an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES = 701, "too many resources requested for launch";
    LAUNCH_TIMEOUT = 702, "the launch timed out and was terminated";
    ILLEGAL_INSTRUCTION = 715, "an illegal instruction was encountered";
    MISALIGNED_ADDRESS = 716, "misaligned address";
    LAUNCH_FAILED = 719, "unspecified launch failure";
    NOT_SUPPORTED = 801, "operation not supported";
    UNKNOWN = 999, "unknown error";
}

impl Code {
    /// What the driver says of a fault.
    pub(crate) fn of(error: &Error) -> Code {
        match error.kind {
            ErrorKind::Syntax | ErrorKind::Illegal | ErrorKind::Unsupported => Code::INVALID_PTX,
            ErrorKind::Launch => Code::INVALID_VALUE,
            ErrorKind::OutOfBounds | ErrorKind::ReadOnly => Code::ILLEGAL_ADDRESS,
            ErrorKind::Misaligned => Code::MISALIGNED_ADDRESS,
            ErrorKind::Budget => Code::LAUNCH_TIMEOUT,
            ErrorKind::Trap => Code::ILLEGAL_INSTRUCTION,
            ErrorKind::Uninitialized
            | ErrorKind::Race
            | ErrorKind::Barrier
            | ErrorKind::DivisionByZero => Code::LAUNCH_FAILED,
        }
    }
}
