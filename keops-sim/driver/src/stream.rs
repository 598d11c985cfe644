//! Streams: queues of work that run when somebody waits for them.
//!
//! A stream runs only as far as a caller waits, and other streams only as far as an event that it waits for: the latest
//! that the interface allows, so that a result which is read too early is not there yet.
use crate::code::Code;
use crate::pointer::{Host, HostFunction};
use crate::state::{Handle, State};
use keops_sim::{Module, Options};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// The device, and the stream's handle; 0 is the device's default stream.
pub(crate) type StreamKey = (usize, Handle);

#[derive(Default)]
pub(crate) struct Stream {
    queue: VecDeque<Work>,
    submitted: u64,
    executed: u64,
    /// It does not wait for the default stream, nor that one for it.
    pub(crate) independent: bool,
}

impl Stream {
    pub(crate) fn new(independent: bool) -> Stream {
        Stream {
            independent,
            ..Stream::default()
        }
    }
}

pub(crate) struct Event {
    pub(crate) device: usize,
    pub(crate) timed: bool,
    /// The stream and the position of the last record.
    pub(crate) recorded: Option<(StreamKey, u64)>,
    pub(crate) time: Option<Instant>,
}

pub(crate) enum Work {
    /// Pageable memory is copied when the call is made, as the driver does.
    WriteBytes {
        to: u64,
        bytes: Vec<u8>,
    },
    /// Pinned memory is read when the work runs.
    WritePinned {
        to: u64,
        from: usize,
        length: usize,
    },
    ReadPinned {
        to: usize,
        from: u64,
        length: usize,
    },
    Copy {
        to: u64,
        from: u64,
        length: usize,
    },
    Set {
        to: u64,
        value: u8,
        length: usize,
    },
    Free {
        address: u64,
    },
    Launch(Box<Launch>),
    Record {
        event: Handle,
    },
    Wait {
        stream: StreamKey,
        position: u64,
    },
    Call {
        function: HostFunction,
        data: usize,
    },
}

pub(crate) struct Launch {
    pub(crate) module: Arc<Module>,
    pub(crate) entry: String,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_shared: u32,
    pub(crate) params: Vec<u8>,
    pub(crate) options: Options,
}

impl State {
    /// The stream that a handle means: the current device's default one, or one of any device.
    pub(crate) fn stream(&mut self, handle: Handle) -> Result<StreamKey, Code> {
        let device = self.current_device()?;
        // 1 and 2 are other names of the default stream.
        if handle <= 2 {
            self.streams.entry((device, 0)).or_default();
            return Ok((device, 0));
        }
        self.streams
            .keys()
            .find(|key| key.1 == handle)
            .copied()
            .ok_or(Code::INVALID_HANDLE)
    }

    /// Queues work, and runs it unless streams are deferred.
    pub(crate) fn submit(&mut self, key: StreamKey, work: Work) -> Result<(), Code> {
        self.order_with_default(key);
        let stream = self.streams.entry(key).or_default();
        stream.queue.push_back(work);
        stream.submitted += 1;
        if self.settings.deferred {
            return self.check(key.0);
        }
        self.run(key)
    }

    /// The default stream waits for all streams that do not opt out, and they for it.
    fn order_with_default(&mut self, key: StreamKey) {
        let independent = |stream: &Stream| stream.independent;
        let others: Vec<StreamKey> = if key.1 == 0 {
            let others = self
                .streams
                .iter()
                .filter(|(other, stream)| other.0 == key.0 && other.1 != 0 && !independent(stream));
            others.map(|(key, _)| *key).collect()
        } else if self.streams.get(&key).is_some_and(independent) {
            Vec::new()
        } else {
            vec![(key.0, 0)]
        };
        for other in others {
            let Some(pending) = self
                .streams
                .get(&other)
                .filter(|stream| stream.executed < stream.submitted)
            else {
                continue;
            };
            let position = pending.submitted;
            let stream = self.streams.entry(key).or_default();
            stream.queue.push_back(Work::Wait {
                stream: other,
                position,
            });
            stream.submitted += 1;
        }
    }

    /// The fault that a device has had.
    pub(crate) fn check(&self, device: usize) -> Result<(), Code> {
        self.devices[device].fault.map_or(Ok(()), Err)
    }

    /// How much was submitted to a stream.
    pub(crate) fn submitted(&self, key: StreamKey) -> u64 {
        self.streams.get(&key).map_or(0, |stream| stream.submitted)
    }

    pub(crate) fn is_done(&self, key: StreamKey, position: u64) -> bool {
        self.streams
            .get(&key)
            .is_none_or(|stream| stream.executed >= position)
    }

    /// Runs all of a stream.
    pub(crate) fn run(&mut self, key: StreamKey) -> Result<(), Code> {
        self.run_to(key, self.submitted(key));
        self.check(key.0)
    }

    /// Runs all streams of a device.
    pub(crate) fn run_device(&mut self, device: usize) -> Result<(), Code> {
        let keys: Vec<StreamKey> = self
            .streams
            .keys()
            .filter(|key| key.0 == device)
            .copied()
            .collect();
        for key in keys {
            self.run_to(key, self.submitted(key));
        }
        self.check(device)
    }

