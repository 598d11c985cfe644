//! `mov`, `cvt`, `cvta`.
use super::Lower;
use super::modifiers::Modifiers;
use crate::error::Error;
use crate::math::convert::Conversion;
use crate::math::integer::u64 as word64;
use crate::math::round::Rounding;
use crate::op::{LOCAL_WINDOW, Op, SHARED_WINDOW};
use crate::ptx::ast::{Instruction, Operand};
use crate::ptx::types::{Kind, Space, Type};
use Type::{B16, B32, B64, F32, F64, Pred, S16, S32, S64, U16, U32, U64};

impl Lower<'_> {
    pub(super) fn convert(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        match i.name.as_str() {
            "mov" => self.mov(i, m),
            "cvt" => self.cvt(i, m),
            _ => self.cvta(i, m),
        }
    }

    fn mov(&mut self, i: &Instruction, m: &Modifiers<'_>) -> Result<(), Error> {
        const ALLOWED: [Type; 12] = [Pred, B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64];
        let ty = self.only_type(i, m.ty(), &ALLOWED)?;
        match self.operands(i)? {
            [Operand::Vector(parts), a] => {
                let part = self.part(ty, parts.len())?;
                let a = self.source(a, ty)?;
                let whole = self.new_slot();
                self.emit(Op::Move { d: whole, a });
                for (n, d) in parts.iter().enumerate() {
                    if *d == Operand::Sink {
                        continue;
                    }
                    let d = self.destination(d, part)?;
                    let shift = self.constant((8 * part.size() * n) as u64);
                    let shifted = self.new_slot();
                    self.emit(Op::Binary {
                        f: word64::shr,
                        d: shifted,
                        a: whole,
                        b: shift,
                    });
                    let mask = self.constant((1 << (8 * part.size())) - 1);
                    self.emit(Op::Binary {
                        f: word64::and,
                        d,
                        a: shifted,
                        b: mask,
                    });
                }
                Ok(())
            }
            [d, Operand::Vector(parts)] => {
                let part = self.part(ty, parts.len())?;
                let mut whole = self.constant(0);
                for (n, a) in parts.iter().enumerate() {
                    let a = self.source(a, part)?;
                    let shift = self.constant((8 * part.size() * n) as u64);
                    let (shifted, joined) = (self.new_slot(), self.new_slot());
                    self.emit(Op::Binary {
                        f: word64::shl,
                        d: shifted,
                        a,
                        b: shift,
                    });
                    self.emit(Op::Binary {
                        f: word64::or,
                        d: joined,
                        a: whole,
                        b: shifted,
                    });
                    whole = joined;
                }
                let d = self.destination(d, ty)?;
                self.emit(Op::Move { d, a: whole });
                Ok(())
            }
            [d, a] => {
                let a = self.source(a, ty)?;
                let d = self.destination(d, ty)?;
                self.emit(Op::Move { d, a });
                Ok(())
            }
        }
    }

    /// The type of the parts when a value of type `ty` is packed of `count`.
    fn part(&self, ty: Type, count: usize) -> Result<Type, Error> {
        match (ty, count) {
            (B64, 2) => Ok(B32),
            (B64, 4) => Ok(B16),
            (B32, 2) => Ok(B16),
            _ => Err(self.illegal("no such packing")),
        }
    }

    fn cvt(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        let Some((to, from)) = m.two_types() else {
            return Err(self.unsupported("`cvt` of such types is not supported"));
        };
        let kinds = (to.kind(), from.kind());
        let no_value = |kind| matches!(kind, Kind::Pred | Kind::Bits);
        if no_value(kinds.0) || no_value(kinds.1) {
            return Err(self.illegal("`cvt` is between numeric types"));
        }
        let (integral, rounding) = (m.integral_rounding(), m.rounding());
        let (ftz, sat) = (m.take("ftz"), m.take("sat"));
        self.require(i, !ftz || to == F32 || from == F32, "`.ftz` is at f32")?;
        let float_to_float = to.is_float() && from.is_float();
        let holds = match (to.is_float(), from.is_float()) {
            // Rounding to an integer is required, and the only one allowed.
            (false, true) => integral.is_some() && rounding.is_none(),
            (true, false) => rounding.is_some() && integral.is_none(),
            (false, false) => integral.is_none() && rounding.is_none(),
            (true, true) if to.size() < from.size() => rounding.is_some() && integral.is_none(),
            (true, true) if to == from => rounding.is_none(),
            (true, true) => integral.is_none() && rounding.is_none(),
        };
        if !holds {
            return Err(self.illegal("rounding modifier required for `cvt`, or one too many"));
        }
        let [d, a] = self.operands(i)?;
        let a = self.wide_source(a, from)?;
        let (d, width) = self.wide_destination(d, to)?;
        let conversion = Conversion {
            to,
            from,
            rounding: integral.or(rounding).unwrap_or(Rounding::Nearest),
            integral: float_to_float && integral.is_some(),
            ftz,
            sat,
        };
        if sat || to.is_float() || from.is_float() {
            self.emit(Op::Convert { conversion, d, a });
        } else {
            // Plain integers: the common ones have functions of their own.
            match (to.size(), from) {
                (8, U32) | (4, U16) | (8, U16) => self.emit_truncate(d, a, from),
                (8, S32) => self.emit(Op::Unary {
                    f: sign_extend_32,
                    d,
                    a,
                }),
                (4, U64 | S64 | U32 | S32) => self.emit_truncate(d, a, U32),
                (8, U64 | S64) => self.emit(Op::Move { d, a }),
                _ => self.emit(Op::Convert { conversion, d, a }),
            }
        }
        if width > to.size() && to.is_signed() {
            let extend = Conversion {
                to: if width == 8 { S64 } else { S32 },
                from: to,
                sat: false,
                ..conversion
            };
            self.emit(Op::Convert {
                conversion: extend,
                d,
                a: d,
            });
        }
        Ok(())
    }

    fn emit_truncate(&mut self, d: u32, a: u32, ty: Type) {
        let f = if ty.size() == 2 { low_16 } else { low_32 };
        self.emit(Op::Unary { f, d, a });
    }

    /// Between the generic address space and another; global addresses are the same in both.
    fn cvta(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        let ty = self.only_type(i, m.ty(), &[U32, U64])?;
        let to = m.take("to");
        let space = m
            .space()
            .ok_or_else(|| self.illegal("`cvta` needs a state space"))?;
        let [d, a] = self.operands(i)?;
        let a = self.source(a, ty)?;
        let d = self.destination(d, ty)?;
        let window = match space {
            Space::Global | Space::Const => {
                self.emit(Op::Move { d, a });
                return Ok(());
            }
            Space::Shared => SHARED_WINDOW,
            Space::Local => LOCAL_WINDOW,
            _ => return Err(self.unsupported("`cvta` of parameters is not supported")),
        };
        self.require(i, ty == U64, "a generic address has 64 bits")?;
        let b = self.constant(window);
        self.emit(Op::Binary {
            f: if to { word64::sub } else { word64::add },
            d,
            a,
            b,
        });
        Ok(())
    }
}

fn sign_extend_32(a: u64) -> u64 {
    a as u32 as i32 as i64 as u64
}

fn low_32(a: u64) -> u64 {
    a & 0xffff_ffff
}

fn low_16(a: u64) -> u64 {
    a & 0xffff
}
