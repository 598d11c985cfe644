//! From kernel IR to Rust text: one `Kernel` implementation, the same on the CPU and on the GPU.
//!
//! The text is straight-line calls on an instruction-set token `s`. Invariants: no closures, iterators or array
//! constructors (they are silently not inlined inside `#[target_feature]` code), no `unsafe`, no operation by name: only
//! primitives and reducers. The text depends on nothing but its input.

mod statements;

use crate::lower::bounds::{Bound, Linear, Within};
use crate::lower::cost::{Cost, Nearness, has_fused_loops, has_many_functions, is_long, live};
use crate::lower::kernel::KernelIr;
use crate::lower::loops::LoopPlan;
use crate::lower::{ArrayId, Reducer, Slot, Stmt, unroll};
use statements::{Lengths, Names, write_block};
use std::fmt::Write;

/// The value types a kernel is emitted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueTypes {
    /// `f32` only.
    F32,
    /// `f64` only.
    F64,
    /// Generic over both.
    Generic,
}

/// What a kernel's text says beside the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Dialect<'a> {
    /// The path of `keops-gpu-kernels`.
    pub kernels: &'a str,
    /// What makes the struct `Copy`: implementations for `NAME`, generic over `GENERICS`.
    pub copy: &'a str,
    /// Const parameters of the struct. Where there are some, lengths of arrays are written `words![A; n]`, see
    /// [`dimensions`](crate::dimensions).
    pub dimensions: &'a [String],
}

