//! [`Float`]: the two value types that formulas are computed in.
use std::fmt::{Debug, Display};

use crate::cpu::table::Table;
use crate::cpu::tokens::Tokens;
use crate::error::Error;
use crate::input::Rows;
use crate::options::Options;
use crate::output::Value;
use crate::plan::Function;

/// `f32` or `f64`: the value type of a formula. Items declared with `<T>` are generic over it.
///
/// Sealed: kernels exist for these two types only.
pub trait Float: Tokens + Default + PartialOrd + Debug + Display + Send + Sync {
    /// [`run`](crate::run::run) at this type. A method, and not a generic function, so that the engine is compiled once
    /// in this crate, with its optimisation level, and not again in every crate with a formula.
    #[doc(hidden)]
    fn run(
        function: &'static Function,
        tables: &[Table<Self>],
        inputs: &[&Rows<'_, Self>],
        options: &Options,
    ) -> Result<Vec<Value<Self>>, Error>;
}

macro_rules! float {
    ($t:ty) => {
        impl Float for $t {
            fn run(
                function: &'static Function,
                tables: &[Table<Self>],
                inputs: &[&Rows<'_, Self>],
                options: &Options,
            ) -> Result<Vec<Value<Self>>, Error> {
                crate::run::run_passes(function, tables, inputs, options)
            }
        }
    };
}

float!(f32);
float!(f64);
