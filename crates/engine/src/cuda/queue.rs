//! Where commands go: streams of the GPU, the handles of the libraries, and the memory they work in.
//!
//! Each network has a queue of its own, so that several can run on one GPU from several threads.

use std::{ffi::c_void, sync::Arc, thread};

use cudarc::{
    cublas, cudnn,
    driver::{CudaStream, result, sys::CUevent_flags},
};

use super::{
    Precision,
    command::{Argument, Launch, Multiply},
    compile::Kernels,
    descriptor::checked,
    gpu::{Gpu, driver},
    memory::DeviceMemory,
};
use crate::Error;

/// Memory for cuBLAS; fixed, because it is part of what decides how a product is computed.
const CUBLAS_WORKSPACE: usize = 32 << 20;

/// The longest argument of a kernel, in words of eight bytes.
type Slot = [u64; 5];

/// The queue of one network.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) gpu: Arc<Gpu>,
    pub(super) kernels: Arc<Kernels>,
    pub(super) precision: Precision,
    /// What depends on each other runs here.
    pub(super) stream: Arc<CudaStream>,
    /// Gradients of filters, which nothing waits for but the optimizer, run beside.
    pub(super) beside: Arc<CudaStream>,
    /// Batches are copied while the GPU computes.
    pub(super) copies: Arc<CudaStream>,
    pub(super) cudnn: cudnn::sys::cudnnHandle_t,
    cublas: cublas::sys::cublasHandle_t,
    cublas_workspace: DeviceMemory,
    /// Where the places of the network begin.
    pub(super) memory: DeviceMemory,
}

impl Queue {
    /// A queue with so much memory for its network.
    pub(super) fn new(gpu: &Arc<Gpu>, precision: Precision, bytes: usize) -> Result<Self, Error> {
        let context = &gpu.context;
        context.bind_to_thread().map_err(driver("choosing the GPU"))?;
        let stream = || context.new_stream().map_err(driver("making a stream"));
        let (stream, beside, copies) = (stream()?, stream()?, stream()?);
        let memory = DeviceMemory::zeros(&stream, bytes)?;
        let workspace = DeviceMemory::zeros(&stream, CUBLAS_WORKSPACE)?;
        // Each of these takes a part of a second, and none needs another.
        let (kernels, handles) = thread::scope(|scope| {
            let compiled = scope.spawn(|| gpu.kernels(precision));
            let handles = handles();
            (compiled.join(), handles)
        });
        let kernels =
            kernels.unwrap_or_else(|_| Err(Error::Cuda { call: "compiling", problem: "a panic".into() }))?;
        let (cublas, cudnn) = handles?;
        let queue = Self {
            gpu: Arc::clone(gpu),
            kernels,
            precision,
            stream,
            beside,
            copies,
            cudnn,
            cublas,
            cublas_workspace: workspace,
            memory,
        };
        queue.direct(&queue.stream)?;
        // SAFETY: handle and stream are alive, and the workspace lives as long as the handle.
        unsafe {
            cublas::result::set_stream(cublas, queue.stream.cu_stream().cast())
                .and_then(|()| {
                    let at = queue.cublas_workspace.address() as *mut c_void;
                    cublas::sys::cublasSetWorkspace_v2(cublas, at, CUBLAS_WORKSPACE).result()
                })
                .map_err(|error| blas("starting cuBLAS", error))?;
        }
        Ok(queue)
    }

    /// Makes this thread talk to the GPU.
    pub(super) fn enter(&self) -> Result<(), Error> {
        self.gpu.context.bind_to_thread().map_err(driver("choosing the GPU"))
    }

    /// Sends what cuDNN does from now on to a stream.
    pub(super) fn direct(&self, stream: &CudaStream) -> Result<(), Error> {
        // SAFETY: handle and stream are alive.
        unsafe { cudnn::result::set_stream(self.cudnn, stream.cu_stream().cast()) }
            .map_err(|error| Error::Cuda { call: "choosing a stream", problem: format!("{error:?}") })
    }

    /// Waits until everything in order is done.
    pub(super) fn wait(&self) -> Result<(), Error> {
        self.stream.synchronize().map_err(driver("computing"))
    }

    /// Waits until nothing runs any more, on any stream.
    pub(super) fn settle(&self) {
        // What was sent and failed is nobody's concern any more: the network is on its way out.
        let _ = self.enter();
        for stream in [&self.stream, &self.beside, &self.copies] {
            let _ = stream.synchronize();
        }
    }

    /// Milliseconds of something, the mean of so many runs after two.
    pub(super) fn time(&self, runs: usize, run: impl Fn() -> Result<(), Error>) -> Result<f32, Error> {
        let event = || {
            let event = self.gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
            let event = event.map_err(driver("making an event"))?;
            event.record(&self.stream).map_err(driver("recording an event"))?;
            Ok::<_, Error>(event)
        };
        (0..2).try_for_each(|_| run())?;
        let start = event()?;
        (0..runs).try_for_each(|_| run())?;
        let end = event()?;
        Ok(start.elapsed_ms(&end).map_err(driver("timing"))? / runs as f32)
    }

