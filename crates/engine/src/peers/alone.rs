//! A run with a single worker.

use super::{Group, Pending, Worker};
use cleanest_core::methods::Peers;
use std::sync::LazyLock;

/// A run with a single worker.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

static WORKER: LazyLock<Worker> = LazyLock::new(|| Worker::new(0, vec!["this machine".into()]));

impl Peers for Alone {
    fn sum(&self, _numbers: &mut [f64]) {}
}

impl Group for Alone {
    fn worker(&self) -> &Worker {
        &WORKER
    }

    fn round(&self, mine: &[u8], _lengths: &[usize]) -> Vec<u8> {
        mine.to_vec()
    }

    fn begin(&self, numbers: Vec<f32>) -> Pending {
        Pending::new(move || numbers)
    }
}
