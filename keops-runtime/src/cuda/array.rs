//! [`DeviceArray`]: numbers that stay on a device between calls.
use std::collections::TryReserveError;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use ndarray::{Array, ArrayRef, Dimension, Ix0, Ix1, Ix2, Ix3};
use num_complex::Complex;

use super::gpu::{self, Gpu};
use super::memory::{Block, Kind};
use super::transfer::{Traffic, chunks};
use crate::error::Error;
use crate::float::Float;

/// A part of a block of memory on a device, or of none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    block: Option<Arc<Block>>,
    offset: usize,
}

impl Numbers {
    /// No numbers.
    pub(crate) fn none() -> Numbers {
        Numbers::default()
    }

    /// What begins `offset` bytes behind the start of the block.
    pub(crate) fn part(block: Arc<Block>, offset: usize) -> Numbers {
        Numbers {
            block: Some(block),
            offset,
        }
    }

    /// The address on the device, 0 for none.
    pub(crate) fn address(&self) -> u64 {
        self.block
            .as_ref()
            .map_or(0, |block| block.address() + self.offset as u64)
    }
}

impl PartialEq for Numbers {
    /// Whether they are the same memory.
    fn eq(&self, other: &Numbers) -> bool {
        self.address() == other.address()
    }
}

/// What a [`DeviceArray`] can hold: `f32`, `f64`, `Complex` of them, and `u32` for indices.
pub trait Element: Copy + fmt::Debug + Send + Sync + sealed::Sealed + 'static {}

mod sealed {
    use std::collections::TryReserveError;

    /// How elements are numbers in memory: the first parts of as many elements as lie together (`split`), then their other ones.
    pub trait Sealed: Sized {
        /// A number.
        type Number: Copy;
        /// Numbers of an element.
        const PARTS: usize;
        /// One of an element's numbers.
        fn part(&self, n: usize) -> Self::Number;
        /// The elements of numbers in memory.
        fn join(numbers: Vec<Self::Number>, split: usize) -> Result<Vec<Self>, TryReserveError>;
    }
}
macro_rules! elements {
    ($($t:ty)*) => {$(
        impl sealed::Sealed for $t {
            type Number = $t;
            const PARTS: usize = 1;
            fn part(&self, _: usize) -> $t {
                *self
            }
            fn join(numbers: Vec<$t>, _: usize) -> Result<Vec<$t>, TryReserveError> {
                Ok(numbers)
            }
        }
        impl Element for $t {}
    )*};
}
elements!(f32 f64 u32);

impl<T: Float> sealed::Sealed for Complex<T> {
    type Number = T;
    const PARTS: usize = 2;
    fn part(&self, n: usize) -> T {
        if n == 0 { self.re } else { self.im }
    }
    fn join(numbers: Vec<T>, split: usize) -> Result<Vec<Self>, TryReserveError> {
        let mut joined = Vec::new();
        joined.try_reserve_exact(numbers.len() / 2)?;
        for row in numbers.chunks_exact(2 * split.max(1)) {
            let (re, im) = row.split_at(split);
            joined.extend(re.iter().zip(im).map(|(&re, &im)| Complex { re, im }));
        }
        Ok(joined)
    }
}
impl<T: Float> Element for Complex<T> {}

/// The numbers of elements in the order of memory.
fn numbers<'e, T: Element>(
    mut elements: impl Iterator<Item = &'e T>,
    split: usize,
) -> impl Iterator<Item = T::Number> {
    let (mut together, mut at) = (Vec::new(), 0);
    std::iter::from_fn(move || {
        if T::PARTS == 1 {
            return elements.next().map(|element| element.part(0));
        }
        if at == T::PARTS * together.len() {
            together.clear();
            together.extend(elements.by_ref().take(split));
            at = 0;
        }
        let element: &T = together.get(at.checked_rem(together.len())?)?;
        let number = element.part(at / together.len());
        at += 1;
        Some(number)
    })
}

/// How many elements lie together in an array of rows.
fn of_rows(shape: &[usize]) -> usize {
    shape.iter().skip(1).product()
}

/// An array in the memory of a CUDA device, row-major.
///
/// It is accepted wherever a formula takes an array of the host of the same rank, and is what a call returns after
/// `on_device`. The numbers do not change; a clone shares them. Work on a device is done in order, so an array may be used
/// before its numbers are there; [`to_host`](DeviceArray::to_host) waits.
///
/// Indices are `u32`, with `u32::MAX` where there is none. Complex values are `Complex<f32>` or `Complex<f64>`.
///
/// ```
/// use keops_runtime::cuda::DeviceArray;
/// use keops_runtime::ndarray::array;
///
/// let x = array![[1.0f32, 2.0], [3.0, 4.0]];
/// match DeviceArray::from_host(0, &x) {
///     Ok(on_device) => assert_eq!(on_device.to_host().unwrap(), x),
///     Err(no_gpu) => println!("{no_gpu}"),
/// }
/// ```
pub struct DeviceArray<T, D> {
    gpu: &'static Gpu,
    numbers: Numbers,
    dim: D,
    /// How many complex elements lie together, first their real parts and then the imaginary ones: those of a row, or all.
    split: usize,
    element: PhantomData<T>,
}

/// One number on a device.
pub type DeviceArray0<T> = DeviceArray<T, Ix0>;
/// A one-dimensional array on a device.
pub type DeviceArray1<T> = DeviceArray<T, Ix1>;
/// A two-dimensional array on a device.
pub type DeviceArray2<T> = DeviceArray<T, Ix2>;
/// A three-dimensional array on a device.
pub type DeviceArray3<T> = DeviceArray<T, Ix3>;

