//! Operands: from the tree's to slots, with the type rules.
use super::Lower;
use crate::error::Error;
use crate::op::{Init, NONE, Op, Slot};
use crate::ptx::ast::{Base, Instruction, Operand, VariableId};
use crate::ptx::types::{Kind, Space, Type};

impl Lower<'_> {
    /// As many operands as the instruction takes.
    pub(super) fn operands<'i, const N: usize>(
        &self,
        i: &'i Instruction,
    ) -> Result<&'i [Operand; N], Error> {
        let count = i.operands.len();
        <&[Operand; N]>::try_from(&i.operands[..])
            .map_err(|_| self.illegal(format!("`{}` has {N} operands, not {count}", i.name)))
    }

    pub(super) fn register_type(&self, register: usize) -> Type {
        self.function.registers[register]
    }

    pub(super) fn check_type(&self, register: usize, ty: Type) -> Result<(), Error> {
        let actual = self.register_type(register);
        if ty.accepts(actual) {
            Ok(())
        } else {
            Err(self.illegal(
                format!("a register of type {actual:?} where {ty:?} is needed").to_lowercase(),
            ))
        }
    }

    /// A source operand of type `ty`.
    pub(super) fn source(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Error> {
        let value = match *operand {
            Operand::Register(register) => {
                self.check_type(register, ty)?;
                return Ok(register as Slot);
            }
            Operand::Not(register) => {
                self.check_type(register, Type::Pred)?;
                self.check_type(register, ty)?;
                let d = self.new_slot();
                self.emit(Op::Unary {
                    f: not_predicate,
                    d,
                    a: register as Slot,
                });
                return Ok(d);
            }
            Operand::Special(special)
                if matches!(
                    ty,
                    Type::B32 | Type::U32 | Type::S32 | Type::B64 | Type::U64
                ) =>
            {
                return Ok(self.special(special));
            }
            Operand::Symbol(id, offset) if matches!(ty.size(), 4 | 8) && !ty.is_float() => {
                return self.address_of(id, offset);
            }
            // As in C (PTX ISA, predicate constants).
            Operand::Int(value) if ty == Type::Pred => u64::from(value != 0),
            Operand::Int(value) if !ty.is_float() => crate::math::convert::truncate(value, ty),
            Operand::F32(bits) if matches!(ty, Type::F32 | Type::B32) => u64::from(bits),
            Operand::F64(bits) if matches!(ty, Type::F64 | Type::B64) => bits,
            Operand::Decimal(value) if ty == Type::F32 => u64::from((value as f32).to_bits()),
            Operand::Decimal(value) if ty == Type::F64 => value.to_bits(),
            _ => {
                return Err(self
                    .illegal(format!("an operand of type {ty:?} cannot be this").to_lowercase()));
            }
        };
        Ok(self.constant(value))
    }

    /// A source whose register may be wider than `ty`.
    pub(super) fn wide_source(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Error> {
        match *operand {
            Operand::Register(register) if ty.accepts_wider(self.register_type(register)) => {
                Ok(register as Slot)
            }
            _ => self.source(operand, ty),
        }
    }

    /// A destination of type `ty`.
    pub(super) fn destination(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Error> {
        match *operand {
            Operand::Register(register) => {
                self.check_type(register, ty)?;
                Ok(register as Slot)
            }
            Operand::Sink => Ok(self.new_slot()),
            _ => Err(self.illegal("a destination is a register")),
        }
    }

    /// A destination that may be wider than `ty`, and its width in bytes.
    pub(super) fn wide_destination(
        &mut self,
        operand: &Operand,
        ty: Type,
    ) -> Result<(Slot, usize), Error> {
        match *operand {
            Operand::Register(register) if ty.accepts_wider(self.register_type(register)) => {
                Ok((register as Slot, self.register_type(register).size()))
            }
            Operand::Sink => Ok((NONE, ty.size())),
            _ => self.destination(operand, ty).map(|slot| (slot, ty.size())),
        }
    }

    pub(super) fn predicate(&mut self, operand: &Operand) -> Result<Slot, Error> {
        self.source(operand, Type::Pred)
    }

    /// The state space of a variable.
    pub(super) fn space_of(&self, id: VariableId) -> Space {
        match id {
            VariableId::Module(number) => self.module.variables[number].space,
            VariableId::Function(number) => self.function.variables[number].space,
            VariableId::Param(_) => Space::Param,
        }
    }

    /// A slot with a variable's address in its own space.
    pub(super) fn address_of(&mut self, id: VariableId, offset: i64) -> Result<Slot, Error> {
        let base = match (id, self.offsets.get(&id)) {
            (VariableId::Param(number), _) => self.function.params[number].offset,
            (_, Some(at)) => *at,
            (VariableId::Module(number), None) => {
                return Ok(self.known(Init::Variable(number, offset)));
            }
            (VariableId::Function(_), None) => {
                return Err(self.unsupported("the variable has no address"));
            }
        };
        Ok(self.constant((base as i64).wrapping_add(offset) as u64))
    }

    /// An address operand: its base, what to add, and the space that a symbol in it implies.
    pub(super) fn address(
        &mut self,
        operand: &Operand,
    ) -> Result<(Slot, i32, Option<Space>), Error> {
        let Operand::Address(base, offset) = *operand else {
            return Err(self.illegal("an address in brackets is needed"));
        };
        match base {
            Base::Register(register) => {
                let ty = self.register_type(register);
                if ty.is_float() || !matches!(ty.size(), 4 | 8) {
                    return Err(self.illegal("an address is in a 32- or 64-bit integer register"));
                }
                let offset =
                    i32::try_from(offset).map_err(|_| self.illegal("offset out of range"))?;
                Ok((register as Slot, offset, None))
            }
            Base::Symbol(id) => Ok((self.address_of(id, offset)?, 0, Some(self.space_of(id)))),
            Base::Absolute => Ok((self.constant(offset as u64), 0, None)),
        }
    }

    /// An immediate integer.
    pub(super) fn immediate(&self, operand: &Operand) -> Result<u64, Error> {
        match operand {
            Operand::Int(value) => Ok(*value),
            _ => Err(self.illegal("a constant is needed")),
        }
    }

    /// `d|p`: both parts, the second optional.
    pub(super) fn pair<'i>(&self, operand: &'i Operand) -> (&'i Operand, Option<&'i Operand>) {
        match operand {
            Operand::Pair(pair) => (&pair.0, Some(&pair.1)),
            operand => (operand, None),
        }
    }

    /// The instruction's only type, one of those listed.
    pub(super) fn only_type(
        &self,
        i: &Instruction,
        ty: Option<Type>,
        allowed: &[Type],
    ) -> Result<Type, Error> {
        match ty {
            Some(ty) if allowed.contains(&ty) => Ok(ty),
            Some(ty) => Err(self.illegal(format!(
                "`{}` does not exist at {}",
                i.name,
                format!("{ty:?}").to_lowercase()
            ))),
            None => Err(self.illegal(format!("`{}` needs one type", i.name))),
        }
    }
}

pub(super) fn not_predicate(a: u64) -> u64 {
    a ^ 1
}

/// Types that an instruction without a sign takes.
pub(super) fn is_bits(ty: Type) -> bool {
    ty.kind() == Kind::Bits
}