/// The text of a unit struct `name` and its `Kernel` implementation.
pub fn kernel(ir: &KernelIr, name: &str, types: ValueTypes, dialect: Dialect<'_>) -> String {
    let declared: Vec<String> = dialect
        .dimensions
        .iter()
        .map(|d| format!("const {d}: usize"))
        .collect();
    let declared = declared.join(", ");
    let of_struct = if declared.is_empty() {
        String::new()
    } else {
        format!("<{declared}>")
    };
    let used = if declared.is_empty() {
        name.to_owned()
    } else {
        format!("{name}<{}>", dialect.dimensions.join(", "))
    };
    let (generics, t) = match types {
        ValueTypes::F32 => (of_struct.clone(), "f32"),
        ValueTypes::F64 => (of_struct.clone(), "f64"),
        ValueTypes::Generic => (format!("<T: real::Real, {declared}>"), "T"),
    };
    let kernels = dialect.kernels;
    let mut out = String::new();
    let copy = dialect
        .copy
        .replace("NAME", &used)
        .replace("GENERICS", &of_struct);
    let _ = writeln!(out, "pub struct {name}{of_struct};\n{copy}");
    let words = if declared.is_empty() { "" } else { ", words" };
    let _ = writeln!(
        out,
        "const _: () = {{\nuse {kernels}::{{isa, kernel, real, reduce, tile{words}}};"
    );
    let _ = writeln!(
        out,
        "#[allow(unused_variables, unused_mut, unused_parens, unused_imports, clippy::all, clippy::pedantic)]"
    );
    let _ = writeln!(out, "impl{generics} kernel::Kernel<{t}> for {used} {{");
    for (constant, value) in [
        ("PARAMS", ir.params),
        ("PARAMS_DERIVED", ir.params_derived),
        ("OUTER", ir.outer_raw),
        ("OUTER_DERIVED", ir.outer_derived),
        ("INNER", ir.inner_raw),
        ("INNER_USED", ir.inner_used),
        ("SPECIAL", Cost::of(ir).long),
        ("ROW", ir.row_words),
        ("ACCUMULATORS", ir.registers),
        ("OUT", ir.out_columns()),
        ("LARGEST_K", largest_k(ir)),
        ("LIVE", live(&ir.step)),
    ] {
        let _ = writeln!(out, "const {constant}: usize = {value};");
    }
    for (constant, value) in [
        ("INNER_PLAIN", ir.inner_plain),
        ("OUTER_INDEX", ir.outer_index),
        ("INNER_INDEX", ir.inner_index),
        ("FUSED_LOOPS", has_fused_loops(&ir.step)),
        ("LONG", is_long(&ir.step)),
        ("CALLS", has_many_functions(&ir.step)),
    ] {
        let _ = writeln!(out, "const {constant}: bool = {value};");
    }
    // With const parameters column numbers are not those of every value, nor are lengths.
    let mut loops = LoopPlan::default();
    if dialect.dimensions.is_empty() {
        nearness(&mut out, Nearness::of(ir));
        loops = LoopPlan::of(ir, types != ValueTypes::F32);
        if loops.looped {
            let _ = writeln!(out, "const LOOPED: bool = true;");
        }
    }
    bounds(&mut out, t, ir);
    let lengths = if dialect.dimensions.is_empty() {
        Lengths::Plain
    } else {
        Lengths::Words
    };
    let names = Names {
        lengths,
        ..Names::DEFAULT
    };
    let functions = [
        &ir.prepare_params,
        &ir.prepare_outer,
        &ir.prepare_inner,
        &ir.step,
        &ir.finish,
    ];
    let longest = if loops.looped { 0 } else { REGISTER_ARRAY };
    let work = functions.map(|stmts| arrays_in_work(stmts, lengths, longest));
    let most = work.iter().map(|(_, words)| *words).max().unwrap_or(0);
    let _ = writeln!(out, "const WORK: usize = {most};");
    let _ = writeln!(
        out,
        "type State<A: Copy> = {};\ntype Work<A: Copy> = [A; {most}];",
        lengths.array("A", ir.registers)
    );
    let sinks = ["p", "x", "used", names.sink, "out"];
    let accessors = sinks.iter().zip(&work).zip(&loops.stay);
    for ((signature, stmts), ((sink, (work, _)), stay)) in
        SIGNATURES.iter().zip(functions).zip(accessors)
    {
        // The trait has these.
        let has_default = ["prepare_params<", "prepare_outer<"].map(|f| signature.starts_with(f));
        if stmts.is_empty() && has_default.contains(&true) {
            continue;
        }
        function(&mut out, t, signature, |o| {
            write_block(
                o,
                stmts,
                Names {
                    sink,
                    work,
                    stay,
                    ..names
                },
            );
        });
    }
    function(
        &mut out,
        t,
        "init<S: isa::Isa<T = @>, W: kernel::ColumnsMut<S::F>>(s: S, row: &mut W)",
        |o| init(o, ir),
    );
    function(
        &mut out,
        t,
        "begin<S: isa::Isa<T = @>, W: kernel::Columns<S::F>, A: kernel::Words<S::F>>(s: S, row: &W, state: &mut A)",
        |o| begin(o, ir),
    );
    function(
        &mut out,
        t,
        "flush<S: isa::Isa<T = @>, A: kernel::Words<S::F>, W: kernel::ColumnsMut<S::F>>(s: S, state: &A, row: &mut W)",
        |o| flush(o, ir),
    );
    function(
        &mut out,
        t,
        "combine<S: isa::Isa<T = @>, W: kernel::ColumnsMut<S::F>, V: kernel::Columns<S::F>>(s: S, row: &mut W, other: &V)",
        |o| combine(o, ir),
    );
    out.push_str("}\n};\n");
    out
}

/// Writes which rows are near one another, if that is known.
fn nearness(out: &mut String, near: Nearness) {
    if near.outer != 0 {
        let Nearness { outer, inner, .. } = near;
        let _ = writeln!(
            out,
            "const NEAR_OUTER: u64 = {outer};\nconst NEAR_INNER: u64 = {inner};"
        );
    }
    if near.vanishes {
        let _ = writeln!(out, "const VANISHES: bool = true;");
    }
}

/// The functions that are statements of kernel IR; `@` is the value type.
const SIGNATURES: [&str; 5] = [
    "prepare_params<S: isa::Isa<T = @>, P: kernel::ColumnsMut<S::F>, Z: kernel::Words<S::F>>(s: S, p: &mut P, work: &mut Z)",
    "prepare_outer<S: isa::Isa<T = @>, P: kernel::Columns<S::F>, X: kernel::ColumnsMut<S::F>, Z: kernel::Words<S::F>>(s: S, p: &P, x: &mut X, work: &mut Z)",
    "prepare_inner<S: isa::Isa<T = @>, P: kernel::Columns<S::F>, Y: kernel::Columns<S::F>, W: kernel::ColumnsMut<S::F>, Z: kernel::Words<S::F>>(s: S, p: &P, y: &Y, used: &mut W, work: &mut Z)",
    "step<S: tile::Pairs<T = @>, P: kernel::Columns<S::F>, X: kernel::Columns<S::F>, Y: kernel::Columns<S::F>, A: kernel::Words<S::A>, Z: kernel::Words<S::F>>(s: S, p: &P, x: &X, y: &Y, state: &mut A, work: &mut Z)",
    "finish<S: isa::Isa<T = @>, P: kernel::Columns<S::F>, X: kernel::Columns<S::F>, V: kernel::Columns<S::F>, W: kernel::ColumnsMut<S::F>, Z: kernel::Words<S::F>>(s: S, p: &P, x: &X, row: &V, out: &mut W, work: &mut Z)",
];

