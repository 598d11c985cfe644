//! [`Tile`]: a register tile of R vectors of outer rows by Q inner rows, itself an instruction set.
//!
//! Every operation acts on all R·Q vectors before the next one starts, which gives independent chains in program order:
//! instruction-level parallelism without large scheduling windows, each inner scalar used by R vectors, each outer vector
//! by Q rows. [`Pairs`] adds what a reduction needs: accumulators that live once per outer row, not once per pair.
//!
//! On the CPU a lane is an outer row (or, for few outer rows, an inner one); on the GPU the vector is one thread's
//! scalar and R its register blocking.
use crate::isa::Isa;
use crate::math;
#[allow(unused_imports, reason = "the device's mini-core has its names there")]
use crate::prelude::*;

/// R vectors of outer rows × Q inner rows of the instruction set `I`.
pub struct Tile<I, const R: usize, const Q: usize>(
    /// The instruction set of one vector.
    pub I,
);
impl_copy!([I: Copy, const R: usize, const Q: usize] Tile<I, R, Q>);

/// A tile of pairs: an instruction set whose values are per pair, with accumulators per outer row.
pub trait Pairs: Isa {
    /// An accumulator: one value per outer row of the tile.
    type A: Copy;
    /// Arithmetic on accumulators.
    type Outer: Isa<T = Self::T, F = Self::A>;
    /// Arithmetic on accumulators.
    fn outer(self) -> Self::Outer;
    /// An accumulator's value beside every inner row.
    fn spread(self, a: Self::A) -> Self::F;
    /// acc + Σ over the tile's inner rows of v
    fn sum(self, acc: Self::A, v: Self::F) -> Self::A;
    /// acc + Σ over the tile's inner rows of a·b
    fn sum_mul(self, acc: Self::A, a: Self::F, b: Self::F) -> Self::A;
    /// The smallest of acc and the tile's inner rows, NaN ignored (acc is never NaN)
    fn fold_min(self, acc: Self::A, v: Self::F) -> Self::A;
    /// The largest of acc and the tile's inner rows, NaN ignored (acc is never NaN)
    fn fold_max(self, acc: Self::A, v: Self::F) -> Self::A;
    /// Inner row `q` of the tile as accumulator-shaped values, for reductions that take the rows one after another
    fn row(self, v: Self::F, q: usize) -> Self::A;
    /// Inner rows in the tile
    const ROWS: usize;
}

/// Maps an operation of `I` over a tile. A tile of one pair has no loops: a long kernel would have thousands, on which the
/// compiler spends most of its time before it finds that each runs once.
macro_rules! map {
    ($self:ident, $op:ident($a:ident)) => {{
        let mut out = $a;
        if const { R == 1 && Q == 1 } {
            out[0][0] = $self.0.$op($a[0][0]);
            return out;
        }
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                out[r][q] = $self.0.$op($a[r][q]);
                q += 1;
            }
            r += 1;
        }
        out
    }};
    ($self:ident, $op:ident($a:ident, $b:ident)) => {{
        let mut out = $a;
        if const { R == 1 && Q == 1 } {
            out[0][0] = $self.0.$op($a[0][0], $b[0][0]);
            return out;
        }
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                out[r][q] = $self.0.$op($a[r][q], $b[r][q]);
                q += 1;
            }
            r += 1;
        }
        out
    }};
    ($self:ident, $op:ident($a:ident, $b:ident, $c:ident)) => {{
        let mut out = $a;
        if const { R == 1 && Q == 1 } {
            out[0][0] = $self.0.$op($a[0][0], $b[0][0], $c[0][0]);
            return out;
        }
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                out[r][q] = $self.0.$op($a[r][q], $b[r][q], $c[r][q]);
                q += 1;
            }
            r += 1;
        }
        out
    }};
}

