//! Barriers of a block.
//!
//! Stricter than PTX, which lets threads that have ended count as arrived and warps wait at different instructions: every
//! thread of the block must be at the same barrier instruction. Kernels that rely on more are wrong on some hardware.
use super::block::{Block, State, Stop};
use crate::error::{ErrorKind, Fault};
use crate::op::{NONE, Op, Reduction};

impl Block<'_> {
    /// Releases the block from its barrier. Called when no thread can run.
    pub(super) fn pass_barrier(&mut self) -> Result<(), Stop> {
        let waiting = |t: &usize| self.threads[*t].state == State::Barrier;
        let Some(first) = (0..self.threads.len()).find(waiting) else {
            return Err(self.stuck_warp());
        };
        let pc = self.threads[first].pc;
        let stop = |thread: usize, message: String| {
            Err(Stop {
                thread,
                pc,
                fault: Fault::new(ErrorKind::Barrier, message),
            })
        };
        for (t, thread) in self.threads.iter().enumerate() {
            let place = super::block::position(self.launch.block, t as u32);
            let line = self.code.lines[thread.pc as usize];
            match thread.state {
                State::Barrier if thread.pc == pc => {}
                State::Done => {
                    return stop(
                        first,
                        format!(
                            "waits at a barrier that thread {place:?} does not reach: it has ended"
                        ),
                    );
                }
                State::Barrier => {
                    return stop(
                        first,
                        format!(
                            "waits at a barrier while thread {place:?} waits at another in line {line}"
                        ),
                    );
                }
                _ => {
                    return stop(
                        first,
                        format!(
                            "waits at a barrier while thread {place:?} waits for its warp in line {line}"
                        ),
                    );
                }
            }
        }
        let Op::Barrier(barrier) = &self.code.ops[pc as usize] else {
            return stop(first, "not a barrier".to_owned());
        };
        let n = self.code.slots;
        let get = |t: usize, slot: u32| self.slots[t * n + slot as usize];
        let id = get(first, barrier.id);
        if id > 15 {
            return stop(first, format!("barrier {id} does not exist"));
        }
        for t in 0..self.threads.len() {
            if get(t, barrier.id) != id {
                return stop(
                    first,
                    format!(
                        "waits at barrier {id} while another thread waits at {}",
                        get(t, barrier.id)
                    ),
                );
            }
            if barrier.count != NONE && get(t, barrier.count) != self.threads.len() as u64 {
                return stop(
                    first,
                    format!(
                        "a barrier for {} threads only is not supported",
                        get(t, barrier.count)
                    ),
                );
            }
        }
        if let Some((kind, d, p)) = barrier.reduction {
            let count = (0..self.threads.len())
                .filter(|t| get(*t, p) & 1 == 1)
                .count();
            let result = match kind {
                Reduction::Count => count as u64,
                Reduction::And => u64::from(count == self.threads.len()),
                Reduction::Or => u64::from(count > 0),
            };
            for t in 0..self.threads.len() {
                self.slots[t * n + d as usize] = result;
            }
        }
        for thread in &mut self.threads {
            thread.pc += 1;
            thread.state = State::Ready;
        }
        self.stats.barriers += 1;
        self.spaces.next_epoch();
        Ok(())
    }

    /// Nobody can run and nobody is at a barrier: some lanes wait for others of their warp.
    fn stuck_warp(&self) -> Stop {
        let waiting = (0..self.threads.len())
            .find(|t| self.threads[*t].state == State::Warp)
            .unwrap_or(0);
        let message = "waits for lanes of its warp that do not come".to_owned();
        Stop {
            thread: waiting,
            pc: self.threads[waiting].pc,
            fault: Fault::new(ErrorKind::Barrier, message),
        }
    }
}
