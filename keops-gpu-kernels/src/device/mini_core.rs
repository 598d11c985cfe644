//! The part of `core` that the device crate needs, for a target whose `core` is not installed.
//!
//! Lang items and operator traits for the primitive types, `Copy` and `Clone`, array indexing, and those inherent
//! methods of numbers and pointers that the pair-level modules use. An operator's body is the operator itself: on
//! primitive types the compiler has it built in.
//!
//! Invariant: nothing here can panic at run time; an index out of bounds stops the kernel with a trap.

macro_rules! lang_items {
    ($($lang:literal $item:item)*) => { $(#[lang = $lang] $item)* };
}

lang_items! {
    "pointee_sized" pub trait PointeeSized {}
    "meta_sized" pub trait MetaSized: PointeeSized {}
    "sized" pub trait Sized: MetaSized {}
    "freeze" pub unsafe auto trait Freeze {}
    "unpin" pub auto trait Unpin {}
    "unsafe_unpin" pub unsafe auto trait UnsafeUnpin {}
    // Without `Clone` above it, so that emitted types need one line; `Clone` is here because the shared text has it.
    "copy" pub trait Copy: Sized {}
    "clone" pub trait Clone: Sized { fn clone(&self) -> Self; }
    "legacy_receiver" pub trait LegacyReceiver {}
    "deref" pub trait Deref {
        #[lang = "deref_target"]
        type Target: PointeeSized;
        fn deref(&self) -> &Self::Target;
    }
    "deref_mut" pub trait DerefMut: Deref { fn deref_mut(&mut self) -> &mut Self::Target; }
    "index" pub trait Index<I: PointeeSized> {
        type Output: PointeeSized;
        fn index(&self, i: I) -> &Self::Output;
    }
    "index_mut" pub trait IndexMut<I: PointeeSized>: Index<I> { fn index_mut(&mut self, i: I) -> &mut Self::Output; }
    "eq" pub trait PartialEq<R: PointeeSized = Self>: PointeeSized {
        fn eq(&self, other: &R) -> bool;
        fn ne(&self, other: &R) -> bool;
    }
    "partial_ord" pub trait PartialOrd<R: PointeeSized = Self>: PartialEq<R> {
        fn lt(&self, other: &R) -> bool;
        fn le(&self, other: &R) -> bool;
        fn gt(&self, other: &R) -> bool;
        fn ge(&self, other: &R) -> bool;
    }
    "neg" pub trait Neg { type Output; fn neg(self) -> Self::Output; }
    "not" pub trait Not { type Output; fn not(self) -> Self::Output; }
    "panic_location" pub struct Location<'a> { file: &'a str, line: u32, column: u32 }
    "panic_bounds_check" #[inline(always)] fn bounds_check(_index: usize, _len: usize) -> ! { trap() }
    "panic_const_div_by_zero" #[inline(always)] fn div_by_zero() -> ! { trap() }
    "panic_const_rem_by_zero" #[inline(always)] fn rem_by_zero() -> ! { trap() }
    "panic_const_div_overflow" #[inline(always)] fn div_overflow() -> ! { trap() }
    "panic_const_rem_overflow" #[inline(always)] fn rem_overflow() -> ! { trap() }
    // Constants are evaluated with overflow checks even where code is not.
    "panic_const_add_overflow" #[inline(always)] fn add_overflow() -> ! { trap() }
    "panic_const_sub_overflow" #[inline(always)] fn sub_overflow() -> ! { trap() }
    "panic_const_mul_overflow" #[inline(always)] fn mul_overflow() -> ! { trap() }
    "panic_const_neg_overflow" #[inline(always)] fn neg_overflow() -> ! { trap() }
    "panic_const_shl_overflow" #[inline(always)] fn shl_overflow() -> ! { trap() }
    "panic_const_shr_overflow" #[inline(always)] fn shr_overflow() -> ! { trap() }
}

unsafe extern "C" {
    #[link_name = "llvm.trap"]
    fn llvm_trap() -> !;
}

/// Stops the kernel; the launch reports an error.
#[inline(always)]
fn trap() -> ! {
    // SAFETY: the intrinsic has no preconditions.
    unsafe { llvm_trap() }
}

/// Inline assembly, the compiler's own macro.
#[rustc_builtin_macro]
pub macro asm() {}

/// `dst + offset` elements.
#[rustc_intrinsic]
pub const unsafe fn arith_offset<T>(dst: *const T, offset: isize) -> *const T;

impl<T: PointeeSized> LegacyReceiver for &T {}
impl<T: PointeeSized> LegacyReceiver for &mut T {}
impl<T: PointeeSized> Deref for &T {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        *self
    }
}
impl<T: PointeeSized> Deref for &mut T {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        *self
    }
}
impl<T: PointeeSized> DerefMut for &mut T {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        *self
    }
}

