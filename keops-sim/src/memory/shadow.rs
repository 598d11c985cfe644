//! Who last read and wrote each byte, to find data races.
//!
//! Time is counted in *epochs*: a block starts one, and so does every barrier of all its threads. Blocks run one after
//! another, so an epoch belongs to one block. Two accesses of different threads are ordered if a barrier lies between
//! them (same block, different epochs), or a warp barrier (same warp, different warp epochs), or if they belong to
//! different launches. Everything else that touches the same byte, one of them writing, is a race; two atomics are not.

/// The thread that accesses memory, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// First epoch of the launch; of the block, for memory that the block does not share.
    pub(crate) launch: u32,
    /// First epoch of the block.
    pub(crate) block: u32,
    pub(crate) now: u32,
    /// Barriers of the thread's warp in this epoch.
    pub(crate) warp_epoch: u16,
    pub(crate) thread: u16,
    /// Where in the code, for messages.
    pub(crate) pc: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Atomic,
}

/// Epoch, thread and warp epoch of an access in 64 bits, in this order of significance: a later tag is a larger number, and
/// [`MANY`] the largest of an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tag(u64);

/// In place of a thread: several of one warp, whose number follows.
const WARP: u16 = 0x2000;
/// The access was atomic.
const ATOMIC: u16 = 0x4000;
/// In place of a thread: several of different warps.
const MANY: u16 = 0x8000;

impl Tag {
    #[inline(always)]
    fn new(clock: &Clock, flags: u16) -> Tag {
        Tag(u64::from(clock.now) << 32
            | u64::from(clock.thread | flags) << 16
            | u64::from(clock.warp_epoch))
    }
    fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }
    fn warp_epoch(self) -> u16 {
        self.0 as u16
    }
    fn who(self) -> u16 {
        (self.0 >> 16) as u16 & !ATOMIC
    }
    fn is_atomic(self) -> bool {
        (self.0 >> 16) as u16 & ATOMIC != 0
    }

    /// Its warp, if it is of one.
    fn warp(self) -> Option<u16> {
        match self.who() {
            who if who & MANY != 0 => None,
            who if who & WARP != 0 => Some(who & 31),
            who => Some(who / 32),
        }
    }

    /// Whether nothing orders the access before `clock`'s.
    fn is_concurrent(self, clock: &Clock) -> bool {
        if self.epoch() < clock.launch {
            return false;
        }
        if self.epoch() != clock.now {
            return self.epoch() < clock.block;
        }
        self.who() != clock.thread
            && !(self.warp() == Some(clock.thread / 32) && self.warp_epoch() < clock.warp_epoch)
    }

    /// The tag of this access and `clock`'s together, both in the same epoch.
    fn joined(self, clock: &Clock, flags: u16) -> Tag {
        let mine = Tag::new(clock, flags);
        if self.epoch() != clock.now || self.who() == clock.thread {
            return mine;
        }
        let warp = clock.thread / 32;
        let who = if self.warp() == Some(warp) {
            WARP | warp
        } else {
            MANY
        };
        let warp_epoch = self.warp_epoch().max(clock.warp_epoch);
        Tag(u64::from(clock.now) << 32 | u64::from(who | flags) << 16 | u64::from(warp_epoch))
    }
}

/// What is known of one cell.
#[derive(Clone, Copy, Default)]
struct Cell {
    write: Tag,
    read: Tag,
    /// A launch in which an earlier block read here too.
    foreign: u32,
    write_pc: u32,
    read_pc: u32,
}

/// A race: the other side of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// Offset of the byte or word.
    pub(crate) offset: usize,
    pub(crate) access: Access,
    /// The thread, if it is one, and of this block.
    pub(crate) thread: Option<u16>,
    pub(crate) other_block: bool,
    /// Where in the code it was.
    pub(crate) pc: u32,
}

/// Cells in a page; pages appear when they are touched.
const PAGE: usize = 1024;

/// The shadow of one region. Its cells stand for four bytes until a narrower access comes, then for one.
pub(crate) struct Shadow {
    shift: u32,
    bytes: usize,
    pages: Vec<Option<Box<[Cell]>>>,
}

impl Shadow {
    pub(crate) fn new(bytes: usize) -> Shadow {
        let mut shadow = Shadow {
            shift: 2,
            bytes,
            pages: Vec::new(),
        };
        shadow.pages.resize_with(shadow.page_count(), || None);
        shadow
    }

