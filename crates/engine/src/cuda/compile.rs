//! Our kernels, compiled by NVRTC for the GPU at hand, and kept for the next start.

use std::{
    collections::HashMap,
    ffi::{CStr, CString},
    sync::Arc,
};

use cudarc::{
    driver::{CudaContext, CudaFunction},
    nvrtc::{self, Ptx},
};

use super::{
    Precision, cache,
    gpu::driver,
    kernel::{Kernel, SOURCES},
};
use crate::Error;

/// The kernels of one precision, loaded.
#[derive(Debug)]
pub(super) struct Kernels {
    functions: HashMap<Kernel, CudaFunction>,
}

impl Kernels {
    /// Compiles the kernels, or takes what was compiled before.
    pub(super) fn load(
        context: &Arc<CudaContext>,
        capability: (i32, i32),
        precision: Precision,
    ) -> Result<Self, Error> {
        let mut options = vec![
            format!("--gpu-architecture=sm_{}{}", capability.0, capability.1),
            "--std=c++17".to_owned(),
            "--ftz=false".to_owned(),
        ];
        if precision == Precision::Bf16 {
            options.push("-DBF16".to_owned());
        }
        let version = nvrtc_version();
        let texts = SOURCES.iter().map(|source| source.1).chain(options.iter().map(String::as_str));
        let name = format!("kernels-{:016x}.cubin", cache::digest(texts.chain([version.as_str()])));
        if let Some(kernels) = cache::read(&name).and_then(|image| Self::functions(context, image).ok()) {
            return Ok(kernels);
        }
        let image = compile(&options)?;
        cache::write(&name, &image);
        Self::functions(context, image)
    }

    fn functions(context: &Arc<CudaContext>, image: Vec<u8>) -> Result<Self, Error> {
        let module = context.load_module(Ptx::from_binary(image)).map_err(driver("loading kernels"))?;
        let load = |&kernel: &Kernel| {
            Ok((kernel, module.load_function(kernel.name()).map_err(driver("finding a kernel"))?))
        };
        Ok(Self { functions: Kernel::ALL.iter().map(load).collect::<Result<_, Error>>()? })
    }

    /// A kernel, to be launched.
    pub(super) fn function(&self, kernel: Kernel) -> &CudaFunction {
        &self.functions[&kernel]
    }
}

/// The version of NVRTC, for a person and for the name of what it compiled.
pub(super) fn nvrtc_version() -> String {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both places can be written.
    let answered = unsafe { nvrtc::sys::nvrtcVersion(&raw mut major, &raw mut minor) }.result();
    answered.map_or_else(|_| "unknown".into(), |()| format!("{major}.{minor}"))
}

/// All sources as one program, in machine code.
fn compile(options: &[String]) -> Result<Vec<u8>, Error> {
    let named = SOURCES.iter().map(|(name, text)| format!("#line 1 \"{name}\"\n{text}"));
    let source = CString::new(named.collect::<String>()).map_err(|_| failed("a zero byte in a source"))?;
    let program =
        nvrtc::result::create_program(&source, None).map_err(|error| failed(&format!("{error:?}")))?;
    // SAFETY: the program was made above and is destroyed below, once.
    unsafe {
        let image = nvrtc::result::compile_program(program, options)
            .map_err(|error| failed(&format!("{error:?}: {}", log(program))))
            .and_then(|()| machine_code(program));
        let _ = nvrtc::result::destroy_program(program);
        image
    }
}

/// The machine code of a compiled program.
///
/// # Safety
/// The program must have been compiled and not destroyed.
unsafe fn machine_code(program: nvrtc::sys::nvrtcProgram) -> Result<Vec<u8>, Error> {
    let wrong = |error: nvrtc::result::NvrtcError| failed(&format!("{error:?}"));
    let mut size = 0;
    // SAFETY: the program is whole, and the image has as many bytes as were asked for.
    unsafe {
        nvrtc::sys::nvrtcGetCUBINSize(program, &raw mut size).result().map_err(wrong)?;
        let mut image = vec![0_u8; size];
        nvrtc::sys::nvrtcGetCUBIN(program, image.as_mut_ptr().cast()).result().map_err(wrong)?;
        Ok(image)
    }
}

/// What the compiler says of a program.
///
/// # Safety
/// The program must not have been destroyed.
unsafe fn log(program: nvrtc::sys::nvrtcProgram) -> String {
    // SAFETY: the log ends in a zero byte.
    unsafe {
        let log = nvrtc::result::get_program_log(program).unwrap_or_default();
        if log.is_empty() {
            String::new()
        } else {
            CStr::from_ptr(log.as_ptr()).to_string_lossy().into_owned()
        }
    }
}

fn failed(problem: &str) -> Error {
    Error::Cuda { call: "compiling kernels", problem: problem.to_owned() }
}