macro_rules! copy {
    ($([$($generics:tt)*] $ty:ty;)*) => {$(
        impl<$($generics)*> Clone for $ty {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$($generics)*> Copy for $ty {}
    )*};
}
copy! {
    [] f32; [] f64; [] bool;
    [] u8; [] u16; [] u32; [] u64; [] usize; [] i8; [] i16; [] i32; [] i64; [] isize;
    [T: PointeeSized] &T; [T: PointeeSized] *const T; [T: PointeeSized] *mut T;
    [T: Copy, const N: usize] [T; N];
}

impl<T, const N: usize> Index<usize> for [T; N] {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        &self[i]
    }
}
impl<T, const N: usize> IndexMut<usize> for [T; N] {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        &mut self[i]
    }
}

/// A binary operator with its assigning form, for the types given.
macro_rules! operator {
    ($lang:literal $trait:ident $method:ident $op:tt, $lang_assign:literal $assign:ident $method_assign:ident: $($ty:ty)*) => {
        #[lang = $lang]
        pub trait $trait<R = Self> {
            type Output;
            fn $method(self, r: R) -> Self::Output;
        }
        #[lang = $lang_assign]
        pub trait $assign<R = Self> {
            fn $method_assign(&mut self, r: R);
        }
        $(
            impl $trait for $ty {
                type Output = $ty;
                #[inline(always)]
                fn $method(self, r: $ty) -> $ty {
                    self $op r
                }
            }
            impl $assign for $ty {
                #[inline(always)]
                fn $method_assign(&mut self, r: $ty) {
                    *self = *self $op r
                }
            }
        )*
    };
}
operator! { "add" Add add +, "add_assign" AddAssign add_assign: f32 f64 u32 u64 usize i32 i64 }
operator! { "sub" Sub sub -, "sub_assign" SubAssign sub_assign: f32 f64 u32 u64 usize i32 i64 }
operator! { "mul" Mul mul *, "mul_assign" MulAssign mul_assign: f32 f64 u32 u64 usize i32 i64 }
operator! { "div" Div div /, "div_assign" DivAssign div_assign: f32 f64 u32 u64 usize i32 i64 }
operator! { "rem" Rem rem %, "rem_assign" RemAssign rem_assign: u32 u64 usize i32 i64 }
operator! { "bitand" BitAnd bitand &, "bitand_assign" BitAndAssign bitand_assign: bool u32 u64 usize i32 i64 }
operator! { "bitor" BitOr bitor |, "bitor_assign" BitOrAssign bitor_assign: bool u32 u64 usize i32 i64 }
operator! { "bitxor" BitXor bitxor ^, "bitxor_assign" BitXorAssign bitxor_assign: bool u32 u64 usize i32 i64 }

#[lang = "shl"]
pub trait Shl<R = Self> {
    type Output;
    fn shl(self, r: R) -> Self::Output;
}
#[lang = "shr"]
pub trait Shr<R = Self> {
    type Output;
    fn shr(self, r: R) -> Self::Output;
}
macro_rules! shift {
    ($($ty:ident: $($by:ident)*;)*) => {$($(
        impl Shl<$by> for $ty {
            type Output = $ty;
            #[inline(always)]
            fn shl(self, r: $by) -> $ty {
                self << r
            }
        }
        impl Shr<$by> for $ty {
            type Output = $ty;
            #[inline(always)]
            fn shr(self, r: $by) -> $ty {
                self >> r
            }
        }
    )*)*};
}
shift! { u32: u32 i32 usize; u64: u32 i32 usize u64; usize: u32 i32 usize; i32: u32 i32 usize; i64: u32 i32 usize i64; }

