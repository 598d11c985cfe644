//! The modifiers of an instruction, of which each must be understood by somebody.
use crate::math::round::Rounding;
use crate::ptx::ast::Instruction;
use crate::ptx::types::{Space, Type};

pub(super) struct Modifiers<'a> {
    rest: Vec<&'a str>,
    types: Vec<Type>,
}

impl<'a> Modifiers<'a> {
    pub(super) fn new(instruction: &'a Instruction) -> Modifiers<'a> {
        let (mut rest, mut types) = (Vec::new(), Vec::new());
        for modifier in &instruction.modifiers {
            match Type::named(modifier) {
                Some(ty) => types.push(ty),
                None => rest.push(modifier.as_str()),
            }
        }
        Modifiers { rest, types }
    }

    /// The only type.
    pub(super) fn ty(&self) -> Option<Type> {
        match self.types[..] {
            [ty] => Some(ty),
            _ => None,
        }
    }

    /// Both types.
    pub(super) fn two_types(&self) -> Option<(Type, Type)> {
        match self.types[..] {
            [first, second] => Some((first, second)),
            _ => None,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.rest.contains(&name)
    }

    /// Whether it is there; takes it.
    pub(super) fn take(&mut self, name: &str) -> bool {
        let before = self.rest.len();
        self.rest.retain(|modifier| *modifier != name);
        self.rest.len() < before
    }

    /// The first that `f` knows; takes it.
    pub(super) fn find<R>(&mut self, f: impl Fn(&str) -> Option<R>) -> Option<R> {
        let index = self
            .rest
            .iter()
            .position(|modifier| f(modifier).is_some())?;
        f(self.rest.remove(index))
    }

    pub(super) fn rounding(&mut self) -> Option<Rounding> {
        self.find(|modifier| match modifier {
            "rn" => Some(Rounding::Nearest),
            "rz" => Some(Rounding::Zero),
            "rm" => Some(Rounding::Down),
            "rp" => Some(Rounding::Up),
            _ => None,
        })
    }

    /// `.rni` and the like.
    pub(super) fn integral_rounding(&mut self) -> Option<Rounding> {
        self.find(|modifier| match modifier {
            "rni" => Some(Rounding::Nearest),
            "rzi" => Some(Rounding::Zero),
            "rmi" => Some(Rounding::Down),
            "rpi" => Some(Rounding::Up),
            _ => None,
        })
    }

    pub(super) fn space(&mut self) -> Option<Space> {
        self.find(Space::named)
    }

    /// Drops what changes no value here: caching, ordering and scope of memory operations.
    pub(super) fn drop_memory_hints(&mut self) {
        const PLAIN: [&str; 18] = [
            "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "volatile", "weak", "relaxed",
            "acquire", "release", "acq_rel", "cta", "gpu", "sys", "cluster",
        ];
        self.rest.retain(|modifier| {
            !PLAIN.contains(modifier)
                && !modifier.starts_with("L1::")
                && !modifier.starts_with("L2::")
        });
    }

    pub(super) fn unused(&self) -> Option<&'a str> {
        self.rest.first().copied()
    }
}
