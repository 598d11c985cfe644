//! The device crate as text: what `keops!` compiles to PTX.
//!
//! The other files of this directory are device code. They are not modules of this crate; [`source`] puts their text
//! together with the pair-level modules, the kernels that the macro emitted and one entry point per kernel and value
//! type. All of it is part of this crate by `include_str!`, so a published crate needs no files beside it.
//!
//! Invariant: the text is a pure function of its arguments.
mod entry;

pub use entry::{Entry, Input, Output, ValueType};

use alloc::string::String;

/// Features of the device crate, which is compiled with `RUSTC_BOOTSTRAP=1`.
const HEAD: &str = "#![no_core]
#![feature(no_core, lang_items, auto_traits, decl_macro, intrinsics, rustc_attrs, abi_ptx, asm_experimental_arch)]
#![feature(link_llvm_intrinsics)]
#![allow(internal_features)]
#![rustc_coherence_is_core]
extern crate self as keops_gpu_kernels;
";

/// What emitted kernels find in scope, beside `::keops_gpu_kernels`, which is the device crate itself. Globs, so that the
/// kernels may import the same names on their own.
const KERNEL_SCOPE: &str = "pub mod scope {
    pub use crate::prelude::*;
    pub use crate::{isa::Isa, kernel::{Array, Columns, ColumnsMut, Kernel, Words}, math, real::{NONE, Real}, reduce};
    pub use crate::tile::{Pairs, Tile};
}
pub mod kernels {
";

/// The modules of the device crate in order: pair-level ones, then device-only ones.
const MODULES: &[(&str, &str)] = &[
    ("real", include_str!("../real.rs")),
    ("isa", include_str!("../isa.rs")),
    ("tile", include_str!("../tile.rs")),
    ("kernel", include_str!("../kernel.rs")),
    ("math", include_str!("../math/mod.rs")),
    ("reduce", include_str!("../reduce.rs")),
    ("abi", include_str!("../abi.rs")),
    ("mini_core", include_str!("mini_core.rs")),
];

/// The submodules of `math`.
const MATH: &[(&str, &str)] = &[
    ("double", include_str!("../math/double.rs")),
    ("erf", include_str!("../math/erf.rs")),
    ("exp", include_str!("../math/exp.rs")),
    ("expm1", include_str!("../math/expm1.rs")),
    ("hyperbolic", include_str!("../math/hyperbolic.rs")),
    ("inverse", include_str!("../math/inverse.rs")),
    ("log", include_str!("../math/log.rs")),
    ("pow", include_str!("../math/pow.rs")),
    ("tanh", include_str!("../math/tanh.rs")),
    ("trig", include_str!("../math/trig.rs")),
];

/// The modules of `device` on the device.
const DEVICE_MODULES: &[(&str, &str)] = &[
    ("intrinsics", include_str!("intrinsics.rs")),
    ("gpu", include_str!("gpu.rs")),
    ("rows", include_str!("rows.rs")),
    ("inner", include_str!("inner.rs")),
    ("listed", include_str!("listed.rs")),
    ("skeleton", include_str!("skeleton.rs")),
];

/// The device crate with the kernels `kernels` and the entry points `entries`.
///
/// `kernels` is Rust text: types with their `Copy` and `Kernel` implementations, which may use the names of this crate
/// through `::keops_gpu_kernels::…`, or without a path those that a [`Kernel`](crate::kernel::Kernel) needs. It must stay
/// within the device's mini-core: no derives, closures, iterators, `Option` or formatting.
pub fn source(kernels: &str, entries: &[Entry]) -> String {
    let mut out = String::with_capacity(128 * 1024);
    out.push_str(HEAD);
    out.push_str(
        include_str!("../macros.rs")
            .split_once("\n\n")
            .map_or("", |(_, macros)| macros),
    );
    out.push_str("pub mod prelude { pub use crate::mini_core::*; }\n");
    for (name, text) in MODULES {
        module(&mut out, name, text);
    }
    out.push_str("pub mod device {\n");
    for (name, text) in DEVICE_MODULES {
        module(&mut out, name, text);
    }
    out.push_str("}\n");
    out.push_str(KERNEL_SCOPE);
    out.push_str(kernels);
    // At the end, because the text may open with its own documentation.
    out.push_str("\nuse crate::scope::*;\n}\n");
    for entry in entries {
        entry.write(&mut out);
    }
    out
}

/// Appends a module, with the submodules that it declares.
fn module(out: &mut String, name: &str, text: &str) {
    out.push_str("pub mod ");
    out.push_str(name);
    out.push_str(" {\n");
    for line in text.lines() {
        match submodule(line) {
            Some((name, text)) => module(out, name, text),
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out.push_str("}\n");
}

/// The submodule of `math` that a line such as `mod exp;` declares.
fn submodule(line: &str) -> Option<(&'static str, &'static str)> {
    let name = line
        .strip_prefix("pub ")
        .unwrap_or(line)
        .strip_prefix("mod ")?
        .strip_suffix(';')?;
    MATH.iter().find(|(known, _)| *known == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::path::Path;
    use std::vec::Vec;

    /// Names of the Rust files of a directory below `src`, without extension.
    fn files(directory: &str) -> Vec<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src")
            .join(directory);
        let mut names: Vec<String> = std::fs::read_dir(path)
            .unwrap()
            .map(|file| String::from(file.unwrap().path().file_stem().unwrap().to_str().unwrap()))
            .collect();
        names.sort();
        names
    }

    fn names(modules: &[(&str, &str)], others: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = modules
            .iter()
            .map(|(name, _)| *name)
            .chain(others.iter().copied())
            .map(String::from)
            .collect();
        names.sort();
        names
    }

    #[test]
    fn every_file_is_in_the_device_crate() {
        assert_eq!(files("math"), names(MATH, &["mod"]));
        let on_device: Vec<_> = DEVICE_MODULES
            .iter()
            .chain(MODULES.iter().filter(|m| m.0 == "mini_core"))
            .copied()
            .collect();
        assert_eq!(files("device"), names(&on_device, &["mod", "entry"]));
        let shared: Vec<_> = MODULES
            .iter()
            .filter(|m| m.0 != "mini_core")
            .copied()
            .collect();
        // Arrays of lengths that const parameters say are the host's: device code is made for numbers.
        assert_eq!(
            files(""),
            names(&shared, &["lib", "macros", "device", "words"])
        );
    }

    #[test]
    fn the_text_has_no_module_without_a_body() {
        let text = source("", &[]);
        assert!(
            !text
                .lines()
                .any(|line| line.trim_start().starts_with("mod ") && line.ends_with(';'))
        );
    }
}
