//! Batch norm, with the residual sum and the ReLU after it in the same pass.
//!
//! Statistics are sums over blocks of pixels, a block in single and the blocks in double precision; each number is
//! taken relative to the running mean, so that a large mean does not drown a small variance.

use std::{mem::take, ops::Range};

use super::{
    operation::{BLOCK, Inflow, Memory, Norm, Operation, Pass},
    parallel::{Shared, parallel},
    simd::Simd,
};
use crate::Mode;

/// Added to the variance, as in PyTorch.
const EPSILON: f64 = 1e-5;
/// Share of a batch in the running statistics, as in PyTorch.
const MOMENTUM: f64 = 0.1;

/// A batch norm with its place in the plan.
#[derive(Debug)]
pub(super) struct Normalize<S> {
    pub(super) simd: S,
    pub(super) links: Links,
    pub(super) channels: usize,
    /// Pixels of an example.
    pixels: usize,
    batch: usize,
    /// The numbers a pass multiplies each channel by, and adds.
    pub(super) terms: [Vec<f32>; 3],
}

/// What a batch norm reads and writes.
#[derive(Clone, Debug)]
pub(super) struct Links {
    pub(super) input: usize,
    /// What is added after the norm.
    pub(super) residual: Option<usize>,
    pub(super) output: usize,
    pub(super) relu: bool,
    /// Which of the norms it is.
    pub(super) norm: usize,
    /// Whether the convolution before has summed what the statistics need.
    pub(super) observed: bool,
    /// Whether the gradient of the output arrives with the ReLU's backward pass done.
    pub(super) finished: bool,
    /// Scale and shift among the weights.
    pub(super) scale: Range<usize>,
    pub(super) shift: Range<usize>,
    /// Running mean, running variance and count of batches among the statistics.
    pub(super) running: [Range<usize>; 3],
    pub(super) gradient: usize,
    pub(super) inflow: Option<Inflow>,
    pub(super) residual_inflow: Option<Inflow>,
}

impl<S: Simd> Normalize<S> {
    pub(super) fn new(simd: S, (channels, pixels): (usize, usize), batch: usize, links: Links) -> Self {
        let terms = [(); 3].map(|()| vec![0.0; channels]);
        Self { simd, links, channels, pixels, batch, terms }
    }

    /// Adds up two numbers a channel over all pixels: `sum(block of pixels, sums)` does so for one block.
    pub(super) fn reduce(
        &self,
        norm: &mut Norm,
        lanes: usize,
        pixels: usize,
        sum: impl Fn(Range<usize>, &mut [f32], &mut [f32]) + Sync,
    ) {
        let (channels, rows) = (self.channels, rows(self.channels));
        let sums = Shared::new(&mut norm.sums);
        norm.pieces = pixels.div_ceil(rows);
        parallel(lanes, norm.pieces, |_, block| {
            // SAFETY: each block has sums of its own.
            let sums = unsafe { sums.slice(block * 2 * channels..(block + 1) * 2 * channels) };
            let (first, second) = sums.split_at_mut(channels);
            first.fill(0.0);
            second.fill(0.0);
            let range = block * rows * channels..((block + 1) * rows).min(pixels) * channels;
            self.simd.run(
                #[inline(always)]
                || sum(range, first, second),
            );
        });
    }

    /// Sums the numbers, relative to the running mean, and their squares.
    fn observe(&self, memory: &mut Memory, pixels: usize) {
        let lanes = memory.lanes();
        let Memory { values, statistics, norms, .. } = memory;
        let (input, channels) = (&values[self.links.input], self.channels);
        let about = &statistics[self.links.running[0].clone()];
        self.reduce(&mut norms[self.links.norm], lanes, pixels, |range, first, second| {
            for pixel in input[range].chunks_exact(channels) {
                let sums = first.iter_mut().zip(&mut *second);
                for (((sum, square), &number), &about) in sums.zip(pixel).zip(about) {
                    let apart = number - about;
                    *sum += apart;
                    *square += apart * apart;
                }
            }
        });
    }

