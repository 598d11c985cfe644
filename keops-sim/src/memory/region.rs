//! A run of bytes with what is known about each: whether it was written, and by whom.
use super::shadow::Shadow;

/// One allocation, or the shared or local memory of a block.
pub(crate) struct Region {
    bytes: Vec<u8>,
    /// A bit for each byte that was written.
    written: Vec<u64>,
    pub(crate) shadow: Shadow,
    pub(crate) read_only: bool,
}

impl Region {
    /// A region that nobody wrote.
    pub(crate) fn new(length: usize) -> Region {
        Region {
            bytes: vec![0; length],
            written: vec![0; length.div_ceil(64)],
            shadow: Shadow::new(length),
            read_only: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets what was written, and fills the bytes with a pattern of NaN for whoever reads them all the same.
    pub(crate) fn forget(&mut self) {
        self.written.fill(0);
        self.bytes.fill(0xff);
    }

    /// Whether all of an aligned range of at most 16 bytes was written.
    #[inline(always)]
    pub(crate) fn is_written(&self, offset: usize, length: usize) -> bool {
        let mask = (1u64 << length) - 1;
        self.written[offset / 64] >> (offset % 64) & mask == mask
    }

    /// Offset of the first byte of a range that nobody wrote.
    pub(crate) fn first_unwritten(&self, offset: usize, length: usize) -> Option<usize> {
        (offset..offset + length).find(|&at| self.written[at / 64] >> (at % 64) & 1 == 0)
    }

    fn mark(&mut self, offset: usize, length: usize) {
        for at in offset..offset + length {
            self.written[at / 64] |= 1 << (at % 64);
        }
    }

    /// A value of 1, 2, 4 or 8 bytes.
    #[inline(always)]
    pub(crate) fn get(&self, offset: usize, size: usize) -> u64 {
        let bytes = &self.bytes[offset..offset + size];
        match *bytes {
            [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => bytes
                .iter()
                .rev()
                .fold(0, |value, byte| value << 8 | u64::from(*byte)),
        }
    }

    /// Writes an aligned value of 1, 2, 4 or 8 bytes.
    #[inline(always)]
    pub(crate) fn put(&mut self, offset: usize, size: usize, value: u64) {
        self.bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
        self.written[offset / 64] |= ((1 << size) - 1) << (offset % 64);
    }

    pub(crate) fn bytes(&self, offset: usize, length: usize) -> &[u8] {
        &self.bytes[offset..offset + length]
    }

    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.mark(offset, bytes.len());
    }

    /// Copies bytes together with whether they were written.
    pub(crate) fn snapshot(&self, offset: usize, length: usize) -> (Vec<u8>, Vec<bool>) {
        let written = (offset..offset + length)
            .map(|at| self.written[at / 64] >> (at % 64) & 1 == 1)
            .collect();
        (self.bytes(offset, length).to_vec(), written)
    }

    pub(crate) fn restore(&mut self, offset: usize, (bytes, written): &(Vec<u8>, Vec<bool>)) {
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        for (at, written) in written.iter().enumerate() {
            let (word, bit) = ((offset + at) / 64, 1 << ((offset + at) % 64));
            if *written {
                self.written[word] |= bit;
            } else {
                self.written[word] &= !bit;
            }
        }
    }
}
