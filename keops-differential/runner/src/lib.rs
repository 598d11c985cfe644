//! What a generated program of many formulas links: the runtime's private names, and [`main`], which calls the formulas with
//! the numbers on standard input and prints their results.
//!
//! Input, words with spaces between: for each call the formula's number, how many inputs it has, and for each input its rows,
//! their two dimensions and the numbers. Output, one line for each call: the formula's number, how many of its passes run listed pairs
//! only, how many results, and for each how many numbers and the numbers. Numbers are the bits of an f64, hexadecimal.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

use keops_runtime::__private::{Code, IntoRows, Level, Matrix, Real, Rows, call, listed_passes};
use keops_runtime::ndarray::{Array3, ArrayView3};
use keops_runtime::{Backend, Float, Options};
use std::io::{Read, Write};

/// What expansions name.
pub mod __private {
    pub use keops_runtime::__private::*;
}

/// A formula's code.
pub type Formula<T> = fn() -> Code<'static, T>;

/// Runs a program of these formulas. Its argument says on what: `cuda`, the name of an instruction set in lower case, or `best`
/// for the best one.
///
/// # Panics
/// The input is not as described, or a formula fails: the program's caller shows the message.
pub fn main<T: Float + Into<f64>>(formulas: &[Formula<T>]) {
    let on = std::env::args().nth(1).unwrap_or_default();
    let options = if on == "cuda" {
        Options::new().on(Backend::Cuda(0))
    } else if on == "best" {
        Options::new().on(Backend::Cpu)
    } else {
        let level = Level::supported()
            .into_iter()
            .find(|level| format!("{level:?}").to_lowercase() == on);
        let level = level.unwrap_or_else(|| panic!("this machine has no `{on}`"));
        Options::new().on(Backend::Cpu).level(level)
    };
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .expect("the input is text");
    let mut words = Words(text.split_ascii_whitespace());
    let mut out = std::io::stdout().lock();
    while let Some(number) = words.0.next() {
        let number: usize = number.parse().expect("the number of a formula");
        let inputs: Vec<Array3<T>> = (0..words.count()).map(|_| words.rows()).collect();
        let rows: Vec<Rows<'_, T>> = inputs
            .iter()
            .map(|x| IntoRows::<T, Matrix<1, 1>>::into_rows(view(x)))
            .collect();
        let (code, rows) = (formulas[number](), rows.iter().collect::<Vec<_>>());
        let listed = if on == "cuda" {
            Ok(0)
        } else {
            listed_passes(&code, &rows, &options)
        };
        let (listed, results) = listed
            .and_then(|listed| Ok((listed, call(&code, &rows, &options)?)))
            .unwrap_or_else(|error| panic!("formula {number}: {error}"));
        let mut line = format!("{number} {listed} {}", results.len());
        for value in results {
            let (_, _, numbers) = value.into_parts();
            let numbers: Vec<f64> = match numbers {
                Ok(values) => values.into_iter().map(Into::into).collect(),
                Err(indices) => indices
                    .into_iter()
                    .map(|k| f64::from(u32::try_from(k).unwrap_or(u32::MAX)))
                    .collect(),
            };
            line.push_str(&format!(" {}", numbers.len()));
            for x in numbers {
                line.push_str(&format!(" {:x}", x.to_bits()));
            }
        }
        // At once, so that the caller knows which formula a fault was in.
        writeln!(out, "{line}")
            .and_then(|()| out.flush())
            .expect("the caller reads");
    }
}

fn view<T>(x: &Array3<T>) -> ArrayView3<'_, T> {
    x.view()
}

struct Words<'a>(std::str::SplitAsciiWhitespace<'a>);

impl Words<'_> {
    fn count(&mut self) -> usize {
        let word = self.0.next().expect("the input goes on");
        word.parse().expect("a count")
    }
    fn rows<T: Float>(&mut self) -> Array3<T> {
        let shape = (self.count(), self.count(), self.count());
        Array3::from_shape_simple_fn(shape, || {
            let word = self.0.next().expect("the input goes on");
            let bits = u64::from_str_radix(word, 16).expect("the bits of a number");
            <T as Real>::of(f64::from_bits(bits))
        })
    }
}
