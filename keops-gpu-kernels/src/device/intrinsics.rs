//! What one GPU thread can ask of the hardware, under the names of Rust-CUDA's `cuda_std`.
//!
//! Everything with an effect on other threads is an LLVM intrinsic, which carries the *convergent* property: inline
//! assembly does not, and the compiler could move or duplicate a barrier written so. Shared memory has no spelling in
//! Rust on this target; it is declared and accessed in inline assembly, by 32-bit addresses of that state space. Vector loads are
//! `pure, readonly`: equal ones merge between two stores or barriers, and unused ones disappear. Loads of one value, which are
//! for long rows, do not merge: all that two loops read would have to stay in registers from one to the other.
use crate::mini_core::*;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
    fn llvm_tid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
    fn llvm_ctaid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.y"]
    fn llvm_ctaid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.x"]
    fn llvm_ntid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.x"]
    fn llvm_nctaid_x() -> u32;
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    fn llvm_barrier(barrier: u32);
    #[link_name = "llvm.fma.f32"]
    fn llvm_fma_f32(a: f32, b: f32, c: f32) -> f32;
    #[link_name = "llvm.fma.f64"]
    fn llvm_fma_f64(a: f64, b: f64, c: f64) -> f64;
    #[link_name = "llvm.fabs.f32"]
    fn llvm_fabs_f32(a: f32) -> f32;
    #[link_name = "llvm.fabs.f64"]
    fn llvm_fabs_f64(a: f64) -> f64;
    #[link_name = "llvm.sqrt.f32"]
    fn llvm_sqrt_f32(a: f32) -> f32;
    #[link_name = "llvm.sqrt.f64"]
    fn llvm_sqrt_f64(a: f64) -> f64;
    #[link_name = "llvm.rint.f32"]
    fn llvm_rint_f32(a: f32) -> f32;
    #[link_name = "llvm.rint.f64"]
    fn llvm_rint_f64(a: f64) -> f64;
    #[link_name = "llvm.minnum.f32"]
    fn llvm_minnum_f32(a: f32, b: f32) -> f32;
    #[link_name = "llvm.maxnum.f32"]
    fn llvm_maxnum_f32(a: f32, b: f32) -> f32;
    #[link_name = "llvm.nvvm.ex2.approx.ftz.f"]
    fn llvm_ex2_ftz(a: f32) -> f32;
    #[link_name = "llvm.nvvm.rsqrt.approx.f"]
    fn llvm_rsqrt(a: f32) -> f32;
    #[link_name = "llvm.nvvm.rsqrt.approx.ftz.f"]
    fn llvm_rsqrt_ftz(a: f32) -> f32;
    #[link_name = "llvm.nvvm.sqrt.approx.ftz.f"]
    fn llvm_sqrt_ftz(a: f32) -> f32;
    #[link_name = "llvm.nvvm.div.approx.ftz.f"]
    fn llvm_div_ftz(a: f32, b: f32) -> f32;
    #[link_name = "llvm.nvvm.lg2.approx.ftz.f"]
    fn llvm_lg2_ftz(a: f32) -> f32;
    #[link_name = "llvm.nvvm.sin.approx.ftz.f"]
    fn llvm_sin_ftz(a: f32) -> f32;
    #[link_name = "llvm.nvvm.cos.approx.ftz.f"]
    fn llvm_cos_ftz(a: f32) -> f32;
}

