//! A convolution as the kernels see it. A linear layer is one too, of images with a single pixel.

use crate::architecture::Shape;

/// Shapes of a convolution. Images are `[height][width][channel]`, filters `[height][width][in][out]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) input: Shape,
    pub(super) output: Shape,
    /// Height and width of the kernel.
    pub(super) kernel: (usize, usize),
    pub(super) stride: usize,
    pub(super) padding: usize,
}

impl Geometry {
    /// Numbers under the kernel at one place: the terms of one output.
    pub(super) fn patch(&self) -> usize {
        self.kernel.0 * self.kernel.1 * self.input.channels
    }

    /// Output pixels of an image.
    pub(super) fn pixels(&self) -> usize {
        self.output.height * self.output.width
    }
}
