//! [`Bounds`]: an instruction set whose numbers are intervals. Running a kernel's pair part on it, with the bounding boxes of
//! some outer and some inner rows, bounds what the kernel computes for every pair of them.
//!
//! Invariants: whatever value another instruction set computes from operands inside of the intervals, in T with its own
//! roundings, lies in the resulting interval or is NaN, and it is NaN only where `nan` is set. Intervals are f64 and widened
//! by several units of T at each rounded operation; operations that only choose or change signs are exact, so that a state
//! which no pair can change comes out equal. What is not worth bounding is [`Interval::EVERYTHING`].
use std::marker::PhantomData;

use keops_gpu_kernels::isa::Isa;
use keops_gpu_kernels::kernel::{Array, Columns, ColumnsMut, Kernel};
use keops_gpu_kernels::real::Real;
use keops_gpu_kernels::tile::Pairs;

use crate::float::Float;

/// Numbers from `lo` to `hi`, and NaN if `nan`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    pub(crate) nan: bool,
}

impl Interval {
    /// No claim at all.
    pub(crate) const EVERYTHING: Interval = Interval {
        lo: f64::NEG_INFINITY,
        hi: f64::INFINITY,
        nan: true,
    };

    /// One number.
    pub(crate) fn of(x: f64) -> Interval {
        if x.is_nan() {
            Interval::EVERYTHING
        } else {
            Interval {
                lo: x,
                hi: x,
                nan: false,
            }
        }
    }

    /// The numbers of both.
    pub(crate) fn hull(self, other: Interval) -> Interval {
        Interval {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            nan: self.nan | other.nan,
        }
    }

    /// Exactly zero, of either sign.
    const ZERO: Interval = Interval {
        lo: 0.0,
        hi: 0.0,
        nan: false,
    };

    fn is_zero(self) -> bool {
        self == Interval::ZERO
    }

    /// Whether a product with zero is zero.
    fn is_number(self) -> bool {
        self.is_finite() && !self.nan
    }

    fn is_finite(self) -> bool {
        self.lo > f64::NEG_INFINITY && self.hi < f64::INFINITY
    }

    fn size(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// The image under an increasing function.
    fn map(self, f: impl Fn(f64) -> f64) -> Interval {
        Interval {
            lo: f(self.lo),
            hi: f(self.hi),
            nan: self.nan,
        }
    }
}

/// What is known of a comparison for all pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Truth {
    False,
    True,
    Unknown,
}

/// Intervals of numbers of type T.
pub(crate) struct Bounds<T>(PhantomData<T>);

impl<T> Clone for Bounds<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Bounds<T> {}

impl<T: Real> Bounds<T> {
    /// Four units in the last place of T, relative: two roundings of T and those of f64, with room.
    const UNIT: f64 = if T::IS_F64 {
        4.0 * f64::EPSILON
    } else {
        4.0 * f32::EPSILON as f64
    };

    /// The interval of a rounded operation; `size` is the largest magnitude that was rounded on the way.
    fn rounded(self, v: Interval, size: f64, units: f64) -> Interval {
        let slack = size * (units * Self::UNIT) + 4.0 * T::MIN_POSITIVE;
        let (lo, hi) = (v.lo - slack, v.hi + slack);
        if lo.is_nan() || hi.is_nan() {
            return Interval::EVERYTHING;
        }
        Interval {
            lo: if lo < -T::MAX { f64::NEG_INFINITY } else { lo },
            hi: if hi > T::MAX { f64::INFINITY } else { hi },
            nan: v.nan,
        }
    }

    /// An elementary function whose image is `v`.
    fn function(self, v: Interval) -> Interval {
        self.rounded(v, v.size(), 16.0)
    }

    /// All products, not yet widened; nothing for factors that may be infinite.
    fn products(self, a: Interval, b: Interval) -> Option<Interval> {
        let finite = a.is_finite() && b.is_finite();
        let corners = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
        finite.then(|| Interval {
            lo: corners.into_iter().fold(f64::INFINITY, f64::min),
            hi: corners.into_iter().fold(f64::NEG_INFINITY, f64::max),
            nan: a.nan | b.nan,
        })
    }

