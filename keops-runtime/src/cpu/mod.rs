//! The CPU engine: one pass over all pairs, on the best instruction set of the machine and all threads.
//!
//! [`tile`] and [`access`], or [`plain`] for long kernels, are compiled once per kernel and instruction set (as the functions of a [`table`]), the rest
//! once per value type. [`engine`] cuts a pass in chunks of outer rows and segments of inner ones, [`pack`] copies rows
//! into the layout of the tiles, [`mod@write`] the results to where the user gets them, [`shape`] chooses sizes,
//! [`scratch`] is the memory for it all. [`listed`] runs passes whose pairs an earlier one has listed, [`prune`] runs passes of extrema that can skip most tiles, by the [`bounds`] of a
//! kernel over boxes of rows.
//!
//! Invariants: all `unsafe` of this crate is below this module and below `cuda`; how a pass is cut depends on the problem and the
//! instruction set only, so results do not depend on the number of threads.
pub(crate) mod access;
pub(crate) mod bounds;
pub(crate) mod engine;
pub mod isa;
pub(crate) mod listed;
pub(crate) mod pack;
pub(crate) mod plain;
mod prune;
pub(crate) mod scratch;
pub(crate) mod shape;
pub(crate) mod table;
pub(crate) mod tile;
pub(crate) mod tokens;
mod transpose;
pub(crate) mod write;
