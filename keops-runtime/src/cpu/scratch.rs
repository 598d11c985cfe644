//! [`Scratch`]: aligned working memory of a thread, kept from one call to the next.
//!
//! Invariants: memory starts on a 64-byte boundary and is always initialised (zero, or left over from another use); not
//! being able to get it is an error, not an abort.
use std::cell::Cell;

use keops_gpu_kernels::real::Real;

/// One cache line, the unit of allocation.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    #[allow(dead_code, reason = "read and written as values of other types")]
    bytes: [u8; 64],
}

/// More than this is given back to the system after use.
const KEEP_LINES: usize = (1 << 20) / 64;

thread_local! {
    /// The thread's memory while nobody uses it. Taken, not borrowed: a thread that waits for others in the middle of a
    /// pass may be given another task meanwhile, which then simply allocates.
    static KEPT: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

/// Working memory, returned to the thread when dropped.
pub(crate) struct Scratch {
    lines: Vec<Line>,
}

impl Scratch {
    /// Memory for one slice of each of these lengths of `T`. The error is the number of bytes asked for.
    pub(crate) fn new<T: Real>(lengths: &[usize]) -> Result<Self, usize> {
        let mut count = 0usize;
        for &length in lengths {
            count = lines::<T>(length)
                .and_then(|n| count.checked_add(n))
                .ok_or(usize::MAX)?;
        }
        let mut lines = KEPT.try_with(Cell::take).unwrap_or_default();
        if lines.len() < count {
            let more = count - lines.len();
            lines
                .try_reserve_exact(more)
                .map_err(|_| count.saturating_mul(64))?;
            lines.resize(count, Line { bytes: [0; 64] });
        }
        Ok(Scratch { lines })
    }

    /// Slices of these lengths, which are those it was made for.
    pub(crate) fn split<T: Real, const N: usize>(&mut self, lengths: [usize; N]) -> [&mut [T]; N] {
        let mut rest = &mut self.lines[..];
        lengths.map(|length| {
            let count = lines::<T>(length).expect("the lengths that the memory was made for");
            let (mine, others) = std::mem::take(&mut rest).split_at_mut(count);
            rest = others;
            // SAFETY: `mine` has at least `length` values of room on a 64-byte boundary, initialised, borrowed mutably;
            // all bit patterns are values of `f32` and of `f64`, the only types that are `Real`, and back.
            unsafe { std::slice::from_raw_parts_mut(mine.as_mut_ptr().cast(), length) }
        })
    }
}

/// Cache lines for this many values.
fn lines<T>(length: usize) -> Option<usize> {
    Some(
        length
            .checked_mul(size_of::<T>())?
            .div_ceil(size_of::<Line>()),
    )
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.lines.len() <= KEEP_LINES {
            let lines = std::mem::take(&mut self.lines);
            // Fails while the thread ends: the memory is freed then.
            let _ = KEPT.try_with(|kept| {
                let other = kept.take();
                kept.set(if other.len() > lines.len() {
                    other
                } else {
                    lines
                });
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_aligned_and_apart() {
        let lengths = [3, 0, 17, 64];
        let mut scratch = Scratch::new::<f32>(&lengths).unwrap();
        let slices: [&mut [f32]; 4] = scratch.split(lengths);
        for (slice, length) in slices.iter().zip(lengths) {
            assert_eq!(slice.len(), length);
            assert_eq!(slice.as_ptr().addr() % 64, 0);
        }
        for (k, slice) in slices.into_iter().enumerate() {
            slice.fill(k as f32);
        }
    }

    #[test]
    fn too_much_is_an_error() {
        assert!(Scratch::new::<f64>(&[usize::MAX / 2]).is_err());
        assert!(Scratch::new::<f64>(&[isize::MAX as usize / 16]).is_err());
    }

    #[test]
    fn nested_uses_do_not_share() {
        let mut outer = Scratch::new::<f64>(&[8]).unwrap();
        let [a] = outer.split::<f64, 1>([8]);
        a.fill(1.0);
        let mut inner = Scratch::new::<f64>(&[8]).unwrap();
        let [b] = inner.split::<f64, 1>([8]);
        b.fill(2.0);
        assert_eq!(a[0], 1.0);
    }
}