    /// All squares, not yet widened.
    fn squares(self, a: Interval) -> Interval {
        let (lo, hi) = (a.lo * a.lo, a.hi * a.hi);
        Interval {
            lo: if a.lo <= 0.0 && a.hi >= 0.0 {
                0.0
            } else {
                lo.min(hi)
            },
            hi: lo.max(hi),
            nan: a.nan,
        }
    }

    /// Whether a·b is exactly zero: a factor is.
    fn is_zero_product(self, a: Interval, b: Interval) -> bool {
        a.is_zero() && b.is_number() || b.is_zero() && a.is_number()
    }

    /// 0 where an exponential of `a` is 0 in every instruction set, being below half of the smallest number there is:
    /// `least` is the exponent at f32, then at f64.
    fn vanishing(self, a: Interval, least: [f64; 2]) -> Option<Interval> {
        (!a.nan && a.hi < least[usize::from(T::IS_F64)]).then_some(Interval::ZERO)
    }

    /// p + c, where p is a product that may have been rounded.
    fn plus(self, p: Interval, c: Interval) -> Interval {
        if !c.is_finite() || !p.is_finite() {
            return Interval::EVERYTHING;
        }
        let v = Interval {
            lo: p.lo + c.lo,
            hi: p.hi + c.hi,
            nan: p.nan | c.nan,
        };
        self.rounded(v, p.size().max(v.size()), 1.0)
    }
}

fn compare(a: Interval, b: Interval, yes: bool, no: bool) -> Truth {
    if yes && !a.nan && !b.nan {
        Truth::True
    } else if no {
        Truth::False
    } else {
        Truth::Unknown
    }
}

impl<T: Float> Isa for Bounds<T> {
    type T = T;
    type F = Interval;
    type M = Truth;
    const LANES: usize = 1;
    const FMA: bool = true;
    const SCALEF: bool = true;
    const NATIVE: bool = true;

    fn splat(self, x: T) -> Interval {
        Interval::of(x.widened())
    }
    fn add(self, a: Interval, b: Interval) -> Interval {
        if a.is_zero() {
            b
        } else if b.is_zero() {
            a
        } else {
            self.plus(a, b)
        }
    }
    fn sub(self, a: Interval, b: Interval) -> Interval {
        self.add(a, self.neg(b))
    }
    fn mul(self, a: Interval, b: Interval) -> Interval {
        if self.is_zero_product(a, b) {
            return Interval::ZERO;
        }
        let products = self.products(a, b);
        products.map_or(Interval::EVERYTHING, |v| self.rounded(v, v.size(), 1.0))
    }
    fn div(self, a: Interval, b: Interval) -> Interval {
        if b.lo <= 0.0 && b.hi >= 0.0 || !b.is_finite() {
            return Interval::EVERYTHING;
        }
        if a.is_zero() && !b.nan {
            return Interval::ZERO;
        }
        let inverse = Interval {
            lo: 1.0 / b.hi,
            hi: 1.0 / b.lo,
            nan: b.nan,
        };
        let quotients = self.products(a, inverse);
        quotients.map_or(Interval::EVERYTHING, |v| self.rounded(v, v.size(), 1.0))
    }
    fn fma(self, a: Interval, b: Interval, c: Interval) -> Interval {
        if self.is_zero_product(a, b) {
            return c;
        }
        let products = self.products(a, b);
        products.map_or(Interval::EVERYTHING, |p| self.plus(p, c))
    }
    fn fnma(self, a: Interval, b: Interval, c: Interval) -> Interval {
        self.fma(self.neg(a), b, c)
    }
    fn square(self, a: Interval) -> Interval {
        if a.is_zero() {
            return a;
        }
        let v = self.squares(a);
        self.rounded(v, v.size(), 1.0)
    }
    fn sqdiff_add(self, a: Interval, b: Interval, c: Interval) -> Interval {
        self.plus(self.squares(self.sub(a, b)), c)
    }
    fn neg(self, a: Interval) -> Interval {
        Interval {
            lo: -a.hi,
            hi: -a.lo,
            nan: a.nan,
        }
    }
    fn abs(self, a: Interval) -> Interval {
        Interval {
            lo: a.lo.max(-a.hi).max(0.0),
            hi: a.size(),
            nan: a.nan,
        }
    }
    fn xor_sign(self, a: Interval, _b: Interval) -> Interval {
        // The sign of a zero or of NaN is not in an interval.
        a.hull(self.neg(a))
    }
    fn sqrt(self, a: Interval) -> Interval {
        let mut v = a.map(|x| x.max(0.0).sqrt());
        v.nan |= a.lo < 0.0;
        self.rounded(v, v.size(), 1.0)
    }
    fn pick_min(self, a: Interval, b: Interval) -> Interval {
        Interval {
            lo: a.lo.min(b.lo),
            hi: if a.nan || b.nan { b.hi } else { a.hi.min(b.hi) },
            nan: b.nan,
        }
    }
    fn pick_max(self, a: Interval, b: Interval) -> Interval {
        Interval {
            lo: if a.nan || b.nan { b.lo } else { a.lo.max(b.lo) },
            hi: a.hi.max(b.hi),
            nan: b.nan,
        }
    }
    fn rint(self, a: Interval) -> Interval {
        a.map(f64::round_ties_even)
    }

