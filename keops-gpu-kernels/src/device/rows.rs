//! Row accessors of the device: the parameters, and the outer rows, state rows and output rows of one thread.
//!
//! Short rows live in arrays that become registers, long ones are read from global memory where the formula uses them.
//! Which it is, is a constant per kernel (`abi`). Inner rows are in `inner`.
//!
//! Invariant: a column out of range reads as zero and writes nothing; no accessor touches memory outside its rows.
use super::gpu::Device;
use crate::kernel::{Columns, ColumnsMut, Numbers};
use crate::mini_core::*;

/// The variables of one side in global memory, side by side as the columns of one row. Written out per entry.
pub trait Source<T>: Copy {
    /// Column `c` of row `row`; zero past the last column.
    ///
    /// # Safety
    /// `row` must be a row of the variables.
    unsafe fn load(self, row: u32, c: usize) -> T;
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

/// The parameters: `RAW` in global memory, then derived ones. `HELD` of them are in registers: all, or the derived ones.
pub struct Params<T, const RAW: usize, const ALL: usize, const HELD: usize> {
    base: *const T,
    held: [T; HELD],
}
impl_copy!([T: Copy, const RAW: usize, const ALL: usize, const HELD: usize] Params<T, RAW, ALL, HELD>);

impl<T: Device, const RAW: usize, const ALL: usize, const HELD: usize> Params<T, RAW, ALL, HELD> {
    /// The raw parameters at `base`.
    ///
    /// # Safety
    /// `base` must point to `RAW` values that nobody writes while the accessor is in use.
    #[inline(always)]
    pub unsafe fn new(base: *const T) -> Self {
        let mut held = [T::ZERO; HELD];
        if HELD == ALL {
            let mut c = 0;
            while c < RAW {
                // SAFETY: c < RAW.
                held[c] = unsafe { *base.add(c) };
                c += 1;
            }
        }
        Params { base, held }
    }
    #[inline(always)]
    fn value(&self, c: usize) -> T {
        if c >= ALL {
            T::ZERO
        } else if HELD == ALL {
            self.held[c]
        } else if c < RAW {
            // SAFETY: `new` was promised RAW values.
            unsafe { *self.base.add(c) }
        } else {
            self.held[c - RAW]
        }
    }
}
impl<
    T: Device,
    const RAW: usize,
    const ALL: usize,
    const HELD: usize,
    const R: usize,
    const Q: usize,
> Columns<[[T; Q]; R]> for Params<T, RAW, ALL, HELD>
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
impl<T: Device, const RAW: usize, const ALL: usize, const HELD: usize> Numbers<T>
    for Params<T, RAW, ALL, HELD>
{
    #[inline(always)]
    fn number(&self, c: usize) -> T {
        self.value(c)
    }
}
impl<T: Device, const RAW: usize, const ALL: usize, const HELD: usize> ColumnsMut<[[T; 1]; 1]>
    for Params<T, RAW, ALL, HELD>
{
    #[inline(always)]
    fn put(&mut self, c: usize, v: [[T; 1]; 1]) {
        if HELD == ALL {
            if c < ALL {
                self.held[c] = v[0][0];
            }
        } else if c >= RAW && c < ALL {
            self.held[c - RAW] = v[0][0];
        }
    }
}

/// R outer rows of one thread: `RAW` columns in global memory, then derived ones. `HELD` of them are in registers: all, or
/// the derived ones.
pub struct Outer<T, V, const RAW: usize, const ALL: usize, const HELD: usize, const R: usize> {
    variables: V,
    rows: [u32; R],
    /// The index of row 0.
    first: u32,
    held: [[T; R]; HELD],
}
impl<T: Device, V: Source<T>, const RAW: usize, const ALL: usize, const HELD: usize, const R: usize>
    Outer<T, V, RAW, ALL, HELD, R>
{
    /// The rows `rows` of the variables, the first of which has the index `first`.
    ///
    /// # Safety
    /// Every row must exist, and nobody may write the variables while the accessor is in use.
    #[inline(always)]
    pub unsafe fn new(variables: V, rows: [u32; R], first: u32) -> Self {
        let mut held = [[T::ZERO; R]; HELD];
        if HELD == ALL {
            let mut c = 0;
            while c < RAW {
                let mut r = 0;
                while r < R {
                    // SAFETY: the caller's promise.
                    held[c][r] = unsafe { variables.load(rows[r], c) };
                    r += 1;
                }
                c += 1;
            }
        }
        Outer {
            variables,
            rows,
            first,
            held,
        }
    }
}
impl<
    T: Device,
    V: Source<T>,
    const RAW: usize,
    const ALL: usize,
    const HELD: usize,
    const R: usize,
    const Q: usize,
> Columns<[[T; Q]; R]> for Outer<T, V, RAW, ALL, HELD, R>
{
    #[inline(always)]
    fn get(&self, c: usize) -> [[T; Q]; R] {
        let mut out = [[T::ZERO; Q]; R];
        if c < ALL {
            let mut r = 0;
            while r < R {
                let v = if HELD == ALL {
                    self.held[c][r]
                } else if c < RAW {
                    // SAFETY: `new` was promised that the row exists.
                    unsafe { self.variables.load(self.rows[r], c) }
                } else {
                    self.held[c - RAW][r]
                };
                out[r] = [v; Q];
                r += 1;
            }
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
impl<T: Device, V: Source<T>, const RAW: usize, const ALL: usize, const HELD: usize, const R: usize>
    ColumnsMut<[[T; 1]; R]> for Outer<T, V, RAW, ALL, HELD, R>
{
    #[inline(always)]
    fn put(&mut self, c: usize, v: [[T; 1]; R]) {
        let at = if HELD == ALL { c } else { c - RAW };
        if c >= RAW && c < ALL {
            let mut r = 0;
            while r < R {
                self.held[at][r] = v[r][0];
                r += 1;
            }
        }
    }
}

/// The state rows of R outer rows, N words each.
pub struct State<T, const R: usize, const N: usize> {
    words: [[[T; 1]; R]; N],
}
impl<T: Device, const R: usize, const N: usize> State<T, R, N> {
    /// All zero.
    #[inline(always)]
    pub fn new() -> Self {
        State {
            words: [[[T::ZERO; 1]; R]; N],
        }
    }
}
impl<T: Device, const R: usize, const N: usize> Columns<[[T; 1]; R]> for State<T, R, N> {
    #[inline(always)]
    fn get(&self, c: usize) -> [[T; 1]; R] {
        if c < N {
            self.words[c]
        } else {
            [[T::ZERO; 1]; R]
        }
    }
    #[inline(always)]
    fn index(&self) -> [[T; 1]; R] {
        [[T::ZERO; 1]; R]
    }
}
impl<T: Device, const R: usize, const N: usize> ColumnsMut<[[T; 1]; R]> for State<T, R, N> {
    #[inline(always)]
    fn put(&mut self, c: usize, v: [[T; 1]; R]) {
        if c < N {
            self.words[c] = v;
        }
    }
}

/// The state rows of R outer rows, N words each, as one part of the inner rows leaves them in global memory.
pub struct Stored<T, const R: usize, const N: usize> {
    /// Word 0 of row 0 of the part.
    base: *mut T,
    /// Values from one word to the next.
    m: u32,
    rows: [u32; R],
}
impl<T: Device, const R: usize, const N: usize> Stored<T, R, N> {
    /// The rows `rows` of part `part`.
    ///
    /// # Safety
    /// `states` must hold the state rows of this part as `abi` says, and every row must be less than `m`.
    #[inline(always)]
    pub unsafe fn new(states: *mut T, part: u32, m: u32, rows: [u32; R]) -> Self {
        // SAFETY: the part's first word is in `states`.
        let base = unsafe { states.add(part as usize * N * m as usize) };
        Stored { base, m, rows }
    }
    /// Where word `c` of row `r` is.
    ///
    /// # Safety
    /// `c` must be less than N.
    #[inline(always)]
    unsafe fn place(&self, c: usize, r: usize) -> *mut T {
        // SAFETY: a word of a row that exists, as `new` was promised.
        unsafe {
            self.base
                .add(c * self.m as usize + self.rows[r] as usize)
        }
    }
    /// Stores those state rows that exist.
    ///
    /// # Safety
    /// Each row marked as existing must be this thread's, and nobody may read it in this launch.
    #[inline(always)]
    pub unsafe fn store(&self, state: &State<T, R, N>, exists: [bool; R]) {
        let mut c = 0;
        while c < N {
            let mut r = 0;
            while r < R {
                if exists[r] {
                    // SAFETY: c < N, and the caller's promise.
                    unsafe { *self.place(c, r) = state.words[c][r][0] };
                }
                r += 1;
            }
            c += 1;
        }
    }
}
impl<T: Device, const R: usize, const N: usize> Columns<[[T; 1]; R]> for Stored<T, R, N> {
    #[inline(always)]
    fn get(&self, c: usize) -> [[T; 1]; R] {
        let mut out = [[T::ZERO; 1]; R];
        let mut r = 0;
        while r < R {
            if c < N {
                // SAFETY: c < N.
                out[r][0] = unsafe { *self.place(c, r) };
            }
            r += 1;
        }
        out
    }
    #[inline(always)]
    fn index(&self) -> [[T; 1]; R] {
        [[T::ZERO; 1]; R]
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
