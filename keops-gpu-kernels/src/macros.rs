//! Macros of the pair-level modules, on the host and on the device.

/// Implements `Copy` and `Clone` for a type: the device's mini-core has no derives.
macro_rules! impl_copy {
    ([$($generics:tt)*] $ty:ty) => {
        impl<$($generics)*> Clone for $ty {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$($generics)*> Copy for $ty {}
    };
}