    fn lt(self, a: Interval, b: Interval) -> Truth {
        compare(a, b, a.hi < b.lo, a.lo >= b.hi)
    }
    fn le(self, a: Interval, b: Interval) -> Truth {
        compare(a, b, a.hi <= b.lo, a.lo > b.hi)
    }
    fn eq(self, a: Interval, b: Interval) -> Truth {
        compare(a, b, false, a.hi < b.lo || a.lo > b.hi)
    }
    fn index_eq(self, _: Interval, _: Interval) -> Truth {
        Truth::Unknown
    }
    fn index_lt(self, _: Interval, _: Interval) -> Truth {
        Truth::Unknown
    }
    fn and(self, a: Truth, b: Truth) -> Truth {
        match (a, b) {
            (Truth::False, _) | (_, Truth::False) => Truth::False,
            (Truth::True, Truth::True) => Truth::True,
            _ => Truth::Unknown,
        }
    }
    fn or(self, a: Truth, b: Truth) -> Truth {
        self.not(self.and(self.not(a), self.not(b)))
    }
    fn not(self, a: Truth) -> Truth {
        match a {
            Truth::False => Truth::True,
            Truth::True => Truth::False,
            Truth::Unknown => Truth::Unknown,
        }
    }
    fn select(self, m: Truth, a: Interval, b: Interval) -> Interval {
        match m {
            Truth::True => a,
            Truth::False => b,
            Truth::Unknown => a.hull(b),
        }
    }
    fn any(self, m: Truth) -> bool {
        m != Truth::False
    }

    fn add_exponent(self, _: Interval, _: Interval) -> Interval {
        Interval::EVERYTHING
    }
    fn scale(self, _: Interval, _: Interval) -> Interval {
        Interval::EVERYTHING
    }
    fn exponent(self, _: Interval) -> Interval {
        Interval::EVERYTHING
    }
    fn significand(self, _: Interval) -> Interval {
        Interval::EVERYTHING
    }
    fn index_low(self, _: Interval) -> Interval {
        Interval::EVERYTHING
    }
    fn index_high(self, _: Interval) -> Interval {
        Interval::EVERYTHING
    }

