//! Loads, stores and atomics.
use super::Lower;
use super::modifiers::Modifiers;
use crate::error::Error;
use crate::op::{Atomic, AtomicKind, NONE, Op, Slot, Transfer};
use crate::ptx::ast::{Instruction, Operand};
use crate::ptx::types::{Space, Type};
use Type::{B32, B64, F32, F64, S32, S64, U32, U64};

impl Lower<'_> {
    pub(super) fn memory(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        m.drop_memory_hints();
        match i.name.as_str() {
            "prefetch" | "prefetchu" => {
                m.space();
                for name in ["L1", "L2"] {
                    m.take(name);
                }
                Ok(())
            }
            "atom" | "red" => self.atomic(i, m),
            _ => self.transfer(i, m),
        }
    }

    /// The space of an access: the instruction's, which a symbol's must be; without one, generic.
    fn access_space(&self, named: Option<Space>, implied: Option<Space>) -> Result<Space, Error> {
        match (named, implied) {
            (Some(named), Some(implied)) if named != implied => Err(self.illegal(format!(
                "a variable of {} memory accessed as {}",
                implied.name(),
                named.name()
            ))),
            (Some(space), _) => Ok(space),
            (None, Some(Space::Global | Space::Const)) | (None, None) => Ok(Space::Generic),
            (None, Some(_)) => Err(self.illegal("a generic access needs a generic address")),
        }
    }

    fn transfer(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        let store = i.name == "st";
        let named = m.space();
        let count: usize = match (m.take("v2"), m.take("v4")) {
            (false, false) => 1,
            (true, false) => 2,
            (false, true) => 4,
            _ => return Err(self.illegal("one vector size only")),
        };
        let ty = match m.ty() {
            Some(ty) if ty != Type::Pred => ty,
            _ => return Err(self.illegal(format!("`{}` needs one type", i.name))),
        };
        self.require(i, count * ty.size() <= 16, "a vector has at most 16 bytes")?;
        let [first, second] = self.operands(i)?;
        let (values, address) = if store {
            (second, first)
        } else {
            (first, second)
        };
        let (base, offset, implied) = self.address(address)?;
        let space = self.access_space(named, implied)?;
        if store && matches!(space, Space::Param | Space::Const) {
            return Err(self.illegal(format!("{} memory cannot be written", space.name())));
        }
        let values = match values {
            Operand::Vector(values) if values.len() == count => &values[..],
            single if count == 1 && !matches!(single, Operand::Vector(_)) => {
                std::slice::from_ref(single)
            }
            _ => return Err(self.illegal("the vector has another size")),
        };
        let mut slots = [NONE; 4];
        let mut register = 0;
        for (slot, value) in slots.iter_mut().zip(values) {
            if store {
                *slot = self.wide_source(value, ty)?;
            } else {
                let (destination, width) = self.wide_destination(value, ty)?;
                (*slot, register) = (destination, width);
            }
        }
        let transfer = Transfer {
            slots,
            base,
            offset,
            count: count as u8,
            space,
            ty,
            register: register as u8,
        };
        self.emit(if store {
            Op::Store(transfer)
        } else {
            Op::Load(transfer)
        });
        Ok(())
    }

    fn atomic(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        use AtomicKind::*;
        let named = m.space();
        let noftz = m.take("noftz");
        let kind = m.find(|name| {
            Some(match name {
                "add" => Add,
                "min" => Min,
                "max" => Max,
                "exch" => Exchange,
                "cas" => CompareAndSwap,
                "and" => And,
                "or" => Or,
                "xor" => Xor,
                "inc" => Increment,
                "dec" => Decrement,
                _ => return None,
            })
        });
        let kind = kind.ok_or_else(|| self.illegal(format!("`{}` needs an operation", i.name)))?;
        let allowed: &[Type] = match kind {
            Add => &[U32, S32, U64, F32, F64],
            Min | Max => &[U32, S32, U64, S64],
            Exchange | CompareAndSwap | And | Or | Xor => &[B32, B64],
            Increment | Decrement => &[U32],
        };
        let ty = self.only_type(i, m.ty(), allowed)?;
        self.require(i, !noftz, "no such type for `.noftz`")?;
        let reduction = i.name == "red";
        self.require(
            i,
            !(reduction && matches!(kind, Exchange | CompareAndSwap)),
            "`red` has no such operation",
        )?;
        if ty == F64 {
            self.require_version(i, 60, (5, 0))?;
        }
        let (d, rest): (Slot, &[Operand]) = match (reduction, i.operands.split_first()) {
            (false, Some((d, rest))) => (self.destination(d, ty)?, rest),
            (_, _) => (NONE, &i.operands),
        };
        let (address, a, b) = match rest {
            [address, a] if kind != CompareAndSwap => (address, a, None),
            [address, a, b] if kind == CompareAndSwap => (address, a, Some(b)),
            _ => return Err(self.illegal(format!("wrong number of operands for `{}`", i.name))),
        };
        let (base, offset, implied) = self.address(address)?;
        let space = self.access_space(named, implied)?;
        self.require(
            i,
            matches!(space, Space::Generic | Space::Global | Space::Shared),
            "no atomics in such memory",
        )?;
        let a = self.source(a, ty)?;
        let b = match b {
            Some(b) => self.source(b, ty)?,
            None => a,
        };
        self.emit(Op::Atomic(Box::new(Atomic {
            kind,
            ty,
            space,
            d,
            base,
            offset,
            a,
            b,
        })));
        Ok(())
    }
}