macro_rules! unary {
    ($trait:ident $method:ident $op:tt: $($ty:ty)*) => {$(
        impl $trait for $ty {
            type Output = $ty;
            #[inline(always)]
            fn $method(self) -> $ty {
                $op self
            }
        }
    )*};
}
unary! { Neg neg -: f32 f64 i32 i64 }
unary! { Not not !: bool u32 u64 usize i32 i64 }

macro_rules! compare {
    ($($ty:ty)*) => {$(
        impl PartialEq for $ty {
            #[inline(always)]
            fn eq(&self, other: &$ty) -> bool {
                *self == *other
            }
            #[inline(always)]
            fn ne(&self, other: &$ty) -> bool {
                *self != *other
            }
        }
        impl PartialOrd for $ty {
            #[inline(always)]
            fn lt(&self, other: &$ty) -> bool {
                *self < *other
            }
            #[inline(always)]
            fn le(&self, other: &$ty) -> bool {
                *self <= *other
            }
            #[inline(always)]
            fn gt(&self, other: &$ty) -> bool {
                *self > *other
            }
            #[inline(always)]
            fn ge(&self, other: &$ty) -> bool {
                *self >= *other
            }
        }
    )*};
}
compare! { f32 f64 bool u32 u64 usize i32 i64 }

macro_rules! wrapping {
    ($($ty:ident)*) => {$(
        impl $ty {
            /// `self + r`, wrapping: overflow checks are off in device code.
            #[inline(always)]
            pub const fn wrapping_add(self, r: $ty) -> $ty {
                self + r
            }
            /// `self - r`, wrapping.
            #[inline(always)]
            pub const fn wrapping_sub(self, r: $ty) -> $ty {
                self - r
            }
            /// `self * r`, wrapping.
            #[inline(always)]
            pub const fn wrapping_mul(self, r: $ty) -> $ty {
                self * r
            }
        }
    )*};
}
wrapping! { u32 u64 usize i32 i64 }

/// The inherent items of a float type, whose bits are read through a union.
macro_rules! float {
    ($float:ident $bits:ident $union:ident) => {
        union $union {
            float: $float,
            bits: $bits,
        }
        impl $float {
            /// +∞
            pub const INFINITY: $float = 1.0 / 0.0;
            /// −∞
            pub const NEG_INFINITY: $float = -1.0 / 0.0;
            /// A NaN
            pub const NAN: $float = 0.0 / 0.0;
            /// The bit pattern.
            #[inline(always)]
            pub const fn to_bits(self) -> $bits {
                // SAFETY: every bit pattern is a value of both fields, which have the same size.
                unsafe { $union { float: self }.bits }
            }
            /// The value with this bit pattern.
            #[inline(always)]
            pub const fn from_bits(bits: $bits) -> $float {
                // SAFETY: as in `to_bits`.
                unsafe { $union { bits }.float }
            }
        }
    };
}
float! { f32 u32 F32 }
float! { f64 u64 F64 }

impl<T, const N: usize> [T; N] {
    /// The number of elements.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        N
    }
}

impl<T> *const T {
    /// The pointer `count` elements further.
    ///
    /// # Safety
    /// As for `core`'s method: the result must lie within the same allocation, or one past its end.
    #[inline(always)]
    pub const unsafe fn add(self, count: usize) -> *const T {
        // SAFETY: the caller's promise.
        unsafe { arith_offset(self, count as isize) }
    }
}
impl<T> *mut T {
    /// The pointer `count` elements further.
    ///
    /// # Safety
    /// As for `core`'s method: the result must lie within the same allocation, or one past its end.
    #[inline(always)]
    pub const unsafe fn add(self, count: usize) -> *mut T {
        // SAFETY: the caller's promise.
        unsafe { arith_offset(self as *const T, count as isize) as *mut T }
    }
}
