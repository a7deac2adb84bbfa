//! The GPUs of all workers: what NCCL does with numbers where they lie, and with numbers of the host on a detour.

use std::{
    ffi::{c_int, c_void},
    sync::{Arc, Mutex, PoisonError},
};

use cudarc::driver::CudaStream;

use super::{
    gpu::{Gpu, driver},
    memory::{DeviceMemory, Pinned},
    nccl::{Functions, Handle, IMMEDIATE, Id, Number, SUM, UniqueId},
};
use crate::Error;

/// The GPUs of all workers, of which this is one.
#[derive(Debug)]
pub struct Gpus {
    functions: Functions,
    handle: Handle,
    pub(super) gpu: Arc<Gpu>,
    /// Exchanges run here, beside what the network computes.
    pub(super) stream: Arc<CudaStream>,
    /// How many there are.
    pub size: usize,
    /// Where numbers of the host pass through.
    scratch: Mutex<Option<Scratch>>,
}

/// Memory for numbers of the host on their way: here and on the GPU, those of this worker and those of all.
#[derive(Debug)]
struct Scratch {
    mine: (Pinned<u8>, DeviceMemory),
    all: (Pinned<u8>, DeviceMemory),
}

/// Numbers that may be taken for their bytes, and bytes for them.
trait Plain: Copy {}
impl Plain for f32 {}
impl Plain for f64 {}

// SAFETY: NCCL's functions may be called from any thread; a communicator is used by one at a time, which those who share
// it see to: the training loop, and nobody else.
unsafe impl Send for Gpus {}
// SAFETY: as above.
unsafe impl Sync for Gpus {}

impl Gpus {
    /// Joins the GPUs of all workers; every one of them calls this with the same id.
    pub(crate) fn join(ordinal: usize, (rank, size): (usize, usize), id: Id) -> Result<Self, Error> {
        let functions = Functions::load()?;
        let gpu = Gpu::open(ordinal)?;
        gpu.context.bind_to_thread().map_err(driver("choosing the GPU"))?;
        let stream = gpu.context.new_stream().map_err(driver("making a stream"))?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the place can be written, and the GPU was chosen for this thread.
        let code = unsafe {
            (functions.begin)(&raw mut handle, size as c_int, UniqueId { bytes: id }, rank as c_int)
        };
        functions.checked("joining the GPUs of all workers", code)?;
        Ok(Self { functions, handle, gpu, stream, size, scratch: Mutex::default() })
    }

    /// Replaces numbers of this GPU by their sums over all, behind what was ordered here before.
    ///
    /// # Safety
    /// There must be so many numbers at the address, and nobody else may use them meanwhile.
    pub(super) unsafe fn sum(&self, at: u64, count: usize, number: Number) -> Result<(), Error> {
        // SAFETY: what the caller promises.
        unsafe { self.reduce(&self.stream, (at, at), (count, number), SUM) }
    }

    /// The same in double precision on a stream of the caller's.
    ///
    /// # Safety
    /// As for [`Self::sum`]; and whatever was ordered here before is waited for by that stream.
    pub(super) unsafe fn sum_on(&self, stream: &CudaStream, at: u64, count: usize) -> Result<(), Error> {
        // SAFETY: what the caller promises.
        unsafe { self.reduce(stream, (at, at), (count, Number::Double), SUM) }
    }

    /// The same with the numbers of this worker multiplied by its share first.
    ///
    /// # Safety
    /// As for [`Self::sum`]; the numbers are in single precision.
    pub(super) unsafe fn average(&self, at: u64, count: usize, share: f32) -> Result<(), Error> {
        if share == 1.0 {
            // SAFETY: what the caller promises.
            return unsafe { self.sum(at, count, Number::Single) };
        }
        let (mut operation, mut share) = (0, share);
        let kind = Number::Single as c_int;
        let factor = (&raw mut share).cast();
        // SAFETY: the factor is read before the call returns.
        let code =
            unsafe { (self.functions.weighted)(&raw mut operation, factor, kind, IMMEDIATE, self.handle) };
        self.functions.checked("weighing", code)?;
        // SAFETY: what the caller promises.
        let reduced = unsafe { self.reduce(&self.stream, (at, at), (count, Number::Single), operation) };
        // SAFETY: it was made above; what is under way keeps what it needs.
        let code = unsafe { (self.functions.forget)(operation, self.handle) };
        reduced.and(self.functions.checked("weighing", code))
    }

    /// Leaves sums over all elsewhere.
    ///
    /// # Safety
    /// As for [`Self::sum`], at both places.
    unsafe fn sum_into(&self, from: u64, to: u64, count: usize, number: Number) -> Result<(), Error> {
        // SAFETY: what the caller promises.
        unsafe { self.reduce(&self.stream, (from, to), (count, number), SUM) }
    }

