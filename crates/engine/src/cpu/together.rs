//! Training with others: gradients are exchanged in buckets, while the backward pass still computes those before.

use std::{ops::Range, sync::Arc};

use super::{operation::Memory, store::Bucket};
use crate::peers::{Group, Part, Pending};

/// What a network exchanges with those of other workers.
#[derive(Debug)]
pub(super) struct Together {
    group: Arc<dyn Group>,
    /// Running means and variances that are averaged.
    running: Vec<Range<usize>>,
    /// The sums under way: one for each bucket, and that of the statistics.
    buckets: Vec<Option<Pending>>,
    statistics: Option<Pending>,
    /// Memory of earlier exchanges, to be used again.
    spare: Vec<Vec<f32>>,
}

impl Together {
    pub(super) fn new(group: Arc<dyn Group>, running: Vec<Range<usize>>, buckets: usize) -> Self {
        let buckets = (0..buckets).map(|_| None).collect();
        Self { group, running, buckets, statistics: None, spare: Vec::new() }
    }

    /// Begins to exchange the buckets that are final after the backward pass of an operation.
    pub(super) fn begin(&mut self, operation: usize, buckets: &[Bucket], memory: &Memory) {
        for (bucket, pending) in buckets.iter().zip(&mut self.buckets) {
            if bucket.after == operation {
                let mut numbers = self.spare.pop().unwrap_or_default();
                numbers.clear();
                numbers.extend_from_slice(&memory.slopes[bucket.range.clone()]);
                *pending = Some(self.group.begin(numbers));
            }
        }
    }

    /// Begins to average the running statistics, each worker's by its share of the batch.
    pub(super) fn begin_statistics(&mut self, memory: &Memory, part: Part) {
        let share = part.share() as f32;
        let numbers = self.running.iter().flat_map(|range| &memory.statistics[range.clone()]);
        let numbers: Vec<f32> = numbers.map(|number| number * share).collect();
        self.statistics = (!numbers.is_empty()).then(|| self.group.begin(numbers));
    }

    /// Waits for everything that is under way, and puts it where it belongs.
    pub(super) fn finish(&mut self, buckets: &[Bucket], memory: &mut Memory) {
        for (bucket, pending) in buckets.iter().zip(&mut self.buckets) {
            if let Some(pending) = pending.take() {
                let sum = pending.wait();
                memory.slopes[bucket.range.clone()].copy_from_slice(&sum);
                self.spare.push(sum);
            }
        }
        if let Some(pending) = self.statistics.take() {
            let mean = pending.wait();
            let mut rest = &mean[..];
            for range in &self.running {
                let (now, later) = rest.split_at(range.len());
                memory.statistics[range.clone()].copy_from_slice(now);
                rest = later;
            }
        }
    }
}