/// Maps a long function over a tile. It fills the latencies by itself, so a vector after another will do, and on the CPU it is
/// in the code once and not R·Q times, which is most of what compiling such a kernel costs. A GPU's registers have no numbers to
/// count with: there the pairs are written out, as many as a tile has where functions are long (`abi`). The compiler would not
/// unroll so long a loop.
macro_rules! map_long {
    ($self:ident, $op:ident($a:ident $(, $b:ident)?)) => {
        if const { I::NATIVE && R * Q <= 4 } {
            let mut out = $a;
            map_long!(@ out, $self, $op, $a, ($($b)?), 0 1 2 3);
            out
        } else {
            map!($self, $op($a $(, $b)?))
        }
    };
    (@ $out:ident, $self:ident, $op:ident, $a:ident, (), $($k:literal)*) => {
        $(if const { $k < R * Q } {
            $out[$k / Q][$k % Q] = $self.0.$op($a[$k / Q][$k % Q]);
        })*
    };
    (@ $out:ident, $self:ident, $op:ident, $a:ident, ($b:ident), $($k:literal)*) => {
        $(if const { $k < R * Q } {
            $out[$k / Q][$k % Q] = $self.0.$op($a[$k / Q][$k % Q], $b[$k / Q][$k % Q]);
        })*
    };
}

/// Maps a comparison of `I` over a tile.
macro_rules! map_mask {
    ($self:ident, $op:ident($a:ident, $b:ident)) => {{
        let mut out = [[$self.0.$op($a[0][0], $b[0][0]); Q]; R];
        if const { R == 1 && Q == 1 } {
            return out;
        }
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                out[r][q] = $self.0.$op($a[r][q], $b[r][q]);
                q += 1;
            }
            r += 1;
        }
        out
    }};
}

macro_rules! forward {
    ($($op:ident($($a:ident),*);)*) => {$(
        #[inline(always)]
        fn $op(self, $($a: Self::F),*) -> Self::F {
            map!(self, $op($($a),*))
        }
    )*};
}

macro_rules! forward_long {
    ($($op:ident($($a:ident),*);)*) => {$(
        #[inline(always)]
        fn $op(self, $($a: Self::F),*) -> Self::F {
            map_long!(self, $op($($a),*))
        }
    )*};
}

macro_rules! forward_mask {
    ($($op:ident;)*) => {$(
        #[inline(always)]
        fn $op(self, a: Self::F, b: Self::F) -> Self::M {
            map_mask!(self, $op(a, b))
        }
    )*};
}

/// Elementary functions: the instruction set's own lane by lane, or the shared polynomials stage by stage.
macro_rules! forward_math {
    ($($op:ident($($a:ident),*);)*) => {$(
        #[inline(always)]
        fn $op(self, $($a: Self::F),*) -> Self::F {
            if I::NATIVE { map!(self, $op($($a),*)) } else { math::$op(self, $($a),*) }
        }
    )*};
}

impl<I: Isa, const R: usize, const Q: usize> Isa for Tile<I, R, Q> {
    type T = I::T;
    type F = [[I::F; Q]; R];
    type M = [[I::M; Q]; R];
    const LANES: usize = I::LANES;
    const FMA: bool = I::FMA;
    const SCALEF: bool = I::SCALEF;
    const NATIVE: bool = I::NATIVE;

