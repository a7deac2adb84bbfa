//! Which examples come when.

use cleanest_core::random::Stream;
use std::ops::Range;

/// The order of the examples, epoch after epoch.
///
/// The order of an epoch depends on (seed, epoch) alone, so that a run resumed at any step goes on as if it had never
/// stopped.
#[derive(Clone, Debug)]
pub struct Order {
    examples: Range<usize>,
    batch: usize,
    seed: Option<u64>,
    /// The epoch whose order is at hand.
    epoch: Option<u64>,
    rows: Vec<u32>,
}

impl Order {
    /// Batches of some examples of a set in its own order.
    ///
    /// # Panics
    /// If there are no examples, or none in a batch.
    #[must_use]
    pub fn sequential(examples: Range<usize>, batch: usize) -> Self {
        assert!(!examples.is_empty() && batch > 0, "batches of {batch} of examples {examples:?}");
        Self { examples, batch, seed: None, epoch: None, rows: Vec::new() }
    }

    /// Batches of a set in an order that changes with each epoch.
    ///
    /// # Panics
    /// If there are no examples, or none in a batch.
    #[must_use]
    pub fn shuffled(examples: usize, batch: usize, seed: u64) -> Self {
        Self { seed: Some(seed), ..Self::sequential(0..examples, batch) }
    }

    /// How many batches an epoch has; the last may be smaller than the others.
    #[must_use]
    pub fn steps_per_epoch(&self) -> u64 {
        self.examples.len().div_ceil(self.batch) as u64
    }

    /// The rows of the batch of a step, counted from the start of the first epoch.
    pub fn rows(&mut self, step: u64) -> &[u32] {
        let (epoch, at) = (step / self.steps_per_epoch(), (step % self.steps_per_epoch()) as usize);
        if self.epoch != Some(epoch) {
            self.begin(epoch);
        }
        let first = at * self.batch;
        &self.rows[first..(first + self.batch).min(self.rows.len())]
    }

    fn begin(&mut self, epoch: u64) {
        self.rows.clear();
        self.rows.extend(self.examples.start as u32..self.examples.end as u32);
        if let Some(seed) = self.seed {
            Stream::new(seed, "order", epoch).shuffle(&mut self.rows);
        }
        self.epoch = Some(epoch);
    }
}
