//! Runs the passes of a function on one device, or on several that share the outer rows.
//!
//! Slots are memory of the devices: inputs are uploaded once, what a pass makes stays for the next, results come down (or
//! stay) at the end. Only what the wanted outputs need is run. Of several devices each has a range of the rows of every
//! axis, cut in the same places for all passes; where a pass reads rows of others, they are gathered first.
//!
//! Invariant: a result does not depend on how rows are shared: a row is one thread's, and into how many parts its inner
//! rows are split is decided for the whole problem.
mod download;
mod place;
mod upload;

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys;
use keops_gpu_kernels::abi::{BLOCK, MOST_ROWS_PER_THREAD};
use keops_gpu_kernels::real::{NONE, Real};

use super::array::Numbers;
use super::driver::Failure;
use super::gpu::{Bound, Gpu};
use super::launch::{Arguments, Launch};
use super::memory::Kind;
use super::transfer::{Arriving, CHUNK, Traffic, chunks};
use crate::float::Float;
use crate::input::Rows;
use crate::output::{Data, Value};
use crate::plan::{Axis, Function, Parameter, Pass};
use crate::shape::Shape;

/// Most bytes of scratch memory, one block for each multiprocessor excepted.
const SCRATCH: usize = 1 << 30;

/// One call.
pub(crate) struct Call<'c, 'a, T> {
    pub(crate) function: &'static Function,
    pub(crate) ptx: &'static str,
    /// One for each pass.
    pub(crate) launches: &'c [Launch],
    /// One for each input, checked.
    pub(crate) inputs: &'c [&'c Rows<'a, T>],
    /// Rows of i and j.
    pub(crate) extents: [usize; 2],
    /// Whether each term is a block of its own.
    pub(crate) each_row: bool,
    /// Whether the outputs stay on the device.
    pub(crate) stays: bool,
}

/// What is known of a slot before anything runs.
#[derive(Clone, Copy)]
struct Layout {
    axis: Option<Axis>,
    shape: Shape,
    index: bool,
}

/// A slot's numbers on one device.
#[derive(Clone)]
struct Piece {
    numbers: Numbers,
    /// The rows that are there.
    rows: Range<usize>,
}

/// Something to upload.
enum Region {
    /// The rows of an input.
    Input(usize),
    /// The parameters of a pass.
    Parameters(usize),
}

/// Runs `call` on `gpus`. Inputs that are on a device are on the only one.
pub(crate) fn run<T: Float>(
    call: &Call<'_, '_, T>,
    gpus: &[&'static Gpu],
) -> Result<Vec<Value<T>>, Failure> {
    // With one device its context stays bound for the whole call.
    let _bound = match gpus {
        [gpu] => Some(gpu.bind()?),
        _ => None,
    };
    let mut run = Run::new(call, gpus);
    run.place_inputs()?;
    run.upload()?;
    for pass in 0..call.function.passes.len() {
        if run.live[pass] {
            run.pass(pass)?;
        }
    }
    run.collect()
}

struct Run<'r, 'c, 'a, T> {
    call: &'r Call<'c, 'a, T>,
    /// One for each device.
    traffic: Vec<Traffic>,
    layouts: Vec<Layout>,
    /// Whether each pass is needed.
    live: Vec<bool>,
    /// Whether each slot is read on the device, other than as a host parameter.
    wanted: Vec<bool>,
    /// For each slot and device what is there.
    slots: Vec<Vec<Option<Piece>>>,
    /// For each pass and device the uploaded parameters, where they are uploaded.
    parameters: Vec<Vec<Option<Numbers>>>,
}

