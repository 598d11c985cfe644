//! Blocks of L rows turned into vectors of L lanes, and back, a few rows at a time in registers.
//!
//! Invariant: what is read and written is what the callers vouch for, element by element: the last four (or two) columns of a
//! row are read again rather than anything behind them.
use keops_gpu_kernels::real::Real;

/// Copies L rows of `columns` neighbouring numbers, `step` apart, to vectors of L lanes that follow one another.
///
/// # Safety
/// `from + k * step` is readable for k below L, `columns` numbers each; `to` is writable, `columns` × L numbers, and nobody
/// else accesses it.
#[inline(always)]
pub(super) unsafe fn rows_to_lanes<const L: usize, T: Real>(
    from: *const T,
    step: isize,
    columns: usize,
    to: *mut T,
) {
    #[cfg(target_arch = "x86_64")]
    if L.is_multiple_of(4) && !T::IS_F64 {
        for first in (0..L).step_by(4) {
            // SAFETY: T is f32; rows first to first + 3, and lanes as many, are within the caller's contract.
            unsafe {
                let from = from.offset(first as isize * step).cast();
                x86::four_rows::<L>(from, step, columns, to.add(first).cast());
            }
        }
        return;
    } else if L.is_multiple_of(2) && T::IS_F64 {
        for first in (0..L).step_by(2) {
            // SAFETY: T is f64; rows first and first + 1, and lanes as many, are within the caller's contract.
            unsafe {
                let from = from.offset(first as isize * step).cast();
                x86::two_rows::<L>(from, step, columns, to.add(first).cast());
            }
        }
        return;
    }
    for c in 0..columns {
        for lane in 0..L {
            // SAFETY: the caller's contract.
            unsafe { *to.add(c * L + lane) = *from.offset(lane as isize * step + c as isize) };
        }
    }
}

/// The loads and shuffles that every x86-64 processor has.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// Four rows of f32 into lanes 0 to 3 of vectors that are L lanes apart.
    ///
    /// # Safety
    /// `from + k * step` is readable for k below 4, `columns` numbers each; `to + c * L` is writable for each column, four
    /// numbers.
    #[inline(always)]
    pub(super) unsafe fn four_rows<const L: usize>(
        from: *const f32,
        step: isize,
        columns: usize,
        to: *mut f32,
    ) {
        // SAFETY: columns c to c + 3 are below `columns` wherever four are read, c and c + 1 wherever two are, and the
        // caller vouches for all of them. No load or store asks for alignment.
        unsafe {
            let row = |k: isize| from.offset(k * step);
            if columns >= 4 {
                let mut c = 0;
                loop {
                    let [a, b, d, e] = [0, 1, 2, 3].map(|k| _mm_loadu_ps(row(k).add(c)));
                    let (ab, de) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(d, e));
                    let (ab_high, de_high) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(d, e));
                    let to = to.add(c * L);
                    _mm_storeu_ps(to, _mm_movelh_ps(ab, de));
                    _mm_storeu_ps(to.add(L), _mm_movehl_ps(de, ab));
                    _mm_storeu_ps(to.add(2 * L), _mm_movelh_ps(ab_high, de_high));
                    _mm_storeu_ps(to.add(3 * L), _mm_movehl_ps(de_high, ab_high));
                    if c + 4 >= columns {
                        return;
                    }
                    c = (c + 4).min(columns - 4);
                }
            }
            if columns >= 2 {
                let two = |k| row(k).cast::<f64>().read_unaligned();
                let ab = _mm_castpd_ps(_mm_set_pd(two(1), two(0)));
                let de = _mm_castpd_ps(_mm_set_pd(two(3), two(2)));
                _mm_storeu_ps(to, _mm_shuffle_ps::<0b10_00_10_00>(ab, de));
                _mm_storeu_ps(to.add(L), _mm_shuffle_ps::<0b11_01_11_01>(ab, de));
            }
            if columns % 2 == 1 {
                let c = columns - 1;
                let last = match step {
                    1 => _mm_loadu_ps(from.add(c)),
                    -1 => {
                        let v = _mm_loadu_ps(from.sub(3).add(c));
                        _mm_shuffle_ps::<0b00_01_10_11>(v, v)
                    }
                    _ => {
                        let [a, b, d, e] = [0, 1, 2, 3].map(|k| *row(k).add(c));
                        _mm_setr_ps(a, b, d, e)
                    }
                };
                _mm_storeu_ps(to.add(c * L), last);
            }
        }
    }

    /// Two rows of f64 into lanes 0 and 1 of vectors that are L lanes apart.
    ///
    /// # Safety
    /// As [`four_rows`], for two rows and lanes.
    #[inline(always)]
    pub(super) unsafe fn two_rows<const L: usize>(
        from: *const f64,
        step: isize,
        columns: usize,
        to: *mut f64,
    ) {
        // SAFETY: columns c and c + 1 are below `columns` wherever two are read, and the caller vouches for all of them.
        unsafe {
            let row = |k: isize| from.offset(k * step);
            if columns < 2 {
                if columns == 1 {
                    _mm_storeu_pd(to, _mm_setr_pd(*from, *row(1)));
                }
                return;
            }
            let mut c = 0;
            loop {
                let (a, b) = (_mm_loadu_pd(from.add(c)), _mm_loadu_pd(row(1).add(c)));
                let to = to.add(c * L);
                _mm_storeu_pd(to, _mm_unpacklo_pd(a, b));
                _mm_storeu_pd(to.add(L), _mm_unpackhi_pd(a, b));
                if c + 2 >= columns {
                    return;
                }
                c = (c + 2).min(columns - 2);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<const L: usize, T: Real + PartialEq>(number: fn(usize) -> T) {
        for columns in 0..14 {
            for gap in [0, 1, 5] {
                for down in [false, true] {
                    let width = columns + gap;
                    // Nothing behind the last row, so that Miri or a sanitizer would notice a read of it.
                    let length = (L - 1) * width + columns;
                    let from: Vec<T> = (0..length).map(number).collect();
                    let mut to: Vec<T> = (0..columns * L + 1).map(|_| number(9999)).collect();
                    let (first, step) = if down {
                        ((L - 1) * width, -(width as isize))
                    } else {
                        (0, width as isize)
                    };
                    // SAFETY: L rows of `columns` numbers from `first` on in steps, all of them in `from`; room in `to`.
                    unsafe {
                        rows_to_lanes::<L, T>(
                            from.as_ptr().add(first),
                            step,
                            columns,
                            to.as_mut_ptr(),
                        );
                    }
                    for c in 0..columns {
                        for lane in 0..L {
                            let row = if down { L - 1 - lane } else { lane };
                            assert!(
                                to[c * L + lane] == from[row * width + c],
                                "{columns} columns, {gap} apart, column {c}, lane {lane}"
                            );
                        }
                    }
                    assert!(to[columns * L] == number(9999), "{columns} columns");
                }
            }
        }
    }

    #[test]
    fn every_number_arrives() {
        at::<1, f32>(|x| x as f32);
        at::<2, f32>(|x| x as f32);
        at::<4, f32>(|x| x as f32);
        at::<8, f32>(|x| x as f32);
        at::<16, f32>(|x| x as f32);
        at::<1, f64>(|x| x as f64);
        at::<2, f64>(|x| x as f64);
        at::<4, f64>(|x| x as f64);
        at::<8, f64>(|x| x as f64);
    }
}
