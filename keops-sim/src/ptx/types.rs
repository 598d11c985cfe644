//! Types and state spaces.

/// A fundamental type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F32,
    F64,
}

/// What the bits of a type mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Pred,
    Bits,
    Unsigned,
    Signed,
    Float,
}

impl Type {
    /// The type that a modifier such as `f32` names.
    pub(crate) fn named(name: &str) -> Option<Type> {
        Some(match name {
            "pred" => Type::Pred,
            "b8" => Type::B8,
            "b16" => Type::B16,
            "b32" => Type::B32,
            "b64" => Type::B64,
            "u8" => Type::U8,
            "u16" => Type::U16,
            "u32" => Type::U32,
            "u64" => Type::U64,
            "s8" => Type::S8,
            "s16" => Type::S16,
            "s32" => Type::S32,
            "s64" => Type::S64,
            "f32" => Type::F32,
            "f64" => Type::F64,
            _ => return None,
        })
    }

    /// Bytes; a predicate has none that could be stored.
    pub(crate) fn size(self) -> usize {
        match self {
            Type::Pred => 0,
            Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 8,
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Type::Pred => Kind::Pred,
            Type::B8 | Type::B16 | Type::B32 | Type::B64 => Kind::Bits,
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => Kind::Unsigned,
            Type::S8 | Type::S16 | Type::S32 | Type::S64 => Kind::Signed,
            Type::F32 | Type::F64 => Kind::Float,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    pub(crate) fn is_signed(self) -> bool {
        self.kind() == Kind::Signed
    }

    /// Whether a register of type `register` can be an operand of this type.
    pub(crate) fn accepts(self, register: Type) -> bool {
        if self.size() != register.size() || (self == Type::Pred) != (register == Type::Pred) {
            return false;
        }
        let (mine, other) = (self.kind(), register.kind());
        mine == Kind::Bits || other == Kind::Bits || (mine == Kind::Float) == (other == Kind::Float)
    }

    /// The same for loads, stores and conversions, whose registers may be wider than the instruction's type.
    pub(crate) fn accepts_wider(self, register: Type) -> bool {
        self.accepts(register)
            || (self != Type::Pred
                && register.size() > self.size()
                && !register.is_float()
                && !(self.is_float() && register.kind() != Kind::Bits))
    }
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// Resolved by the address: global memory, or the windows of shared and local memory.
    Generic,
    Global,
    Shared,
    Local,
    Const,
    Param,
}

impl Space {
    /// The space that a modifier such as `shared` or `shared::cta` names.
    pub(crate) fn named(name: &str) -> Option<Space> {
        Some(match name {
            "global" => Space::Global,
            "shared" | "shared::cta" => Space::Shared,
            "local" => Space::Local,
            "const" => Space::Const,
            "param" | "param::entry" => Space::Param,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Const => "const",
            Space::Param => "param",
        }
    }
}