impl<'r, 'c, 'a, T: Float> Run<'r, 'c, 'a, T> {
    fn new(call: &'r Call<'c, 'a, T>, gpus: &[&'static Gpu]) -> Self {
        let function = call.function;
        let inputs = function.inputs.iter().map(|input| Layout {
            axis: input.axis,
            shape: input.shape,
            index: false,
        });
        let made = function.passes.iter().flat_map(|pass| pass.outputs);
        let layouts: Vec<Layout> = inputs
            .chain(made.map(|output| Layout {
                axis: output.axis,
                shape: output.shape,
                index: output.index,
            }))
            .collect();
        let mut run = Run {
            call,
            traffic: gpus.iter().map(|gpu| Traffic::new(gpu)).collect(),
            live: vec![false; function.passes.len()],
            wanted: vec![false; layouts.len()],
            slots: vec![vec![None; gpus.len()]; layouts.len()],
            parameters: vec![vec![None; gpus.len()]; function.passes.len()],
            layouts,
        };
        run.find_live();
        run
    }

    /// The slots that a pass makes.
    fn made(&self, pass: usize) -> Range<usize> {
        let passes = self.call.function.passes;
        let before: usize = passes[..pass].iter().map(|pass| pass.outputs.len()).sum();
        let first = self.call.inputs.len() + before;
        first..first + passes[pass].outputs.len()
    }

    /// Marks the passes and slots that the outputs need.
    fn find_live(&mut self) {
        let function = self.call.function;
        let mut needed = vec![false; self.layouts.len()];
        for &slot in function.outputs {
            needed[slot] = true;
            // Inputs that are returned are copied on the host, unless they are to stay on the device.
            self.wanted[slot] |= self.call.stays;
        }
        for (number, pass) in function.passes.iter().enumerate().rev() {
            self.live[number] = self.made(number).any(|slot| needed[slot]);
            if !self.live[number] {
                continue;
            }
            for &slot in pass.outer_slots.iter().chain(pass.inner_slots) {
                needed[slot] = true;
                self.wanted[slot] = true;
            }
            for parameter in pass.parameters {
                if let Parameter::Slot(slot) = *parameter {
                    needed[slot] = true;
                }
            }
        }
    }

    /// Makes a device's context current, where that is not so all the time.
    fn bind(&self, device: usize) -> Result<Option<Bound>, Failure> {
        match &self.traffic[..] {
            [_] => Ok(None),
            traffic => traffic[device].gpu.bind().map(Some),
        }
    }

    fn extent(&self, axis: Option<Axis>) -> usize {
        match axis {
            None => 1,
            Some(Axis::I) => self.call.extents[0],
            Some(Axis::J) => self.call.extents[1],
        }
    }

    fn rows(&self, slot: usize) -> usize {
        self.extent(self.layouts[slot].axis)
    }

    /// Bytes of a row of a slot on the device.
    fn row_bytes(&self, slot: usize) -> usize {
        let layout = self.layouts[slot];
        layout.shape.len() * if layout.index { 4 } else { size_of::<T>() }
    }

    /// Bytes of so many rows of a slot.
    fn bytes(&self, slot: usize, rows: usize) -> Result<usize, Failure> {
        rows.checked_mul(self.row_bytes(slot))
            .ok_or(Failure::Memory {
                purpose: "of device memory",
                bytes: usize::MAX,
            })
    }

    /// The rows of an axis that a device has to do: whole blocks of any kernel, so that the same rows share a block as on one device.
    fn share(&self, axis: Option<Axis>, device: usize) -> Range<usize> {
        let m = self.extent(axis);
        let each = m
            .div_ceil(self.traffic.len())
            .next_multiple_of(BLOCK as usize * MOST_ROWS_PER_THREAD);
        if self.traffic.len() == 1 {
            return 0..m;
        }
        each.saturating_mul(device).min(m)..each.saturating_mul(device + 1).min(m)
    }

    /// Whether the parameters of a pass are one slot of the device as it is.
    fn is_direct(&self, pass: &Pass) -> Option<usize> {
        match *pass.parameters {
            [Parameter::Slot(slot)]
                if self.is_on_device(slot) && !(self.layouts[slot].index && T::IS_F64) =>
            {
                Some(slot)
            }
            _ => None,
        }
    }

    /// Whether a slot's numbers are not the host's.
    fn is_on_device(&self, slot: usize) -> bool {
        self.call
            .inputs
            .get(slot)
            .is_none_or(|rows| rows.on_device().is_some())
    }

    /// Runs one pass on all devices that have a share of it.
    fn pass(&mut self, number: usize) -> Result<(), Failure> {
        let pass = &self.call.function.passes[number];
        for &slot in pass.inner_slots {
            self.gather(slot)?;
        }
        for parameter in pass.parameters {
            if let Parameter::Slot(slot) = *parameter
                && self.is_on_device(slot)
            {
                self.gather(slot)?;
            }
        }
        for device in 0..self.traffic.len() {
            let rows = self.share(pass.outer, device);
            self.start(number, device, rows)?;
        }
        Ok(())
    }

    /// Queues a pass for the outer rows `rows` on one device.
    fn start(&mut self, number: usize, device: usize, rows: Range<usize>) -> Result<(), Failure> {
        let call = self.call;
        let (pass, launch) = (&call.function.passes[number], &call.launches[number]);
        let gpu = self.traffic[device].gpu;
        let bound = self.bind(device)?;
        let mut outputs = Vec::with_capacity(pass.outputs.len());
        for slot in self.made(number) {
            let bytes = self.bytes(slot, rows.len())?;
            outputs.push(if bytes == 0 {
                Numbers::none()
            } else {
                Numbers::part(Arc::new(gpu.allocate(Kind::Device, bytes)?), 0)
            });
        }
        if !rows.is_empty() {
            // Checked with the inputs: an axis has less than 2³² rows.
            let [m, all, n, first] = [
                rows.len(),
                self.extent(pass.outer),
                pass.inner.map_or(0, |axis| self.extent(Some(axis))),
                rows.start,
            ]
            .map(|count| count as u32);
            let parts = launch.parts(all, n, self.traffic[0].gpu.multiprocessors);
            let lane = launch.scratch(parts) * size_of::<T>();
            // Launches follow each other where all rows at once would take too much scratch memory, and share it.
            let each = launch
                .rows((SCRATCH / lane.max(1)) / launch.rows(1))
                .max(launch.rows(gpu.multiprocessors as usize));
            let scratch = match launch.lanes(m.min(u32::try_from(each).unwrap_or(m))) * lane {
                0 => None,
                bytes => Some(gpu.allocate(Kind::Device, bytes)?),
            };
            let indices = |slot: &usize| self.rows(*slot) * self.layouts[*slot].shape.len();
            let pairs: usize = pass.listed.iter().map(indices).sum();
            let listed = launch.runs_listed(pairs, all, n);
            let parameters = self.parameter_pointer(number, device)?;
            let mut done = 0;
            while done < rows.len() {
                let count = each.min(rows.len() - done);
                let mut pointers = vec![parameters];
                for &slot in pass.outer_slots {
                    pointers.push(self.pointer(slot, device, rows.start + done));
                }
                for &slot in pass.inner_slots {
                    pointers.push(self.pointer(slot, device, 0));
                }
                for (slot, numbers) in self.made(number).zip(&outputs) {
                    let offset = (done * self.row_bytes(slot)) as u64;
                    pointers.push(match numbers.address() {
                        0 => 0,
                        address => address + offset,
                    });
                }
                let arguments = Arguments {
                    m: count as u32,
                    n,
                    first: first + done as u32,
                    parts,
                    flush: u32::from(call.each_row),
                    listed,
                    scratch: scratch.as_ref().map_or(0, |block| block.address()),
                    pointers,
                };
                // SAFETY: the pointers are in the order of the entry's parameters, each to the rows that the plan says, which
                // were uploaded or made before on the same stream; the scratch memory is for so many rows.
                unsafe { launch.start(gpu, call.ptx, &arguments)? };
                done += count;
            }
        }
        for (slot, numbers) in self.made(number).zip(outputs) {
            self.slots[slot][device] = Some(Piece {
                numbers,
                rows: rows.clone(),
            });
        }
        drop(bound);
        Ok(())
    }

    /// Where row `row` of a slot is on a device; 0 if it has no numbers.
    fn pointer(&self, slot: usize, device: usize, row: usize) -> u64 {
        match &self.slots[slot][device] {
            Some(piece) if piece.numbers.address() != 0 && !piece.rows.is_empty() => {
                assert!(piece.rows.contains(&row), "rows that are on the device");
                let offset = (row - piece.rows.start) * self.row_bytes(slot);
                piece.numbers.address() + offset as u64
            }
            _ => 0,
        }
    }

    /// Where the parameters of a pass are on a device.
    fn parameter_pointer(&self, number: usize, device: usize) -> Result<u64, Failure> {
        let pass = &self.call.function.passes[number];
        if let Some(slot) = self.is_direct(pass) {
            return Ok(self.pointer(slot, device, 0));
        }
        let Some(numbers) = &self.parameters[number][device] else {
            return Ok(0);
        };
        let gpu = self.traffic[device].gpu;
        let mut to = numbers.address();
        for parameter in pass.parameters {
            let Parameter::Slot(slot) = *parameter else {
                to += size_of::<T>() as u64;
                continue;
            };
            let columns = self.layouts[slot].shape.len();
            if self.is_on_device(slot) {
                let from = self.pointer(slot, device, 0);
                let copies = if self.layouts[slot].index && T::IS_F64 {
                    // An index is the low word of its bit pattern, and the high word was uploaded as zero.
                    (0..columns as u64).map(|c| (8 * c, 4 * c, 4)).collect()
                } else {
                    vec![(0, 0, self.row_bytes(slot))]
                };
                for (there, here, bytes) in copies {
                    // SAFETY: the slot's one row and its place among the parameters have so many bytes.
                    unsafe {
                        sys::cuMemcpyDtoDAsync_v2(to + there, from + here, bytes, gpu.stream())
                    }
                    .result()
                    .map_err(gpu.failed("cuMemcpyDtoDAsync"))?;
                }
            }
            to += (columns * size_of::<T>()) as u64;
        }
        Ok(numbers.address())
    }

    /// Makes all rows of a slot known to all devices.
    fn gather(&mut self, slot: usize) -> Result<(), Failure> {
        let all = 0..self.rows(slot);
        let is_whole = |piece: &Option<Piece>| piece.as_ref().is_some_and(|p| p.rows == all);
        if self.slots[slot].iter().all(is_whole) {
            return Ok(());
        }
        let bytes = self.bytes(slot, all.len())?;
        let mut host: Vec<u8> = Vec::new();
        host.try_reserve_exact(bytes).map_err(|_| Failure::Memory {
            purpose: "of working memory",
            bytes,
        })?;
        host.resize(bytes, 0);
        let at = host.as_mut_ptr();
        self.fetch(&[slot], |_, offset, from, count| {
            // SAFETY: the pieces of the slot are within its bytes.
            unsafe { at.add(offset).copy_from_nonoverlapping(from, count) };
        })?;
        for (device, traffic) in self.traffic.iter().enumerate() {
            let numbers = if bytes == 0 {
                Numbers::none()
            } else {
                let _bound = traffic.gpu.bind()?;
                let block = traffic.gpu.allocate(Kind::Device, bytes)?;
                // SAFETY: the block has room for all bytes.
                unsafe { traffic.upload_values(block.address(), &host)? };
                Numbers::part(Arc::new(block), 0)
            };
            self.slots[slot][device] = Some(Piece {
                numbers,
                rows: all.clone(),
            });
        }
        Ok(())
    }
}
