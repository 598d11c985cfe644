//! [`Pair`] and [`Blocks`]: arrays whose length is a polynomial of const parameters, which Rust takes as no array's length.
//!
//! `[A; 2 * D + 1]` is `Pair<Blocks<[A; D], 2>, [A; 1]>`. Only kernels of items with const parameters use them, and only on the
//! host: device code is made for numbers.
//!
//! Invariant: word `n` is the n-th in the order of the parts; an index beyond the last panics, as an array's does.
use core::ops::{Index, IndexMut};

use crate::kernel::{Array, Words};

/// How many words a type holds.
pub trait Length {
    /// That many.
    const LEN: usize;
}

impl<A, const N: usize> Length for [A; N] {
    const LEN: usize = N;
}

/// The words of `F`, then those of `S`.
#[derive(Clone, Copy)]
pub struct Pair<F, S>(F, S);

impl<F: Length, S: Length> Length for Pair<F, S> {
    const LEN: usize = F::LEN + S::LEN;
}

impl<F: Length + Index<usize>, S: Index<usize, Output = F::Output>> Index<usize> for Pair<F, S> {
    type Output = F::Output;
    #[inline(always)]
    fn index(&self, n: usize) -> &F::Output {
        if n < F::LEN {
            &self.0[n]
        } else {
            &self.1[n - F::LEN]
        }
    }
}

impl<F: Length + IndexMut<usize>, S: IndexMut<usize, Output = F::Output>> IndexMut<usize>
    for Pair<F, S>
{
    #[inline(always)]
    fn index_mut(&mut self, n: usize) -> &mut F::Output {
        if n < F::LEN {
            &mut self.0[n]
        } else {
            &mut self.1[n - F::LEN]
        }
    }
}

impl<A: Copy, F: Words<A> + Length, S: Words<A>> Words<A> for Pair<F, S> {
    #[inline(always)]
    fn word(&self, n: usize) -> A {
        if n < F::LEN {
            self.0.word(n)
        } else {
            self.1.word(n - F::LEN)
        }
    }
    #[inline(always)]
    fn set(&mut self, n: usize, a: A) {
        if n < F::LEN {
            self.0.set(n, a);
        } else {
            self.1.set(n - F::LEN, a);
        }
    }
}

impl<A: Copy, F: Array<A> + Length, S: Array<A>> Array<A> for Pair<F, S> {
    #[inline(always)]
    fn fill(a: A) -> Self {
        Pair(F::fill(a), S::fill(a))
    }
}

/// N times the words of `W`.
#[derive(Clone, Copy)]
pub struct Blocks<W, const N: usize>([W; N]);

impl<W: Length, const N: usize> Length for Blocks<W, N> {
    const LEN: usize = N * W::LEN;
}

impl<W: Length + Index<usize>, const N: usize> Index<usize> for Blocks<W, N> {
    type Output = W::Output;
    #[inline(always)]
    fn index(&self, n: usize) -> &W::Output {
        &self.0[n / W::LEN][n % W::LEN]
    }
}

impl<W: Length + IndexMut<usize>, const N: usize> IndexMut<usize> for Blocks<W, N> {
    #[inline(always)]
    fn index_mut(&mut self, n: usize) -> &mut W::Output {
        &mut self.0[n / W::LEN][n % W::LEN]
    }
}

impl<A: Copy, W: Words<A> + Length, const N: usize> Words<A> for Blocks<W, N> {
    #[inline(always)]
    fn word(&self, n: usize) -> A {
        self.0[n / W::LEN].word(n % W::LEN)
    }
    #[inline(always)]
    fn set(&mut self, n: usize, a: A) {
        self.0[n / W::LEN].set(n % W::LEN, a);
    }
}

impl<A: Copy, W: Array<A> + Length, const N: usize> Array<A> for Blocks<W, N> {
    #[inline(always)]
    fn fill(a: A) -> Self {
        Blocks([W::fill(a); N])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_order() {
        type Twice<const D: usize> = Pair<Blocks<[u32; D], 2>, [u32; 1]>;
        fn check<const D: usize>() {
            assert_eq!(Twice::<D>::LEN, 2 * D + 1);
            let mut words = Twice::<D>::fill(0);
            for n in 0..Twice::<D>::LEN {
                words[n] = n as u32;
            }
            for n in 0..Twice::<D>::LEN {
                assert_eq!(words[n], n as u32);
            }
        }
        check::<1>();
        check::<3>();
        check::<8>();
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn there_is_nothing_beyond_the_last() {
        let words = Pair::<[u8; 2], [u8; 1]>::fill(0);
        let _ = words[3];
    }
}
