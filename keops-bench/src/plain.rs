//! The cases as plain scalar loops: what one writes without a library, compiled by the same compiler in the same run.

use crate::data::{Data, Number};
use crate::measure::Output;
use keops::ndarray::Array2;

fn sqdist<T: Number, const D: usize>(x: &[T; D], y: &[T; D]) -> T {
    let mut s = T::default();
    for d in 0..D {
        s += (x[d] - y[d]) * (x[d] - y[d]);
    }
    s
}

/// Σ_j f(|x_i − y_j|²) b_j
fn sum<T: Number, const D: usize>(p: &Data<T, D>, f: impl Fn(T) -> T) -> Output {
    Output::values(p.x.iter().map(|x| {
        let mut total = T::default();
        for (y, b) in p.y.iter().zip(&p.b) {
            total += f(sqdist(x, y)) * *b;
        }
        total
    }))
}

pub(crate) fn gauss<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    sum(p, |s| (-s).e())
}

pub(crate) fn gauss_narrow<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    sum(p, |s| (T::round(-1e5) * s).e())
}

pub(crate) fn dist<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    sum(p, T::root)
}

pub(crate) fn laplace<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    sum(p, |s| (-s.root()).e())
}

pub(crate) fn cauchy<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    sum(p, |s| T::round(1.0) / (T::round(1.0) + s))
}

pub(crate) fn gauss_grad<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    Output::values(p.x.iter().zip(&p.e).flat_map(|(x, e)| {
        let mut total = [T::default(); D];
        for (y, b) in p.y.iter().zip(&p.b) {
            let weight = (-sqdist(x, y)).e() * *b;
            for d in 0..D {
                total[d] += (x[d] - y[d]) * weight;
            }
        }
        total.map(|t| T::round(-2.0) * t * *e)
    }))
}

pub(crate) fn logsumexp<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    Output::values(p.x.iter().map(|x| {
        let (mut largest, mut total) = (T::round(f64::NEG_INFINITY), T::default());
        for y in &p.y {
            let s = -sqdist(x, y);
            if s > largest {
                total = total * (largest - s).e();
                largest = s;
            }
            total += (s - largest).e();
        }
        largest + total.log()
    }))
}

pub(crate) fn softmaxweight<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    Output::values(p.x.iter().flat_map(|x| {
        let mut largest = T::round(f64::NEG_INFINITY);
        let (mut total, mut weighted) = (T::default(), [T::default(); 2]);
        for (y, b) in p.y.iter().zip(&p.b2) {
            let s = sqdist(x, y);
            if s > largest {
                let scale = (largest - s).e();
                total = total * scale;
                weighted = weighted.map(|w| w * scale);
                largest = s;
            }
            let e = (s - largest).e();
            total += e;
            weighted[0] += e * b[0];
            weighted[1] += e * b[1];
        }
        weighted.map(|w| w / total)
    }))
}

pub(crate) fn argmin<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    Output::indices(p.x.iter().map(|x| {
        let (mut smallest, mut at) = (T::round(f64::INFINITY), usize::MAX);
        for (j, y) in p.y.iter().enumerate() {
            let s = sqdist(x, y);
            if s < smallest {
                (smallest, at) = (s, j);
            }
        }
        at
    }))
}

pub(crate) fn argkmin10<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    Output::indices(p.x.iter().flat_map(|x| {
        let mut best = [(T::round(f64::INFINITY), usize::MAX); 10];
        for (j, y) in p.y.iter().enumerate() {
            let s = sqdist(x, y);
            if s < best[9].0 {
                let mut k = 9;
                while k > 0 && s < best[k - 1].0 {
                    best[k] = best[k - 1];
                    k -= 1;
                }
                best[k] = (s, j);
            }
        }
        best.map(|(_, j)| j)
    }))
}

/// All gradients of Σ_i e_i Σ_j exp(−|x_i − y_j|²) b_j: in x, in y, in b.
pub(crate) fn gauss_gradients<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    let mut in_x = vec![[T::default(); D]; p.x.len()];
    let mut in_y = vec![[T::default(); D]; p.y.len()];
    let mut in_b = vec![T::default(); p.y.len()];
    for (i, (x, e)) in p.x.iter().zip(&p.e).enumerate() {
        for (j, (y, b)) in p.y.iter().zip(&p.b).enumerate() {
            let kernel = (-sqdist(x, y)).e() * *e;
            in_b[j] += kernel;
            let weight = T::round(-2.0) * kernel * *b;
            for d in 0..D {
                in_x[i][d] += (x[d] - y[d]) * weight;
                in_y[j][d] += (y[d] - x[d]) * weight;
            }
        }
    }
    let flat = in_x.into_iter().flatten().chain(in_y.into_iter().flatten());
    Output::values(flat.chain(in_b))
}

/// The sum, then its gradients.
pub(crate) fn gauss_and_gradients<T: Number, const D: usize>(p: &Data<T, D>) -> Output {
    match (gauss(p), gauss_gradients(p)) {
        (Output::Values(a), Output::Values(g)) => Output::Values([a, g].concat()),
        _ => unreachable!("both are values"),
    }
}

/// Σ_j exp(−|x_i − y_j|²) b_j for b of many columns.
pub(crate) fn gauss_columns<T: Number>(p: &Data<T, 3>, b: &Array2<T>) -> Output {
    Output::values(p.x.iter().flat_map(|x| {
        let mut total = vec![T::default(); b.ncols()];
        for (y, row) in p.y.iter().zip(b.rows()) {
            let kernel = (-sqdist(x, y)).e();
            for (total, b) in total.iter_mut().zip(row) {
                *total += kernel * *b;
            }
        }
        total
    }))
}
