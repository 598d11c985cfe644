//! Integer, logical and bit-field instructions.
use super::Lower;
use super::modifiers::Modifiers;
use super::operand::{is_bits, not_predicate};
use crate::error::Error;
use crate::math::integer as word;
use crate::math::{Binary, Ternary, bits};
use crate::op::Op;
use crate::ptx::ast::Instruction;
use crate::ptx::types::Type;
use Type::{B16, B32, B64, Pred, S16, S32, S64, U16, U32, U64};

const ARITHMETIC: [Type; 6] = [U16, U32, U64, S16, S32, S64];

/// A function of the module for an integer type.
macro_rules! by_type {
    ($ty:expr, $function:ident) => {
        match $ty {
            Type::S16 => word::s16::$function,
            Type::S32 => word::s32::$function,
            Type::S64 => word::s64::$function,
            Type::U16 | Type::B16 => word::u16::$function,
            Type::U32 | Type::B32 => word::u32::$function,
            _ => word::u64::$function,
        }
    };
}
pub(super) use by_type;

/// Twice as wide.
fn wider(ty: Type) -> Option<Type> {
    Some(match ty {
        U16 => U32,
        S16 => S32,
        U32 => U64,
        S32 => S64,
        _ => return None,
    })
}

impl Lower<'_> {
    pub(super) fn integer(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        match i.name.as_str() {
            "add" | "sub" => {
                if m.has("cc") {
                    return Err(self.unsupported("carries are not supported"));
                }
                let ty = self.only_type(i, m.ty(), &ARITHMETIC)?;
                let sat = m.take("sat");
                self.require(i, !sat || ty == S32, "`.sat` is at s32")?;
                let f: Binary = match (i.name.as_str(), sat) {
                    ("add", true) => word::add_sat_s32,
                    (_, true) => word::sub_sat_s32,
                    ("add", false) => by_type!(ty, add),
                    (_, false) => by_type!(ty, sub),
                };
                self.binary(i, ty, f)
            }
            "mul" | "mad" => self.product(i, m),
            "div" | "rem" => {
                let ty = self.only_type(i, m.ty(), &ARITHMETIC)?;
                let [_, _, divisor] = self.operands(i)?;
                let a = self.source(divisor, ty)?;
                self.emit(Op::CheckNonZero { a });
                let f: Binary = if i.name == "div" {
                    by_type!(ty, div)
                } else {
                    by_type!(ty, rem)
                };
                self.binary(i, ty, f)
            }
            "min" | "max" => {
                let ty = self.only_type(i, m.ty(), &ARITHMETIC)?;
                let f: Binary = if i.name == "min" {
                    by_type!(ty, min)
                } else {
                    by_type!(ty, max)
                };
                self.binary(i, ty, f)
            }
            "neg" | "abs" => {
                let ty = self.only_type(i, m.ty(), &[S16, S32, S64])?;
                self.unary(
                    i,
                    ty,
                    if i.name == "neg" {
                        by_type!(ty, neg)
                    } else {
                        by_type!(ty, abs)
                    },
                )
            }
            "and" | "or" | "xor" => {
                let ty = self.only_type(i, m.ty(), &[Pred, B16, B32, B64])?;
                let f: Binary = match i.name.as_str() {
                    "and" => by_type!(ty, and),
                    "or" => by_type!(ty, or),
                    _ => by_type!(ty, xor),
                };
                self.binary(i, ty, f)
            }
            "not" => {
                let ty = self.only_type(i, m.ty(), &[Pred, B16, B32, B64])?;
                self.unary(
                    i,
                    ty,
                    if ty == Pred {
                        not_predicate
                    } else {
                        by_type!(ty, not)
                    },
                )
            }
            "cnot" => {
                let ty = self.only_type(i, m.ty(), &[B16, B32, B64])?;
                self.unary(i, ty, |a| u64::from(a == 0))
            }
            "shl" | "shr" => {
                let allowed: &[Type] = if i.name == "shl" {
                    &[B16, B32, B64]
                } else {
                    &[B16, B32, B64, U16, U32, U64, S16, S32, S64]
                };
                let ty = self.only_type(i, m.ty(), allowed)?;
                let [d, a, b] = self.operands(i)?;
                let (a, b) = (self.source(a, ty)?, self.source(b, U32)?);
                let d = self.destination(d, ty)?;
                let f: Binary = if i.name == "shl" {
                    by_type!(ty, shl)
                } else {
                    by_type!(ty, shr)
                };
                self.emit(Op::Binary { f, d, a, b });
                Ok(())
            }
            "sad" => {
                let ty = self.only_type(i, m.ty(), &ARITHMETIC)?;
                self.ternary(i, ty, by_type!(ty, sad))
            }
            _ => self.bit_field(i, m),
        }
    }

    /// `mul` and `mad`, of which the low, the high or the whole product is wanted.
    fn product(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        let ty = self.only_type(i, m.ty(), &ARITHMETIC)?;
        let (lo, hi, wide) = (m.take("lo"), m.take("hi"), m.take("wide"));
        self.require(
            i,
            u8::from(lo) + u8::from(hi) + u8::from(wide) == 1,
            "one of `.lo`, `.hi`, `.wide` required",
        )?;
        let result = match wide {
            true => wider(ty).ok_or_else(|| self.illegal("`.wide` is for 16 and 32 bits"))?,
            false => ty,
        };
        if i.name == "mul" {
            let [d, a, b] = self.operands(i)?;
            let (a, b) = (self.source(a, ty)?, self.source(b, ty)?);
            let d = self.destination(d, result)?;
            let f: Binary = match (lo, hi) {
                (true, _) => by_type!(ty, mul_lo),
                (_, true) => by_type!(ty, mul_hi),
                _ => by_type!(ty, mul_wide),
            };
            self.emit(Op::Binary { f, d, a, b });
        } else {
            let [d, a, b, c] = self.operands(i)?;
            let (a, b, c) = (
                self.source(a, ty)?,
                self.source(b, ty)?,
                self.source(c, result)?,
            );
            let d = self.destination(d, result)?;
            let f: Ternary = match (lo, hi) {
                (true, _) => by_type!(ty, mad_lo),
                (_, true) => by_type!(ty, mad_hi),
                _ => by_type!(ty, mad_wide),
            };
            self.emit(Op::Ternary { f, d, a, b, c });
        }
        Ok(())
    }

    fn bit_field(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        let ty = m.ty();
        match i.name.as_str() {
            "popc" | "clz" | "bfind" => {
                let allowed: &[Type] = if i.name == "bfind" {
                    &[U32, U64, S32, S64]
                } else {
                    &[B32, B64]
                };
                let ty = self.only_type(i, ty, allowed)?;
                let [d, a] = self.operands(i)?;
                let a = self.source(a, ty)?;
                let d = self.destination(d, U32)?;
                let f = match (i.name.as_str(), ty) {
                    ("popc", B32) => bits::popc_32,
                    ("popc", _) => bits::popc_64,
                    ("clz", B32) => bits::clz_32,
                    ("clz", _) => bits::clz_64,
                    (_, U32) => bits::bfind_u32,
                    (_, S32) => bits::bfind_s32,
                    (_, U64) => bits::bfind_u64,
                    _ => bits::bfind_s64,
                };
                self.emit(Op::Unary { f, d, a });
            }
            "brev" => {
                let ty = self.only_type(i, ty, &[B32, B64])?;
                self.unary(
                    i,
                    ty,
                    if ty == B32 {
                        bits::brev_32
                    } else {
                        bits::brev_64
                    },
                )?;
            }
            "bfe" => {
                let ty = self.only_type(i, ty, &[U32, U64, S32, S64])?;
                let [d, a, b, c] = self.operands(i)?;
                let (a, b, c) = (
                    self.source(a, ty)?,
                    self.source(b, U32)?,
                    self.source(c, U32)?,
                );
                let d = self.destination(d, ty)?;
                let f = match ty {
                    U32 => bits::bfe_u32,
                    S32 => bits::bfe_s32,
                    U64 => bits::bfe_u64,
                    _ => bits::bfe_s64,
                };
                self.emit(Op::Ternary { f, d, a, b, c });
            }
            "bfi" => {
                let ty = self.only_type(i, ty, &[B32, B64])?;
                let [d, a, b, c, e] = self.operands(i)?;
                let s = [
                    self.source(a, ty)?,
                    self.source(b, ty)?,
                    self.source(c, U32)?,
                    self.source(e, U32)?,
                ];
                let d = self.destination(d, ty)?;
                self.emit(Op::Bfi {
                    wide: ty == B64,
                    d,
                    s,
                });
            }
            "prmt" => {
                let ty = self.only_type(i, ty, &[B32])?;
                self.ternary(i, ty, bits::prmt)?;
            }
            "lop3" => {
                let ty = self.only_type(i, ty, &[B32])?;
                let [d, a, b, c, table] = self.operands(i)?;
                let (a, b, c) = (
                    self.source(a, ty)?,
                    self.source(b, ty)?,
                    self.source(c, ty)?,
                );
                let table = self.immediate(table)? as u8;
                let d = self.destination(d, ty)?;
                self.emit(Op::Lop3 { d, a, b, c, table });
            }
            _ => {
                let ty = self.only_type(i, ty, &[B32])?;
                debug_assert!(is_bits(ty));
                let (left, right) = (m.take("l"), m.take("r"));
                let (wrap, clamp) = (m.take("wrap"), m.take("clamp"));
                self.require(
                    i,
                    left != right && wrap != clamp,
                    "direction and mode required",
                )?;
                let f = match (left, wrap) {
                    (true, true) => bits::shf_l_wrap,
                    (true, false) => bits::shf_l_clamp,
                    (false, true) => bits::shf_r_wrap,
                    (false, false) => bits::shf_r_clamp,
                };
                self.ternary(i, ty, f)?;
            }
        }
        Ok(())
    }
}