/// The largest K of the pass's reductions.
fn largest_k(ir: &KernelIr) -> usize {
    let of_slot = |slot: &Slot| match slot.reducer {
        Reducer::KMin(k) => k,
        _ => 0,
    };
    ir.slots.iter().map(of_slot).max().unwrap_or(0)
}

/// Longest local array that may become registers; longer ones are in the work, which an engine puts where it likes.
const REGISTER_ARRAY: usize = 16;

/// The arrays of a function beyond a length with their first words, and the words of all.
fn arrays_in_work(
    stmts: &[Stmt],
    lengths: Lengths,
    longest: usize,
) -> (Vec<(ArrayId, usize)>, usize) {
    let mut arrays = vec![];
    let mut words = 0;
    if lengths == Lengths::Plain {
        for stmt in stmts {
            if let Stmt::Array(id, n) = stmt
                && *n > longest
            {
                arrays.push((*id, words));
                words += n;
            }
        }
    }
    (arrays, words)
}

/// Writes which inner rows can matter, if that is known.
fn bounds(out: &mut String, t: &str, ir: &KernelIr) {
    let Some(within) = &ir.bounds else { return };
    let _ = writeln!(out, "const BOUNDED: bool = true;");
    function(
        out,
        t,
        "bounds<P: kernel::Numbers<@>>(p: &P, first: i64, last: i64, n: i64) -> (i64, i64)",
        |out| {
            let result = rows_within(out, within, &mut 0);
            let _ = writeln!(out, "{result}");
        },
    );
}

/// Writes statements that find the rows; returns the name of the result.
fn rows_within(out: &mut String, within: &Within, count: &mut usize) -> String {
    let text = match within {
        Within::All => "(0, n)".to_string(),
        Within::NotNegative(Linear { outer, inner, c, w }) => {
            let o = if *outer > 0 { "last" } else { "first" };
            let w = w.map_or(
                String::new(),
                |Bound {
                     column,
                     minus,
                     or_nan,
                 }| {
                    format!(" + kernel::bound(p.number({column}), {minus}, {or_nan})")
                },
            );
            format!("kernel::not_negative(({outer}i64) * {o} + ({c}i64){w}, {inner}i64, n)")
        }
        Within::Both(parts) | Within::Either(parts) => {
            let [a, b] = parts.each_ref().map(|part| rows_within(out, part, count));
            let name = if matches!(within, Within::Both(_)) {
                "both"
            } else {
                "either"
            };
            format!("kernel::{name}({a}, {b})")
        }
    };
    let name = format!("r{count}");
    *count += 1;
    let _ = writeln!(out, "let {name} = {text};");
    name
}

/// Writes a function; `@` in the signature is the value type.
fn function(out: &mut String, t: &str, signature: &str, body: impl FnOnce(&mut String)) {
    let _ = writeln!(
        out,
        "#[inline(always)]\nfn {} {{",
        signature.replace('@', t)
    );
    body(out);
    out.push_str("}\n");
}

/// Writes a line for each number of a slot, given the number's register and row offsets; many numbers become a loop.
fn each(out: &mut String, slot: &Slot, line: impl Fn(&str, &str) -> String) {
    let (registers, words) = (slot.reducer.registers(), slot.reducer.row_words());
    // What weighted sums need of their score is declared, so that score, always one number, stays out of loops.
    let declares = matches!(slot.reducer, Reducer::LogSumExp(sums) if sums > 0);
    if declares || slot.count <= unroll() {
        for e in 0..slot.count {
            let (register, row) = (slot.register + e * registers, slot.row + e * words);
            let _ = writeln!(out, "{}", line(&register.to_string(), &row.to_string()));
        }
        return;
    }
    let register = format!("{} + e * {registers}", slot.register);
    let row = format!("{} + e * {words}", slot.row);
    let _ = writeln!(
        out,
        "let mut e = 0;\nwhile e < {} {{\n{}\ne += 1;\n}}",
        slot.count,
        line(&register, &row)
    );
}

