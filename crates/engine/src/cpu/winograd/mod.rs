//! Convolution with 3x3 kernels and stride one, with a quarter of the multiplications.
//!
//! One algorithm, F(4x4, 3x3), serves all three passes. With V the points of the input and U those of the filter,
//! the output is the interpolation of the products U V; the gradient of the input is the same with the filter turned
//! and its channels swapped; the gradient of the filter interpolates V times the points of the output's gradient.

mod filter;
mod forward;
mod tile;
mod transform;

pub(super) use filter::Filter;
pub(super) use forward::{Forward, Turn};

use super::geometry::Geometry;

/// Whether a convolution can be done this way at all.
pub(super) fn possible(geometry: &Geometry) -> bool {
    geometry.kernel == (3, 3) && geometry.stride == 1 && geometry.padding <= 2
}

/// Whether it is faster than gathering: the transforms have to be paid for by enough channels.
pub(super) fn pays(geometry: &Geometry) -> bool {
    possible(geometry) && geometry.input.channels >= 32 && geometry.output.channels >= 32
}

/// The convolution that takes the gradient of the output to that of the input.
pub(super) fn backward(geometry: &Geometry) -> Geometry {
    Geometry { input: geometry.output, output: geometry.input, padding: 2 - geometry.padding, ..*geometry }
}

/// How the work is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Blocks of tiles go through all three steps while they are in the cache of one core.
    Blocks,
    /// All tiles through the first step, then all points through the second, then all tiles through the third:
    /// for filters so large that each should be read once only.
    Planes,
}
