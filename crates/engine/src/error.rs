//! Every mistake a user of this crate can make.

use crate::{architecture::Shape, cuda::Unavailable};

/// A mistake in what was asked, said so that it can be mended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A layer cannot take what flows into it.
    #[error("layer `{layer}`: expected {expected}, found {found}")]
    Layer {
        /// The layer as the architecture names it.
        layer: String,
        /// What the layer takes.
        expected: String,
        /// What it was given.
        found: String,
    },
    /// Two layers of one architecture have the same name, so their parameters would too.
    #[error("layer `{layer}` is there twice: expected a name of its own")]
    LayerTwice {
        /// The name.
        layer: String,
    },
    /// No model goes by this name.
    #[error("unknown model `{found}`: expected one of {expected}")]
    Model {
        /// The names there are.
        expected: String,
        /// The name that was asked for.
        found: String,
    },
    /// A parameter the network needs is not there.
    #[error("parameter `{name}` is missing: expected shape {expected:?}")]
    ParameterMissing {
        /// The parameter.
        name: String,
        /// The shape it must have.
        expected: Vec<usize>,
    },
    /// A parameter has another shape than the network's.
    #[error("parameter `{name}`: expected shape {expected:?}, found {found:?}")]
    ParameterShape {
        /// The parameter.
        name: String,
        /// The shape it must have.
        expected: Vec<usize>,
        /// The shape it has.
        found: Vec<usize>,
    },
    /// A parameter is there that no layer knows.
    #[error("parameter `{name}` belongs to no layer of `{architecture}`")]
    ParameterUnknown {
        /// The parameter.
        name: String,
        /// The architecture it was offered to.
        architecture: String,
    },
    /// A tensor of a safetensors file has a type we do not read.
    #[error("parameter `{name}`: expected F32, F64, BF16 or I64, found {found}")]
    ParameterType {
        /// The parameter.
        name: String,
        /// The type it has.
        found: String,
    },
    /// The bytes are not a safetensors file.
    #[error("not a safetensors file: {0}")]
    Safetensors(#[from] safetensors::SafeTensorError),
    /// A batch does not fit the network.
    #[error("a batch of {expected}: found {found}")]
    Input {
        /// What a batch looks like.
        expected: String,
        /// What came.
        found: String,
    },
    /// A matrix has the wrong number of rows or columns.
    #[error("{what}: expected {expected:?} rows and columns, found {found:?}")]
    MatrixShape {
        /// The matrix.
        what: &'static str,
        /// Rows and columns it must have.
        expected: (usize, usize),
        /// Rows and columns it has.
        found: (usize, usize),
    },
    /// `backward` has nothing to go back through.
    #[error("`backward` needs a `forward` in training mode before it")]
    BackwardFirst,
    /// A network was made without the gradient of its input.
    #[error("the gradient of the input is computed only when `Settings::input_gradient` asks for it")]
    NoInputGradient,
    /// A setting is outside its range.
    #[error("`{key}` must be {expected}: {found}")]
    Setting {
        /// The setting.
        key: &'static str,
        /// Its range.
        expected: &'static str,
        /// Its value.
        found: String,
    },
    /// The vector instructions asked for are not known, or not those of this machine.
    #[error("CLEANEST_SIMD: expected one of {expected}, found `{found}`")]
    Simd {
        /// What this machine can run.
        expected: String,
        /// What was asked for.
        found: String,
    },
    /// No device goes by this name.
    #[error("no device is called `{found}`")]
    Device {
        /// The name that was asked for.
        found: String,
    },
    /// There is no GPU to work with.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// A network does not fit into the memory of the GPU.
    #[error("a batch of {batch} needs {} of GPU memory, and {} are free", gigabytes(*needed), gigabytes(*free))]
    Memory {
        /// Examples of the batch.
        batch: usize,
        /// Bytes the network would take.
        needed: usize,
        /// Bytes that are free.
        free: usize,
        /// The largest batch that would fit, if one would.
        fits: Option<usize>,
    },
    /// The GPU, or a library that drives it, refused to do something it should be able to do.
    #[error("the GPU failed at {call}: {problem}")]
    Cuda {
        /// What was tried.
        call: &'static str,
        /// What it answered.
        problem: String,
    },
    /// A network cannot do this together with others.
    #[error("{0}")]
    Together(String),
    /// How the process was started as one of several does not make sense, or does not work.
    #[error("{0}")]
    Launch(String),
    /// A batch names rows of a set the network does not keep.
    #[error("rows of a set were asked for that the network does not keep")]
    NotKept,
}

/// Bytes for a person.
fn gigabytes(bytes: usize) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

impl Error {
    /// The cure, where one is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Device { .. } => Some("there are: auto, cpu, cuda:N".to_owned()),
            Self::Unavailable(reason) => Some(reason.hint()),
            Self::Memory { fits: Some(fits), .. } => {
                Some(format!("a batch of {fits} would fit: --batch {fits}"))
            }
            Self::Memory { fits: None, .. } => Some("no batch would fit: train with --device cpu".to_owned()),
            _ => None,
        }
    }

    /// Whether what was asked has to be mended, rather than the machine it was asked of.
    #[must_use]
    pub fn is_wrong_use(&self) -> bool {
        match self {
            Self::Unavailable(reason) => matches!(reason, Unavailable::NoSuchGpu { .. }),
            Self::Memory { .. } | Self::Cuda { .. } | Self::Launch(_) => false,
            _ => true,
        }
    }

    /// A layer that does not fit the shape it is given.
    pub(crate) fn layer(layer: &str, expected: impl Into<String>, found: Shape) -> Self {
        Self::Layer { layer: layer.into(), expected: expected.into(), found: found.to_string() }
    }
}
