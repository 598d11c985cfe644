//! Rows along a Morton curve.
use rayon::prelude::*;

use crate::float::Float;

/// Columns that a curve can go through.
pub(super) const MOST_COLUMNS: usize = 4;

/// Which columns of a row say where it is, and how that becomes a place on the curve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    columns: [usize; MOST_COLUMNS],
    count: usize,
    /// Least value and cells per unit of each.
    scales: [(f64, f64); MOST_COLUMNS],
}

/// The least and the largest finite value of each column of a curve.
pub(super) type Ranges = [(f64, f64); MOST_COLUMNS];

/// Sorted rows: original numbers in their new order, and their places on the curve.
pub(super) struct Order {
    pub(super) rows: Vec<u32>,
    pub(super) keys: Vec<u32>,
}

impl Curve {
    /// Through these columns, or through the first `all` where there are none; `None` where they are too many.
    pub(super) fn through(mask: u64, all: usize) -> Option<Curve> {
        let mask = match mask {
            0 if all < 64 => (1 << all) - 1,
            some => some,
        };
        let count = mask.count_ones() as usize;
        if !(1..=MOST_COLUMNS).contains(&count) {
            return None;
        }
        let mut columns = [0; MOST_COLUMNS];
        let set = (0..64).filter(|c| mask >> c & 1 == 1);
        for (column, c) in columns.iter_mut().zip(set) {
            *column = c;
        }
        Some(Curve {
            columns,
            count,
            scales: [(0.0, 0.0); MOST_COLUMNS],
        })
    }

    /// How many columns it goes through.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The finite ranges of its columns.
    pub(super) fn ranges<T: Float>(&self, rows: &[T], width: usize) -> Ranges {
        let mut ranges = [(f64::INFINITY, f64::NEG_INFINITY); MOST_COLUMNS];
        for row in rows.chunks_exact(width) {
            for (range, &c) in ranges.iter_mut().zip(&self.columns[..self.count]) {
                let x = row[c].widened();
                if x.is_finite() {
                    *range = (range.0.min(x), range.1.max(x));
                }
            }
        }
        ranges
    }

    /// The same curve, through these ranges.
    pub(super) fn within(mut self, ranges: &Ranges) -> Curve {
        let cells = f64::from(1u32 << self.bits());
        self.scales = ranges.map(|(lo, hi)| {
            let scale = cells / (hi - lo);
            (
                lo,
                if scale.is_finite() && hi > lo {
                    scale
                } else {
                    0.0
                },
            )
        });
        self
    }

    /// Bits of a column's cell.
    fn bits(&self) -> u32 {
        (32 / self.count as u32).min(16)
    }

    /// The place of a row.
    pub(super) fn key<T: Float>(&self, row: &[T]) -> u32 {
        let most = f64::from((1u32 << self.bits()) - 1);
        let mut key = 0;
        for (k, (&c, &(lo, scale))) in self.columns[..self.count]
            .iter()
            .zip(&self.scales)
            .enumerate()
        {
            let x = row[c].widened();
            if !x.is_finite() {
                // Such rows keep to themselves, so that few boxes are without bounds.
                return u32::MAX;
            }
            let cell = ((x - lo) * scale).clamp(0.0, most) as u32;
            key |= spread(cell, self.count) << k;
        }
        key
    }

    /// Sorts rows of `width` values; row k has the number `number(k)`. The error is the number of bytes that could not be
    /// allocated.
    pub(super) fn sort<T: Float>(
        &self,
        rows: &[T],
        width: usize,
        number: impl Fn(usize) -> u32 + Sync,
    ) -> Result<Order, usize> {
        let count = rows.len() / width;
        let mut places: Vec<u64> = room(count)?;
        places.resize(count, 0);
        let place = |(k, place): (usize, &mut u64)| {
            let row = &rows[k * width..(k + 1) * width];
            *place = u64::from(self.key(row)) << 32 | u64::from(number(k));
        };
        // Numbers differ, so that the order does not depend on the threads.
        if count < 1 << 14 {
            places.iter_mut().enumerate().for_each(place);
            places.sort_unstable();
        } else {
            places.par_iter_mut().enumerate().for_each(place);
            places.par_sort_unstable();
        }
        let (mut numbers, mut keys) = (room(count)?, room(count)?);
        numbers.extend(places.iter().map(|&place| place as u32));
        keys.extend(places.iter().map(|&place| (place >> 32) as u32));
        Ok(Order {
            rows: numbers,
            keys,
        })
    }
}

/// The bits of a cell, with `columns` − 1 zeros behind each.
fn spread(cell: u32, columns: usize) -> u32 {
    let steps: &[(u32, u32)] = match columns {
        1 => &[],
        2 => &[
            (8, 0x00ff_00ff),
            (4, 0x0f0f_0f0f),
            (2, 0x3333_3333),
            (1, 0x5555_5555),
        ],
        3 => &[
            (16, 0x0300_00ff),
            (8, 0x0300_f00f),
            (4, 0x030c_30c3),
            (2, 0x0924_9249),
        ],
        _ => &[(12, 0x000f_000f), (6, 0x0303_0303), (3, 0x1111_1111)],
    };
    steps
        .iter()
        .fold(cell, |x, &(shift, mask)| (x | x << shift) & mask)
}

/// The ranges of both.
pub(super) fn join(a: &Ranges, b: &Ranges) -> Ranges {
    let mut both = *a;
    for (range, other) in both.iter_mut().zip(b) {
        *range = (range.0.min(other.0), range.1.max(other.1));
    }
    both
}

/// A vector with room, or the number of bytes that could not be allocated.
pub(super) fn room<E>(count: usize) -> Result<Vec<E>, usize> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(count)
        .map_err(|_| count.saturating_mul(size_of::<E>()))?;
    Ok(vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_spread() {
        for columns in 1..=4 {
            let bits = (32 / columns).min(16);
            for bit in 0..bits {
                assert_eq!(
                    spread(1 << bit, columns),
                    1 << (bit * columns),
                    "{columns} columns, bit {bit}"
                );
            }
            let all = (0..bits).fold(0, |x, bit| x | 1u32 << (bit * columns));
            assert_eq!(spread((1 << bits) - 1, columns), all, "{columns} columns");
        }
    }

    #[test]
    fn neighbours_come_together() {
        let curve = Curve::through(0b101, 3).expect("two columns");
        let rows: Vec<f32> = vec![
            0.9,
            7.0,
            0.9,
            0.1,
            8.0,
            0.1,
            0.88,
            1.0,
            0.92,
            f32::NAN,
            0.0,
            0.5,
        ];
        let curve = curve.within(&curve.ranges(&rows, 3));
        let order = curve.sort(&rows, 3, |k| k as u32).expect("memory");
        assert_eq!(order.rows[0], 1);
        assert_eq!(order.rows[3], 3);
        assert!(Curve::through(0, 5).is_none() && Curve::through(0b11111, 9).is_none());
    }
}
