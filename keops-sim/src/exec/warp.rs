//! Instructions that the lanes of a warp execute together. They wait until every lane in the mask is there.
use super::block::{Block, State, Stop};
use crate::error::{ErrorKind, Fault};
use crate::op::{NONE, Op, Warp, WarpKind};

impl Block<'_> {
    /// Executes a warp instruction whose lanes are all there; whether there was one.
    pub(super) fn run_warp(&mut self, warp: usize) -> Result<bool, Stop> {
        let base = 32 * warp;
        let lanes = (self.threads.len() - base).min(32);
        let n = self.code.slots;
        let waiting: Vec<usize> = (0..lanes)
            .filter(|lane| self.threads[base + lane].state == State::Warp)
            .collect();
        for first in waiting {
            let pc = self.threads[base + first].pc;
            let Op::Warp(warp) = &self.code.ops[pc as usize] else {
                continue;
            };
            let get = |lane: usize, slot: u32| self.slots[(base + lane) * n + slot as usize];
            let mask = get(first, warp.mask) as u32;
            let stop = |message: String| {
                Err(Stop {
                    thread: base + first,
                    pc,
                    fault: Fault::new(ErrorKind::Barrier, message),
                })
            };
            if mask >> first & 1 == 0 {
                return stop(format!("lane {first} is not in its own mask {mask:#x}"));
            }
            let members: Vec<usize> = (0..32).filter(|lane| mask >> lane & 1 == 1).collect();
            if let Some(lane) = members
                .iter()
                .find(|lane| **lane >= lanes || self.threads[base + **lane].state == State::Done)
            {
                return stop(format!(
                    "waits for lane {lane} of its warp, which has ended"
                ));
            }
            let here = |lane: &usize| {
                let thread = &self.threads[base + lane];
                thread.state == State::Warp
                    && thread.pc == pc
                    && get(*lane, warp.mask) as u32 == mask
            };
            if !members.iter().all(here) {
                continue;
            }
            let results = match fold(warp, &members, mask, get) {
                Ok(results) => results,
                Err(message) => return stop(message),
            };
            if matches!(warp.kind, WarpKind::Synchronize) {
                let epoch = &mut self.spaces.warp_epochs[base / 32];
                *epoch = epoch.saturating_add(1);
            }
            for (lane, (d, p)) in members.iter().zip(results) {
                let slots = &mut self.slots[(base + lane) * n..][..n];
                if warp.d != NONE {
                    slots[warp.d as usize] = d;
                }
                if warp.p != NONE {
                    slots[warp.p as usize] = u64::from(p);
                }
                let thread = &mut self.threads[base + lane];
                thread.pc += 1;
                thread.state = State::Ready;
            }
            return Ok(true);
        }
        Ok(false)
    }
}

/// The results of every member.
fn fold(
    warp: &Warp,
    members: &[usize],
    mask: u32,
    get: impl Fn(usize, u32) -> u64,
) -> Result<Vec<(u64, bool)>, String> {
    let all = |value: u64| vec![(value, false); members.len()];
    let set = |f: &dyn Fn(usize) -> bool| {
        members
            .iter()
            .fold(0u64, |set, lane| set | u64::from(f(*lane)) << lane)
    };
    let votes = |lane: usize| get(lane, warp.a) & 1 == 1;
    let count = members.iter().filter(|lane| votes(**lane)).count();
    Ok(match warp.kind {
        WarpKind::Synchronize => all(0),
        WarpKind::VoteAll => all(u64::from(count == members.len())),
        WarpKind::VoteAny => all(u64::from(count > 0)),
        WarpKind::VoteUniform => all(u64::from(count == 0 || count == members.len())),
        WarpKind::Ballot => all(set(&votes)),
        WarpKind::MatchAny => members
            .iter()
            .map(|lane| (set(&|other| get(other, warp.a) == get(*lane, warp.a)), true))
            .collect(),
        WarpKind::MatchAll => {
            let same = members
                .iter()
                .all(|lane| get(*lane, warp.a) == get(members[0], warp.a));
            vec![(if same { u64::from(mask) } else { 0 }, same); members.len()]
        }
        WarpKind::Reduce(f) => {
            let rest = members[1..].iter().map(|lane| get(*lane, warp.a));
            all(rest.fold(get(members[0], warp.a), f))
        }
        _ => {
            let shuffled = members.iter().map(|lane| {
                let (from, valid) = source_lane(
                    warp.kind,
                    *lane as i64,
                    get(*lane, warp.b),
                    get(*lane, warp.c),
                );
                if mask >> from & 1 == 0 {
                    return Err(format!(
                        "lane {lane} reads lane {from}, which is not in the mask {mask:#x}"
                    ));
                }
                Ok((get(from as usize, warp.a), valid))
            });
            shuffled.collect::<Result<_, _>>()?
        }
    })
}

/// The lane that a shuffle reads, and whether that is the one asked for; otherwise it is the lane itself.
fn source_lane(kind: WarpKind, lane: i64, b: u64, c: u64) -> (i64, bool) {
    let b = (b & 31) as i64;
    let (clamp, segment) = ((c & 31) as i64, (c >> 8 & 31) as i64);
    let most = (lane & segment) | (clamp & !segment);
    let least = lane & segment;
    let (from, valid) = match kind {
        WarpKind::ShuffleUp => (lane - b, lane - b >= most),
        WarpKind::ShuffleDown => (lane + b, lane + b <= most),
        WarpKind::ShuffleButterfly => (lane ^ b, (lane ^ b) <= most),
        _ => (least | (b & !segment), (least | (b & !segment)) <= most),
    };
    (if valid { from } else { lane }, valid)
}