    unsafe fn reduce(
        &self,
        stream: &CudaStream,
        (from, to): (u64, u64),
        (count, number): (usize, Number),
        operation: c_int,
    ) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        let (from, to, stream) = (from as *const c_void, to as *mut c_void, stream.cu_stream().cast());
        // SAFETY: what the caller promises; handle and stream are alive.
        let code = unsafe {
            (self.functions.all_reduce)(from, to, count, number as c_int, operation, self.handle, stream)
        };
        self.functions.checked("summing over GPUs", code)
    }

    /// Gathers so many bytes of each worker.
    ///
    /// # Safety
    /// There must be so many bytes at `from`, and room for those of all at `to`.
    pub(super) unsafe fn gather(&self, from: u64, to: u64, bytes: usize) -> Result<(), Error> {
        let (from, to, stream) = (from as *const c_void, to as *mut c_void, self.stream.cu_stream().cast());
        // SAFETY: what the caller promises.
        let code = unsafe {
            (self.functions.all_gather)(from, to, bytes, Number::Byte as c_int, self.handle, stream)
        };
        self.functions.checked("gathering over GPUs", code)
    }
}

/// The same for numbers of the host, which go to the GPU and back: for what is small.
impl Gpus {
    /// Copies bytes to the GPU, lets something be done with them there, and calls back with what it left: so many bytes.
    fn by_way_of_gpu<T>(
        &self,
        (mine, all): (&[u8], usize),
        exchange: impl FnOnce(&Scratch) -> Result<(), Error>,
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Error> {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        self.gpu.context.bind_to_thread().map_err(driver("choosing the GPU"))?;
        let fits = |scratch: &Scratch| scratch.mine.1.bytes() >= mine.len() && scratch.all.1.bytes() >= all;
        if !scratch.as_ref().is_some_and(fits) {
            let room = |bytes: usize| {
                let bytes = bytes.next_power_of_two();
                let pinned = Pinned::new(&self.gpu.context, bytes)?;
                Ok::<_, Error>((pinned, DeviceMemory::zeros(&self.stream, bytes)?))
            };
            *scratch = Some(Scratch { mine: room(mine.len())?, all: room(all)? });
        }
        let Some(scratch) = scratch.as_mut() else { unreachable!("it was made above") };
        let stream = self.stream.cu_stream();
        scratch.mine.0.values_mut()[..mine.len()].copy_from_slice(mine);
        scratch.mine.0.send(mine.len(), scratch.mine.1.address(), stream)?;
        exchange(scratch)?;
        let from = scratch.all.1.address();
        scratch.all.0.receive(all, from, stream)?;
        self.stream.synchronize().map_err(driver("exchanging by way of the GPU"))?;
        Ok(take(&scratch.all.0.values()[..all]))
    }

    /// The bytes of all workers one after the other; `lengths` are how many each has.
    pub(crate) fn gather_bytes(&self, mine: &[u8], lengths: &[usize]) -> Result<Vec<u8>, Error> {
        let longest = lengths.iter().copied().max().unwrap_or(0).next_multiple_of(16).max(16);
        let padded;
        let mine = if mine.len() == longest {
            mine
        } else {
            padded = [mine, &vec![0; longest - mine.len()]].concat();
            &padded
        };
        let gather = |scratch: &Scratch| {
            // SAFETY: both stretches are as long as that, and all of it runs on one stream in order.
            unsafe { self.gather(scratch.mine.1.address(), scratch.all.1.address(), longest) }
        };
        self.by_way_of_gpu((mine, longest * self.size), gather, |all| {
            let mut bytes = Vec::with_capacity(lengths.iter().sum());
            for (all, &length) in all.chunks_exact(longest).zip(lengths) {
                bytes.extend_from_slice(&all[..length]);
            }
            bytes
        })
    }

    /// Sums over all workers.
    pub(crate) fn sum_doubles(&self, numbers: &mut [f64]) -> Result<(), Error> {
        self.sum_numbers(numbers, Number::Double)
    }

    /// Sums over all workers.
    pub(crate) fn sum_singles(&self, numbers: &mut [f32]) -> Result<(), Error> {
        self.sum_numbers(numbers, Number::Single)
    }

    fn sum_numbers<T: Plain>(&self, numbers: &mut [T], number: Number) -> Result<(), Error> {
        let (count, bytes) = (numbers.len(), size_of_val(numbers));
        // SAFETY: numbers without gaps are bytes, whatever they are.
        let mine = unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast::<u8>(), bytes) };
        let sum = |scratch: &Scratch| {
            let (mine, all) = (scratch.mine.1.address(), scratch.all.1.address());
            // SAFETY: there is room for so many numbers, and all of it runs on one stream in order.
            unsafe { self.sum_into(mine, all, count, number) }
        };
        let sums = self.by_way_of_gpu((mine, bytes), sum, <[u8]>::to_vec)?;
        // SAFETY: there is room for so many bytes, and any of them are numbers.
        unsafe { std::ptr::copy_nonoverlapping(sums.as_ptr(), numbers.as_mut_ptr().cast::<u8>(), bytes) };
        Ok(())
    }
}

impl Drop for Gpus {
    fn drop(&mut self) {
        let _ = self.gpu.context.bind_to_thread();
        let _ = self.stream.synchronize();
        // SAFETY: nothing is under way any more, and the handle is destroyed once.
        unsafe { (self.functions.end)(self.handle) };
    }
}
