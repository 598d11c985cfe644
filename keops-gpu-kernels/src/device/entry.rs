//! Entry points: the text of an `extern "ptx-kernel"` function and of the accessors to its variables.
//!
//! The parameters are those of the launch ABI ([`abi`](crate::abi)). Which column is which variable's is written out as
//! comparisons with constants, so that a constant column becomes one load.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The value type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// `f32`
    F32,
    /// `f64`
    F64,
}

impl ValueType {
    /// Its name in Rust.
    pub const fn name(self) -> &'static str {
        match self {
            ValueType::F32 => "f32",
            ValueType::F64 => "f64",
        }
    }
}

/// One variable that an entry reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// Columns of a row.
    pub columns: usize,
    /// Whether the columns hold indices, as `u32`: what an earlier pass wrote as such.
    pub is_index: bool,
    /// Whether these are rows of the other side, and pairs that no such variable lists change no state.
    pub lists: bool,
}

impl From<usize> for Input {
    /// Of so many columns of values.
    fn from(columns: usize) -> Input {
        Input {
            columns,
            is_index: false,
            lists: false,
        }
    }
}

/// One output of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// Columns of a row.
    pub columns: usize,
    /// Whether the columns hold indices, written as `u32`, and not values.
    pub is_index: bool,
}

/// One entry point: a kernel at a value type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Name of the entry in the PTX, unique in its module: ASCII letters, digits and `_`, not starting with a digit.
    pub name: String,
    /// The kernel: a Rust type in the scope of the emitted kernels.
    pub kernel: String,
    /// The value type.
    pub value_type: ValueType,
    /// Whether `f32` functions may be the approximate ones.
    pub fast_math: bool,
    /// The outer variables; their columns together are [`Kernel::OUTER`](crate::kernel::Kernel::OUTER).
    pub outer: Vec<Input>,
    /// The inner variables; their columns together are [`Kernel::INNER`](crate::kernel::Kernel::INNER).
    pub inner: Vec<Input>,
    /// The outputs in order; their columns together are [`Kernel::OUT`](crate::kernel::Kernel::OUT).
    pub outputs: Vec<Output>,
}

impl Entry {
    /// Appends the entry's module to the device crate.
    pub(super) fn write(&self, out: &mut String) {
        let (name, kernel, t) = (&self.name, &self.kernel, self.value_type.name());
        let words = if self.outer.iter().chain(&self.inner).any(|v| v.lists) {
            format!("abi::listed_words(abi::tile_rows::<{t}, K>())")
        } else {
            String::from("0")
        };
        let token = match (self.value_type, self.fast_math) {
            (ValueType::F32, false) => "Gpu32",
            (ValueType::F32, true) => "Fast32",
            (ValueType::F64, _) => "Gpu64",
        };
        out.push_str(&format!(
            "pub mod entry_{name} {{\nuse crate::abi;\nuse crate::device::rows::{{Sink, Source}};\n\
             use crate::device::skeleton;\nuse crate::kernel::Kernel;\nuse crate::kernels::*;\nuse crate::prelude::*;\n\
             use crate::real::Real;\ntype K = {kernel};\n"
        ));
        source(out, "X", t, &self.outer);
        source(out, "Y", t, &self.inner);
        self.sink(out);
        let mut arguments = String::new();
        let mut x = String::new();
        let mut y = String::new();
        let mut o = String::new();
        for (v, input) in self.outer.iter().enumerate() {
            arguments.push_str(&format!(", x{v}: *const {}", cell(input.is_index, t)));
            x.push_str(&format!("v{v}: x{v}, "));
        }
        for (v, input) in self.inner.iter().enumerate() {
            arguments.push_str(&format!(", y{v}: *const {}", cell(input.is_index, t)));
            y.push_str(&format!("v{v}: y{v}, "));
        }
        for (v, output) in self.outputs.iter().enumerate() {
            let cell = cell(output.is_index, t);
            arguments.push_str(&format!(", o{v}: *mut {cell}"));
            o.push_str(&format!("v{v}: o{v}, "));
        }
        out.push_str(&format!(
            "/// # Safety\n/// The launch ABI.\n#[unsafe(no_mangle)]\n\
             pub unsafe extern \"ptx-kernel\" fn {name}(m: u32, n: u32, first: u32, phase: u32, parts: u32, \
             flush: u32, scratch: *mut {t}, params: *const {t}{arguments}) {{\n\
             // SAFETY: the launch ABI is the host's promise.\nunsafe {{ skeleton::reduce::<{t}, K, crate::device::gpu::{token}, X, Y, O,\n\
             {{ abi::rows_per_thread::<{t}, K>() }}, {{ abi::inner_unroll::<{t}, K>() }}, {{ <K as Kernel<{t}>>::ROW }},\n\
             {{ <K as Kernel<{t}>>::PARAMS }}, {{ <K as Kernel<{t}>>::PARAMS + <K as Kernel<{t}>>::PARAMS_DERIVED }},\n\
             {{ abi::params_held::<{t}, K>() }},\n\
             {{ <K as Kernel<{t}>>::OUTER }}, {{ <K as Kernel<{t}>>::OUTER + <K as Kernel<{t}>>::OUTER_DERIVED }},\n\
             {{ abi::outer_held::<{t}, K>() }}, {{ <K as Kernel<{t}>>::ACCUMULATORS }}, {{ abi::accumulators_held::<{t}, K>() }},\n\
             {{ abi::state_held::<{t}, K>() }}, {{ abi::scratch_accumulators::<{t}, K>() }}, {{ abi::scratch_work::<{t}, K>() }},\n\
             {{ abi::scratch_params::<{t}, K>() }}, {{ abi::scratch_state::<{t}, K>() }},\n\
             {{ <K as Kernel<{t}>>::INNER_USED }}, {{ abi::inner_stride::<{t}, K>() as u32 }},\n\
             {{ abi::inner_held::<{t}, K>() }}, {{ abi::tile_rows::<{t}, K>() as u32 }}, {{ abi::shared_bytes::<{t}, K>() }},\n\
             {{ {words} }}>\n\
             (m, n, first, phase, parts, flush, scratch, params, X {{ {x}}}, Y {{ {y}}}, O {{ {o}}}) }}\n}}\n}}\n"
        ));
    }

