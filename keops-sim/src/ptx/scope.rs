//! Names inside a function: registers, variables and labels, in nested scopes.
use super::ast::{LaneMask, Special, VariableId};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Register(usize),
    Variable(VariableId),
}

#[derive(Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Name>,
    /// `%r<9>`: the prefix, the first register, how many.
    ranges: HashMap<&'a str, (usize, usize)>,
    /// Labels defined here, and labels used here that may be defined here or further out.
    labels: HashMap<&'a str, usize>,
    used: Vec<(&'a str, usize, u32)>,
}

/// The scopes of a function, innermost last.
pub(super) struct Scopes<'a> {
    scopes: Vec<Scope<'a>>,
    labels: usize,
    /// For each used label number, the defined one.
    resolved: HashMap<usize, usize>,
}

impl<'a> Scopes<'a> {
    pub(super) fn new() -> Scopes<'a> {
        Scopes {
            scopes: vec![Scope::default()],
            labels: 0,
            resolved: HashMap::new(),
        }
    }

    pub(super) fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    fn innermost(&mut self) -> &mut Scope<'a> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Leaves the innermost scope. Labels that it uses and does not define are its parent's; an error names one that has
    /// no parent left.
    pub(super) fn close(&mut self) -> Result<(), (&'a str, u32)> {
        let Some(scope) = self.scopes.pop() else {
            return Ok(());
        };
        for (name, number, line) in scope.used {
            if let Some(&defined) = scope.labels.get(name) {
                self.resolved.insert(number, defined);
            } else if let Some(parent) = self.scopes.last_mut() {
                parent.used.push((name, number, line));
            } else {
                return Err((name, line));
            }
        }
        Ok(())
    }

    pub(super) fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Declares a name; false if the scope has it already.
    pub(super) fn declare(&mut self, name: &'a str, what: Name) -> bool {
        self.innermost().names.insert(name, what).is_none()
    }

    pub(super) fn declare_range(&mut self, prefix: &'a str, first: usize, count: usize) -> bool {
        self.innermost()
            .ranges
            .insert(prefix, (first, count))
            .is_none()
    }

    pub(super) fn find(&self, name: &str) -> Option<Name> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = name[prefix.len()..].parse::<usize>().ok();
        self.scopes.iter().rev().find_map(|scope| {
            scope.names.get(name).copied().or_else(|| {
                let (first, count) = scope.ranges.get(prefix)?;
                let number = number.filter(|number| number < count)?;
                Some(Name::Register(first + number))
            })
        })
    }

    /// Defines a label; none if the scope has it already.
    pub(super) fn define_label(&mut self, name: &'a str) -> Option<usize> {
        let number = self.labels;
        self.labels += 1;
        self.innermost()
            .labels
            .insert(name, number)
            .is_none()
            .then_some(number)
    }

    pub(super) fn use_label(&mut self, name: &'a str, line: u32) -> usize {
        let number = self.labels;
        self.labels += 1;
        self.innermost().used.push((name, number, line));
        number
    }

    /// How many label numbers there are, and for used ones which is meant.
    pub(super) fn finish(self) -> (usize, HashMap<usize, usize>) {
        (self.labels, self.resolved)
    }
}

/// The special register of that name.
pub(super) fn special(name: &str) -> Option<Special> {
    let axis = |name: &str| match name {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    Some(match name {
        "%laneid" => Special::Lane,
        "%warpid" => Special::Warp,
        "%nwarpid" => Special::Warps,
        "%lanemask_eq" => Special::LaneMask(LaneMask::Eq),
        "%lanemask_le" => Special::LaneMask(LaneMask::Le),
        "%lanemask_lt" => Special::LaneMask(LaneMask::Lt),
        "%lanemask_ge" => Special::LaneMask(LaneMask::Ge),
        "%lanemask_gt" => Special::LaneMask(LaneMask::Gt),
        "%clock" | "%clock_hi" | "%clock64" | "%globaltimer" | "%smid" | "%gridid" => Special::Zero,
        _ => {
            let (register, last) = name.split_once('.')?;
            let axis = axis(last)?;
            match register {
                "%tid" => Special::Tid(axis),
                "%ntid" => Special::Ntid(axis),
                "%ctaid" => Special::Ctaid(axis),
                "%nctaid" => Special::Nctaid(axis),
                _ => return None,
            }
        }
    })
}