/// Writes a line for each weighted sum of a log Σ exp slot.
fn each_weighted(out: &mut String, slot: &Slot, line: impl Fn(&str, &str) -> String) {
    if let Reducer::LogSumExp(sums) = slot.reducer
        && sums > 0
    {
        let (register, row) = (slot.register + 2, slot.row + 3);
        each(
            out,
            &Slot {
                reducer: Reducer::Sum,
                count: sums,
                register,
                row,
            },
            line,
        );
    }
}

fn init(out: &mut String, ir: &KernelIr) {
    for slot in &ir.slots {
        each(out, slot, |_, row| match slot.reducer {
            Reducer::Sum => format!("reduce::sum::init(s, row, {row});"),
            Reducer::Prod => format!("reduce::prod::init(s, row, {row});"),
            Reducer::Min => format!("reduce::min::init(s, row, {row});"),
            Reducer::Max => format!("reduce::max::init(s, row, {row});"),
            Reducer::KMin(k) => format!("reduce::kmin::init(s, row, {row}, {k});"),
            Reducer::LogSumExp(_) => format!("reduce::logsumexp::init(s, row, {row});"),
        });
        each_weighted(out, slot, |_, row| {
            format!("reduce::sum::init(s, row, {row});")
        });
    }
}

fn begin(out: &mut String, ir: &KernelIr) {
    for slot in &ir.slots {
        each(out, slot, |r, row| match slot.reducer {
            Reducer::Sum => format!("state.set({r}, reduce::sum::begin(s));"),
            Reducer::Prod => format!("reduce::prod::begin(s, state, {r}, row, {row});"),
            Reducer::Min => format!("state.set({r}, reduce::min::begin(s, row, {row}));"),
            Reducer::Max => format!("state.set({r}, reduce::max::begin(s, row, {row}));"),
            Reducer::KMin(k) => format!("reduce::kmin::begin(s, state, {r}, row, {row}, {k});"),
            Reducer::LogSumExp(_) => {
                format!("reduce::logsumexp::begin(s, state, {r}, row, {row});")
            }
        });
        each_weighted(out, slot, |r, _| {
            format!("state.set({r}, reduce::sum::begin(s));")
        });
    }
}

fn flush(out: &mut String, ir: &KernelIr) {
    for slot in &ir.slots {
        each(out, slot, |r, row| match slot.reducer {
            Reducer::Sum => format!("reduce::sum::flush(s, state.word({r}), row, {row});"),
            Reducer::Prod => format!("reduce::prod::flush(s, state, {r}, row, {row});"),
            Reducer::Min => format!("reduce::min::flush(s, state.word({r}), row, {row});"),
            Reducer::Max => format!("reduce::max::flush(s, state.word({r}), row, {row});"),
            Reducer::KMin(k) => format!("reduce::kmin::flush(s, state, {r}, row, {row}, {k});"),
            Reducer::LogSumExp(_) => {
                format!("let shrink = reduce::logsumexp::flush(s, state, {r}, row, {row});")
            }
        });
        each_weighted(out, slot, |r, row| {
            format!("reduce::logsumexp::flush_sum(s, state.word({r}), shrink, row, {row});")
        });
    }
}

fn combine(out: &mut String, ir: &KernelIr) {
    for slot in &ir.slots {
        each(out, slot, |_, row| match slot.reducer {
            Reducer::Sum => format!("reduce::sum::combine(s, row, other, {row});"),
            Reducer::Prod => format!("reduce::prod::combine(s, row, other, {row});"),
            Reducer::Min => format!("reduce::min::combine(s, row, other, {row});"),
            Reducer::Max => format!("reduce::max::combine(s, row, other, {row});"),
            Reducer::KMin(k) => format!("reduce::kmin::combine(s, row, other, {row}, {k});"),
            Reducer::LogSumExp(_) => {
                format!("let (mine, theirs) = reduce::logsumexp::combine(s, row, other, {row});")
            }
        });
        each_weighted(out, slot, |_, row| {
            format!("reduce::logsumexp::combine_sum(s, row, mine, other, theirs, {row});")
        });
    }
}
