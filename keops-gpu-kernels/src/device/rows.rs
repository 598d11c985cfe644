//! Row accessors of the device: the parameters, and the outer rows, state rows and output rows of one thread.
//!
//! Short rows live in arrays that become registers, long ones in the thread's lanes of the scratch memory, where neighbouring
//! threads have neighbouring values. Which it is, is a constant per kernel (`abi`). Inner rows are in `inner`.
//!
//! Invariant: a column out of range reads as zero and writes nothing; no accessor touches memory outside its rows.
use super::gpu::Device;
use super::intrinsics::anew;
use crate::abi::BLOCK;
use crate::kernel::{Columns, ColumnsMut, Numbers, Words};
use crate::mini_core::*;

/// The variables of one side in global memory, side by side as the columns of one row. Written out per entry.
pub trait Source<T>: Copy {
    /// Columns of the variables that list rows of the other side: pairs that no such column lists change no state. 0 on both sides
    /// where all pairs may matter.
    const LISTED: usize;
    /// Column `c` of row `row`; zero past the last column.
    ///
    /// # Safety
    /// `row` must be a row of the variables.
    unsafe fn load(self, row: u32, c: usize) -> T;
    /// The row that listing column `c` < [`Source::LISTED`] of row `row` holds; [`NONE`](crate::real::NONE) for none.
    ///
    /// # Safety
    /// As for [`Source::load`].
    unsafe fn listed(self, row: u32, c: usize) -> u32;
}

/// The outputs in global memory, side by side as the columns of one row. Written out per entry.
pub trait Sink<T>: Copy {
    /// Writes column `c` of row `row`; nothing past the last column.
    ///
    /// # Safety
    /// `row` must be a row of the outputs, and this thread's.
    unsafe fn store(self, row: u32, c: usize, v: T);
    /// Reads column `c` of row `row` back.
    ///
    /// # Safety
    /// As for [`Sink::store`].
    unsafe fn load(self, row: u32, c: usize) -> T;
}

/// A thread's lanes of one part of the scratch memory: one for each of its outer rows, BLOCK apart.
pub struct Lanes<T> {
    /// Word 0 of the first lane; not to be used where there is no scratch memory.
    first: *mut T,
    /// Values from one word to the next. That there are fewer than 2³² lanes is part of the launch ABI.
    lanes: u32,
}
impl_copy!([T] Lanes<T>);
impl<T: Device> Lanes<T> {
    /// The lanes from `own` on, out of `lanes`, of part `part` of `words` words.
    ///
    /// # Safety
    /// `scratch` must hold that part, as far as it is used, and nobody else may use these lanes.
    #[inline(always)]
    pub unsafe fn new(scratch: *mut T, part: u32, words: usize, lanes: u32, own: u32) -> Self {
        // SAFETY: the first lane of the part is in `scratch`; without scratch memory the pointer is not used.
        let first = unsafe { scratch.add(part as usize * words * lanes as usize + own as usize) };
        Lanes { first, lanes }
    }
    /// Lets the places of these lanes be computed where they are used. A loop over pairs uses dozens: computed before the loop,
    /// which is what the compiler would do, they are two registers each, and more than a thread has.
    #[inline(always)]
    fn renew(&mut self) {
        self.lanes = anew(self.lanes);
    }
    /// Where a word of lane `r` is.
    ///
    /// # Safety
    /// The word and the lane must exist.
    #[inline(always)]
    unsafe fn place(&self, word: usize, r: usize) -> *mut T {
        // SAFETY: the caller's promise.
        unsafe { self.first.add(word * self.lanes as usize + r * BLOCK as usize) }
    }
}