    fn rsqrt(self, a: Interval) -> Interval {
        if a.lo > 0.0 && a.is_finite() {
            let v = Interval {
                lo: 1.0 / a.hi.sqrt(),
                hi: 1.0 / a.lo.sqrt(),
                nan: a.nan,
            };
            self.function(v)
        } else {
            Interval::EVERYTHING
        }
    }
    fn exp(self, a: Interval) -> Interval {
        self.vanishing(a, [-110.0, -750.0])
            .unwrap_or_else(|| self.function(a.map(f64::exp)))
    }
    fn exp2_sum(self, a: Interval) -> Interval {
        self.vanishing(a, [-155.0, -1080.0])
            .unwrap_or_else(|| self.function(a.map(f64::exp2)))
    }
    fn exp2_sum_nonpositive(self, a: Interval, c: Interval) -> Interval {
        self.exp2_sum(self.mul(a, c))
    }
    fn log(self, a: Interval) -> Interval {
        if a.lo > 0.0 && a.is_finite() {
            self.function(a.map(f64::ln))
        } else {
            Interval::EVERYTHING
        }
    }
    fn sin(self, _: Interval) -> Interval {
        Interval::EVERYTHING
    }
    fn cos(self, _: Interval) -> Interval {
        Interval::EVERYTHING
    }
    fn tanh(self, a: Interval) -> Interval {
        self.function(a.map(f64::tanh))
    }
    fn powf(self, _: Interval, _: Interval) -> Interval {
        Interval::EVERYTHING
    }
}

impl<T: Float> Pairs for Bounds<T> {
    type A = Interval;
    type Outer = Bounds<T>;
    const ROWS: usize = 1;
    fn outer(self) -> Bounds<T> {
        self
    }
    fn spread(self, a: Interval) -> Interval {
        a
    }
    fn sum(self, acc: Interval, v: Interval) -> Interval {
        self.add(acc, v)
    }
    fn sum_mul(self, acc: Interval, a: Interval, b: Interval) -> Interval {
        self.fma(a, b, acc)
    }
    fn fold_min(self, acc: Interval, v: Interval) -> Interval {
        self.pick_min(v, acc)
    }
    fn fold_max(self, acc: Interval, v: Interval) -> Interval {
        self.pick_max(v, acc)
    }
    fn row(self, v: Interval, _: usize) -> Interval {
        v
    }
}

/// The box of some rows; any index.
struct Boxed<'a>(&'a [Interval]);

impl Columns<Interval> for Boxed<'_> {
    fn get(&self, c: usize) -> Interval {
        self.0.get(c).copied().unwrap_or(Interval::EVERYTHING)
    }
    fn index(&self) -> Interval {
        Interval::EVERYTHING
    }
}

/// A state row that notices whether what is written differs from what it holds.
struct Watched<'a> {
    row: &'a [Interval],
    changed: bool,
}

impl Columns<Interval> for Watched<'_> {
    fn get(&self, c: usize) -> Interval {
        self.row.get(c).copied().unwrap_or(Interval::EVERYTHING)
    }
    fn index(&self) -> Interval {
        Interval::EVERYTHING
    }
}

impl ColumnsMut<Interval> for Watched<'_> {
    fn put(&mut self, c: usize, v: Interval) {
        self.changed |= self.row.get(c) != Some(&v);
    }
}