    /// Runs a stream until `position` pieces of its work are done.
    ///
    /// A wait refers to work that was submitted before it, so this ends.
    pub(crate) fn run_to(&mut self, key: StreamKey, position: u64) {
        while let Some(stream) = self.streams.get_mut(&key) {
            if stream.executed >= position {
                return;
            }
            let Some(work) = stream.queue.pop_front() else {
                return;
            };
            if let Work::Wait { stream, position } = work {
                self.run_to(stream, position);
            } else if (self.devices[key.0].fault.is_none() || matches!(work, Work::Free { .. }))
                && let Err((code, message)) = self.execute(key, work)
            {
                self.fail(key.0, code, message);
            }
            if let Some(stream) = self.streams.get_mut(&key) {
                stream.executed += 1;
            }
        }
    }

    fn execute(&mut self, key: StreamKey, work: Work) -> Result<(), (Code, String)> {
        let fault = |what: &'static str| {
            move |error: keops_sim::Error| (Code::of(&error), format!("{what}: {error}"))
        };
        let unpinned = |what: &str, at: usize| {
            (
                Code::ILLEGAL_ADDRESS,
                format!("{what}: host memory at {at:#x} was freed before the copy ran"),
            )
        };
        match work {
            Work::WriteBytes { to, bytes } => self
                .owner(to, key.0)
                .memory
                .write(to, &bytes)
                .map_err(fault("copy to the device"))?,
            Work::WritePinned { to, from, length } => {
                if !self.is_pinned(from, length) {
                    return Err(unpinned("copy to the device", from));
                }
                let bytes = Host::of(from)
                    .read(length)
                    .map_err(|code| (code, "copy from host memory".to_owned()))?;
                self.owner(to, key.0)
                    .memory
                    .write(to, &bytes)
                    .map_err(fault("copy to the device"))?;
            }
            Work::ReadPinned { to, from, length } => {
                if !self.is_pinned(to, length) {
                    return Err(unpinned("copy to the host", to));
                }
                let bytes = self.read(from, length).map_err(fault("copy to the host"))?;
                Host::of(to)
                    .write(&bytes)
                    .map_err(|code| (code, "copy to host memory".to_owned()))?;
            }
            Work::Copy { to, from, length } => self
                .copy(to, from, length)
                .map_err(fault("copy on the device"))?,
            Work::Set { to, value, length } => {
                self.owner(to, key.0)
                    .memory
                    .write(to, &vec![value; length])
                    .map_err(fault("memset"))?;
            }
            Work::Free { address } => {
                if !self.owner(address, key.0).memory.free(address) {
                    return Err((Code::INVALID_VALUE, format!("{address:#x} was freed twice")));
                }
            }
            Work::Launch(launch) => {
                let start = Instant::now();
                let l = &*launch;
                let stats = l
                    .module
                    .launch(
                        &mut self.devices[key.0].memory,
                        &l.entry,
                        l.grid,
                        l.block,
                        l.dynamic_shared,
                        &l.params,
                        &l.options,
                    )
                    .map_err(fault("kernel"))?;
                self.trace_line(&format!(
                    "    ran {} on {} blocks: {} instructions in {:?}",
                    l.entry,
                    stats.blocks,
                    stats.instructions,
                    start.elapsed()
                ));
            }
            Work::Record { event } => {
                if let Some(event) = self.events.get_mut(&event) {
                    event.time = Some(Instant::now());
                }
            }
            Work::Call { function, data } => function(data as *mut std::ffi::c_void),
            Work::Wait { .. } => {}
        }
        Ok(())
    }

    /// Addresses whose stream-ordered free has not run yet.
    pub(crate) fn queued_frees(&self) -> Vec<u64> {
        let work = self.streams.values().flat_map(|stream| &stream.queue);
        work.filter_map(|work| match work {
            Work::Free { address } => Some(*address),
            _ => None,
        })
        .collect()
    }

    /// The device that holds an address, else the stream's own, whose memory will refuse it.
    fn owner(&mut self, address: u64, device: usize) -> &mut crate::state::Device {
        let owner = self.device_with(address, 0).unwrap_or(device);
        &mut self.devices[owner]
    }

    pub(crate) fn read(&mut self, from: u64, length: usize) -> Result<Vec<u8>, keops_sim::Error> {
        let mut bytes = vec![0; length];
        let check = self.settings.options.uninitialized;
        match self.owner(from, 0).memory.read(from, &mut bytes) {
            Err(error) if error.kind == keops_sim::ErrorKind::Uninitialized && !check => Ok(bytes),
            result => result.map(|()| bytes),
        }
    }

    fn copy(&mut self, to: u64, from: u64, length: usize) -> Result<(), keops_sim::Error> {
        let source = self.device_with(from, length).unwrap_or(0);
        let target = self.device_with(to, length).unwrap_or(0);
        if source == target {
            return self.devices[source].memory.copy(to, from, length);
        }
        let (low, high) = self.devices.split_at_mut(source.max(target));
        if source < target {
            high[0]
                .memory
                .copy_from(to, &low[source].memory, from, length)
        } else {
            low[target]
                .memory
                .copy_from(to, &high[0].memory, from, length)
        }
    }
}
