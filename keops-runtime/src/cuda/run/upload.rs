//! What goes up at the start of a call: the host's inputs and the parameters of all passes.
use super::*;

impl<T: Float> Run<'_, '_, '_, T> {
    /// Uploads the host's inputs and the parameters of all passes, as one block of memory for each device.
    pub(super) fn upload(&mut self) -> Result<(), Failure> {
        let call = self.call;
        let mut regions = Vec::new();
        let mut total: usize = 0;
        let too_much = Failure::Memory {
            purpose: "of device memory",
            bytes: usize::MAX,
        };
        for slot in 0..call.inputs.len() {
            if self.wanted[slot] && !self.is_on_device(slot) {
                regions.push((Region::Input(slot), total));
                let bytes = self.bytes(slot, self.rows(slot))?;
                total = bytes
                    .checked_next_multiple_of(256)
                    .and_then(|bytes| total.checked_add(bytes))
                    .ok_or_else(|| too_much.clone())?;
            }
        }
        for (number, pass) in call.function.passes.iter().enumerate() {
            let count = call.launches[number].params;
            if self.live[number] && count > 0 && self.is_direct(pass).is_none() {
                regions.push((Region::Parameters(number), total));
                total = (count * size_of::<T>())
                    .checked_next_multiple_of(256)
                    .and_then(|bytes| total.checked_add(bytes))
                    .ok_or_else(|| too_much.clone())?;
            }
        }
        if total == 0 {
            for (region, _) in regions {
                if let Region::Input(slot) = region {
                    let rows = 0..self.rows(slot);
                    self.slots[slot].fill(Some(Piece {
                        numbers: Numbers::none(),
                        rows,
                    }));
                }
            }
            return Ok(());
        }
        for device in 0..self.traffic.len() {
            self.upload_to(device, &regions, total)?;
        }
        Ok(())
    }

    fn upload_to(
        &mut self,
        device: usize,
        regions: &[(Region, usize)],
        total: usize,
    ) -> Result<(), Failure> {
        let call = self.call;
        let gpu = self.traffic[device].gpu;
        let _bound = self.bind(device)?;
        let block = Arc::new(gpu.allocate(Kind::Device, total)?);
        let parameters: Vec<Vec<T>> = regions
            .iter()
            .map(|(region, _)| match region {
                Region::Input(_) => Vec::new(),
                Region::Parameters(pass) => self.host_parameters(*pass),
            })
            .collect();
        if regions
            .iter()
            .all(|(region, _)| matches!(region, Region::Parameters(_)))
        {
            // A few numbers, which the driver takes at once: then nothing of the host is in use afterwards.
            for ((_, offset), parameters) in regions.iter().zip(&parameters) {
                // SAFETY: each region has its bytes in the block.
                unsafe {
                    self.traffic[device]
                        .upload_values(block.address() + *offset as u64, parameters)?
                };
            }
        } else if total <= CHUNK {
            let fill = |at: *mut u8| {
                for ((region, offset), parameters) in regions.iter().zip(&parameters) {
                    let to: *mut T = at.wrapping_add(*offset).cast();
                    // SAFETY: each region has its bytes in the block, whose memory is aligned for T.
                    unsafe {
                        match region {
                            Region::Input(slot) => {
                                let source = call.inputs[*slot].source();
                                source.copy_rows(0..source.rows(), to);
                            }
                            Region::Parameters(_) => {
                                to.copy_from_nonoverlapping(parameters.as_ptr(), parameters.len());
                            }
                        }
                    }
                }
            };
            // SAFETY: the block has `total` bytes; what is between regions is never read.
            unsafe { self.traffic[device].upload(block.address(), total, fill)? };
        } else {
            for ((region, offset), parameters) in regions.iter().zip(&parameters) {
                let to = block.address() + *offset as u64;
                // SAFETY: each region has its bytes in the block.
                unsafe {
                    match region {
                        Region::Input(slot) => {
                            self.traffic[device].upload_rows(to, &call.inputs[*slot].source())?;
                        }
                        Region::Parameters(_) => {
                            let bytes = size_of_val(&parameters[..]);
                            self.traffic[device].upload(to, bytes, |at| {
                                at.cast::<T>().copy_from_nonoverlapping(
                                    parameters.as_ptr(),
                                    parameters.len(),
                                );
                            })?;
                        }
                    }
                }
            }
        }
        for (region, offset) in regions {
            let numbers = Numbers::part(block.clone(), *offset);
            match region {
                Region::Input(slot) => {
                    self.slots[*slot][device] = Some(Piece {
                        numbers,
                        rows: 0..self.rows(*slot),
                    });
                }
                Region::Parameters(pass) => self.parameters[*pass][device] = Some(numbers),
            }
        }
        Ok(())
    }

    /// The parameters of a pass, as far as the host has them; zero elsewhere.
    fn host_parameters(&self, pass: usize) -> Vec<T> {
        let mut to = vec![T::default(); self.call.launches[pass].params];
        let mut at = 0;
        for parameter in self.call.function.passes[pass].parameters {
            match *parameter {
                Parameter::Slot(slot) => {
                    if !self.is_on_device(slot) {
                        self.call.inputs[slot].source().copy_row(&mut to[at..]);
                    }
                    at += self.layouts[slot].shape.len();
                }
                Parameter::Extent(axis) => {
                    to[at] = <T as Real>::of(self.extent(Some(axis)) as f64);
                    at += 1;
                }
            }
        }
        assert_eq!(at, to.len(), "parameter columns of the kernel");
        to
    }
}
