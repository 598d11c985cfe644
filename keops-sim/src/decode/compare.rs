//! `setp`, `set`, `selp`, `slct`.
use super::Lower;
use super::integer::by_type;
use super::modifiers::Modifiers;
use super::operand::not_predicate;
use crate::error::Error;
use crate::math::float::{double_cmp, single, single_ftz};
use crate::math::integer as word;
use crate::math::{Binary, float};
use crate::op::{Op, Slot};
use crate::ptx::ast::{Instruction, Operand};
use crate::ptx::types::{Kind, Type};
use Type::{B16, B32, B64, F32, F64, Pred, S16, S32, S64, U16, U32, U64};

const COMPARED: [Type; 11] = [B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64];

const NAMES: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu",
    "geu", "num", "nan",
];

macro_rules! float_comparison {
    ($module:ident, $name:expr) => {
        match $name {
            "eq" => $module::eq,
            "ne" => $module::ne,
            "lt" => $module::lt,
            "le" => $module::le,
            "gt" => $module::gt,
            "ge" => $module::ge,
            "equ" => $module::equ,
            "neu" => $module::neu,
            "ltu" => $module::ltu,
            "leu" => $module::leu,
            "gtu" => $module::gtu,
            "geu" => $module::geu,
            "num" => $module::num,
            "nan" => $module::nan,
            _ => return None,
        }
    };
}

/// The comparison of that name at a type, if it exists there.
fn comparison(name: &str, ty: Type, ftz: bool) -> Option<Binary> {
    let kind = ty.kind();
    Some(match (kind, name) {
        (Kind::Float, name) => match (ty, ftz) {
            (F32, false) => float_comparison!(single, name),
            (F32, true) => float_comparison!(single_ftz, name),
            _ => float_comparison!(double_cmp, name),
        },
        (_, "eq") => by_type!(ty, eq),
        (_, "ne") => by_type!(ty, ne),
        (Kind::Unsigned, "lo") | (Kind::Unsigned | Kind::Signed, "lt") => by_type!(ty, lt),
        (Kind::Unsigned, "ls") | (Kind::Unsigned | Kind::Signed, "le") => by_type!(ty, le),
        (Kind::Unsigned, "hi") | (Kind::Unsigned | Kind::Signed, "gt") => by_type!(ty, gt),
        (Kind::Unsigned, "hs") | (Kind::Unsigned | Kind::Signed, "ge") => by_type!(ty, ge),
        _ => return None,
    })
}

