//! [`Float`]: the two value types that formulas are computed in.
use std::fmt::{Debug, Display};

use crate::choose::Choice;
use crate::cpu::tokens::Tokens;
use crate::cuda::launch::Launch;
use crate::error::Error;
use crate::input::Rows;
use crate::options::Options;
use crate::output::Value;
use crate::plan::{Code, Function};

/// `f32` or `f64`: the value type of a formula. Items declared with `<T>` are generic over it.
///
/// Sealed: kernels exist for these two types only.
pub trait Float: Tokens + Default + PartialOrd + Debug + Display + Send + Sync {
    /// [`run`](crate::run::run) at this type. A method, and not a generic function, so that the engine is compiled once
    /// in this crate, with its optimisation level, and not again in every crate with a formula.
    #[doc(hidden)]
    fn run(
        code: &Code<'_, Self>,
        inputs: &[&Rows<'_, Self>],
        options: &Options,
    ) -> Result<Vec<Value<Self>>, Error>;
    /// [`choose`](crate::expansion::choose) at this type.
    #[doc(hidden)]
    fn choose(
        function: &'static Function,
        launches: &[Launch],
        inputs: &[&Rows<'_, Self>],
        options: &Options,
    ) -> Result<Choice, Error>;
}

macro_rules! float {
    ($t:ty) => {
        impl Float for $t {
            fn run(
                code: &Code<'_, Self>,
                inputs: &[&Rows<'_, Self>],
                options: &Options,
            ) -> Result<Vec<Value<Self>>, Error> {
                crate::run::run_code(code, inputs, options)
            }
            fn choose(
                function: &'static Function,
                launches: &[Launch],
                inputs: &[&Rows<'_, Self>],
                options: &Options,
            ) -> Result<Choice, Error> {
                crate::run::choose(function, launches, inputs, options)
            }
        }
    };
}

float!(f32);
float!(f64);