/// N numbers of each of R outer rows: all in registers (`HELD` = N), or all in scratch memory from word `AT` on (`HELD` = 0).
///
/// State rows, accumulators and the columns of outer rows.
pub struct Kept<T, const R: usize, const N: usize, const HELD: usize, const AT: usize> {
    held: [[T; R]; HELD],
    lanes: Lanes<T>,
}
impl<T: Device, const R: usize, const N: usize, const HELD: usize, const AT: usize>
    Kept<T, R, N, HELD, AT>
{
    /// In these lanes, or zero in registers.
    ///
    /// # Safety
    /// If the numbers are in scratch memory, the lanes must hold them: R lanes, `AT` + N words.
    #[inline(always)]
    pub unsafe fn new(lanes: Lanes<T>) -> Self {
        let held = [[T::ZERO; R]; HELD];
        Kept { held, lanes }
    }
    /// Before a turn of a loop: computes places anew ([`Lanes`]).
    #[inline(always)]
    pub fn renew(&mut self) {
        if HELD != N {
            self.lanes.renew();
        }
    }
    #[inline(always)]
    fn number(&self, n: usize, r: usize) -> T {
        if n >= N {
            T::ZERO
        } else if HELD == N {
            self.held[n][r]
        } else {
            // SAFETY: `new` was promised that it exists.
            unsafe { *self.lanes.place(AT + n, r) }
        }
    }
    #[inline(always)]
    fn put_number(&mut self, n: usize, r: usize, v: T) {
        if n < N {
            if HELD == N {
                self.held[n][r] = v;
            } else {
                // SAFETY: `new` was promised that it exists.
                unsafe { *self.lanes.place(AT + n, r) = v };
            }
        }
    }
    /// Copies registers into scratch memory.
    #[inline(always)]
    pub fn store(&self, to: &mut Kept<T, R, N, 0, AT>) {
        let mut n = 0;
        while n < N {
            let mut r = 0;
            while r < R {
                to.put_number(n, r, self.number(n, r));
                r += 1;
            }
            n += 1;
        }
    }
}
impl<T: Device, const R: usize, const N: usize, const HELD: usize, const AT: usize>
    Columns<[[T; 1]; R]> for Kept<T, R, N, HELD, AT>
{
    #[inline(always)]
    fn get(&self, c: usize) -> [[T; 1]; R] {
        self.word(c)
    }
    #[inline(always)]
    fn index(&self) -> [[T; 1]; R] {
        [[T::ZERO; 1]; R]
    }
}
impl<T: Device, const R: usize, const N: usize, const HELD: usize, const AT: usize>
    ColumnsMut<[[T; 1]; R]> for Kept<T, R, N, HELD, AT>
{
    #[inline(always)]
    fn put(&mut self, c: usize, v: [[T; 1]; R]) {
        self.set(c, v);
    }
}
impl<T: Device, const R: usize, const N: usize, const HELD: usize, const AT: usize>
    Words<[[T; 1]; R]> for Kept<T, R, N, HELD, AT>
{
    #[inline(always)]
    fn word(&self, n: usize) -> [[T; 1]; R] {
        let mut out = [[T::ZERO; 1]; R];
        let mut r = 0;
        while r < R {
            out[r][0] = self.number(n, r);
            r += 1;
        }
        out
    }
    #[inline(always)]
    fn set(&mut self, n: usize, v: [[T; 1]; R]) {
        let mut r = 0;
        while r < R {
            self.put_number(n, r, v[r][0]);
            r += 1;
        }
    }
}

/// Local arrays of R outer by Q inner rows, in scratch memory from word `AT` on.
pub struct Work<T, const R: usize, const Q: usize, const AT: usize> {
    lanes: Lanes<T>,
}
impl<T: Device, const R: usize, const Q: usize, const AT: usize> Work<T, R, Q, AT> {
    /// In these lanes.
    ///
    /// # Safety
    /// They must have room for all words that are used, Q each, of R lanes.
    #[inline(always)]
    pub unsafe fn new(lanes: Lanes<T>) -> Self {
        Work { lanes }
    }
}
impl<T: Device, const R: usize, const Q: usize, const AT: usize> Words<[[T; Q]; R]>
    for Work<T, R, Q, AT>
{
    #[inline(always)]
    fn word(&self, n: usize) -> [[T; Q]; R] {
        let mut out = [[T::ZERO; Q]; R];
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                // SAFETY: `new` was promised that it exists.
                out[r][q] = unsafe { *self.lanes.place(AT + n * Q + q, r) };
                q += 1;
            }
            r += 1;
        }
        out
    }
    #[inline(always)]
    fn set(&mut self, n: usize, v: [[T; Q]; R]) {
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                // SAFETY: `new` was promised that it exists.
                unsafe { *self.lanes.place(AT + n * Q + q, r) = v[r][q] };
                q += 1;
            }
            r += 1;
        }
    }
}

