//! What names mean inside a formula, and which of them are used.

use crate::graph::NodeId;
use crate::reductions;
use crate::syntax::expr::split_index;
use crate::syntax::{Name, Region};

/// A declared name.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The name.
    pub name: String,
    /// Where it was declared.
    pub region: Region,
    /// Its value; `None` if that failed, which has been reported.
    pub value: Option<NodeId>,
    /// Whether a `let` declared it.
    pub is_let: bool,
    /// Whether anything used it.
    pub used: bool,
}

/// Variables, then `let`s, innermost last.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    bindings: Vec<Binding>,
}

impl Scope {
    /// Declares a name; false if it is taken.
    pub fn declare(&mut self, name: &Name, value: Option<NodeId>, is_let: bool) -> bool {
        if self.bindings.iter().any(|b| b.name == name.text) {
            return false;
        }
        let (name, region) = (name.text.clone(), name.region());
        self.bindings.push(Binding {
            name,
            region,
            value,
            is_let,
            used: false,
        });
        true
    }
    /// Looks a name up and marks it as used.
    pub fn take(&mut self, name: &str) -> Option<&Binding> {
        let binding = self.bindings.iter_mut().find(|b| b.name == name)?;
        binding.used = true;
        Some(binding)
    }
    /// Takes a name's value away: what it stands for is an error.
    pub fn forget(&mut self, name: &str) {
        for binding in self.bindings.iter_mut().filter(|b| b.name == name) {
            binding.value = None;
        }
    }
    /// Whether a name is declared; it is not marked.
    pub fn contains(&self, name: &str) -> bool {
        self.bindings.iter().any(|b| b.name == name)
    }
    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.bindings.iter().map(|b| b.name.as_str())
    }
    /// A place to return to with [`Scope::leave`].
    pub fn enter(&self) -> usize {
        self.bindings.len()
    }
    /// Forgets what was declared since; returns what of it was never used.
    pub fn leave(&mut self, mark: usize) -> Vec<Binding> {
        let mut unused = self.bindings.split_off(mark.min(self.bindings.len()));
        unused.retain(|b| !b.used);
        unused
    }
}

/// Why a variable or `let` cannot have this name.
pub fn reserved(name: &str) -> Option<&'static str> {
    if name.starts_with("r#") {
        return Some("raw names cannot be used");
    }
    if name == "_" || name == "_i" || name == "_j" {
        return Some("it says nothing");
    }
    if name.starts_with("__") {
        return Some("names with `__` belong to the expansion");
    }
    if name == "PI" {
        return Some("it is the constant π");
    }
    if name == "INFINITY" {
        return Some("it is the constant ∞");
    }
    if name == "i" || name == "j" {
        return Some("it is the number of the row");
    }
    if is_rust_keyword(name) {
        return Some("it is a word of Rust");
    }
    match split_index(name) {
        Some((base, _)) if reductions::find(base).is_some() => Some("it is a reduction"),
        _ => None,
    }
}

/// Whether Rust reserves the word, so that the expansion could not declare it.
pub fn is_rust_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 52] = [
        "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
        "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
        "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv",
        "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "try",
        "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
    ];
    KEYWORDS.contains(&name)
}