impl Lower<'_> {
    pub(super) fn compare(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        match i.name.as_str() {
            "setp" => {
                let ty = self.only_type(i, m.ty(), &COMPARED)?;
                let Some((dst, rest)) = i.operands.split_first() else {
                    return Err(self.illegal("`setp` needs operands"));
                };
                let value = self.comparison(i, m, ty, rest)?;
                let (p, q) = self.pair(dst);
                if let Some(q) = q {
                    let d = self.destination(q, Pred)?;
                    // The complement of the comparison, combined the same way.
                    let complement = self.combine(i, m, value.0, value.1, true)?;
                    let result = self.combine(i, m, value.0, value.1, false)?;
                    self.emit(Op::Move { d, a: complement });
                    let d = self.destination(p, Pred)?;
                    self.emit(Op::Move { d, a: result });
                } else {
                    let result = self.combine(i, m, value.0, value.1, false)?;
                    let d = self.destination(p, Pred)?;
                    self.retarget(result, d);
                }
                for name in ["and", "or", "xor"] {
                    m.take(name);
                }
                Ok(())
            }
            "set" => {
                let Some((to, from)) = m.two_types() else {
                    return Err(self.illegal("`set` needs two types"));
                };
                self.require(
                    i,
                    COMPARED.contains(&from) && matches!(to, U32 | S32 | F32),
                    "no such types",
                )?;
                let Some((dst, rest)) = i.operands.split_first() else {
                    return Err(self.illegal("`set` needs operands"));
                };
                let value = self.comparison(i, m, from, rest)?;
                let p = self.combine(i, m, value.0, value.1, false)?;
                for name in ["and", "or", "xor"] {
                    m.take(name);
                }
                let one = if to == F32 {
                    u64::from(1f32.to_bits())
                } else {
                    0xffff_ffff
                };
                let (a, b) = (self.constant(one), self.constant(0));
                let d = self.destination(dst, to)?;
                self.emit(Op::Select { d, a, b, p });
                Ok(())
            }
            "selp" => {
                let ty = self.only_type(i, m.ty(), &COMPARED)?;
                let [d, a, b, p] = self.operands(i)?;
                let (a, b, p) = (self.source(a, ty)?, self.source(b, ty)?, self.predicate(p)?);
                let d = self.destination(d, ty)?;
                self.emit(Op::Select { d, a, b, p });
                Ok(())
            }
            _ => {
                m.take("ftz");
                let Some((ty, by)) = m.two_types() else {
                    return Err(self.illegal("`slct` needs two types"));
                };
                self.require(
                    i,
                    COMPARED.contains(&ty) && matches!(by, S32 | F32),
                    "no such types",
                )?;
                let [d, a, b, c] = self.operands(i)?;
                let (a, b, c) = (
                    self.source(a, ty)?,
                    self.source(b, ty)?,
                    self.source(c, by)?,
                );
                let d = self.destination(d, ty)?;
                let f = if by == F32 {
                    float::slct_f32
                } else {
                    word::slct_s32
                };
                self.emit(Op::Ternary { f, d, a, b, c });
                Ok(())
            }
        }
    }

    /// Compares a and b; the result's slot, and the slot of the third operand.
    fn comparison(
        &mut self,
        i: &Instruction,
        m: &mut Modifiers<'_>,
        ty: Type,
        operands: &[Operand],
    ) -> Result<(Slot, Option<Slot>), Error> {
        let ftz = ty == F32 && m.take("ftz");
        let combined = m.has("and") || m.has("or") || m.has("xor");
        let name = m.find(|name| NAMES.iter().find(|known| **known == name).copied());
        let name = name.ok_or_else(|| self.illegal(format!("`{}` needs a comparison", i.name)))?;
        let f = comparison(name, ty, ftz).ok_or_else(|| {
            self.illegal(format!(
                "no comparison `.{name}` at {}",
                format!("{ty:?}").to_lowercase()
            ))
        })?;
        let (a, b, c) = match operands {
            [a, b] if !combined => (a, b, None),
            [a, b, c] if combined => (a, b, Some(c)),
            _ => return Err(self.illegal(format!("wrong number of operands for `{}`", i.name))),
        };
        let (a, b) = (self.source(a, ty)?, self.source(b, ty)?);
        let c = c.map(|c| self.predicate(c)).transpose()?;
        let d = self.new_slot();
        self.emit(Op::Binary { f, d, a, b });
        Ok((d, c))
    }

    /// The comparison, or its complement, with the third operand.
    fn combine(
        &mut self,
        i: &Instruction,
        m: &Modifiers<'_>,
        value: Slot,
        c: Option<Slot>,
        complement: bool,
    ) -> Result<Slot, Error> {
        let mut value = value;
        if complement {
            let d = self.new_slot();
            self.emit(Op::Unary {
                f: not_predicate,
                d,
                a: value,
            });
            value = d;
        }
        let Some(b) = c else { return Ok(value) };
        let f: Binary = match (m.has("and"), m.has("or"), m.has("xor")) {
            (true, false, false) => word::u32::and,
            (false, true, false) => word::u32::or,
            (false, false, true) => word::u32::xor,
            _ => return Err(self.illegal(format!("one combination only for `{}`", i.name))),
        };
        let d = self.new_slot();
        self.emit(Op::Binary { f, d, a: value, b });
        Ok(d)
    }

    /// Lets the last operation, which wrote `from`, write `to` instead.
    fn retarget(&mut self, from: Slot, to: Slot) {
        if let Some(Op::Binary { d, .. } | Op::Unary { d, .. }) = self.ops.last_mut() {
            debug_assert_eq!(*d, from);
            *d = to;
        }
    }
}