/// The parameters: `RAW` in global memory, then derived ones. `HELD` of them are in registers: all, or the derived ones, or
/// none; then the derived ones are in scratch memory from word `AT` on, each thread's own.
pub struct Params<T, const RAW: usize, const ALL: usize, const HELD: usize, const AT: usize> {
    base: *const T,
    held: [T; HELD],
    lanes: Lanes<T>,
}
impl_copy!([T: Copy, const RAW: usize, const ALL: usize, const HELD: usize, const AT: usize] Params<T, RAW, ALL, HELD, AT>);

impl<T: Device, const RAW: usize, const ALL: usize, const HELD: usize, const AT: usize>
    Params<T, RAW, ALL, HELD, AT>
{
    /// The raw parameters at `base`.
    ///
    /// # Safety
    /// `base` must point to `RAW` values that nobody writes while the accessor is in use; the first lane must have room for the
    /// derived ones where they are not in registers.
    #[inline(always)]
    pub unsafe fn new(base: *const T, lanes: Lanes<T>) -> Self {
        let mut held = [T::ZERO; HELD];
        if HELD == ALL {
            let mut c = 0;
            while c < RAW {
                // SAFETY: c < RAW.
                held[c] = unsafe { *base.add(c) };
                c += 1;
            }
        }
        Params { base, held, lanes }
    }
    #[inline(always)]
    fn value(&self, c: usize) -> T {
        if c >= ALL {
            T::ZERO
        } else if HELD == ALL {
            self.held[c]
        } else if c < RAW {
            // SAFETY: c < RAW.
            unsafe { *self.base.add(c) }
        } else if HELD == ALL - RAW {
            self.held[c - RAW]
        } else {
            // SAFETY: one of the derived ones, for which `new` was promised room.
            unsafe { *self.lanes.place(AT + (c - RAW), 0) }
        }
    }
}
impl<
    T: Device,
    const RAW: usize,
    const ALL: usize,
    const HELD: usize,
    const AT: usize,
    const R: usize,
    const Q: usize,
> Columns<[[T; Q]; R]> for Params<T, RAW, ALL, HELD, AT>
{
    #[inline(always)]
    fn get(&self, c: usize) -> [[T; Q]; R] {
        [[self.value(c); Q]; R]
    }
    #[inline(always)]
    fn index(&self) -> [[T; Q]; R] {
        [[T::ZERO; Q]; R]
    }
}
impl<T: Device, const RAW: usize, const ALL: usize, const HELD: usize, const AT: usize> Numbers<T>
    for Params<T, RAW, ALL, HELD, AT>
{
    #[inline(always)]
    fn number(&self, c: usize) -> T {
        self.value(c)
    }
}
impl<T: Device, const RAW: usize, const ALL: usize, const HELD: usize, const AT: usize>
    ColumnsMut<[[T; 1]; 1]> for Params<T, RAW, ALL, HELD, AT>
{
    #[inline(always)]
    fn put(&mut self, c: usize, v: [[T; 1]; 1]) {
        if HELD == ALL {
            if c < ALL {
                self.held[c] = v[0][0];
            }
        } else if c < RAW || c >= ALL {
        } else if HELD == ALL - RAW {
            self.held[c - RAW] = v[0][0];
        } else {
            // SAFETY: one of the derived ones, for which `new` was promised room.
            unsafe { *self.lanes.place(AT + (c - RAW), 0) = v[0][0] };
        }
    }
}

