//! What a plan is made of: operations on values, forward and backward.

use super::{
    buffer::Buffer,
    parallel::{Shared, parallel},
};
use crate::Mode;
use crate::peers::Group;
use std::sync::Arc;

pub(super) use crate::plan::Inflow;

/// Numbers an elementwise pass works on at a time: they fit the first cache, and one piece pays for its thread.
pub(super) const BLOCK: usize = 1 << 14;

/// Everything a network remembers, allocated once.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// What flows forward, by value; empty where a value shares the buffer of another.
    pub(super) values: Vec<Buffer>,
    /// What flows backward. Gradients take turns, so there are fewer of these than values.
    pub(super) gradients: Vec<Buffer>,
    /// All parameters one after the other, those that are trained first.
    pub(super) weights: Buffer,
    /// Their gradients.
    pub(super) slopes: Buffer,
    /// Running statistics.
    pub(super) statistics: Buffer,
    /// What the batch norms and the convolutions around them tell each other.
    pub(super) norms: Vec<Norm>,
    pub(super) scratch: Scratch,
    /// Those with whom batch norms share their statistics.
    pub(super) whole: Option<Arc<dyn Group>>,
}

/// Statistics of a batch norm: means of the last batch, and sums on the way to them.
#[derive(Debug, Default)]
pub(super) struct Norm {
    /// Mean and inverse deviation of each channel in the last training batch.
    pub(super) mean: Vec<f32>,
    pub(super) inverse: Vec<f32>,
    /// Two sums a channel for each piece of the work that summed.
    pub(super) sums: Buffer,
    /// How many pieces there were.
    pub(super) pieces: usize,
    /// The sums of all pieces.
    pub(super) totals: Vec<f64>,
    /// Pixels of the last training batch, those of all workers where they share it.
    pub(super) count: f64,
}

/// Memory an operation may use while it runs.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) shared: Buffer,
    /// One for each lane.
    pub(super) lanes: Vec<Buffer>,
}

/// How much [`Scratch`] an operation needs, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Need {
    pub(super) shared: usize,
    pub(super) lane: usize,
}

/// One pass through the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    /// Examples in it.
    pub(super) batch: usize,
    pub(super) mode: Mode,
    /// Steps the optimizer has made: what random draws depend on.
    pub(super) step: u64,
    /// Examples of the batch that other workers have before these.
    pub(super) first: usize,
    /// Whether these examples are another worker's, and only go through the motions.
    pub(super) borrowed: bool,
}

/// Some layers, fused.
pub(super) trait Operation: Send {
    /// Computes the output value from the input values.
    fn forward(&mut self, memory: &mut Memory, pass: Pass);
    /// Computes the gradients of inputs and parameters from the gradient of the output.
    fn backward(&mut self, memory: &mut Memory, pass: Pass);
    /// The batch norm it sums for, and in how many pieces.
    fn sums_for(&self) -> Option<(usize, usize)> {
        None
    }
    /// What it needs to run.
    fn need(&self) -> Need {
        Need::default()
    }
}

impl Norm {
    /// A norm of this many channels that sums in at most this many pieces.
    pub(super) fn new(channels: usize, pieces: usize) -> Self {
        let each = || vec![0.0; channels];
        let (sums, totals) = (Buffer::zeros(2 * channels * pieces), vec![0.0; 2 * channels]);
        Self { mean: each(), inverse: each(), sums, pieces: 0, totals, count: 0.0 }
    }

    /// Makes the totals those of all workers.
    pub(super) fn agree(&mut self, group: &dyn Group) {
        group.sum(&mut self.totals);
    }

    /// Adds up the sums of all pieces, in order and in double precision: the first of each channel, then the second.
    pub(super) fn add_up(&mut self) {
        self.totals.fill(0.0);
        for sums in self.sums.chunks_exact(self.totals.len()).take(self.pieces) {
            self.totals.iter_mut().zip(sums).for_each(|(total, &sum)| *total += f64::from(sum));
        }
    }
}

impl Memory {
    /// Lanes that work side by side.
    pub(super) fn lanes(&self) -> usize {
        self.scratch.lanes.len()
    }

    /// Takes two buffers of gradients out, the second one only where it is another.
    pub(super) fn take_gradients(&mut self, first: usize, second: usize) -> (Buffer, Option<Buffer>) {
        let a = std::mem::take(&mut self.gradients[first]);
        (a, (first != second).then(|| std::mem::take(&mut self.gradients[second])))
    }

    /// Hands the first `length` numbers of a gradient on to an input, unchanged.
    pub(super) fn deliver(&mut self, from: usize, to: Inflow, length: usize) {
        let lanes = self.lanes();
        if from == to.slot {
            if to.add {
                // One value was used twice, as in x + x.
                self.gradients[from][..length].iter_mut().for_each(|number| *number *= 2.0);
            }
            return;
        }
        let source = std::mem::take(&mut self.gradients[from]);
        blocks(lanes, &mut self.gradients[to.slot][..length], |start, target| {
            let source = &source[start..start + target.len()];
            if to.add {
                target.iter_mut().zip(source).for_each(|(to, from)| *to += from);
            } else {
                target.copy_from_slice(source);
            }
        });
        self.gradients[from] = source;
    }
}

/// Runs `work(start, numbers)` on blocks of a slice side by side.
pub(super) fn blocks(lanes: usize, numbers: &mut [f32], work: impl Fn(usize, &mut [f32]) + Sync) {
    let length = numbers.len();
    let shared = Shared::new(numbers);
    parallel(lanes, length.div_ceil(BLOCK), |_, piece| {
        let start = piece * BLOCK;
        // SAFETY: blocks do not overlap.
        work(start, unsafe { shared.slice(start..(start + BLOCK).min(length)) });
    });
}