/// Whether any pair of the boxes `outer` and `inner` can change a state whose words are in `state`.
///
/// Only for kernels of extrema, whose registers are the words of the state row; and for kernels of sums, with the neutral state:
/// what leaves that as it is adds nothing to any other.
pub(crate) fn may_change<T: Float, K: Kernel<T>>(
    parameters: &[Interval],
    outer: &[Interval],
    inner: &[Interval],
    state: &[Interval],
) -> bool {
    let s = Bounds::<T>(PhantomData);
    let mut row = Watched {
        row: state,
        changed: false,
    };
    let mut registers = K::State::<Interval>::fill(s.lit(0.0));
    K::begin(s, &row, &mut registers);
    let mut work = K::Work::<Interval>::fill(s.lit(0.0));
    K::step(
        s,
        &Boxed(parameters),
        &Boxed(outer),
        &Boxed(inner),
        &mut registers,
        &mut work,
    );
    K::flush(s, &registers, &mut row);
    row.changed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers of many magnitudes, of both signs.
    struct Random(u64);

    impl Random {
        fn bits(&mut self) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            self.0 >> 11
        }
        fn unit(&mut self) -> f64 {
            self.bits() as f64 / (1u64 << 53) as f64
        }
        fn number<T: Float>(&mut self) -> T {
            let power = (self.unit() - 0.5)
                * if self.bits().is_multiple_of(4) {
                    150.0
                } else {
                    8.0
                };
            let sign = if self.bits().is_multiple_of(2) {
                1.0
            } else {
                -1.0
            };
            T::of(match self.bits() % 16 {
                0 => 0.0,
                1 => sign * f64::INFINITY,
                _ => sign * power.exp2(),
            })
        }
    }

    fn contains(v: Interval, x: f64) -> bool {
        if x.is_nan() {
            v.nan
        } else {
            v.lo <= x && x <= v.hi
        }
    }

    /// Each operation of plain Rust, on numbers between two ends, is inside of the interval of the ends.
    fn sound<T: Float>() {
        let (s, p) = (Bounds::<T>(PhantomData), T::scalar());
        let mut random = Random(1);
        for _ in 0..20_000 {
            let mut interval = || {
                let (a, b) = (random.number::<T>(), random.number::<T>());
                let hull = Interval::of(a.widened()).hull(Interval::of(b.widened()));
                let between = T::of(hull.lo + random.unit() * (hull.hi - hull.lo));
                let x = match random.bits() % 3 {
                    0 => a,
                    1 => b,
                    _ if between.widened().is_finite() => between,
                    _ => a,
                };
                (hull, x)
            };
            let ((ia, a), (ib, b), (ic, c)) = (interval(), interval(), interval());
            let cases = [
                ("add", s.add(ia, ib), p.add(a, b)),
                ("sub", s.sub(ia, ib), p.sub(a, b)),
                ("mul", s.mul(ia, ib), p.mul(a, b)),
                ("div", s.div(ia, ib), p.div(a, b)),
                ("fma", s.fma(ia, ib, ic), p.fma(a, b, c)),
                ("fnma", s.fnma(ia, ib, ic), p.fnma(a, b, c)),
                ("square", s.square(ia), p.square(a)),
                (
                    "sqdiff_add",
                    s.sqdiff_add(ia, ib, ic),
                    p.sqdiff_add(a, b, c),
                ),
                ("neg", s.neg(ia), p.neg(a)),
                ("abs", s.abs(ia), p.abs(a)),
                ("xor_sign", s.xor_sign(ia, ib), p.xor_sign(a, b)),
                ("sqrt", s.sqrt(ia), p.sqrt(a)),
                ("pick_min", s.pick_min(ia, ib), p.pick_min(a, b)),
                ("pick_max", s.pick_max(ia, ib), p.pick_max(a, b)),
                ("rint", s.rint(ia), p.rint(a)),
                ("rsqrt", s.rsqrt(ia), p.rsqrt(a)),
                ("exp", s.exp(ia), p.exp(a)),
                ("exp2_sum", s.exp2_sum(ia), p.exp2_sum(a)),
                ("log", s.log(ia), p.log(a)),
                ("tanh", s.tanh(ia), p.tanh(a)),
                (
                    "select",
                    s.select(s.lt(ia, ib), ib, ic),
                    p.select(p.lt(a, b), b, c),
                ),
                (
                    "select of le",
                    s.select(s.not(s.le(ia, ib)), ib, ic),
                    p.select(p.not(p.le(a, b)), b, c),
                ),
            ];
            for (name, bound, value) in cases {
                let value = value.widened();
                assert!(
                    contains(bound, value),
                    "{name}({a:?}, {b:?}, {c:?}) = {value:?} is not in {bound:?} of {ia:?}, {ib:?}, {ic:?}"
                );
            }
        }
    }

    #[test]
    fn bounds_hold() {
        sound::<f32>();
        sound::<f64>();
    }

    #[test]
    fn far_boxes_exclude() {
        let s = Bounds::<f32>(PhantomData);
        let at = |lo, hi| Interval { lo, hi, nan: false };
        // Within the box the difference may be zero; away from it the square is tight.
        assert!(s.square(at(-1.0, 2.0)).lo < 1e-6);
        let far = s.sqdiff_add(at(0.0, 1.0), at(3.0, 4.0), Interval::of(0.0));
        assert!(far.lo > 3.999 && far.hi < 16.001 && !far.nan);
        assert_eq!(s.le(far, at(1.0, 2.0)), Truth::False);
    }
}
