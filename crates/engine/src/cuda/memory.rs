//! Memory of the GPU, and memory of the host that it can copy from by itself.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, result, sys::CUstream};

use super::gpu::driver;
use crate::Error;

/// A stretch of the GPU's memory, given back when it is dropped.
#[derive(Debug)]
pub(super) struct DeviceMemory {
    context: Arc<CudaContext>,
    address: u64,
    bytes: usize,
}

impl DeviceMemory {
    /// So many bytes, all zero when the call returns.
    ///
    /// Streams of ours wait for no other, so everything that touches memory goes through one of them.
    pub(super) fn zeros(stream: &CudaStream, bytes: usize) -> Result<Self, Error> {
        let (context, bytes) = (stream.context(), bytes.max(256));
        context.bind_to_thread().map_err(driver("choosing the GPU"))?;
        // SAFETY: the memory belongs to the value that is made here, and is written before it is read.
        let memory = unsafe {
            let address = result::malloc_sync(bytes).map_err(driver("allocating memory"))?;
            let memory = Self { context: Arc::clone(context), address, bytes };
            result::memset_d8_async(address, 0, bytes, stream.cu_stream())
                .map_err(driver("clearing memory"))?;
            memory
        };
        stream.synchronize().map_err(driver("clearing memory"))?;
        Ok(memory)
    }

    /// A copy of some numbers.
    pub(super) fn of<T: Copy>(stream: &CudaStream, values: &[T]) -> Result<Self, Error> {
        let memory = Self::zeros(stream, size_of_val(values))?;
        // SAFETY: there is room for all of them.
        unsafe { put(stream, memory.address, values) }?;
        Ok(memory)
    }

    /// Where it begins.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// How long it is.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        // SAFETY: nobody else has the address; the driver waits for work that still uses the memory.
        let freed = self.context.bind_to_thread().and_then(|()| unsafe { result::free_sync(self.address) });
        // A driver that is already gone has freed everything.
        let _ = freed;
    }
}

/// Copies numbers to an address of the GPU, behind all work of a stream, and waits.
///
/// # Safety
/// There must be room for the numbers at the address, and no other stream may use it.
pub(super) unsafe fn put<T: Copy>(stream: &CudaStream, to: u64, values: &[T]) -> Result<(), Error> {
    // SAFETY: the caller vouches for the address, and the values outlive the copy, which is waited for.
    unsafe { result::memcpy_htod_async(to, values, stream.cu_stream()) }
        .and_then(|()| stream.synchronize())
        .map_err(driver("copying to the GPU"))
}

/// Copies so many numbers from an address of the GPU, behind all work of a stream.
///
/// # Safety
/// There must be so many numbers at the address.
pub(super) unsafe fn fetch<T: Copy + Default>(
    stream: &CudaStream,
    from: u64,
    count: usize,
) -> Result<Vec<T>, Error> {
    let mut values = vec![T::default(); count];
    // SAFETY: the caller vouches for the address, and there is room for `count` values, which nobody reads before.
    unsafe { result::memcpy_dtoh_async(&mut values, from, stream.cu_stream()) }
        .and_then(|()| stream.synchronize())
        .map_err(driver("copying from the GPU"))?;
    Ok(values)
}

/// Numbers of the host in memory that does not move, so that the GPU copies without the processor's help.
#[derive(Debug)]
pub(super) struct Pinned<T> {
    context: Arc<CudaContext>,
    start: *mut T,
    length: usize,
}

impl<T: Copy + Default> Pinned<T> {
    /// So many numbers, all at their default.
    pub(super) fn new(context: &Arc<CudaContext>, length: usize) -> Result<Self, Error> {
        context.bind_to_thread().map_err(driver("choosing the GPU"))?;
        let bytes = (length * size_of::<T>()).max(1);
        // SAFETY: the memory is long enough and aligned to a page; every number is written before any is read.
        let start = unsafe {
            let start = result::malloc_host(bytes, 0).map_err(driver("pinning memory"))?.cast::<T>();
            (0..length).for_each(|index| start.add(index).write(T::default()));
            start
        };
        Ok(Self { context: Arc::clone(context), start, length })
    }

    /// The numbers.
    pub(super) fn values(&self) -> &[T] {
        // SAFETY: `start` points to `length` numbers that were written, and lives as long as this value.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    /// The numbers, to be written.
    pub(super) fn values_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nobody else may have them while they are borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }

    /// Starts to copy the first `count` numbers to the GPU.
    pub(super) fn send(&self, count: usize, to: u64, stream: CUstream) -> Result<(), Error> {
        // SAFETY: pinned memory outlives the copy, as whoever drops a network waits for its streams.
        unsafe { result::memcpy_htod_async(to, &self.values()[..count], stream) }
            .map_err(driver("copying to the GPU"))
    }

    /// Starts to copy numbers from the GPU to the first `count` places.
    pub(super) fn receive(&mut self, count: usize, from: u64, stream: CUstream) -> Result<(), Error> {
        // SAFETY: as above; the numbers are read only after the stream was waited for.
        unsafe { result::memcpy_dtoh_async(&mut self.values_mut()[..count], from, stream) }
            .map_err(driver("copying from the GPU"))
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        // SAFETY: nobody else has the pointer.
        let freed =
            self.context.bind_to_thread().and_then(|()| unsafe { result::free_host(self.start.cast()) });
        let _ = freed;
    }
}
