//! What a layer computes, what shape comes out of it, and which parameters it needs.

use super::{ParameterSpec, Role, Shape};
use crate::Error;

/// What one layer computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layer {
    /// A two-dimensional convolution with a square kernel.
    Convolution(Convolution),
    /// Each channel brought to mean zero and variance one over the batch, then scaled and shifted.
    BatchNorm,
    /// The positive part.
    Relu,
    /// The sum of two inputs of one shape.
    Add,
    /// The largest value under a window.
    MaxPool(Window),
    /// The mean under a window.
    AveragePool(Window),
    /// The mean of each channel over the whole image.
    GlobalAveragePool,
    /// An image as a row of numbers, in PyTorch's order: channel, height, width.
    Flatten,
    /// Each output a weighted sum of all inputs, and a bias.
    Linear {
        /// How many outputs there are.
        outputs: usize,
    },
    /// In training, zeroes each number with this probability and scales up the others.
    Dropout {
        /// The probability, in [0, 1).
        rate: f64,
    },
}

/// Settings of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Channels it puts out.
    pub channels: usize,
    /// Height and width of the kernel.
    pub kernel: usize,
    /// Pixels from one window to the next.
    pub stride: usize,
    /// Rows and columns of zeros around the image.
    pub padding: usize,
    /// Whether each channel has a bias.
    pub bias: bool,
}

/// Settings of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Height and width of the window.
    pub kernel: usize,
    /// Pixels from one window to the next.
    pub stride: usize,
    /// Rows and columns around the image that never win; a mean counts them as zeros.
    pub padding: usize,
}

impl Layer {
    /// The shape a layer puts out, or why it cannot.
    pub(super) fn output(self, name: &str, input: Shape) -> Result<Shape, Error> {
        let Shape { height, width, channels } = input;
        match self {
            Self::Convolution(c) => {
                let window = Window { kernel: c.kernel, stride: c.stride, padding: c.padding };
                let shape = window.over(name, input)?;
                Ok(Shape {
                    channels: positive(name, "an output channel or more", c.channels, input)?,
                    ..shape
                })
            }
            Self::MaxPool(window) if 2 * window.padding > window.kernel => {
                Err(Error::layer(name, "a padding of at most half the kernel", input))
            }
            Self::MaxPool(window) | Self::AveragePool(window) => window.over(name, input),
            Self::GlobalAveragePool => Ok(Shape::row(channels)),
            Self::Flatten => Ok(Shape::row(height * width * channels)),
            Self::Linear { .. } if height * width != 1 => {
                Err(Error::layer(name, "a row of numbers (flatten the image first)", input))
            }
            Self::Linear { outputs } => Ok(Shape::row(positive(name, "an output or more", outputs, input)?)),
            Self::Dropout { rate } if !(0.0..1.0).contains(&rate) => {
                let (layer, expected) = (name.into(), "a dropout rate in [0, 1)".into());
                Err(Error::Layer { layer, expected, found: rate.to_string() })
            }
            Self::Add => Err(Error::layer(name, "two inputs (use `sum`)", input)),
            Self::BatchNorm | Self::Relu | Self::Dropout { .. } => Ok(input),
        }
    }

    /// The parameters of a layer that reads this shape.
    pub(super) fn parameters(self, name: &str, input: Shape) -> Vec<ParameterSpec> {
        let spec = |what: &str, shape: &[usize], role| ParameterSpec {
            name: format!("{name}.{what}"),
            shape: shape.to_vec(),
            role,
        };
        let channels = input.channels;
        match self {
            Self::Convolution(c) => {
                let weight = [c.channels, channels, c.kernel, c.kernel];
                let fan_in = channels * c.kernel * c.kernel;
                let bias = c.bias.then(|| spec("bias", &[c.channels], Role::Bias { fan_in }));
                [spec("weight", &weight, Role::Weight)].into_iter().chain(bias).collect()
            }
            Self::Linear { outputs } => vec![
                spec("weight", &[outputs, channels], Role::Weight),
                spec("bias", &[outputs], Role::Bias { fan_in: channels }),
            ],
            Self::BatchNorm => vec![
                spec("weight", &[channels], Role::Scale),
                spec("bias", &[channels], Role::Shift),
                spec("running_mean", &[channels], Role::RunningMean),
                spec("running_var", &[channels], Role::RunningVariance),
                spec("num_batches_tracked", &[], Role::BatchesTracked),
            ],
            _ => Vec::new(),
        }
    }
}

impl Window {
    /// The shape after a window has passed over an image, the channels as they were.
    fn over(self, name: &str, input: Shape) -> Result<Shape, Error> {
        let Self { kernel, stride, padding } = self;
        if kernel == 0 || stride == 0 {
            return Err(Error::layer(name, "a kernel and a stride of one or more", input));
        }
        let (height, width) = (input.height + 2 * padding, input.width + 2 * padding);
        if kernel > height || kernel > width {
            return Err(Error::layer(name, format!("an image of at least {kernel}x{kernel} pixels"), input));
        }
        let side = |length: usize| (length - kernel) / stride + 1;
        Ok(Shape { height: side(height), width: side(width), ..input })
    }
}

impl Convolution {
    /// A convolution with stride one, no padding, and a bias.
    #[must_use]
    pub fn new(channels: usize, kernel: usize) -> Self {
        Self { channels, kernel, stride: 1, padding: 0, bias: true }
    }

    /// The same without a bias, stepping by `stride`, padded so that stride one keeps the size of the image.
    #[must_use]
    pub fn same(channels: usize, kernel: usize, stride: usize) -> Self {
        Self { channels, kernel, stride, padding: kernel / 2, bias: false }
    }
}

fn positive(name: &str, expected: &str, count: usize, input: Shape) -> Result<usize, Error> {
    if count == 0 { Err(Error::layer(name, expected, input)) } else { Ok(count) }
}
