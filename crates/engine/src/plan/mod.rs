//! What every back end decides before the first batch: which layers run as one, and where gradients lie.

pub(crate) mod fuse;
pub(crate) mod gradients;

/// Where the gradient of an input goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inflow {
    pub(crate) slot: usize,
    /// Whether another consumer has left its part there.
    pub(crate) add: bool,
    /// The input, where it came out of a ReLU that leaves its backward pass to this operation.
    pub(crate) activated: Option<usize>,
}
