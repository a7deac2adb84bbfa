//! Layers as commands: what each operation of a plan asks the GPU to do, forward and backward.

mod convolution;
mod dropout;
mod linear;
mod norm;
mod pool;
mod sum;

use std::fmt;

pub(super) use convolution::Convolution;
pub(super) use dropout::Dropout;
pub(super) use linear::Linear;
pub(super) use norm::Norm;
pub(super) use pool::{AveragePool, MaxPool, Windows};
pub(super) use sum::Sum;

use super::{
    command::{Commands, arguments},
    kernel::{Kernel, blocks},
    layout::Place,
};
use crate::Mode;

/// Some layers, fused.
pub(super) trait Operation: fmt::Debug + Send {
    /// What computes the output value from the input values.
    fn forward(&self, pass: Pass, to: &mut Commands);
    /// What computes the gradients of inputs and parameters from the gradient of the output.
    fn backward(&self, batch: usize, to: &mut Commands);
}

/// One pass through the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pass {
    /// Examples in it.
    pub(super) batch: usize,
    pub(super) mode: Mode,
}

/// Where the gradient of an input goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) to: Place,
    /// Whether another consumer has left its part there.
    pub(super) add: bool,
}

/// What an operation reads and writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    pub(super) input: Place,
    pub(super) output: Place,
    /// The gradient of the output.
    pub(super) gradient: Place,
    /// The gradient of the input, where anybody needs it.
    pub(super) inflow: Option<Flow>,
}

/// Memory for sums that several blocks share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    pub(super) partials: Place,
    pub(super) arrived: Place,
    /// Two sums a channel over all workers, in double precision.
    pub(super) whole: Place,
}

/// A trained vector and its gradient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trained {
    pub(super) value: Place,
    pub(super) slope: Place,
}

/// The least number a ReLU lets through, or none at all.
fn least(relu: bool) -> f32 {
    if relu { 0.0 } else { f32::NEG_INFINITY }
}

/// Hands a gradient of so many numbers on, unless it is already where it should be.
fn deliver(from: Place, flow: Flow, numbers: usize, to: &mut Commands) {
    if from != flow.to || flow.add {
        let eights = numbers / 8;
        to.launch(Kernel::Deliver, blocks(eights), arguments![from, flow.to, eights, flow.add]);
    }
}