    fn page_count(&self) -> usize {
        self.bytes.div_ceil(PAGE << self.shift)
    }

    /// Gives every byte a cell of its own.
    #[cold]
    fn split(&mut self) {
        let old = std::mem::take(&mut self.pages);
        self.shift = 0;
        self.pages.resize_with(self.page_count(), || None);
        for (number, page) in old.into_iter().enumerate() {
            let Some(page) = page else { continue };
            for (n, cells) in page.chunks(PAGE / 4).enumerate() {
                if let Some(slot) = self.pages.get_mut(4 * number + n) {
                    *slot = Some(cells.iter().flat_map(|cell| [*cell; 4]).collect());
                }
            }
        }
    }

    /// Records an aligned access of `length` bytes, at most 16, all inside the region.
    #[inline(always)]
    pub(crate) fn access(
        &mut self,
        offset: usize,
        length: usize,
        access: Access,
        clock: &Clock,
    ) -> Result<(), Conflict> {
        if access == Access::Read && self.is_known_read(offset, length, clock) {
            return Ok(());
        }
        self.record(offset, length, access, clock)
    }

    /// Whether a read says nothing new: all was written before anything that could be concurrent, and is known to be read by
    /// this thread or by many in this epoch. Most reads are of this kind.
    #[inline(always)]
    fn is_known_read(&self, offset: usize, length: usize, clock: &Clock) -> bool {
        if self.shift != 2 || (offset | length) & 3 != 0 {
            return false;
        }
        let (first, last) = (offset / 4, (offset + length - 1) / 4);
        let Some(cells) = &self.pages[first / PAGE] else {
            return false;
        };
        let first_epoch = if clock.launch == clock.block {
            clock.now
        } else {
            clock.launch
        };
        let safe = u64::from(first_epoch) << 32;
        let many = u64::from(clock.now) << 32 | u64::from(MANY) << 16;
        let mine = Tag::new(clock, 0);
        let mut known = true;
        for cell in &cells[first % PAGE..=last % PAGE] {
            known &= cell.write.0 < safe && (cell.read.0 >= many || cell.read == mine);
        }
        known
    }

    #[inline(never)]
    fn record(
        &mut self,
        offset: usize,
        length: usize,
        access: Access,
        clock: &Clock,
    ) -> Result<(), Conflict> {
        if self.shift == 2 && (offset | length) & 3 != 0 {
            self.split();
        }
        let (first, last) = (offset >> self.shift, (offset + length - 1) >> self.shift);
        // An aligned access lies in one page.
        let cells =
            self.pages[first / PAGE].get_or_insert_with(|| vec![Cell::default(); PAGE].into());
        let cells = &mut cells[first % PAGE..=last % PAGE];
        for (n, cell) in cells.iter_mut().enumerate() {
            if let Err((access, tag)) = cell.access(access, clock) {
                return Err(Conflict {
                    offset: (first + n) << self.shift,
                    access,
                    thread: tag.map(Tag::who).filter(|who| who & (MANY | WARP) == 0),
                    other_block: tag.is_none_or(|tag| tag.epoch() != clock.now),
                    pc: if access == Access::Read {
                        cell.read_pc
                    } else {
                        cell.write_pc
                    },
                });
            }
        }
        Ok(())
    }
}

