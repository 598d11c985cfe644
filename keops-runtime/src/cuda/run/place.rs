//! Inputs that are on the device already.
use super::*;
use crate::input::Split;

impl<T: Float> Run<'_, '_, '_, T> {
    /// Makes them slots.
    pub(super) fn place_inputs(&mut self) -> Result<(), Failure> {
        for (slot, rows) in self.call.inputs.iter().enumerate() {
            let Some(numbers) = rows.on_device() else {
                continue;
            };
            let count = self.rows(slot);
            let numbers = match rows.split() {
                None => numbers.clone(),
                Some(split) => self.regroup(numbers, self.bytes(slot, count)?, split)?,
            };
            self.slots[slot][0] = Some(Piece {
                numbers,
                rows: 0..count,
            });
        }
        Ok(())
    }

    /// Complex numbers of which others are to lie together: a copy of them. So it is where rows are read as one vector or matrix,
    /// or the other way round, which are few: each run is a copy of its own.
    fn regroup(&self, from: &Numbers, bytes: usize, split: Split) -> Result<Numbers, Failure> {
        if bytes == 0 {
            return Ok(Numbers::none());
        }
        let gpu = self.traffic[0].gpu;
        let block = gpu.allocate(Kind::Device, bytes)?;
        let number = size_of::<T>();
        let run = greatest_common_divisor(split.found, split.wanted);
        // Where a part of an element is, in bytes.
        let place = |element: usize, part: usize, together: usize| {
            let group = element / together * 2 + part;
            ((group * together + element % together) * number) as u64
        };
        for element in (0..bytes / (2 * number)).step_by(run) {
            for part in 0..2 {
                let to = block.address() + place(element, part, split.wanted);
                let from = from.address() + place(element, part, split.found);
                // SAFETY: both have so many bytes, and a run lies within a group of either.
                unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, run * number, gpu.stream()) }
                    .result()
                    .map_err(gpu.failed("cuMemcpyDtoDAsync"))?;
            }
        }
        Ok(Numbers::part(Arc::new(block), 0))
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
