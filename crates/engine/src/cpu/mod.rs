//! The CPU back end: pure Rust, always there, nothing to install.
//!
//! A network is planned once: layers are fused, every buffer is allocated, kernels are chosen for the processor it
//! runs on. A step then allocates nothing. Images lie `[height][width][channel]`; 3x3 convolutions go through Winograd's
//! transform where it pays; results do not depend on the number of threads.

mod activation;
mod buffer;
mod convolve;
mod direct;
mod direct_data;
mod direct_filter;
mod dropout;
mod finish;
mod gather;
mod geometry;
mod input;
mod kernel;
mod network;
mod normalize;
mod normalize_backward;
mod operation;
mod parallel;
mod plan;
mod pool;
mod simd;
mod store;
mod together;
mod update;
mod winograd;

pub use simd::Instructions;

use crate::{Architecture, Error, Network, Optimizer};

/// What a network is planned for.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Examples of the largest training batch; evaluation takes any number.
    pub batch: usize,
    /// Where initialization and dropout draw from.
    pub seed: u64,
    /// What `step` does.
    pub optimizer: Optimizer,
    /// How convolutions are computed.
    pub convolution: Algorithm,
    /// Which vector instructions are used; those of the machine, or `CLEANEST_SIMD`, where it is none.
    pub instructions: Option<Instructions>,
    /// Whether `backward` computes the gradient of the input as well.
    pub input_gradient: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            batch: 128,
            seed: 0,
            optimizer: Optimizer::default(),
            convolution: Algorithm::Auto,
            instructions: None,
            input_gradient: false,
        }
    }
}

/// How convolutions are computed; the results differ by rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Winograd's transform where it is faster.
    Auto,
    /// Never Winograd's transform.
    Direct,
    /// Winograd's transform wherever it is possible, for tests.
    Winograd,
}

/// Plans an architecture for this machine. Threads are those of the rayon pool it is planned in.
pub fn network(architecture: &Architecture, settings: &Settings) -> Result<Box<dyn Network>, Error> {
    settings.check()?;
    let instructions =
        settings.instructions.map_or_else(Instructions::detect, |set| Instructions::forced(set.name()))?;
    match instructions {
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => {
            if let Some(simd) = simd::Avx512::detect() {
                return network::boxed(simd, architecture, settings);
            }
        }
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => {
            if let Some(simd) = simd::Avx2::detect() {
                return network::boxed(simd, architecture, settings);
            }
        }
        _ => {}
    }
    network::boxed(simd::Portable, architecture, settings)
}

impl Settings {
    fn check(&self) -> Result<(), Error> {
        if self.batch == 0 {
            return Err(Error::Setting { key: "batch", expected: "one or more", found: "0".into() });
        }
        self.optimizer.check()
    }
}
