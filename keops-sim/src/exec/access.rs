//! State spaces: where an address leads, and all checks of an access.
use super::Launch;
use crate::error::{ErrorKind, Fault};
use crate::math::integer as word;
use crate::memory::Memory;
use crate::memory::region::Region;
use crate::memory::shadow::{Access, Clock, Conflict};
use crate::op::{Atomic, AtomicKind, LOCAL_WINDOW, NONE, SHARED_WINDOW, Transfer, WINDOW};
use crate::ptx::types::{Space, Type};

/// All that loads and stores reach.
pub(super) struct Spaces<'a> {
    launch: &'a Launch<'a>,
    memory: &'a mut Memory,
    shared: Region,
    /// Local memory of all threads, one after another.
    local: Region,
    local_bytes: usize,
    /// For each operation, the allocation that it last touched.
    hints: Vec<u32>,
    launch_epoch: u32,
    block_epoch: u32,
    thread: usize,
    /// Barriers of each warp since the last one of the block.
    pub(super) warp_epochs: Vec<u16>,
}

type Checked<T> = Result<T, Box<Fault>>;

impl<'a> Spaces<'a> {
    pub(super) fn new(
        memory: &'a mut Memory,
        launch: &'a Launch<'a>,
        threads: usize,
    ) -> Spaces<'a> {
        memory.epoch = memory.epoch.saturating_add(1);
        let launch_epoch = memory.epoch;
        Spaces {
            launch,
            shared: Region::new(launch.code.shared + launch.dynamic_shared as usize),
            // Each thread's part keeps the alignment of what is in it.
            local: Region::new(threads * launch.code.local.next_multiple_of(64)),
            local_bytes: launch.code.local,
            hints: vec![0; launch.code.ops.len()],
            launch_epoch,
            block_epoch: launch_epoch,
            thread: 0,
            warp_epochs: vec![0; threads.div_ceil(32)],
            memory,
        }
    }

    pub(super) fn start_block(&mut self) {
        self.next_epoch();
        self.block_epoch = self.memory.epoch;
        self.shared.forget();
        self.local.forget();
    }

    /// A barrier of the whole block orders all that came before it.
    pub(super) fn next_epoch(&mut self) {
        self.memory.epoch = self.memory.epoch.saturating_add(1);
        self.warp_epochs.fill(0);
    }

    pub(super) fn start_thread(&mut self, t: usize) {
        self.thread = t;
    }

    #[inline(always)]
    fn clock(&self, pc: usize, launch: u32) -> Clock {
        Clock {
            launch,
            block: self.block_epoch,
            now: self.memory.epoch,
            warp_epoch: self.warp_epochs[self.thread / 32],
            thread: self.thread as u16,
            pc: pc as u32,
        }
    }

    /// The space that a generic address is in, and the address there.
    #[inline(always)]
    fn resolve(space: Space, address: u64) -> (Space, u64) {
        match space {
            Space::Generic if address.wrapping_sub(SHARED_WINDOW) < WINDOW => {
                (Space::Shared, address - SHARED_WINDOW)
            }
            Space::Generic if address.wrapping_sub(LOCAL_WINDOW) < WINDOW => {
                (Space::Local, address - LOCAL_WINDOW)
            }
            Space::Generic => (Space::Global, address),
            space => (space, address),
        }
    }

    /// Checks alignment, bounds and races; the region and the offset.
    #[inline(always)]
    fn place(
        &mut self,
        pc: usize,
        space: Space,
        address: u64,
        length: usize,
        access: Access,
    ) -> Checked<(&mut Region, usize)> {
        let (space, address) = Spaces::resolve(space, address);
        if !address.is_multiple_of(length as u64) {
            return Err(Fault::new(
                ErrorKind::Misaligned,
                format!(
                    "{} address {address:#x} is no multiple of {length}",
                    space.name()
                ),
            ));
        }
        let races = self.launch.options.races;
        match space {
            Space::Shared => {
                let size = self.shared.len();
                if address > size as u64 || length > size - address as usize {
                    return Err(outside(space, address, length, size));
                }
                let offset = address as usize;
                if races {
                    let clock = self.clock(pc, self.block_epoch);
                    let checked = self.shared.shadow.access(offset, length, access, &clock);
                    checked.map_err(|conflict| self.race(space, conflict, access))?;
                }
                Ok((&mut self.shared, offset))
            }
            Space::Local => {
                let size = self.local_bytes;
                if address > size as u64 || length > size - address as usize {
                    return Err(outside(space, address, length, size));
                }
                let offset = self.thread * size.next_multiple_of(64) + address as usize;
                Ok((&mut self.local, offset))
            }
            _ => {
                let Some((index, offset)) =
                    self.memory
                        .locate_near(&mut self.hints[pc], address, length)
                else {
                    return Err(Fault::new(
                        ErrorKind::OutOfBounds,
                        format!(
                            "{length} bytes at {} address {address:#x} are in no allocation",
                            space.name()
                        ),
                    ));
                };
                let clock = self.clock(pc, self.launch_epoch);
                let region = self.memory.region(index);
                if access != Access::Read && region.read_only {
                    return Err(Fault::new(
                        ErrorKind::ReadOnly,
                        format!("a write to constant memory at {address:#x}"),
                    ));
                }
                if space == Space::Const && !region.read_only {
                    return Err(Fault::new(
                        ErrorKind::OutOfBounds,
                        format!("{address:#x} is not in constant memory"),
                    ));
                }
                if races && !region.read_only {
                    let checked = region.shadow.access(offset, length, access, &clock);
                    checked.map_err(|conflict| self.race(space, conflict, access))?;
                }
                Ok((self.memory.region(index), offset))
            }
        }
    }

    #[cold]
    fn race(&self, space: Space, conflict: Conflict, access: Access) -> Box<Fault> {
        let verb = |access| match access {
            Access::Read => "read",
            Access::Write => "written",
            Access::Atomic => "changed by an atomic",
        };
        let who = match conflict.thread {
            _ if conflict.other_block => "another block".to_owned(),
            Some(thread) => format!(
                "thread {:?}",
                super::block::position(self.launch.block, thread.into())
            ),
            None => "other threads".to_owned(),
        };
        let line = self
            .launch
            .code
            .lines
            .get(conflict.pc as usize)
            .copied()
            .unwrap_or(0);
        let offset = conflict.offset;
        Fault::new(
            ErrorKind::Race,
            format!(
                "{} memory, offset {offset}: {} here and {} by {who} in line {line}, with no barrier between",
                space.name(),
                verb(access),
                verb(conflict.access),
            ),
        )
    }

    pub(super) fn load(&mut self, pc: usize, t: &Transfer, slots: &mut [u64]) -> Checked<()> {
        let address = slots[t.base as usize].wrapping_add(i64::from(t.offset) as u64);
        let (size, count) = (t.ty.size(), t.count as usize);
        if t.space == Space::Param {
            return self.load_param(address, t, slots);
        }
        let uninitialized = self.launch.options.uninitialized;
        let (region, offset) = self.place(pc, t.space, address, size * count, Access::Read)?;
        let all_written = region.is_written(offset, size * count);
        for (n, slot) in t.slots[..count].iter().enumerate() {
            if *slot == NONE {
                continue;
            }
            let at = offset + n * size;
            if !all_written && uninitialized && !region.is_written(at, size) {
                return Err(unwritten(t.space, address, n, size));
            }
            slots[*slot as usize] = extended(region.get(at, size), t);
        }
        Ok(())
    }

    fn load_param(&self, address: u64, t: &Transfer, slots: &mut [u64]) -> Checked<()> {
        let params = self.launch.params;
        let (size, count) = (t.ty.size(), t.count as usize);
        let start = usize::try_from(address).unwrap_or(usize::MAX);
        let bytes = params.get(start..start.saturating_add(size * count));
        let bytes =
            bytes.ok_or_else(|| outside(Space::Param, address, size * count, params.len()))?;
        if start % (size * count) != 0 {
            return Err(Fault::new(
                ErrorKind::Misaligned,
                format!("param address {address} is no multiple of {size}"),
            ));
        }
        for (slot, bytes) in t.slots[..count].iter().zip(bytes.chunks_exact(size)) {
            if *slot != NONE {
                let value = bytes
                    .iter()
                    .rev()
                    .fold(0, |value, byte| value << 8 | u64::from(*byte));
                slots[*slot as usize] = extended(value, t);
            }
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn store(&mut self, pc: usize, t: &Transfer, slots: &[u64]) -> Checked<()> {
        let address = slots[t.base as usize].wrapping_add(i64::from(t.offset) as u64);
        let (size, count) = (t.ty.size(), t.count as usize);
        let (region, offset) = self.place(pc, t.space, address, size * count, Access::Write)?;
        for (n, slot) in t.slots[..count].iter().enumerate() {
            region.put(offset + n * size, size, slots[*slot as usize]);
        }
        Ok(())
    }

    pub(super) fn atomic(&mut self, pc: usize, o: &Atomic, slots: &mut [u64]) -> Checked<()> {
        let address = slots[o.base as usize].wrapping_add(i64::from(o.offset) as u64);
        let size = o.ty.size();
        let uninitialized = self.launch.options.uninitialized;
        let (space, _) = Spaces::resolve(o.space, address);
        let (region, offset) = self.place(pc, o.space, address, size, Access::Atomic)?;
        // An exchange whose old value nobody reads is a plain write.
        if uninitialized
            && !region.is_written(offset, size)
            && !(o.kind == AtomicKind::Exchange && o.d == NONE)
        {
            return Err(unwritten(o.space, address, 0, size));
        }
        let old = region.get(offset, size);
        let new = updated(o, space, old, slots[o.a as usize], slots[o.b as usize]);
        region.put(offset, size, new);
        if o.d != NONE {
            slots[o.d as usize] = old;
        }
        Ok(())
    }
}

#[cold]
fn outside(space: Space, address: u64, length: usize, size: usize) -> Box<Fault> {
    let message = format!(
        "{length} bytes at {} address {address:#x} are outside its {size} bytes",
        space.name()
    );
    Fault::new(ErrorKind::OutOfBounds, message)
}

#[cold]
fn unwritten(space: Space, address: u64, element: usize, size: usize) -> Box<Fault> {
    let at = address + (element * size) as u64;
    Fault::new(
        ErrorKind::Uninitialized,
        format!("{} address {at:#x} was never written", space.name()),
    )
}

/// A loaded value as its register holds it: signed ones are extended to the register's width.
#[inline(always)]
fn extended(value: u64, t: &Transfer) -> u64 {
    if !t.ty.is_signed() || t.register as usize <= t.ty.size() {
        return value;
    }
    let wide = crate::math::convert::integer(value, t.ty) as u64;
    if t.register == 8 {
        wide
    } else {
        wide & ((1 << (8 * u32::from(t.register))) - 1)
    }
}

/// What an atomic operation leaves in memory.
fn updated(o: &Atomic, space: Space, old: u64, a: u64, b: u64) -> u64 {
    let wide = o.ty.size() == 8;
    match (o.kind, o.ty) {
        (AtomicKind::Add, Type::F32) => {
            // In global memory subnormals are flushed, in shared memory they are not.
            crate::math::float::add_32(
                crate::math::round::Rounding::Nearest,
                space == Space::Global,
                false,
            )(old, a)
        }
        (AtomicKind::Add, Type::F64) => crate::math::float::double::add(old, a),
        (AtomicKind::Add, _) if wide => old.wrapping_add(a),
        (AtomicKind::Add, _) => word::u32::add(old, a),
        (AtomicKind::Min, Type::S32) => word::s32::min(old, a),
        (AtomicKind::Min, Type::S64) => word::s64::min(old, a),
        (AtomicKind::Min, _) => old.min(a),
        (AtomicKind::Max, Type::S32) => word::s32::max(old, a),
        (AtomicKind::Max, Type::S64) => word::s64::max(old, a),
        (AtomicKind::Max, _) => old.max(a),
        (AtomicKind::Exchange, _) => a,
        (AtomicKind::CompareAndSwap, _) => {
            if old == a {
                b
            } else {
                old
            }
        }
        (AtomicKind::And, _) => old & a,
        (AtomicKind::Or, _) => old | a,
        (AtomicKind::Xor, _) => old ^ a,
        (AtomicKind::Increment, _) => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        (AtomicKind::Decrement, _) => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
    }
}