impl Cell {
    fn access(&mut self, access: Access, clock: &Clock) -> Result<(), (Access, Option<Tag>)> {
        let both_atomic = access == Access::Atomic && self.write.is_atomic();
        if self.write.is_concurrent(clock) && !both_atomic {
            let access = if self.write.is_atomic() {
                Access::Atomic
            } else {
                Access::Write
            };
            return Err((access, Some(self.write)));
        }
        if access == Access::Read {
            let mine = Tag::new(clock, 0);
            if self.read != mine {
                if self.read.epoch() >= clock.launch && self.read.epoch() < clock.block {
                    self.foreign = clock.launch;
                }
                self.read = self.read.joined(clock, 0);
                self.read_pc = clock.pc;
            }
            return Ok(());
        }
        if self.foreign == clock.launch && clock.launch != clock.block {
            return Err((Access::Read, None));
        }
        if self.read.is_concurrent(clock) {
            return Err((Access::Read, Some(self.read)));
        }
        self.write_pc = clock.pc;
        self.write = if both_atomic {
            self.write.joined(clock, ATOMIC)
        } else {
            Tag::new(clock, if access == Access::Atomic { ATOMIC } else { 0 })
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Access::*;

    fn clock(now: u32, thread: u16) -> Clock {
        Clock {
            launch: 10,
            block: 20,
            now,
            warp_epoch: 0,
            thread,
            pc: 0,
        }
    }

    #[test]
    fn a_barrier_orders_a_block() {
        let mut shadow = Shadow::new(64);
        shadow.access(0, 4, Write, &clock(20, 0)).unwrap();
        shadow.access(0, 4, Read, &clock(20, 0)).unwrap();
        let conflict = shadow.access(0, 4, Read, &clock(20, 1)).unwrap_err();
        assert_eq!(
            (conflict.access, conflict.thread, conflict.other_block),
            (Write, Some(0), false)
        );
        for thread in [1, 2, 40] {
            shadow.access(0, 16, Read, &clock(21, thread)).unwrap();
        }
        assert_eq!(
            shadow
                .access(0, 4, Write, &clock(21, 1))
                .unwrap_err()
                .access,
            Read
        );
        shadow.access(0, 4, Write, &clock(22, 1)).unwrap();
        assert_eq!(
            shadow
                .access(0, 4, Write, &clock(22, 2))
                .unwrap_err()
                .access,
            Write
        );
        // Neighbouring words are not concerned.
        shadow.access(4, 4, Write, &clock(22, 2)).unwrap();
    }

    #[test]
    fn blocks_of_a_launch_are_never_ordered_and_launches_are() {
        let mut shadow = Shadow::new(64);
        shadow.access(0, 4, Write, &clock(5, 3)).unwrap();
        shadow.access(0, 4, Read, &clock(25, 0)).unwrap();
        shadow
            .access(
                8,
                4,
                Write,
                &Clock {
                    block: 10,
                    ..clock(11, 0)
                },
            )
            .unwrap();
        let conflict = shadow.access(8, 4, Read, &clock(25, 0)).unwrap_err();
        assert!(conflict.other_block);
        // Read by an earlier block, then by this thread, which writes: the earlier block's read still counts.
        shadow
            .access(
                16,
                4,
                Read,
                &Clock {
                    block: 10,
                    ..clock(11, 0)
                },
            )
            .unwrap();
        shadow.access(16, 4, Read, &clock(25, 0)).unwrap();
        assert!(shadow.access(16, 4, Write, &clock(25, 0)).is_err());
    }

    #[test]
    fn warp_barriers_order_a_warp_only() {
        let mut shadow = Shadow::new(64);
        let later = |thread| Clock {
            warp_epoch: 1,
            ..clock(20, thread)
        };
        shadow.access(0, 4, Write, &clock(20, 0)).unwrap();
        shadow.access(0, 4, Read, &later(1)).unwrap();
        assert!(shadow.access(0, 4, Read, &later(32)).is_err());
        shadow.access(4, 4, Read, &clock(20, 0)).unwrap();
        shadow.access(4, 4, Read, &clock(20, 1)).unwrap();
        shadow.access(4, 4, Write, &later(2)).unwrap();
        shadow.access(8, 4, Read, &clock(20, 0)).unwrap();
        shadow.access(8, 4, Read, &clock(20, 33)).unwrap();
        assert!(shadow.access(8, 4, Write, &later(2)).is_err());
    }

    #[test]
    fn atomics_race_with_others_only() {
        let mut shadow = Shadow::new(64);
        for thread in 0..40 {
            shadow.access(0, 4, Atomic, &clock(20, thread)).unwrap();
        }
        assert!(shadow.access(0, 4, Read, &clock(20, 39)).is_err());
        shadow.access(0, 4, Read, &clock(21, 0)).unwrap();
        assert_eq!(
            shadow
                .access(0, 4, Atomic, &clock(21, 1))
                .unwrap_err()
                .access,
            Read
        );
    }

    #[test]
    fn narrow_accesses_are_told_apart() {
        let mut shadow = Shadow::new(6000);
        shadow.access(5000, 4, Write, &clock(20, 0)).unwrap();
        shadow.access(0, 1, Write, &clock(20, 0)).unwrap();
        shadow.access(1, 1, Write, &clock(20, 1)).unwrap();
        assert!(shadow.access(1, 1, Read, &clock(20, 0)).is_err());
        assert!(shadow.access(5002, 2, Read, &clock(20, 1)).is_err());
    }
}