    /// The outputs as one row.
    fn sink(&self, out: &mut String) {
        let t = self.value_type.name();
        let mut fields = String::new();
        let mut stores = String::new();
        let mut loads = String::new();
        let mut at = 0;
        for (v, Output { columns, is_index }) in self.outputs.iter().enumerate() {
            let cell = cell(*is_index, t);
            let end = at + columns;
            let place = format!("self.v{v}.add(row as usize * {columns} + (c - {at}))");
            let (value, back) = if *is_index {
                ("v.to_index()", format!("{t}::from_index(*{place})"))
            } else {
                ("v", format!("*{place}"))
            };
            fields.push_str(&format!("v{v}: *mut {cell}, "));
            stores.push_str(&format!(
                "if c < {end} {{ unsafe {{ *{place} = {value} }} }} else "
            ));
            loads.push_str(&format!("if c < {end} {{ unsafe {{ {back} }} }} else "));
            at = end;
        }
        out.push_str(&format!(
            "pub struct O {{ {fields}}}\nimpl_copy!([] O);\nimpl Sink<{t}> for O {{\n// SAFETY: the row is the caller's \
             promise, the column is compared.\n#[inline(always)] unsafe fn store(self, row: u32, c: usize, v: {t}) {{ \
             {stores}{{ }} }}\n#[inline(always)] unsafe fn load(self, row: u32, c: usize) -> {t} {{ {loads}{{ 0.0 }} }}\n}}\n"
        ));
    }
}

/// The type of a number in memory.
fn cell(is_index: bool, t: &str) -> &str {
    if is_index { "u32" } else { t }
}

/// The variables of one side as one row: a type `name` with a pointer for each.
fn source(out: &mut String, name: &str, t: &str, variables: &[Input]) {
    let mut fields = String::new();
    let mut loads = String::new();
    let mut at = 0;
    let mut lists = String::new();
    let mut listed = 0;
    for (v, input) in variables.iter().enumerate() {
        let Input {
            columns,
            is_index,
            lists: is_list,
        } = input;
        let end = at + columns;
        if *is_list {
            let last = listed + columns;
            lists.push_str(&format!(
                "if c < {last} {{ unsafe {{ *self.v{v}.add(row as usize * {columns} + (c - {listed})) }} }} else "
            ));
            listed = last;
        }
        fields.push_str(&format!("v{v}: *const {}, ", cell(*is_index, t)));
        let place = format!("*self.v{v}.add(row as usize * {columns} + (c - {at}))");
        let value = if *is_index {
            format!("{t}::from_index({place})")
        } else {
            place
        };
        loads.push_str(&format!("if c < {end} {{ unsafe {{ {value} }} }} else "));
        at = end;
    }
    out.push_str(&format!(
        "pub struct {name} {{ {fields}}}\nimpl_copy!([] {name});\nimpl Source<{t}> for {name} {{\n\
         const LISTED: usize = {listed};\n// SAFETY: the row is the \
         caller's promise, the column is compared.\n#[inline(always)] unsafe fn load(self, row: u32, c: usize) -> {t} {{ \
         {loads}{{ 0.0 }} }}\n#[inline(always)] unsafe fn listed(self, row: u32, c: usize) -> u32 {{ \
         {lists}{{ crate::real::NONE }} }}\n}}\n"
    ));
}