    /// Where the network's memory begins.
    pub(super) fn base(&self) -> u64 {
        self.memory.address()
    }

    /// Runs a kernel.
    pub(super) fn launch(&self, launch: &Launch) -> Result<(), Error> {
        let mut slots: Vec<Slot> = launch.arguments.iter().map(|argument| self.slot(*argument)).collect();
        let mut pointers: Vec<*mut c_void> = slots.iter_mut().map(|slot| slot.as_mut_ptr().cast()).collect();
        let function = self.kernels.function(launch.kernel).cu_function();
        let grid = (launch.grid.0, launch.grid.1, 1);
        // SAFETY: tests compare the arguments of every kernel with its source; places lie within the memory.
        unsafe {
            let stream = self.stream.cu_stream();
            result::launch_kernel(
                function,
                grid,
                (launch.kernel.threads() as u32, 1, 1),
                0,
                stream,
                &mut pointers,
            )
        }
        .map_err(driver("running a kernel"))
    }

    /// An argument as the driver copies it.
    fn slot(&self, argument: Argument) -> Slot {
        let mut slot = Slot::default();
        let mut halves = |words: &[u32]| {
            for (at, pair) in words.chunks(2).enumerate() {
                slot[at] = u64::from(pair[0]) | (u64::from(*pair.get(1).unwrap_or(&0)) << 32);
            }
        };
        match argument {
            Argument::At(place) => slot[0] = place.address(self.base()),
            Argument::Address(address) => slot[0] = address,
            Argument::Nothing => {}
            Argument::Count(count) => halves(&[count]),
            Argument::Number(number) => halves(&[number.to_bits()]),
            Argument::Words(words) => halves(&words),
            Argument::Window(numbers) => halves(&numbers),
            Argument::Terms(terms) => halves(&terms.map(f32::to_bits)),
        }
        slot
    }

    /// Multiplies two matrices.
    pub(super) fn multiply(&self, multiply: &Multiply) -> Result<(), Error> {
        use cublas::sys::{cublasComputeType_t as Compute, cublasOperation_t as Turn, cudaDataType as Data};
        let number = if self.precision == Precision::Bf16 { Data::CUDA_R_16BF } else { Data::CUDA_R_32F };
        let compute = match self.precision {
            Precision::Tf32 => Compute::CUBLAS_COMPUTE_32F_FAST_TF32,
            Precision::Bf16 | Precision::F32 => Compute::CUBLAS_COMPUTE_32F,
        };
        let turn = |turned: bool| if turned { Turn::CUBLAS_OP_T } else { Turn::CUBLAS_OP_N };
        let [m, n, k] = multiply.size.map(|length| length as i32);
        let (one, add) = (1.0_f32, f32::from(u8::from(multiply.add)));
        let at = |place: super::layout::Place| place.address(self.base()) as *mut c_void;
        let (a, b, c) = (multiply.a, multiply.b, multiply.c);
        let result_type = if multiply.single { Data::CUDA_R_32F } else { number };
        // SAFETY: the three matrices lie within the network's memory; alpha and beta are read before the call returns.
        unsafe {
            cublas::result::gemm_ex(
                self.cublas,
                turn(a.transposed),
                turn(b.transposed),
                m,
                n,
                k,
                (&raw const one).cast(),
                at(a.at),
                number,
                a.leading as i32,
                at(b.at),
                number,
                b.leading as i32,
                (&raw const add).cast(),
                at(c),
                result_type,
                m,
                compute,
                cublas::sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        }
        .map_err(|error| blas("a product of matrices", error))
    }

    /// Runs a plan of cuDNN with its tensors.
    pub(super) fn execute(
        &self,
        plan: &super::descriptor::Descriptor,
        tensors: &super::descriptor::Descriptor,
    ) -> Result<(), Error> {
        // SAFETY: plan and tensors were finished, and the tensors lie within the network's memory.
        checked("a convolution", unsafe {
            cudnn::sys::cudnnBackendExecute(self.cudnn, plan.raw(), tensors.raw())
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.settle();
        // SAFETY: nothing runs any more, and the handles are destroyed once.
        unsafe {
            let _ = cudnn::result::destroy_handle(self.cudnn);
            let _ = cublas::result::destroy_handle(self.cublas);
        }
    }
}

/// Starts cuBLAS and cuDNN.
fn handles() -> Result<(cublas::sys::cublasHandle_t, cudnn::sys::cudnnHandle_t), Error> {
    let cublas = cublas::result::create_handle().map_err(|error| blas("starting cuBLAS", error))?;
    match cudnn::result::create_handle() {
        Ok(cudnn) => Ok((cublas, cudnn)),
        Err(error) => {
            // SAFETY: the handle was made above, and nothing else has it.
            let _ = unsafe { cublas::result::destroy_handle(cublas) };
            Err(Error::Cuda { call: "starting cuDNN", problem: format!("{error:?}") })
        }
    }
}

fn blas(call: &'static str, error: cublas::result::CublasError) -> Error {
    Error::Cuda { call, problem: format!("cuBLAS says {:?}", error.0) }
}
