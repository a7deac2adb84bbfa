//! A GPU and the libraries that drive it, opened once and shared by all networks of the program.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
};

use cudarc::{
    cudnn,
    driver::{CudaContext, DriverError, result, sys},
};

use super::{
    Precision, Unavailable,
    compile::{Kernels, nvrtc_version},
    library,
};
use crate::Error;

/// CUDA the bindings were made for: an older driver lacks functions they call.
const CUDA: i32 = 13_000;
/// The oldest cuDNN whose answers the bindings can read.
const CUDNN: usize = 90_100;
/// The oldest GPUs with bf16 and TF32: Ampere.
const CAPABILITY: (i32, i32) = (8, 0);

/// A GPU that works.
#[derive(Debug)]
pub(super) struct Gpu {
    pub(super) context: Arc<CudaContext>,
    pub(super) name: String,
    pub(super) capability: (i32, i32),
    pub(super) versions: Versions,
    kernels: Mutex<HashMap<bool, Arc<Kernels>>>,
    /// Held by whoever prepares something: libraries load code when they first need it, and that disturbs a graph that
    /// another thread is capturing. Held too by whoever gives it back: graphs, handles and memory that went while another
    /// thread captured were seen to end the process inside the driver.
    preparing: &'static Mutex<()>,
}

/// The versions of what drives a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The newest CUDA the driver supports.
    pub cuda: String,
    /// The compiler of kernels.
    pub nvrtc: String,
    /// The library of convolutions.
    pub cudnn: String,
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CUDA {}, cuDNN {}, NVRTC {}", self.cuda, self.cudnn, self.nvrtc)
    }
}

impl Gpu {
    /// The GPU of this number; opened on the first call, the same one ever after.
    pub(super) fn open(ordinal: usize) -> Result<Arc<Self>, Error> {
        static OPEN: OnceLock<Mutex<HashMap<usize, Arc<Gpu>>>> = OnceLock::new();
        let mut open = OPEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gpu) = open.get(&ordinal) {
            return Ok(Arc::clone(gpu));
        }
        let gpu = Arc::new(Self::new(ordinal)?);
        open.insert(ordinal, Arc::clone(&gpu));
        Ok(gpu)
    }

    fn new(ordinal: usize) -> Result<Self, Error> {
        let count = count()?;
        if ordinal >= count {
            return Err(Unavailable::NoSuchGpu { asked: ordinal, count }.into());
        }
        // Both take a good part of a second.
        let (context, loaded) = thread::scope(|scope| {
            let opening = scope.spawn(|| CudaContext::new(ordinal).map_err(driver("opening the GPU")));
            let loaded = library::ALL[1..].iter().try_for_each(library::Wanted::load);
            (opening.join(), loaded)
        });
        loaded?;
        let context = context.unwrap_or_else(|_| Err(Unavailable::NoGpu { reason: None }.into()))?;
        let found = cudnn::result::get_version();
        if found < CUDNN {
            let (found, needed) = (cudnn_version(found), cudnn_version(CUDNN));
            return Err(Unavailable::Old { what: "cuDNN", found, needed }.into());
        }
        // SAFETY: no `CudaSlice` is ever made, and those are what the events would keep apart.
        unsafe { context.disable_event_tracking() };
        let name = context.name().map_err(driver("asking for its name"))?;
        let capability = context.compute_capability().map_err(driver("asking what it can do"))?;
        if capability < CAPABILITY {
            let version = |(major, minor): (i32, i32)| format!("{major}.{minor}");
            let (found, needed) = (version(capability), version(CAPABILITY));
            return Err(Unavailable::Gpu { name, found, needed }.into());
        }
        let versions = Versions {
            cuda: cuda_version(driver_version()?),
            nvrtc: nvrtc_version(),
            cudnn: cudnn_version(found),
        };
        // A GPU is opened once for the life of the process, and so is its lock.
        let (kernels, preparing) = (Mutex::default(), &*Box::leak(Box::default()));
        Ok(Self { context, name, capability, versions, kernels, preparing })
    }

    /// Waits until nobody else prepares anything, or gives back what was prepared.
    pub(super) fn prepare(&self) -> MutexGuard<'static, ()> {
        self.preparing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Our kernels in this precision.
    pub(super) fn kernels(&self, precision: Precision) -> Result<Arc<Kernels>, Error> {
        let mut loaded = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let key = precision == Precision::Bf16;
        if let Some(kernels) = loaded.get(&key) {
            return Ok(Arc::clone(kernels));
        }
        let kernels = Arc::new(Kernels::load(&self.context, self.capability, precision)?);
        loaded.insert(key, Arc::clone(&kernels));
        Ok(kernels)
    }

    /// Bytes that are free, and bytes in all.
    pub(super) fn memory(&self) -> Result<(usize, usize), Error> {
        self.context.mem_get_info().map_err(driver("asking for free memory"))
    }
}

/// How many GPUs there are, once the driver is known to be there and new enough.
pub(super) fn count() -> Result<usize, Error> {
    library::DRIVER.load()?;
    let found = driver_version()?;
    if found < CUDA {
        return Err(Unavailable::Driver { found: cuda_version(found), needed: cuda_version(CUDA) }.into());
    }
    if let Err(error) = result::init() {
        return Err(Unavailable::NoGpu { reason: Some(sentence(error)) }.into());
    }
    match result::device::get_count().map_err(driver("counting GPUs"))? {
        count if count > 0 => Ok(count as usize),
        _ => Err(Unavailable::NoGpu { reason: None }.into()),
    }
}

/// The newest CUDA the driver supports, as it numbers versions.
fn driver_version() -> Result<i32, Error> {
    let mut version = 0;
    // SAFETY: the driver is loaded, and the place can be written.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }
        .result()
        .map_err(driver("asking for its version"))?;
    Ok(version)
}

fn cuda_version(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

fn cudnn_version(version: usize) -> String {
    format!("{}.{}.{}", version / 10_000, version % 10_000 / 100, version % 100)
}

/// What the driver says of an error.
fn sentence(error: DriverError) -> String {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|_| format!("{error:?}"))
}

/// Says what was tried when the driver refused.
pub(super) fn driver(call: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| Error::Cuda { call, problem: sentence(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_as_people_write_them() {
        assert_eq!(cuda_version(13_000), "13.0");
        assert_eq!(cuda_version(12_080), "12.8");
        assert_eq!(cudnn_version(91_400), "9.14.0");
    }
}
