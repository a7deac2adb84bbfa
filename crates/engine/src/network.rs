//! What every back end offers: images in, logits out, gradient in, step.

use crate::{Error, Matrix, Parameters};

/// A batch of examples as they are stored.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Images of one byte a channel, height by width by channels; each pixel becomes (x / 255 - mean) / deviation.
    Images {
        /// The images, one after the other.
        pixels: &'a [u8],
        /// How the channels are brought to one scale.
        normalization: &'a Normalization,
    },
    /// Rows of numbers, taken as they are; an image is height by width by channels.
    Rows(&'a [f32]),
}

/// The mean and the deviation of each channel, on the scale where a pixel lies between 0 and 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Normalization {
    /// Mean of each channel; none at all stands for zeros.
    pub mean: Vec<f32>,
    /// Deviation of each channel; none at all stands for ones.
    pub deviation: Vec<f32>,
}

/// What a pass through the network is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Statistics of the batch, dropout, and everything kept that `backward` needs.
    Train,
    /// Running statistics, no dropout; any number of examples.
    Evaluate,
}

/// A classifier planned for one device and one batch size.
pub trait Network: Send {
    /// The logits of a batch, one row an example. A training batch may be smaller than the one planned for.
    fn forward(&mut self, input: &Input<'_>, mode: Mode) -> Result<&Matrix, Error>;

    /// The gradient of every parameter, from the gradient of the logits of the last training batch.
    fn backward(&mut self, gradient: &Matrix) -> Result<(), Error>;

    /// One step of the optimizer with this learning rate.
    fn step(&mut self, rate: f64) -> Result<(), Error>;

    /// Every parameter and running statistic by name, laid out as PyTorch lays them out.
    fn parameters(&self) -> Result<Parameters, Error>;

    /// Takes over parameters by name; one that is missing, misshapen or unknown is named in the error.
    fn load(&mut self, parameters: &Parameters) -> Result<(), Error>;

    /// What the optimizer remembers, by parameter, and how many steps it has made.
    fn optimizer_state(&self) -> Result<Parameters, Error>;

    /// Takes over what an optimizer remembered.
    fn load_optimizer_state(&mut self, state: &Parameters) -> Result<(), Error>;

    /// The gradient of every trained parameter as `backward` left it, by name.
    fn gradients(&self) -> Result<Parameters, Error>;

    /// The gradient of the input of the last training batch, where the network was asked to compute it.
    fn input_gradient(&self) -> Result<Matrix, Error>;
}
