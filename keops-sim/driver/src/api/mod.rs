//! The exported functions, by the groups of the driver's documentation.
//!
//! Each is one [`call`](crate::state::call): argument checks and effects under the lock, a result code at the end.
mod context;
mod copy;
mod device;
mod event;
mod launch;
mod memory;
mod module;
mod occupancy;
mod stream;
mod test;

/// One exported function: its kind (see [`Kind`](crate::state::Kind)), what the trace shows, and its body.
macro_rules! entry {
    ($(#[$meta:meta])* $kind:ident fn $name:ident($($arg:ident: $ty:ty),* $(,)?) [$($shown:expr),*] |$state:pat_param| $body:expr) => {
        $(#[$meta])*
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "the driver's names and signatures")]
        pub(crate) extern "C" fn $name($($arg: $ty),*) -> i32 {
            let shown: Vec<String> = vec![$($shown.to_string()),*];
            crate::state::call(stringify!($name), crate::state::Kind::$kind, format_args!("{}", shown.join(", ")), |$state| $body)
        }
    };
}
use entry;
