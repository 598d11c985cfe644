//! What comes down: slots in pieces, from all devices at once, and the outputs made of them.
use super::*;

impl<T: Float> Run<'_, '_, '_, T> {
    /// Downloads the slots. `take` is given, in pieces, the number in `slots`, an offset in the bytes of all its rows, and
    /// the bytes there. At the end nothing is under way.
    pub(super) fn fetch(
        &mut self,
        slots: &[usize],
        mut take: impl FnMut(usize, usize, *const u8, usize),
    ) -> Result<(), Failure> {
        type Queue = Vec<(usize, usize, Arriving)>;
        let several = self.traffic.len() > 1;
        let mut queues: Vec<Queue> = self.traffic.iter().map(|_| Vec::new()).collect();
        let mut settle = |traffic: &mut Traffic, queue: &mut Queue| {
            let (places, arriving): (Vec<_>, Vec<_>) = std::mem::take(queue)
                .into_iter()
                .map(|(k, offset, arriving)| ((k, offset), arriving))
                .unzip();
            traffic.wait_for(&arriving, |n, from| {
                take(places[n].0, places[n].1, from, arriving[n].bytes);
            })
        };
        for (k, &slot) in slots.iter().enumerate() {
            let row = self.row_bytes(slot);
            let mut done = 0;
            for (device, queue) in queues.iter_mut().enumerate() {
                let Some(piece) = self.slots[slot][device].clone() else {
                    continue;
                };
                // A slot that several devices have whole comes from the first.
                if piece.rows.start != done || piece.rows.is_empty() {
                    continue;
                }
                done = piece.rows.end;
                let _bound = self.bind(device)?;
                for part in chunks(piece.rows.len() * row) {
                    let traffic = &mut self.traffic[device];
                    if traffic.is_full() {
                        settle(traffic, queue)?;
                    }
                    // SAFETY: the piece's numbers have so many bytes, and what makes them is queued.
                    let arriving = unsafe {
                        traffic.fetch(piece.numbers.address() + part.start as u64, part.len())?
                    };
                    queue.push((k, piece.rows.start * row + part.start, arriving));
                }
            }
        }
        for (traffic, queue) in self.traffic.iter_mut().zip(&mut queues) {
            if !queue.is_empty() {
                let _bound = match several {
                    true => Some(traffic.gpu.bind()?),
                    false => None,
                };
                settle(traffic, queue)?;
            }
        }
        Ok(())
    }

    /// The outputs.
    pub(super) fn collect(mut self) -> Result<Vec<Value<T>>, Failure> {
        let call = self.call;
        let rows = |run: &Self, slot: usize| run.layouts[slot].axis.map(|_| run.rows(slot));
        if call.stays {
            return call
                .function
                .outputs
                .iter()
                .map(|&slot| {
                    let numbers = self.slots[slot][0]
                        .clone()
                        .map_or_else(Numbers::none, |piece| piece.numbers);
                    Ok(Value {
                        rows: rows(&self, slot),
                        shape: self.layouts[slot].shape,
                        data: Data::Device(self.traffic[0].gpu, numbers),
                    })
                })
                .collect();
        }
        // Each slot once, whether it is returned once or more often.
        let mut slots: Vec<usize> = call.function.outputs.to_vec();
        slots.sort_unstable();
        slots.dedup();
        slots.retain(|&slot| self.is_on_device(slot));
        let mut data: Vec<Data<T>> = Vec::with_capacity(slots.len());
        for &slot in &slots {
            let layout = self.layouts[slot];
            let count = self.rows(slot).saturating_mul(layout.shape.len());
            data.push(if layout.index {
                Data::Indices(reserve(count)?)
            } else {
                Data::Values(reserve(count)?)
            });
        }
        self.fetch(&slots, |k, offset, from, bytes| {
            // SAFETY: the vectors have room for all numbers of their slot, the pieces are within it, and pinned memory is
            // aligned for them; a piece holds whole numbers.
            unsafe {
                match &mut data[k] {
                    Data::Values(values) => values
                        .as_mut_ptr()
                        .cast::<u8>()
                        .add(offset)
                        .copy_from_nonoverlapping(from, bytes),
                    Data::Indices(indices) => {
                        let (to, from) = (indices.as_mut_ptr().add(offset / 4), from.cast::<u32>());
                        for c in 0..bytes / 4 {
                            let index = *from.add(c);
                            *to.add(c) = if index == NONE {
                                usize::MAX
                            } else {
                                index as usize
                            };
                        }
                    }
                    Data::Device(..) => {}
                }
            }
        })?;
        for (&slot, data) in slots.iter().zip(&mut data) {
            let count = self.rows(slot) * self.layouts[slot].shape.len();
            // SAFETY: the pieces have written all numbers, as many as were reserved.
            unsafe {
                match data {
                    Data::Values(values) => values.set_len(count),
                    Data::Indices(indices) => indices.set_len(count),
                    Data::Device(..) => {}
                }
            }
        }
        let mut data: Vec<Option<Data<T>>> = data.into_iter().map(Some).collect();
        let out_of_memory = |bytes| Failure::Memory {
            purpose: "of output",
            bytes,
        };
        call.function
            .outputs
            .iter()
            .enumerate()
            .map(|(n, slot)| {
                let again = call.function.outputs[n + 1..].contains(slot);
                let slot = *slot;
                let data = match slots.binary_search(&slot) {
                    Ok(k) if again => match &data[k] {
                        Some(data) => data.try_clone().map_err(out_of_memory)?,
                        None => unreachable!("taken at its last use"),
                    },
                    Ok(k) => match data[k].take() {
                        Some(data) => data,
                        None => unreachable!("taken at its last use"),
                    },
                    Err(_) => {
                        let source = call.inputs[slot].source();
                        Data::Values(source.to_vec().map_err(out_of_memory)?)
                    }
                };
                Ok(Value {
                    rows: rows(&self, slot),
                    shape: self.layouts[slot].shape,
                    data,
                })
            })
            .collect()
    }
}

/// A vector with room for `count` numbers.
fn reserve<E>(count: usize) -> Result<Vec<E>, Failure> {
    let mut vector = Vec::new();
    vector
        .try_reserve_exact(count)
        .map_err(|_| Failure::Memory {
            purpose: "of output",
            bytes: count.saturating_mul(size_of::<E>()),
        })?;
    Ok(vector)
}
