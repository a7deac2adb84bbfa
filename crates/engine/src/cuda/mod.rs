//! The CUDA back end: an NVIDIA GPU, driven from the same program that runs without one.
//!
//! The libraries are looked for when they are first asked for; a machine without them gets a sentence, not a failure to
//! start. A network is planned as on the processor: layers are fused, every place in memory is decided, and what is left is
//! a list of commands. These become two graphs a batch size, which the GPU replays: forward, and backward. Convolutions are
//! cuDNN's, products cuBLAS's, and everything between them are kernels of ours, compiled on the machine they run on.

mod blueprint;
mod cache;
mod command;
mod compile;
mod convolve;
mod descriptor;
mod drawing;
mod feed;
mod gpu;
mod gpus;
mod intake;
mod kernel;
mod layout;
mod library;
mod memory;
pub(crate) mod nccl;
mod network;
mod operations;
mod plans;
mod program;
mod queue;
mod store;
mod survey;
mod together;
mod unavailable;
mod update;

use std::{fmt, str::FromStr};

pub use gpu::Versions;
pub use gpus::Gpus;
pub use survey::{Found, Survey, available, count, survey};
pub use unavailable::Unavailable;

use crate::{Architecture, Error, Network, Optimizer};

/// What a network is planned for.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Which GPU, the first being 0.
    pub ordinal: usize,
    /// Examples of the largest training batch; evaluation takes any number.
    pub batch: usize,
    /// Where initialization and dropout draw from.
    pub seed: u64,
    /// What `step` does.
    pub optimizer: Optimizer,
    /// In what precision convolutions and products are computed.
    pub precision: Precision,
    /// How the plans of convolutions are selected.
    pub selection: Selection,
    /// Whether `backward` computes the gradient of the input as well.
    pub input_gradient: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ordinal: 0,
            batch: 128,
            seed: 0,
            optimizer: Optimizer::default(),
            precision: Precision::default(),
            selection: Selection::default(),
            input_gradient: false,
        }
    }
}

/// In what precision a network computes. Weights, statistics, logits and the optimizer are in single precision always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Activations and gradients in bf16, with eight bits of fraction; products are summed in single precision.
    #[default]
    Bf16,
    /// Single precision in memory; factors of products rounded to eleven bits of fraction.
    Tf32,
    /// Single precision throughout.
    F32,
}

/// How cuDNN's plans are selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// By rules alone: the same seed gives the same bits in every run on the same kind of GPU.
    #[default]
    Reproducible,
    /// By the clock, once for each GPU and version of cuDNN.
    Tuned,
}

macro_rules! named {
    ($type:ident, $key:literal, $expected:literal, $($variant:ident $name:literal),+) => {
        impl $type {
            /// The name on the command line and in files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $type {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self, Error> {
                match name {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(Error::Setting { key: $key, expected: $expected, found: name.into() }),
                }
            }
        }
    };
}

named!(Precision, "precision", "`bf16`, `tf32` or `f32`", Bf16 "bf16", Tf32 "tf32", F32 "f32");
named!(Selection, "mode", "`reproducible` or `tuned`", Reproducible "reproducible", Tuned "tuned");

impl Precision {
    /// Bytes of a number as it is stored.
    fn bytes(self) -> usize {
        if self == Self::Bf16 { 2 } else { 4 }
    }
}

/// Plans an architecture for a GPU.
pub fn network(architecture: &Architecture, settings: &Settings) -> Result<Box<dyn Network>, Error> {
    if settings.batch == 0 {
        return Err(Error::Setting { key: "batch", expected: "one or more", found: "0".into() });
    }
    settings.optimizer.check()?;
    network::boxed(architecture, settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_others_are_refused() {
        for precision in [Precision::Bf16, Precision::Tf32, Precision::F32] {
            assert_eq!(precision.name().parse::<Precision>().unwrap(), precision);
        }
        for selection in [Selection::Reproducible, Selection::Tuned] {
            assert_eq!(selection.name().parse::<Selection>().unwrap(), selection);
        }
        let error = "fp16".parse::<Precision>().unwrap_err();
        assert_eq!(error.to_string(), "`precision` must be `bf16`, `tf32` or `f32`: fp16");
        let error = "fast".parse::<Selection>().unwrap_err();
        assert_eq!(error.to_string(), "`mode` must be `reproducible` or `tuned`: fast");
    }
}