    #[inline(always)]
    fn splat(self, x: I::T) -> Self::F {
        [[self.0.splat(x); Q]; R]
    }
    #[inline(always)]
    fn count(self, n: usize) -> usize {
        self.0.count(n)
    }
    forward! {
        add(a, b); sub(a, b); mul(a, b); div(a, b); fma(a, b, c); fnma(a, b, c);
        square(a); neg(a); abs(a); xor_sign(a, b); sqrt(a); pick_min(a, b); pick_max(a, b); rint(a);
        add_exponent(a, b); scale(a, b); scale_normal(a, b); root(a); exponent(a); significand(a); index_low(a); index_high(a);
    }
    /// Row by row of the tile: the differences of one inner row, then their squares into the sums. Strict pairs of one
    /// difference and one square are half as fast on Zen 3, which deals instructions out to two schedulers by turns: all
    /// differences would go to one of them.
    #[inline(always)]
    fn sqdiff_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        let mut out = c;
        if const { R == 1 && Q == 1 } {
            out[0][0] = self.0.sqdiff_add(a[0][0], b[0][0], c[0][0]);
            return out;
        }
        let mut q = 0;
        while q < Q {
            let mut d = [a[0][q]; R];
            let mut r = 0;
            while r < R {
                d[r] = self.0.sub(a[r][q], b[r][q]);
                r += 1;
            }
            r = 0;
            while r < R {
                out[r][q] = self.0.fma(d[r], d[r], c[r][q]);
                r += 1;
            }
            q += 1;
        }
        out
    }
    forward_mask! { lt; le; eq; index_eq; index_lt; }
    #[inline(always)]
    fn and(self, a: Self::M, b: Self::M) -> Self::M {
        map!(self, and(a, b))
    }
    #[inline(always)]
    fn or(self, a: Self::M, b: Self::M) -> Self::M {
        map!(self, or(a, b))
    }
    #[inline(always)]
    fn not(self, a: Self::M) -> Self::M {
        map!(self, not(a))
    }
    #[inline(always)]
    fn select(self, m: Self::M, a: Self::F, b: Self::F) -> Self::F {
        let mut out = a;
        if const { R == 1 && Q == 1 } {
            out[0][0] = self.0.select(m[0][0], a[0][0], b[0][0]);
            return out;
        }
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                out[r][q] = self.0.select(m[r][q], a[r][q], b[r][q]);
                q += 1;
            }
            r += 1;
        }
        out
    }
    #[inline(always)]
    fn any(self, m: Self::M) -> bool {
        let mut all = m[0][0];
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                all = self.0.or(all, m[r][q]);
                q += 1;
            }
            r += 1;
        }
        self.0.any(all)
    }
    forward_math! {
        rsqrt(a); exp(a); exp2_sum(a); exp2_sum_nonpositive(a, b);
    }
    forward_long! {
        log(a); sin(a); cos(a); tanh(a); powf(a, b);
        exp2(a); expm1(a); log2(a); log1p(a); tan(a); asin(a); acos(a); atan2(a, b); sinh(a); cosh(a); erf(a); erfc(a);
    }
}

impl<I: Isa, const R: usize, const Q: usize> Pairs for Tile<I, R, Q> {
    type A = [[I::F; 1]; R];
    type Outer = Tile<I, R, 1>;
    const ROWS: usize = Q;
    #[inline(always)]
    fn outer(self) -> Tile<I, R, 1> {
        Tile(self.0)
    }
    #[inline(always)]
    fn spread(self, a: Self::A) -> Self::F {
        let mut out = [[a[0][0]; Q]; R];
        let mut r = 0;
        while r < R {
            out[r] = [a[r][0]; Q];
            r += 1;
        }
        out
    }
    #[inline(always)]
    fn sum(self, acc: Self::A, v: Self::F) -> Self::A {
        let mut out = acc;
        if const { R == 1 && Q == 1 } {
            out[0][0] = self.0.add(out[0][0], v[0][0]);
            return out;
        }
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                out[r][0] = self.0.add(out[r][0], v[r][q]);
                q += 1;
            }
            r += 1;
        }
        out
    }
    #[inline(always)]
    fn sum_mul(self, acc: Self::A, a: Self::F, b: Self::F) -> Self::A {
        let mut out = acc;
        if const { R == 1 && Q == 1 } {
            out[0][0] = self.0.fma(a[0][0], b[0][0], out[0][0]);
            return out;
        }
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                out[r][0] = self.0.fma(a[r][q], b[r][q], out[r][0]);
                q += 1;
            }
            r += 1;
        }
        out
    }
    #[inline(always)]
    fn fold_min(self, acc: Self::A, v: Self::F) -> Self::A {
        let mut out = acc;
        if const { R == 1 && Q == 1 } {
            out[0][0] = self.0.least(v[0][0], out[0][0]);
            return out;
        }
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                out[r][0] = self.0.least(v[r][q], out[r][0]);
                q += 1;
            }
            r += 1;
        }
        out
    }
    #[inline(always)]
    fn fold_max(self, acc: Self::A, v: Self::F) -> Self::A {
        let mut out = acc;
        if const { R == 1 && Q == 1 } {
            out[0][0] = self.0.greatest(v[0][0], out[0][0]);
            return out;
        }
        let mut r = 0;
        while r < R {
            let mut q = 0;
            while q < Q {
                out[r][0] = self.0.greatest(v[r][q], out[r][0]);
                q += 1;
            }
            r += 1;
        }
        out
    }
    #[inline(always)]
    fn row(self, v: Self::F, q: usize) -> Self::A {
        let mut out = [[v[0][0]; 1]; R];
        let mut r = 0;
        while r < R {
            out[r][0] = v[r][q];
            r += 1;
        }
        out
    }
}
