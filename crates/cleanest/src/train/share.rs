//! What a worker has of a batch, and how it comes to know the rest.
//!
//! Workers exchange their logits, so that each computes the loss of the whole batch: the pairs, the drawn matrix and the
//! counts are then the same for any number of workers. Its own rows of the gradient are what a worker goes back with.

use super::passes::{narrowed, widened};
use cleanest_core::Matrix;
use cleanest_data::Batch;
use cleanest_engine::peers::{Group, Part, part};
use std::sync::Arc;

/// Steps after which a worker is known to be able to keep up: the first ones prepare things.
const WARM: u64 = 3;
/// Bytes that tell of a signal.
const SIGNAL: usize = 4;

/// A worker's share of the batches.
#[derive(Debug)]
pub(super) struct Share {
    group: Arc<dyn Group>,
    /// The signal that asked any worker to stop.
    asked: Option<i32>,
    slopes: cleanest_engine::Matrix,
    /// Steps made with these workers.
    steps: u64,
}

impl Share {
    pub(super) fn new(group: Arc<dyn Group>) -> Self {
        Self { group, asked: None, slopes: cleanest_engine::Matrix::default(), steps: 0 }
    }

    /// The part of a batch that this worker has.
    pub(super) fn of(batch: &Batch) -> Part {
        Part { first: batch.own.start, own: batch.own.len(), whole: batch.rows.len() }
    }

    /// The signal that asked any worker to stop, known to all of them at the same step.
    pub(super) fn asked(&self) -> Option<i32> {
        self.asked
    }

    /// Whether the others count on this worker.
    pub(super) fn is_pressing(&self) -> bool {
        self.steps > WARM
    }

    /// The logits of the whole batch from those of this worker.
    pub(super) fn whole(
        &mut self,
        found: &cleanest_engine::Matrix,
        batch: &Batch,
        signal: Option<i32>,
        logits: &mut Matrix,
    ) {
        let (size, rows, columns) = (self.group.size(), batch.rows.len(), found.columns());
        if size == 1 && !self.group.is_exercise() {
            self.asked = signal;
            return widened(found, logits);
        }
        let own = &found.values()[..batch.own.len() * columns];
        let mut mine = vec![0; SIGNAL + size_of_val(own)];
        mine[..SIGNAL].copy_from_slice(&signal.unwrap_or(0).to_le_bytes());
        let places = mine[SIGNAL..].chunks_exact_mut(4).zip(own);
        places.for_each(|(bytes, logit)| bytes.copy_from_slice(&logit.to_le_bytes()));
        let length = |rank| SIGNAL + size_of::<f32>() * columns * part(rows, rank, size).len();
        let lengths: Vec<usize> = (0..size).map(length).collect();
        let all = self.group.gather_known(&mine, &lengths);
        logits.reshape(rows, columns);
        let (mut rest, mut to) = (&all[..], logits.values_mut().iter_mut());
        self.asked = None;
        for length in lengths {
            let (now, later) = rest.split_at(length);
            let (signal, numbers) = now.split_at(SIGNAL);
            let signal = i32::from_le_bytes(signal.try_into().unwrap_or_default());
            self.asked = self.asked.max((signal != 0).then_some(signal));
            let numbers =
                numbers.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap_or_default()));
            numbers.zip(&mut to).for_each(|(logit, to)| *to = f64::from(logit));
            rest = later;
        }
        self.steps += 1;
        self.group.press(self.is_pressing());
    }

    /// The rows of the gradient that are this worker's; where it has none, one that moves nothing.
    pub(super) fn own(&mut self, gradient: &Matrix, batch: &Batch) -> &cleanest_engine::Matrix {
        if self.group.size() == 1 {
            narrowed(gradient, &mut self.slopes);
            return &self.slopes;
        }
        let columns = gradient.columns();
        self.slopes.resize(batch.computed().len(), columns);
        self.slopes.values_mut().fill(0.0);
        let own = &gradient.values()[batch.own.start * columns..batch.own.end * columns];
        self.slopes.values_mut().iter_mut().zip(own).for_each(|(narrow, &slope)| *narrow = slope as f32);
        &self.slopes
    }
}
