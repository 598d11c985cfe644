//! Branches, ends, barriers and warp instructions.
use super::Lower;
use super::modifiers::Modifiers;
use crate::error::Error;
use crate::math::integer as word;
use crate::op::{Barrier, NONE, Op, Reduction, Slot, Warp, WarpKind};
use crate::ptx::ast::{Instruction, Operand};
use crate::ptx::types::Type;
use Type::{B32, B64, Pred, S32, U32};

impl Lower<'_> {
    /// `bra`, behind a predicate or not.
    pub(super) fn branch(
        &mut self,
        i: &Instruction,
        guard: Option<(Slot, bool)>,
    ) -> Result<(), Error> {
        let mut m = Modifiers::new(i);
        m.take("uni");
        if let Some(modifier) = m.unused() {
            return Err(self.illegal(format!("unexpected modifier `.{modifier}` of `bra`")));
        }
        let [Operand::Label(label)] = self.operands(i)? else {
            return Err(self.illegal("`bra` needs a label"));
        };
        let to = *label as u32;
        self.emit(match guard {
            None => Op::Jump { to },
            Some((p, false)) => Op::JumpIf { p, to },
            Some((p, true)) => Op::JumpUnless { p, to },
        });
        Ok(())
    }

    pub(super) fn control(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        match i.name.as_str() {
            "ret" | "exit" => {
                m.take("uni");
                let [] = self.operands(i)?;
                self.emit(Op::Exit);
            }
            "trap" | "brkpt" => {
                let [] = self.operands(i)?;
                self.emit(Op::Trap);
            }
            "brx" => {
                self.require(i, m.take("idx"), "`brx.idx` is the only form")?;
                m.take("uni");
                let [index, Operand::Label(list)] = self.operands(i)? else {
                    return Err(self.illegal("`brx` needs a list of labels"));
                };
                let a = self.source(index, U32)?;
                let list = self.function.tables.iter().find(|(label, _)| label == list);
                let (_, targets) =
                    list.ok_or_else(|| self.illegal("`brx` needs a list of labels"))?;
                let table = self.tables.len() as u32;
                self.tables
                    .push(targets.iter().map(|label| *label as u32).collect());
                self.emit(Op::Switch { table, a });
            }
            // Threads run one after another: what an earlier one wrote is there.
            "membar" | "fence" => {
                for name in [
                    "gl", "cta", "sys", "gpu", "cluster", "sc", "acq_rel", "acquire", "release",
                ] {
                    m.take(name);
                }
            }
            "nanosleep" => {
                m.ty();
            }
            "bar" | "barrier" => self.barrier(i, m)?,
            "shfl" | "vote" | "match" | "redux" => self.warp(i, m)?,
            "activemask" => {
                self.only_type(i, m.ty(), &[B32])?;
                let [d] = self.operands(i)?;
                let d = self.destination(d, B32)?;
                self.emit(Op::ActiveMask { d });
            }
            other => return Err(self.unsupported(format!("unknown instruction `{other}`"))),
        }
        Ok(())
    }

    fn barrier(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        m.take("cta");
        // The unaligned form may be reached by threads of a warp at different times, which is no matter here.
        m.take("aligned");
        if m.take("warp") {
            self.require(
                i,
                m.take("sync") && i.name == "bar",
                "`bar.warp.sync` is the only form",
            )?;
            let [mask] = self.operands(i)?;
            let mask = self.source(mask, B32)?;
            self.emit_warp(WarpKind::Synchronize, mask, NONE, NONE, [mask; 3]);
            return Ok(());
        }
        if m.has("arrive") {
            return Err(self.unsupported("`bar.arrive` is not supported"));
        }
        let reduction = m.take("red").then(|| {
            m.find(|name| match name {
                "popc" => Some(Reduction::Count),
                "and" => Some(Reduction::And),
                "or" => Some(Reduction::Or),
                _ => None,
            })
        });
        let (reduction, operands) = match reduction {
            None => {
                self.require(i, m.take("sync"), "`.sync` required")?;
                (None, &i.operands[..])
            }
            Some(kind) => {
                let kind = kind.ok_or_else(|| self.illegal("`bar.red` needs an operation"))?;
                let ty = if kind == Reduction::Count { U32 } else { Pred };
                let [d, rest @ .., p] = &i.operands[..] else {
                    return Err(self.illegal("`bar.red` needs operands"));
                };
                let p = self.predicate(p)?;
                (Some((kind, self.destination(d, ty)?, p)), rest)
            }
        };
        let (id, count) = match operands {
            [id] => (self.source(id, U32)?, NONE),
            [id, count] => (self.source(id, U32)?, self.source(count, U32)?),
            _ => return Err(self.illegal(format!("wrong number of operands for `{}`", i.name))),
        };
        let count = if count == NONE { id } else { count };
        let count = if operands.len() == 1 { NONE } else { count };
        self.emit(Op::Barrier(Box::new(Barrier {
            id,
            count,
            reduction,
        })));
        Ok(())
    }

    fn emit_warp(&mut self, kind: WarpKind, mask: Slot, d: Slot, p: Slot, s: [Slot; 3]) {
        let [a, b, c] = s;
        self.emit(Op::Warp(Box::new(Warp {
            kind,
            mask,
            d,
            p,
            a,
            b,
            c,
        })));
    }

    fn warp(&mut self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Error> {
        self.require(i, m.take("sync"), "`.sync` required")?;
        match i.name.as_str() {
            "shfl" => {
                let kind = m.find(|name| {
                    Some(match name {
                        "up" => WarpKind::ShuffleUp,
                        "down" => WarpKind::ShuffleDown,
                        "bfly" => WarpKind::ShuffleButterfly,
                        "idx" => WarpKind::ShuffleIndex,
                        _ => return None,
                    })
                });
                let kind = kind.ok_or_else(|| self.illegal("`shfl` needs a mode"))?;
                self.only_type(i, m.ty(), &[B32])?;
                let [d, a, b, c, mask] = self.operands(i)?;
                let s = [
                    self.source(a, B32)?,
                    self.source(b, B32)?,
                    self.source(c, B32)?,
                ];
                let mask = self.source(mask, B32)?;
                let (d, p) = self.pair(d);
                let d = self.destination(d, B32)?;
                let p = p.map_or(Ok(NONE), |p| self.destination(p, Pred))?;
                self.emit_warp(kind, mask, d, p, s);
            }
            "vote" => {
                let kind = m.find(|name| {
                    Some(match name {
                        "all" => WarpKind::VoteAll,
                        "any" => WarpKind::VoteAny,
                        "uni" => WarpKind::VoteUniform,
                        "ballot" => WarpKind::Ballot,
                        _ => return None,
                    })
                });
                let kind = kind.ok_or_else(|| self.illegal("`vote` needs a mode"))?;
                let ty = if matches!(kind, WarpKind::Ballot) {
                    B32
                } else {
                    Pred
                };
                self.only_type(i, m.ty(), &[ty])?;
                let [d, a, mask] = self.operands(i)?;
                let (a, mask) = (self.predicate(a)?, self.source(mask, B32)?);
                let d = self.destination(d, ty)?;
                self.emit_warp(kind, mask, d, NONE, [a; 3]);
            }
            "match" => {
                let all = m.take("all");
                self.require(i, all != m.take("any"), "`match` needs a mode")?;
                let ty = self.only_type(i, m.ty(), &[B32, B64])?;
                let [d, a, mask] = self.operands(i)?;
                let (a, mask) = (self.source(a, ty)?, self.source(mask, B32)?);
                let (d, p) = self.pair(d);
                let d = self.destination(d, B32)?;
                let p = p.map_or(Ok(NONE), |p| self.destination(p, Pred))?;
                self.emit_warp(
                    if all {
                        WarpKind::MatchAll
                    } else {
                        WarpKind::MatchAny
                    },
                    mask,
                    d,
                    p,
                    [a; 3],
                );
            }
            _ => {
                self.require_version(i, 80, (7, 0))?;
                let ty = self.only_type(i, m.ty(), &[B32, U32, S32])?;
                let f = m.find(|name| {
                    Some(match (name, ty) {
                        ("add", U32 | S32) => word::u32::add,
                        ("min", U32) => word::u32::min,
                        ("min", S32) => word::s32::min,
                        ("max", U32) => word::u32::max,
                        ("max", S32) => word::s32::max,
                        ("and", B32) => word::u32::and,
                        ("or", B32) => word::u32::or,
                        ("xor", B32) => word::u32::xor,
                        _ => return None,
                    })
                });
                let f = f.ok_or_else(|| self.illegal("`redux` has no such operation"))?;
                let [d, a, mask] = self.operands(i)?;
                let (a, mask) = (self.source(a, ty)?, self.source(mask, B32)?);
                let d = self.destination(d, ty)?;
                self.emit_warp(WarpKind::Reduce(f), mask, d, NONE, [a; 3]);
            }
        }
        Ok(())
    }
}
