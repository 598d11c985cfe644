//! The interpreter's loop: one thread, until it waits for others or ends.
use super::block::{Block, State, Stop};
use crate::error::{ErrorKind, Fault};
use crate::math::{approx, bits, convert};
use crate::op::Op;

impl Block<'_> {
    /// Runs thread `t` from its program counter on.
    pub(super) fn run_thread(&mut self, t: usize) -> Result<(), Stop> {
        let ops = &self.code.ops[..];
        let n = self.code.slots;
        let slots = &mut self.slots[t * n..(t + 1) * n];
        let bias = self.launch.options.bias;
        let mut pc = self.threads[t].pc as usize;
        let mut budget = self.budget;
        self.spaces.start_thread(t);
        let waits = loop {
            if budget == 0 {
                let message = format!("more than {} instructions", self.launch.options.budget);
                return Err(Stop {
                    thread: t,
                    pc: pc as u32,
                    fault: Fault::new(ErrorKind::Budget, message),
                });
            }
            budget -= 1;
            let step = match &ops[pc] {
                &Op::Unary { f, d, a } => {
                    slots[d as usize] = f(slots[a as usize]);
                    pc += 1;
                    continue;
                }
                &Op::Binary { f, d, a, b } => {
                    slots[d as usize] = f(slots[a as usize], slots[b as usize]);
                    pc += 1;
                    continue;
                }
                &Op::Ternary { f, d, a, b, c } => {
                    slots[d as usize] = f(slots[a as usize], slots[b as usize], slots[c as usize]);
                    pc += 1;
                    continue;
                }
                &Op::Move { d, a } => {
                    slots[d as usize] = slots[a as usize];
                    pc += 1;
                    continue;
                }
                &Op::Select { d, a, b, p } => {
                    slots[d as usize] = if slots[p as usize] & 1 == 1 {
                        slots[a as usize]
                    } else {
                        slots[b as usize]
                    };
                    pc += 1;
                    continue;
                }
                &Op::Approx {
                    function,
                    ftz,
                    d,
                    a,
                    b,
                } => {
                    slots[d as usize] =
                        approx::run(function, ftz, bias, slots[a as usize], slots[b as usize]);
                    pc += 1;
                    continue;
                }
                &Op::JumpIf { p, to } => {
                    pc = if slots[p as usize] & 1 == 1 {
                        to as usize
                    } else {
                        pc + 1
                    };
                    continue;
                }
                &Op::JumpUnless { p, to } => {
                    pc = if slots[p as usize] & 1 == 1 {
                        pc + 1
                    } else {
                        to as usize
                    };
                    continue;
                }
                &Op::Jump { to } => {
                    pc = to as usize;
                    continue;
                }
                Op::Load(transfer) => self.spaces.load(pc, transfer, slots),
                Op::Store(transfer) => self.spaces.store(pc, transfer, slots),
                &Op::Convert { conversion, d, a } => {
                    slots[d as usize] = convert::run(conversion, slots[a as usize]);
                    pc += 1;
                    continue;
                }
                &Op::Lop3 { d, a, b, c, table } => {
                    slots[d as usize] = bits::lop3(
                        slots[a as usize],
                        slots[b as usize],
                        slots[c as usize],
                        table,
                    );
                    pc += 1;
                    continue;
                }
                &Op::Bfi { wide, d, s } => {
                    let [a, b, c, e] = s.map(|slot| slots[slot as usize]);
                    slots[d as usize] = bits::bfi(a, b, c, e, if wide { 64 } else { 32 });
                    pc += 1;
                    continue;
                }
                &Op::Switch { table, a } => {
                    match self.code.tables[table as usize].get(slots[a as usize] as usize) {
                        Some(to) => {
                            pc = *to as usize;
                            continue;
                        }
                        None => Err(Fault::new(
                            ErrorKind::OutOfBounds,
                            format!("entry {} of a jump table", slots[a as usize]),
                        )),
                    }
                }
                Op::Atomic(atomic) => self.spaces.atomic(pc, atomic, slots),
                &Op::ActiveMask { d } => {
                    // Every lane that has not ended may be here; the interpreter runs them one by one.
                    let first = t / 32 * 32;
                    let lanes = self.threads[first..].iter().take(32).enumerate();
                    slots[d as usize] = lanes.fold(0, |mask, (lane, thread)| {
                        mask | u64::from(thread.state != State::Done) << lane
                    });
                    Ok(())
                }
                &Op::CheckNonZero { a } if slots[a as usize] == 0 => Err(Fault::new(
                    ErrorKind::DivisionByZero,
                    "division by zero".to_owned(),
                )),
                &Op::CheckWritten { flag, register } if slots[flag as usize] == 0 => {
                    Err(Fault::new(
                        ErrorKind::Uninitialized,
                        format!("register {register} was never written"),
                    ))
                }
                Op::CheckNonZero { .. } | Op::CheckWritten { .. } => Ok(()),
                Op::Barrier(_) => break State::Barrier,
                Op::Warp(_) => break State::Warp,
                Op::Exit => break State::Done,
                Op::Trap => Err(Fault::new(ErrorKind::Trap, "trap".to_owned())),
            };
            if let Err(fault) = step {
                return Err(Stop {
                    thread: t,
                    pc: pc as u32,
                    fault,
                });
            }
            pc += 1;
        };
        self.budget = budget;
        self.threads[t].pc = pc as u32;
        self.threads[t].state = waits;
        Ok(())
    }
}
