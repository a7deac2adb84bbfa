//! Memory of the GPU, and memory of the host that it can copy from by itself.

use std::sync::Arc;

use cudarc::driver::{CudaContext, result, sys::CUstream};

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
    /// So many bytes, all zero.
    pub(super) fn zeros(context: &Arc<CudaContext>, bytes: usize) -> Result<Self, Error> {
        let bytes = bytes.max(256);
        context.bind_to_thread().map_err(driver("choosing the GPU"))?;
        // SAFETY: the memory belongs to the value that is made here, and is written before it is read.
        let address = unsafe {
            let address = result::malloc_sync(bytes).map_err(driver("allocating memory"))?;
            result::memset_d8_sync(address, 0, bytes).map_err(driver("clearing memory"))?;
            address
        };
        Ok(Self { context: Arc::clone(context), address, bytes })
    }

    /// A copy of some numbers.
    pub(super) fn of<T: Copy>(context: &Arc<CudaContext>, values: &[T]) -> Result<Self, Error> {
        let memory = Self::zeros(context, size_of_val(values))?;
        // SAFETY: there is room for all of them, and nobody uses the memory yet.
        unsafe { result::memcpy_htod_sync(memory.address, values) }.map_err(driver("copying to the GPU"))?;
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