/// R outer rows of one thread: `RAW` columns of the variables, then derived ones, all in registers or all in scratch memory.
pub struct Outer<T, const RAW: usize, const ALL: usize, const HELD: usize, const R: usize> {
    columns: Kept<T, R, ALL, HELD, 0>,
    rows: [u32; R],
    /// The index of row 0.
    first: u32,
}
impl<T: Device, const RAW: usize, const ALL: usize, const HELD: usize, const R: usize>
    Outer<T, RAW, ALL, HELD, R>
{
    /// The rows `rows` of the variables, the first of which has the index `first`.
    ///
    /// # Safety
    /// Every row must exist, and the lanes must have room for the columns where they are not in registers.
    #[inline(always)]
    pub unsafe fn new<V: Source<T>>(
        variables: V,
        rows: [u32; R],
        first: u32,
        lanes: Lanes<T>,
    ) -> Self {
        // SAFETY: the caller's promise.
        let mut columns = unsafe { Kept::new(lanes) };
        let mut c = 0;
        while c < RAW {
            let mut r = 0;
            while r < R {
                // SAFETY: the caller's promise.
                columns.put_number(c, r, unsafe { variables.load(rows[r], c) });
                r += 1;
            }
            c += 1;
        }
        Outer {
            columns,
            rows,
            first,
        }
    }
    /// Before a turn of a loop: computes places anew ([`Lanes`]).
    #[inline(always)]
    pub fn renew(&mut self) {
        self.columns.renew();
    }
}
impl<
    T: Device,
    const RAW: usize,
    const ALL: usize,
    const HELD: usize,
    const R: usize,
    const Q: usize,
> Columns<[[T; Q]; R]> for Outer<T, RAW, ALL, HELD, R>
{
    #[inline(always)]
    fn get(&self, c: usize) -> [[T; Q]; R] {
        let mut out = [[T::ZERO; Q]; R];
        let mut r = 0;
        while r < R {
            out[r] = [self.columns.number(c, r); Q];
            r += 1;
        }
        out
    }
    #[inline(always)]
    fn index(&self) -> [[T; Q]; R] {
        let mut out = [[T::ZERO; Q]; R];
        let mut r = 0;
        while r < R {
            out[r] = [T::from_index(self.rows[r].wrapping_add(self.first)); Q];
            r += 1;
        }
        out
    }
}
impl<T: Device, const RAW: usize, const ALL: usize, const HELD: usize, const R: usize>
    ColumnsMut<[[T; 1]; R]> for Outer<T, RAW, ALL, HELD, R>
{
    #[inline(always)]
    fn put(&mut self, c: usize, v: [[T; 1]; R]) {
        if c >= RAW {
            self.columns.set(c, v);
        }
    }
}

/// The output rows of one thread: those of its R rows that exist.
pub struct Out<O, const R: usize> {
    outputs: O,
    rows: [u32; R],
    exists: [bool; R],
}
impl<O, const R: usize> Out<O, R> {
    /// The rows `rows` of the outputs, as far as they exist.
    ///
    /// # Safety
    /// Each row marked as existing must be a row of the outputs, and this thread's.
    #[inline(always)]
    pub unsafe fn new(outputs: O, rows: [u32; R], exists: [bool; R]) -> Self {
        Out {
            outputs,
            rows,
            exists,
        }
    }
}
impl<T: Device, O: Sink<T>, const R: usize> Columns<[[T; 1]; R]> for Out<O, R> {
    #[inline(always)]
    fn get(&self, c: usize) -> [[T; 1]; R] {
        let mut out = [[T::ZERO; 1]; R];
        let mut r = 0;
        while r < R {
            if self.exists[r] {
                // SAFETY: `new` was promised that the row exists.
                out[r][0] = unsafe { self.outputs.load(self.rows[r], c) };
            }
            r += 1;
        }
        out
    }
    #[inline(always)]
    fn index(&self) -> [[T; 1]; R] {
        let mut out = [[T::ZERO; 1]; R];
        let mut r = 0;
        while r < R {
            out[r][0] = T::from_index(self.rows[r]);
            r += 1;
        }
        out
    }
}
impl<T: Device, O: Sink<T>, const R: usize> ColumnsMut<[[T; 1]; R]> for Out<O, R> {
    #[inline(always)]
    fn put(&mut self, c: usize, v: [[T; 1]; R]) {
        let mut r = 0;
        while r < R {
            if self.exists[r] {
                // SAFETY: `new` was promised that the row exists and is this thread's.
                unsafe { self.outputs.store(self.rows[r], c, v[r][0]) };
            }
            r += 1;
        }
    }
}