/// Safe wrappers of intrinsics without preconditions.
macro_rules! intrinsics {
    ($($(#[$doc:meta])* $name:ident = $llvm:ident($($arg:ident: $ty:ty),*) -> $out:ty;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name($($arg: $ty),*) -> $out {
            // SAFETY: the intrinsic has no preconditions.
            unsafe { $llvm($($arg),*) }
        }
    )*};
}
intrinsics! {
    /// The thread's number in its block.
    thread_idx_x = llvm_tid_x() -> u32;
    /// The block's number in the grid.
    block_idx_x = llvm_ctaid_x() -> u32;
    /// The block's number in the grid's second dimension.
    block_idx_y = llvm_ctaid_y() -> u32;
    /// Threads in a block.
    block_dim_x = llvm_ntid_x() -> u32;
    /// Blocks in the grid.
    grid_dim_x = llvm_nctaid_x() -> u32;
    /// a · b + c in one rounding.
    fma_f32 = llvm_fma_f32(a: f32, b: f32, c: f32) -> f32;
    /// a · b + c in one rounding.
    fma_f64 = llvm_fma_f64(a: f64, b: f64, c: f64) -> f64;
    /// |a|
    abs_f32 = llvm_fabs_f32(a: f32) -> f32;
    /// |a|
    abs_f64 = llvm_fabs_f64(a: f64) -> f64;
    /// √a, correctly rounded.
    sqrt_f32 = llvm_sqrt_f32(a: f32) -> f32;
    /// √a, correctly rounded.
    sqrt_f64 = llvm_sqrt_f64(a: f64) -> f64;
    /// The nearest integer, ties to even.
    rint_f32 = llvm_rint_f32(a: f32) -> f32;
    /// The nearest integer, ties to even.
    rint_f64 = llvm_rint_f64(a: f64) -> f64;
    /// The smaller; the other where one is NaN.
    min_f32 = llvm_minnum_f32(a: f32, b: f32) -> f32;
    /// The larger; the other where one is NaN.
    max_f32 = llvm_maxnum_f32(a: f32, b: f32) -> f32;
    /// 2ᵃ to 2 ulp (PTX ISA, `ex2.approx.f32`), results below 2⁻¹²⁶ flushed to zero: one instruction instead of four.
    ex2_approx_ftz = llvm_ex2_ftz(a: f32) -> f32;
    /// 1/√a to a relative 2⁻²²·⁹ (PTX ISA, `rsqrt.approx.f32`): 2.2 ulp.
    rsqrt_approx = llvm_rsqrt(a: f32) -> f32;
    /// The same with subnormal arguments as zero.
    rsqrt_approx_ftz = llvm_rsqrt_ftz(a: f32) -> f32;
    /// √a to a relative 2⁻²³; subnormal arguments are zero.
    sqrt_approx = llvm_sqrt_ftz(a: f32) -> f32;
    /// a / b to 2 ulp for |b| from 2⁻¹²⁶ to 2¹²⁶; 0 for larger finite b.
    div_approx = llvm_div_ftz(a: f32, b: f32) -> f32;
    /// log2 a to a relative 2⁻²², for a in (½, 2) an absolute one; subnormal arguments are zero.
    lg2_approx_ftz = llvm_lg2_ftz(a: f32) -> f32;
    /// sin a to an absolute 2⁻²⁰·⁵ in [−2π, 2π].
    sin_approx_ftz = llvm_sin_ftz(a: f32) -> f32;
    /// cos a to an absolute 2⁻²⁰·⁵ in [−2π, 2π].
    cos_approx_ftz = llvm_cos_ftz(a: f32) -> f32;
}

/// a · b + c in one rounding, clamped to [0, 1]; 0 for NaN.
#[inline(always)]
pub fn fma_saturating(a: f32, b: f32, c: f32) -> f32 {
    let d: f32;
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(
            "fma.rn.sat.f32 {0}, {1}, {2}, {3};",
            out(reg32) d, in(reg32) a, in(reg32) b, in(reg32) c,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    d
}

/// Waits until every thread of the block is here, and makes their shared memory writes visible.
///
/// # Safety
/// All threads of the block must reach the same call.
#[inline(always)]
pub unsafe fn sync_threads() {
    // SAFETY: the caller's promise.
    unsafe { llvm_barrier(0) }
}

/// A comment in the PTX, for tools that read it: outer rows of a thread, inner rows of a register tile, columns of an inner row,
/// words of a state row.
#[inline(always)]
pub fn shape_note<const R: usize, const Q: usize, const USED: usize, const ROW: usize>() {
    // SAFETY: a comment.
    unsafe {
        asm!(
            "// keops: outer rows {r}, inner rows {q}, inner columns {used}, state words {row}",
            r = const R, q = const Q, used = const USED, row = const ROW,
            options(nomem, nostack, preserves_flags)
        );
    }
}

/// A comment in the PTX that asks for the entry's loops to stay loops in the assembler too.
#[inline(always)]
pub fn loops_stay() {
    // SAFETY: a comment.
    unsafe { asm!("// keops: loops stay", options(nomem, nostack, preserves_flags)) }
}

/// The same number, of which the compiler knows no longer that it is: what is computed from it is not computed before a loop.
#[inline(always)]
pub fn anew(number: u32) -> u32 {
    let mut number = number;
    // SAFETY: no instruction.
    unsafe {
        asm!("// {0}", inout(reg32) number, options(nomem, nostack, preserves_flags));
    }
    number
}

/// Declares `BYTES` of shared memory, aligned to 16, and returns its address.
///
/// # Safety
/// To be called once in a kernel, outside loops: the declaration is part of the instruction stream.
#[inline(always)]
pub unsafe fn shared_tile<const BYTES: usize>() -> u32 {
    let address: u32;
    // SAFETY: declares a name of its own and reads nothing.
    unsafe {
        asm!(
            ".shared .align 16 .b8 keops_tile[{bytes}];",
            "mov.u32 {0}, keops_tile;",
            out(reg32) address,
            bytes = const BYTES,
            options(nostack, nomem)
        );
    }
    address
}

/// Declares `WORDS` 32-bit words of shared memory besides the tile, and returns their address.
///
/// # Safety
/// As for [`shared_tile`].
#[inline(always)]
pub unsafe fn shared_words<const WORDS: usize>() -> u32 {
    let address: u32;
    // SAFETY: declares a name of its own and reads nothing.
    unsafe {
        asm!(
            ".shared .align 4 .b32 keops_words[{words}];",
            "mov.u32 {0}, keops_words;",
            out(reg32) address,
            words = const WORDS,
            options(nostack, nomem)
        );
    }
    address
}

/// The word at `address` of shared memory.
///
/// # Safety
/// `address` must be a multiple of 4 inside the block's words, and no thread may be writing there.
#[inline(always)]
pub unsafe fn load_shared_u32(address: u32) -> u32 {
    let value: u32;
    // SAFETY: the caller's promise.
    unsafe {
        asm!("ld.shared.u32 {0}, [{1}];", out(reg32) value, in(reg32) address,
            options(readonly, nostack, preserves_flags));
    }
    value
}

/// Stores a word at `address` of shared memory.
///
/// # Safety
/// `address` must be a multiple of 4 inside the block's words, and no other thread may be using it.
#[inline(always)]
pub unsafe fn store_shared_u32(address: u32, value: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!("st.shared.u32 [{0}], {1};", in(reg32) address, in(reg32) value, options(nostack, preserves_flags));
    }
}