    /// The statistics of the batch from their sums; the running ones move towards them.
    fn learn(&self, memory: &mut Memory, pixels: usize, borrowed: bool) {
        let Memory { statistics, norms, whole, .. } = memory;
        let norm = &mut norms[self.links.norm];
        norm.add_up();
        norm.count = pixels as f64;
        if let Some(group) = whole {
            norm.totals.push(norm.count);
            if borrowed {
                norm.totals.fill(0.0);
            }
            norm.agree(group.as_ref());
            norm.count = norm.totals.pop().unwrap_or(1.0);
        }
        let count = norm.count;
        let [mean, variance, tracked] = &self.links.running;
        for channel in 0..self.channels {
            let (sum, square) = (norm.totals[channel], norm.totals[self.channels + channel]);
            let running = &mut statistics[mean.start + channel];
            let batch_mean = f64::from(*running) + sum / count;
            let batch_variance = (square / count - (sum / count).powi(2)).max(0.0);
            norm.mean[channel] = batch_mean as f32;
            norm.inverse[channel] = (1.0 / (batch_variance + EPSILON).sqrt()) as f32;
            let towards =
                |running: f32, seen: f64| ((1.0 - MOMENTUM) * f64::from(running) + MOMENTUM * seen) as f32;
            *running = towards(*running, batch_mean);
            let running = &mut statistics[variance.start + channel];
            *running = towards(*running, batch_variance * count / (count - 1.0).max(1.0));
        }
        statistics[tracked.start] += 1.0;
    }

    /// What each channel is multiplied by, and what is added.
    fn prepare(&mut self, memory: &Memory, mode: Mode) {
        let [mean, variance, _] = &self.links.running;
        let norm = &memory.norms[self.links.norm];
        for channel in 0..self.channels {
            let (scale, shift) =
                (&memory.weights[self.links.scale.clone()], &memory.weights[self.links.shift.clone()]);
            let (mean, inverse) = match mode {
                Mode::Train => (norm.mean[channel], norm.inverse[channel]),
                Mode::Evaluate => {
                    let variance = f64::from(memory.statistics[variance.start + channel]);
                    (memory.statistics[mean.start + channel], (1.0 / (variance + EPSILON).sqrt()) as f32)
                }
            };
            self.terms[0][channel] = scale[channel] * inverse;
            self.terms[1][channel] = shift[channel] - mean * self.terms[0][channel];
        }
    }
}

/// Pixels in a block.
pub(super) fn rows(channels: usize) -> usize {
    (BLOCK / channels).max(1)
}

impl<S: Simd> Operation for Normalize<S> {
    fn forward(&mut self, memory: &mut Memory, pass: Pass) {
        let pixels = pass.batch * self.pixels;
        if pass.mode == Mode::Train {
            if !self.links.observed {
                self.observe(memory, pixels);
            }
            self.learn(memory, pixels, pass.borrowed);
        }
        self.prepare(memory, pass.mode);
        let mut output = take(&mut memory.values[self.links.output]);
        let residual = self.links.residual.map(|value| &memory.values[value]);
        let (input, channels, rows) = (&memory.values[self.links.input], self.channels, rows(self.channels));
        let least = if self.links.relu { 0.0 } else { f32::NEG_INFINITY };
        let [scale, shift, _] = &self.terms;
        let shared = Shared::new(&mut output);
        parallel(memory.lanes(), pixels.div_ceil(rows), |_, block| {
            let range = block * rows * channels..((block + 1) * rows).min(pixels) * channels;
            // SAFETY: blocks do not overlap.
            let output = unsafe { shared.slice(range.clone()) };
            let residual = residual.map(|residual| &residual[range.clone()]);
            self.simd.run(
                #[inline(always)]
                || apply(&input[range], residual, output, (&scale[..channels], &shift[..channels], least)),
            );
        });
        memory.values[self.links.output] = output;
    }

    fn backward(&mut self, memory: &mut Memory, pass: Pass) {
        let pixels = pass.batch * self.pixels;
        let length = pixels * self.channels;
        self.reduce_gradient(memory, pixels);
        if let Some(inflow) = self.links.residual_inflow {
            memory.deliver(self.links.gradient, inflow, length);
        }
        self.solve(memory, pass.borrowed);
        if let Some(inflow) = self.links.inflow {
            self.spread(memory, inflow, pixels);
        }
    }

    fn sums_for(&self) -> Option<(usize, usize)> {
        Some((self.links.norm, (self.batch * self.pixels).div_ceil(rows(self.channels))))
    }
}

/// `output = max(scale number + shift + residual, least)`, channel by channel.
#[inline(always)]
fn apply(
    numbers: &[f32],
    residual: Option<&[f32]>,
    output: &mut [f32],
    (scale, shift, least): (&[f32], &[f32], f32),
) {
    let channels = scale.len();
    let shift = &shift[..channels];
    for (index, (to, pixel)) in
        output.chunks_exact_mut(channels).zip(numbers.chunks_exact(channels)).enumerate()
    {
        let (to, pixel) = (&mut to[..channels], &pixel[..channels]);
        if let Some(residual) = residual {
            let residual = &residual[index * channels..][..channels];
            for channel in 0..channels {
                let sum = scale[channel] * pixel[channel] + shift[channel] + residual[channel];
                to[channel] = sum.max(least);
            }
        } else {
            for channel in 0..channels {
                to[channel] = (scale[channel] * pixel[channel] + shift[channel]).max(least);
            }
        }
    }
}
