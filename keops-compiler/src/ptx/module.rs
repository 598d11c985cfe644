//! The text of a PTX module, cut into its entries.
//!
//! LLVM prints directives at the beginning of a line and an entry's closing brace alone on a line; nothing else of the
//! language's grammar is needed here.

/// The modules of items: for each list of entry names, the header, the declarations, and those entries.
///
/// Declarations of the module (constants, functions) stay in every module: what an entry does not use costs nothing once
/// it is assembled. A name that the module has not is left out.
pub fn split<N: AsRef<str>>(ptx: &str, items: &[Vec<N>]) -> Vec<String> {
    let parts = parts(ptx);
    let module = |names: &Vec<N>| {
        parts
            .iter()
            .filter(|part| {
                part.entry
                    .is_none_or(|entry| names.iter().any(|name| name.as_ref() == entry))
            })
            .map(|part| part.text)
            .collect()
    };
    items.iter().map(module).collect()
}

/// The module with a directive against unrolling in the entries that ask for it (`device::intrinsics::loops_stay`). Rust has no
/// spelling for it.
pub(super) fn keep_loops(ptx: &str) -> String {
    let with_directive = |part: &Part<'_>| {
        if part.entry.is_some() && part.text.contains("// keops: loops stay") {
            part.text
                .replacen("\n)\n{", "\n)\n.pragma \"nounroll\";\n{", 1)
        } else {
            part.text.to_owned()
        }
    };
    parts(ptx).iter().map(with_directive).collect()
}

/// A piece of a module: an entry, or text between entries.
struct Part<'a> {
    text: &'a str,
    entry: Option<&'a str>,
}

fn parts(ptx: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut entry = None;
    let mut at = 0;
    for line in ptx.split_inclusive('\n') {
        let end = at + line.len();
        if entry.is_none() {
            entry = entry_name(line);
            // What led up to the entry: the comment `.globl` above it goes with it.
            if entry.is_some() {
                let before = &ptx[start..at];
                let comment = before
                    .trim_end()
                    .rfind('\n')
                    .map_or(0, |newline| newline + 1);
                let cut = if before[comment..].trim_start().starts_with("//") {
                    start + comment
                } else {
                    at
                };
                parts.push(Part {
                    text: &ptx[start..cut],
                    entry: None,
                });
                start = cut;
            }
        } else if line.starts_with('}') {
            parts.push(Part {
                text: &ptx[start..end],
                entry,
            });
            (start, entry) = (end, None);
        }
        at = end;
    }
    parts.push(Part {
        text: &ptx[start..],
        entry,
    });
    parts
}

/// The name in a line such as `.visible .entry gauss(`.
fn entry_name(line: &str) -> Option<&str> {
    let name = line
        .starts_with('.')
        .then(|| line.split_once(".entry "))??
        .1;
    Some(
        name.split(|c: char| c == '(' || c.is_whitespace())
            .next()
            .unwrap_or(name),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "//\n// Generated\n//\n\n.version 6.3\n.target sm_75\n.address_size 64\n\n\t// .globl\ta\n\
        .global .align 4 .b8 table[8] = {1, 2};\n\n.visible .entry a(\n\t.param .u32 a_param_0\n)\n{\n\t// begin inline asm\n\
        \t{ mov; }\n\tret;\n\n}\n\t// .globl\tb\n.visible .entry b()\n{\n\tret;\n}\n.func f()\n{\n\tret;\n}\n";

    #[test]
    fn loops_of_entries_that_ask_for_it_are_kept() {
        let module = "\t// .globl\ta\n.visible .entry a(\n\t.param .u32 m\n)\n{\n\t// keops: loops stay\n\tret;\n}\n\
            .visible .entry b(\n\t.param .u32 m\n)\n{\n\tret;\n}\n";
        let kept = keep_loops(module);
        assert_eq!(kept.replace(".pragma \"nounroll\";\n", ""), module);
        let place = kept.find(".pragma").unwrap();
        assert!(place > kept.find("entry a(").unwrap() && place < kept.find("loops stay").unwrap());
    }

    #[test]
    fn each_item_gets_its_entries_and_all_declarations() {
        let modules = split(MODULE, &[vec!["a"], vec!["b", "a"], vec!["none"]]);
        for module in &modules {
            for text in [
                ".version 6.3",
                ".target sm_75",
                ".address_size 64",
                "table[8]",
                ".func f()",
            ] {
                assert_eq!(module.matches(text).count(), 1, "{text} in\n{module}");
            }
        }
        assert!(modules[0].contains(".entry a(") && !modules[0].contains(".entry b("));
        assert!(!modules[0].contains("globl\tb"));
        assert_eq!(modules[1], MODULE);
        assert!(!modules[2].contains(".entry"));
    }
}
