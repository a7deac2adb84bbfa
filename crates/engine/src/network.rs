//! What every back end offers: images in, logits out, gradient in, step.

use crate::peers::{Group, Part};
use crate::{Error, Matrix, Parameters, Shape};
use std::sync::Arc;

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
    /// Examples of a set that the network keeps.
    Kept {
        /// The set.
        set: Kept,
        /// Which of its examples, in this order.
        rows: &'a [u32],
        /// What is learnt from of each image; the whole image where there is nothing.
        crops: &'a [Crop],
    },
}

/// A whole set of examples, to be kept where the network runs.
#[derive(Clone, Copy, Debug)]
pub enum Set<'a> {
    /// Images of one byte a channel; each pixel becomes (x / 255 - mean) / deviation.
    Images {
        /// The images, one after the other.
        pixels: &'a [u8],
        /// How the channels are brought to one scale.
        normalization: &'a Normalization,
    },
    /// Rows of numbers; each becomes (x - mean) / deviation, and 0 where it is missing (NaN).
    Rows {
        /// The rows, one after the other.
        numbers: &'a [f32],
        /// The mean and the deviation of each number of a row.
        normalization: &'a Normalization,
    },
}

/// A set that a network keeps: what [`Network::keep`] gave for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept(pub(crate) usize);

/// The piece of an image that is learnt from; what lies outside of the image is black.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crop {
    /// Rows of the image above it; fewer than none where it begins outside.
    pub top: i16,
    /// Columns left of it.
    pub left: i16,
    /// Whether it is turned left to right.
    pub flipped: bool,
}

/// The mean and the deviation of each channel, where a pixel lies between 0 and 1, or of each number of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Normalization {
    /// Mean of each channel; none at all stands for zeros.
    pub mean: Vec<f32>,
    /// Deviation of each channel; none at all stands for ones.
    pub deviation: Vec<f32>,
}

impl Input<'_> {
    /// How many examples of this shape there are, if there is a whole number of them.
    pub(crate) fn examples(&self, shape: Shape) -> Result<usize, Error> {
        let length = match self {
            Self::Images { pixels, .. } => pixels.len(),
            Self::Rows(numbers) => numbers.len(),
            Self::Kept { .. } => return Err(Error::NotKept),
        };
        if length == 0 || !length.is_multiple_of(shape.size()) {
            let expected = format!("examples of {shape} has a multiple of {} numbers", shape.size());
            return Err(Error::Input { expected, found: length.to_string() });
        }
        if let Self::Images { normalization, .. } = self {
            normalization.check(shape.channels)?;
        }
        Ok(length / shape.size())
    }
}

impl Normalization {
    /// Refuses constants that are neither none nor one for each channel.
    pub(crate) fn check(&self, channels: usize) -> Result<(), Error> {
        for (what, numbers) in [("mean", &self.mean), ("deviation", &self.deviation)] {
            if !numbers.is_empty() && numbers.len() != channels {
                let expected = format!("images has a {what} for each of {channels} channels, or none");
                return Err(Error::Input { expected, found: numbers.len().to_string() });
            }
        }
        Ok(())
    }
}

/// What a pass through the network is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    /// Trains with others from now on, each on a part of every batch: `step` moves by the sum of all gradients. Running
    /// statistics of batch norms are averaged over the workers, or those of the whole batch where `whole_norms` asks for it.
    ///
    /// Gives back a sentence where the exchange is slower than it could be.
    fn join(&mut self, group: Arc<dyn Group>, whole_norms: bool) -> Result<Option<String>, Error>;

    /// Says which part of its batch the next pass in training mode is.
    fn part(&mut self, part: Part);

    /// Keeps a set where the network runs, so that a batch of it can be named by its rows. None where that would gain
    /// nothing, or where there is no room for it: batches then come from the host as before.
    fn keep(&mut self, _set: &Set<'_>) -> Result<Option<Kept>, Error> {
        Ok(None)
    }
}

/// How many examples a gradient of the logits is for: those of the last training batch, whose logits it must fit.
pub(crate) fn examples_of(
    trained: Option<usize>,
    logits: &Matrix,
    gradient: &Matrix,
) -> Result<usize, Error> {
    let batch = trained.ok_or(Error::BackwardFirst)?;
    let (expected, found) = ((batch, logits.columns()), (gradient.rows(), gradient.columns()));
    if expected == found {
        Ok(batch)
    } else {
        Err(Error::MatrixShape { what: "the gradient of the logits", expected, found })
    }
}