/// Sets the bits `bits` of the word at `address` of shared memory, as one step: several threads may do so at once.
///
/// # Safety
/// `address` must be a multiple of 4 inside the block's words, and no thread may be reading or storing there.
#[inline(always)]
pub unsafe fn set_shared_bits(address: u32, bits: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!("red.shared.or.b32 [{0}], {1};", in(reg32) address, in(reg32) bits, options(nostack, preserves_flags));
    }
}

/// The number of bits that are set.
#[inline(always)]
pub fn count_bits(bits: u32) -> u32 {
    let count: u32;
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!("popc.b32 {0}, {1};", out(reg32) count, in(reg32) bits,
            options(pure, nomem, nostack, preserves_flags));
    }
    count
}

/// The 16-byte vector of `f32` at `address` of shared memory.
///
/// # Safety
/// `address` must be a multiple of 16 inside the block's tile, and no thread may be writing there.
#[inline(always)]
pub unsafe fn load_shared_v4_f32(address: u32) -> [f32; 4] {
    let (a, b, c, d): (f32, f32, f32, f32);
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "ld.shared.v4.f32 {{{0}, {1}, {2}, {3}}}, [{4}];",
            out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d, in(reg32) address,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    [a, b, c, d]
}

/// The 16-byte vector of `f64` at `address` of shared memory.
///
/// # Safety
/// As for [`load_shared_v4_f32`].
#[inline(always)]
pub unsafe fn load_shared_v2_f64(address: u32) -> [f64; 2] {
    let (a, b): (f64, f64);
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "ld.shared.v2.f64 {{{0}, {1}}}, [{2}];",
            out(reg64) a, out(reg64) b, in(reg32) address,
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    [a, b]
}

/// Accesses to one value in shared memory.
macro_rules! shared_access {
    ($float:ident $reg:ident $load:ident $ld:literal $store:ident $st:literal) => {
        /// The value at `address` of shared memory.
        ///
        /// # Safety
        /// `address` must be aligned to the value, inside the block's tile, and no thread may be writing there.
        #[inline(always)]
        pub unsafe fn $load(address: u32) -> $float {
            let value: $float;
            // SAFETY: the caller's promise.
            unsafe {
                asm!($ld, out($reg) value, in(reg32) address, options(readonly, nostack, preserves_flags));
            }
            value
        }
        /// Stores a value at `address` of shared memory.
        ///
        /// # Safety
        /// `address` must be aligned to the value, inside the block's tile, and no other thread may be using it.
        #[inline(always)]
        pub unsafe fn $store(address: u32, value: $float) {
            // SAFETY: the caller's promise.
            unsafe {
                asm!($st, in(reg32) address, in($reg) value, options(nostack, preserves_flags));
            }
        }
    };
}
shared_access! { f32 reg32 load_shared_f32 "ld.shared.f32 {0}, [{1}];" store_shared_f32 "st.shared.f32 [{0}], {1};" }
shared_access! { f64 reg64 load_shared_f64 "ld.shared.f64 {0}, [{1}];" store_shared_f64 "st.shared.f64 [{0}], {1};" }
