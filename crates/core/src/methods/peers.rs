//! The other workers of a training run.

/// Those who train the same classifier on other parts of each batch.
pub trait Peers: Sync {
    /// Replaces numbers by their sum over all workers.
    fn sum(&self, numbers: &mut [f64]);
}

/// A run with a single worker.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Peers for Alone {
    fn sum(&self, _numbers: &mut [f64]) {}
}