impl<T, D: Clone> Clone for DeviceArray<T, D> {
    fn clone(&self) -> Self {
        DeviceArray {
            gpu: self.gpu,
            numbers: self.numbers.clone(),
            dim: self.dim.clone(),
            split: self.split,
            element: PhantomData,
        }
    }
}

impl<T, D: fmt::Debug> fmt::Debug for DeviceArray<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceArray")
            .field("device", &self.gpu.ordinal)
            .field("dim", &self.dim)
            .finish_non_exhaustive()
    }
}

impl<T: Element, D: Dimension> DeviceArray<T, D> {
    /// Copies an array to a device. When this returns, the copy is made.
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::NoDevice`], [`Error::OutOfMemory`], [`Error::Cuda`].
    pub fn from_host(device: usize, array: &ArrayRef<T, D>) -> Result<Self, Error> {
        const NAME: &str = "DeviceArray::from_host";
        let copy = || {
            let gpu = gpu::open(device)?;
            let _bound = gpu.bind()?;
            let bytes = array.len() * size_of::<T>();
            let split = of_rows(array.shape());
            let mut copied = Numbers::none();
            if bytes > 0 {
                let block = gpu.allocate(Kind::Device, bytes)?;
                let address = block.address();
                copied = Numbers::part(Arc::new(block), 0);
                let mut traffic = Traffic::new(gpu);
                let mut numbers = numbers(array.iter(), split);
                for chunk in chunks(bytes) {
                    let fill = |at: *mut u8| {
                        let to: *mut T::Number = at.cast();
                        for (n, x) in numbers
                            .by_ref()
                            .take(chunk.len() / size_of::<T::Number>())
                            .enumerate()
                        {
                            // SAFETY: the chunk has room for as many numbers, and starts where they are aligned.
                            unsafe { to.add(n).write(x) };
                        }
                    };
                    // SAFETY: the block has all bytes; a chunk is filled, since the array has as many numbers left.
                    unsafe { traffic.upload(address + chunk.start as u64, chunk.len(), fill)? };
                }
                traffic.wait()?;
            }
            Ok(DeviceArray::new(gpu, copied, array.raw_dim(), split))
        };
        copy().map_err(|failure: super::driver::Failure| failure.of(NAME))
    }

    /// Copies the numbers to the host, once they are there.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or [`Error::Cuda`], also where the failure is one of the work that makes the numbers.
    pub fn to_host(&self) -> Result<Array<T, D>, Error> {
        const NAME: &str = "DeviceArray::to_host";
        let count = self.dim.size();
        let out_of_memory = |_| Error::OutOfMemory {
            function: NAME,
            purpose: "of output",
            bytes: count.saturating_mul(size_of::<T>()),
        };
        let mut host: Vec<T::Number> = Vec::new();
        host.try_reserve_exact(count * T::PARTS)
            .map_err(out_of_memory)?;
        let mut copy = || {
            let _bound = self.gpu.bind()?;
            let mut traffic = Traffic::new(self.gpu);
            let mut arriving = Vec::new();
            let mut done = 0;
            for chunk in chunks(count * size_of::<T>()) {
                // SAFETY: the array has so many bytes, and what makes them is queued.
                let next = unsafe {
                    traffic.fetch(self.numbers.address() + chunk.start as u64, chunk.len())?
                };
                arriving.push(next);
                if traffic.is_full() || chunk.end == count * size_of::<T>() {
                    traffic.wait_for(&arriving, |n, from| {
                        let bytes = arriving[n].bytes;
                        // SAFETY: room for all numbers was reserved, and pieces come one after another.
                        unsafe {
                            let to = host.as_mut_ptr().cast::<u8>().add(done);
                            to.copy_from_nonoverlapping(from, bytes);
                        }
                        done += bytes;
                    })?;
                    arriving.clear();
                }
            }
            Ok(())
        };
        copy().map_err(|failure: super::driver::Failure| failure.of(NAME))?;
        // SAFETY: all numbers have been written.
        unsafe { host.set_len(count * T::PARTS) };
        let elements = T::join(host, self.split).map_err(out_of_memory)?;
        Ok(Array::from_shape_vec(self.dim.clone(), elements)
            .expect("as many elements as the shape has"))
    }
}

impl<T, D: Dimension> DeviceArray<T, D> {
    /// The number of the device it is on.
    pub fn device(&self) -> usize {
        self.gpu.ordinal
    }

    /// Its dimensions, as ndarray's `dim` gives them.
    pub fn dim(&self) -> D::Pattern {
        self.dim.clone().into_pattern()
    }

    /// Its dimensions.
    pub fn shape(&self) -> &[usize] {
        self.dim.slice()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.dim.size()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// From numbers that are on the device, of so many elements whose parts lie together.
    pub(crate) fn new(gpu: &'static Gpu, numbers: Numbers, dim: D, split: usize) -> Self {
        DeviceArray {
            gpu,
            numbers,
            dim,
            split,
            element: PhantomData,
        }
    }

    pub(crate) fn split(&self) -> usize {
        self.split
    }

    pub(crate) fn gpu(&self) -> &'static Gpu {
        self.gpu
    }

    pub(crate) fn numbers(&self) -> &Numbers {
        &self.numbers
    }
}
