//! Floating-point instructions.
use super::Lower;
use super::modifiers::Modifiers;
use crate::error::Error;
use crate::math::approx::Function;
use crate::math::float::{self, double};
use crate::math::round::Rounding;
use crate::math::{Binary, Ternary, Unary};
use crate::op::Op;
use crate::ptx::ast::Instruction;
use crate::ptx::types::Type;
use Type::{F32, F64};

impl Lower<'_> {
    pub(super) fn float(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        let ty = self.only_type(i, m.ty(), &[F32, F64])?;
        let rounding = m.rounding();
        let approx = m.take("approx");
        let single = ty == F32;
        // At f64, only the gross reciprocals have `.ftz`.
        let gross =
            !single && approx && matches!(i.name.as_str(), "rcp" | "rsqrt") && m.take("ftz");
        let ftz = single && m.take("ftz");
        if !single && rounding.is_some_and(|rounding| rounding != Rounding::Nearest) {
            return Err(self.unsupported("directed rounding at f64 is not supported"));
        }
        let nearest = rounding.unwrap_or(Rounding::Nearest);
        match i.name.as_str() {
            "add" | "sub" | "mul" => {
                let sat = single && m.take("sat");
                self.refuse(i, approx, "approx")?;
                let f = match (i.name.as_str(), single) {
                    ("add", true) => float::add_32(nearest, ftz, sat),
                    ("sub", true) => float::sub_32(nearest, ftz, sat),
                    (_, true) => float::mul_32(nearest, ftz, sat),
                    ("add", false) => double::add,
                    ("sub", false) => double::sub,
                    (_, false) => double::mul,
                };
                self.binary(i, ty, f)
            }
            "fma" | "mad" => {
                let sat = single && m.take("sat");
                if rounding.is_none() {
                    return Err(
                        self.illegal(format!("rounding modifier required for `{}`", i.name))
                    );
                }
                self.ternary(
                    i,
                    ty,
                    if single {
                        float::fma_32(nearest, ftz, sat)
                    } else {
                        double::fma
                    },
                )
            }
            "div" => {
                if m.take("full") {
                    self.require(
                        i,
                        single && !approx && rounding.is_none(),
                        "`div.full` is at f32",
                    )?;
                    return self.approximate(i, Function::DivFull, ftz, ty);
                }
                if approx {
                    self.require(i, single && rounding.is_none(), "`div.approx` is at f32")?;
                    return self.approximate(i, Function::Div, ftz, ty);
                }
                self.exact(rounding, "div")?;
                self.binary(
                    i,
                    ty,
                    if single {
                        float::div_32(ftz)
                    } else {
                        double::div
                    },
                )
            }
            "rcp" | "sqrt" => {
                let function = match (i.name.as_str(), single) {
                    ("rcp", true) => Function::Rcp,
                    ("rcp", false) => Function::Rcp64,
                    _ => Function::Sqrt,
                };
                if approx {
                    let exists = if single {
                        true
                    } else {
                        function == Function::Rcp64 && gross
                    };
                    self.require(i, exists && rounding.is_none(), "no such approximation")?;
                    return self.approximate(i, function, ftz, ty);
                }
                self.exact(rounding, &i.name)?;
                let f: Unary = match (i.name.as_str(), single) {
                    ("rcp", true) => float::rcp_32(ftz),
                    ("rcp", false) => double::rcp,
                    (_, true) => float::sqrt_32(ftz),
                    (_, false) => double::sqrt,
                };
                self.unary(i, ty, f)
            }
            "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => {
                let function = match i.name.as_str() {
                    "rsqrt" if gross => Function::Rsqrt64Gross,
                    "rsqrt" if !single => Function::Rsqrt64,
                    "rsqrt" => Function::Rsqrt,
                    "ex2" => Function::Ex2,
                    "lg2" => Function::Lg2,
                    "sin" => Function::Sin,
                    "cos" => Function::Cos,
                    _ => Function::Tanh,
                };
                if !single && i.name != "rsqrt" {
                    return Err(self.illegal(format!("`{}` does not exist at f64", i.name)));
                }
                self.require(i, approx && rounding.is_none(), "`.approx` required")?;
                if function == Function::Tanh {
                    self.require_version(i, 75, (7, 0))?;
                    self.refuse(i, ftz, "ftz")?;
                }
                self.approximate(i, function, ftz, ty)
            }
            "neg" | "abs" => {
                self.refuse(i, rounding.is_some() || approx, "rounding")?;
                let f = match (i.name.as_str(), single) {
                    ("neg", true) => float::neg_32(ftz),
                    ("neg", false) => double::neg,
                    (_, true) => float::abs_32(ftz),
                    (_, false) => double::abs,
                };
                self.unary(i, ty, f)
            }
            "min" | "max" => {
                self.refuse(i, rounding.is_some() || approx, "rounding")?;
                let nan = single && m.take("NaN");
                if nan {
                    self.require_version(i, 80, (7, 0))?;
                }
                let f = match (i.name.as_str(), single) {
                    ("min", true) => float::min_32(ftz, nan),
                    ("max", true) => float::max_32(ftz, nan),
                    ("min", false) => double::min,
                    _ => double::max,
                };
                self.binary(i, ty, f)
            }
            _ => {
                self.refuse(i, rounding.is_some() || approx || ftz, "rounding")?;
                self.binary(
                    i,
                    ty,
                    if single {
                        float::copysign_32
                    } else {
                        double::copysign
                    },
                )
            }
        }
    }

    pub(super) fn require(&self, i: &Instruction, holds: bool, message: &str) -> Result<(), Error> {
        if holds {
            Ok(())
        } else {
            Err(self.illegal(format!("{message} (`{}`)", i.name)))
        }
    }

    fn refuse(&self, i: &Instruction, present: bool, modifier: &str) -> Result<(), Error> {
        self.require(i, !present, &format!("`.{modifier}` does not go here"))
    }

    /// Division and roots name their rounding, which is to nearest here.
    fn exact(&self, rounding: Option<Rounding>, name: &str) -> Result<(), Error> {
        match rounding {
            Some(Rounding::Nearest) => Ok(()),
            Some(_) => {
                Err(self.unsupported(format!("directed rounding of `{name}` is not supported")))
            }
            None => Err(self.illegal(format!("rounding modifier required for `{name}`"))),
        }
    }

    /// The least target and version of an instruction.
    pub(super) fn require_version(
        &self,
        i: &Instruction,
        target: u32,
        version: (u32, u32),
    ) -> Result<(), Error> {
        if self.module.target >= target && self.module.version >= version {
            return Ok(());
        }
        let (major, minor) = version;
        Err(self.illegal(format!(
            "`{}` needs sm_{target} and PTX {major}.{minor}",
            i.name
        )))
    }

    pub(super) fn unary(&mut self, i: &Instruction, ty: Type, f: Unary) -> Result<(), Error> {
        let [d, a] = self.operands(i)?;
        let a = self.source(a, ty)?;
        let d = self.destination(d, ty)?;
        self.emit(Op::Unary { f, d, a });
        Ok(())
    }

    pub(super) fn binary(&mut self, i: &Instruction, ty: Type, f: Binary) -> Result<(), Error> {
        let [d, a, b] = self.operands(i)?;
        let (a, b) = (self.source(a, ty)?, self.source(b, ty)?);
        let d = self.destination(d, ty)?;
        self.emit(Op::Binary { f, d, a, b });
        Ok(())
    }

    pub(super) fn ternary(&mut self, i: &Instruction, ty: Type, f: Ternary) -> Result<(), Error> {
        let [d, a, b, c] = self.operands(i)?;
        let (a, b, c) = (
            self.source(a, ty)?,
            self.source(b, ty)?,
            self.source(c, ty)?,
        );
        let d = self.destination(d, ty)?;
        self.emit(Op::Ternary { f, d, a, b, c });
        Ok(())
    }

    fn approximate(
        &mut self,
        i: &Instruction,
        function: Function,
        ftz: bool,
        ty: Type,
    ) -> Result<(), Error> {
        let (d, a, b) = if matches!(function, Function::Div | Function::DivFull) {
            let [d, a, b] = self.operands(i)?;
            (d, a, self.source(b, ty)?)
        } else {
            let [d, a] = self.operands(i)?;
            (d, a, self.constant(0))
        };
        let a = self.source(a, ty)?;
        let d = self.destination(d, ty)?;
        self.emit(Op::Approx {
            function,
            ftz,
            d,
            a,
            b,
        });
        Ok(())
    }
}
