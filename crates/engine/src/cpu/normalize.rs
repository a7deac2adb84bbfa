//! Batch norm, with the residual sum and the ReLU after it in the same pass.
//!
//! Statistics are sums over blocks of pixels, a block in single and the blocks in double precision; each number is
//! taken relative to the running mean, so that a large mean does not drown a small variance.

use std::{mem::take, ops::Range};

use super::{
    activation::mask,
    buffer::Buffer,
    operation::{BLOCK, Inflow, Memory, Operation, Pass},
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
    simd: S,
    links: Links,
    channels: usize,
    /// Pixels of an example.
    pixels: usize,
    /// The numbers a pass multiplies each channel by, and adds.
    terms: [Vec<f32>; 3],
    /// Mean and inverse deviation of the last training batch.
    mean: Vec<f32>,
    inverse: Vec<f32>,
    /// Sums of each block: two numbers a channel.
    sums: Buffer,
}

/// What a batch norm reads and writes.
#[derive(Clone, Debug)]
pub(super) struct Links {
    pub(super) input: usize,
    /// What is added after the norm.
    pub(super) residual: Option<usize>,
    pub(super) output: usize,
    pub(super) relu: bool,
    /// Whether the gradient of the output arrives with the ReLU's backward pass done.
    pub(super) masked: bool,
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
        let each = || vec![0.0; channels];
        let sums = Buffer::zeros((batch * pixels).div_ceil(rows(channels)) * 2 * channels);
        let terms = [each(), each(), each()];
        Self { simd, links, channels, pixels, terms, mean: each(), inverse: each(), sums }
    }

    /// Adds up two numbers a channel over all pixels: `sum(block of pixels, sums)` does so for one block.
    fn reduce(
        &mut self,
        lanes: usize,
        pixels: usize,
        sum: impl Fn(Range<usize>, &mut [f32], &mut [f32]) + Sync,
    ) {
        let (channels, rows) = (self.channels, rows(self.channels));
        let sums = Shared::new(&mut self.sums);
        parallel(lanes, pixels.div_ceil(rows), |_, block| {
            // SAFETY: each block has sums of its own.
            let (first, second) = unsafe { sums.slice(block * 2 * channels..(block + 1) * 2 * channels) }
                .split_at_mut(channels);
            first.fill(0.0);
            second.fill(0.0);
            let range = block * rows * channels..((block + 1) * rows).min(pixels) * channels;
            self.simd.run(
                #[inline(always)]
                || sum(range, first, second),
            );
        });
    }

    /// Both sums of a channel over all blocks.
    fn total(&self, channel: usize, pixels: usize) -> (f64, f64) {
        let blocks = self.sums.chunks_exact(2 * self.channels).take(pixels.div_ceil(rows(self.channels)));
        let add = |(a, b), block: &[f32]| {
            (a + f64::from(block[channel]), b + f64::from(block[self.channels + channel]))
        };
        blocks.fold((0.0, 0.0), add)
    }

    /// The statistics of the batch; the running ones move towards them.
    fn observe(&mut self, memory: &mut Memory, pixels: usize) {
        let (input, channels) = (&memory.values[self.links.input], self.channels);
        let [mean, variance, tracked] = self.links.running.clone();
        let about = &memory.statistics[mean.clone()];
        self.reduce(memory.lanes(), pixels, |range, first, second| {
            for pixel in input[range].chunks_exact(channels) {
                for (((sum, square), &number), &about) in
                    first.iter_mut().zip(&mut *second).zip(pixel).zip(about)
                {
                    let apart = number - about;
                    *sum += apart;
                    *square += apart * apart;
                }
            }
        });
        let count = pixels as f64;
        for channel in 0..channels {
            let (sum, square) = self.total(channel, pixels);
            let running = &mut memory.statistics[mean.start + channel];
            let batch_mean = f64::from(*running) + sum / count;
            let batch_variance = (square / count - (sum / count).powi(2)).max(0.0);
            self.mean[channel] = batch_mean as f32;
            self.inverse[channel] = (1.0 / (batch_variance + EPSILON).sqrt()) as f32;
            let towards =
                |running: f32, seen: f64| ((1.0 - MOMENTUM) * f64::from(running) + MOMENTUM * seen) as f32;
            *running = towards(*running, batch_mean);
            let running = &mut memory.statistics[variance.start + channel];
            *running = towards(*running, batch_variance * count / (count - 1.0).max(1.0));
        }
        memory.statistics[tracked.start] += 1.0;
    }

    /// What each channel is multiplied by, and what is added.
    fn prepare(&mut self, memory: &Memory, mode: Mode) {
        let [mean, variance, _] = &self.links.running;
        for channel in 0..self.channels {
            let (scale, shift) =
                (&memory.weights[self.links.scale.clone()], &memory.weights[self.links.shift.clone()]);
            let (mean, inverse) = match mode {
                Mode::Train => (self.mean[channel], self.inverse[channel]),
                Mode::Evaluate => {
                    let variance = f64::from(memory.statistics[variance.start + channel]);
                    (memory.statistics[mean.start + channel], (1.0 / (variance + EPSILON).sqrt()) as f32)
                }
            };
            self.terms[0][channel] = scale[channel] * inverse;
            self.terms[1][channel] = shift[channel] - mean * self.terms[0][channel];
        }
    }

    /// Sums of the gradient, and of the gradient times the number's distance from the mean.
    fn reduce_gradient(&mut self, memory: &Memory, gradient: &mut Buffer, pixels: usize) {
        let (input, channels) = (&memory.values[self.links.input], self.channels);
        if self.links.relu && !self.links.masked {
            mask(
                self.simd,
                memory.lanes(),
                &mut gradient[..pixels * channels],
                &memory.values[self.links.output],
            );
        }
        let mean = take(&mut self.mean);
        let gradient = &*gradient;
        self.reduce(memory.lanes(), pixels, |range, first, second| {
            let about = &mean[..channels];
            for (pixel, slopes) in
                input[range.clone()].chunks_exact(channels).zip(gradient[range].chunks_exact(channels))
            {
                let (first, second) = (&mut first[..channels], &mut second[..channels]);
                let (pixel, slopes) = (&pixel[..channels], &slopes[..channels]);
                for channel in 0..channels {
                    first[channel] += slopes[channel];
                    second[channel] += slopes[channel] * (pixel[channel] - about[channel]);
                }
            }
        });
        self.mean = mean;
    }

    /// The gradients of scale and shift; then the input's gradient is `a slope + b number + c` of each channel.
    fn solve(&mut self, memory: &mut Memory, pixels: usize) {
        let count = pixels as f64;
        for channel in 0..self.channels {
            let (slopes, products) = self.total(channel, pixels);
            let (mean, inverse) = (f64::from(self.mean[channel]), f64::from(self.inverse[channel]));
            memory.slopes[self.links.scale.start + channel] = (products * inverse) as f32;
            memory.slopes[self.links.shift.start + channel] = slopes as f32;
            let scale = f64::from(memory.weights[self.links.scale.start + channel]) * inverse;
            let slant = scale * products * inverse * inverse / count;
            self.terms[0][channel] = scale as f32;
            self.terms[1][channel] = -slant as f32;
            self.terms[2][channel] = (slant * mean - scale * slopes / count) as f32;
        }
    }

    /// Writes the gradient of the input, over that of the output where they share a buffer.
    fn spread(&mut self, memory: &mut Memory, inflow: Inflow, pixels: usize) {
        let (mut own, mut other) = memory.take_gradients(self.links.gradient, inflow.slot);
        let (slopes, to) = match &mut other {
            Some(other) => (Shared::reading(&own), Shared::new(other)),
            None => (Shared::new(&mut own), Shared::new(&mut own)),
        };
        let (input, channels, rows) = (&memory.values[self.links.input], self.channels, rows(self.channels));
        let terms = self.terms.each_ref().map(|terms| &terms[..channels]);
        parallel(memory.lanes(), pixels.div_ceil(rows), |_, block| {
            let range = block * rows * channels..((block + 1) * rows).min(pixels) * channels;
            self.simd.run(
                #[inline(always)]
                || {
                    for (index, pixel) in input[range.clone()].chunks_exact(channels).enumerate() {
                        let start = range.start + index * channels;
                        // SAFETY: blocks do not overlap; each number is read before it is written.
                        unsafe { slant(pixel, (slopes.at(start), to.at(start)), terms, inflow.add) };
                    }
                },
            );
        });
        memory.gradients[self.links.gradient] = own;
        if let Some(other) = other {
            memory.gradients[inflow.slot] = other;
        }
    }
}

/// `to (+)= a slope + b number + c` for the channels of a pixel.
///
/// # Safety
/// `slopes` must be readable and `to` writable for all channels; both may be the same place.
#[inline(always)]
unsafe fn slant(pixel: &[f32], (slopes, to): (*const f32, *mut f32), [a, b, c]: [&[f32]; 3], add: bool) {
    let (a, b, c) = (&a[..pixel.len()], &b[..pixel.len()], &c[..pixel.len()]);
    for channel in 0..pixel.len() {
        // SAFETY: what the caller promises.
        unsafe {
            let number = a[channel] * *slopes.add(channel) + b[channel] * pixel[channel] + c[channel];
            *to.add(channel) = if add { *to.add(channel) + number } else { number };
        }
    }
}

/// Pixels in a block.
fn rows(channels: usize) -> usize {
    (BLOCK / channels).max(1)
}

impl<S: Simd> Operation for Normalize<S> {
    fn forward(&mut self, memory: &mut Memory, pass: Pass) {
        let pixels = pass.batch * self.pixels;
        if pass.mode == Mode::Train {
            self.observe(memory, pixels);
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
            self.simd.run(
                #[inline(always)]
                || {
                    let (scale, shift) = (&scale[..channels], &shift[..channels]);
                    for (index, (to, pixel)) in output
                        .chunks_exact_mut(channels)
                        .zip(input[range.clone()].chunks_exact(channels))
                        .enumerate()
                    {
                        let (to, pixel) = (&mut to[..channels], &pixel[..channels]);
                        if let Some(residual) = residual {
                            let residual = &residual[range.start + index * channels..][..channels];
                            for channel in 0..channels {
                                to[channel] =
                                    (scale[channel] * pixel[channel] + shift[channel] + residual[channel])
                                        .max(least);
                            }
                        } else {
                            for channel in 0..channels {
                                to[channel] = (scale[channel] * pixel[channel] + shift[channel]).max(least);
                            }
                        }
                    }
                },
            );
        });
        memory.values[self.links.output] = output;
    }

    fn backward(&mut self, memory: &mut Memory, pass: Pass) {
        let pixels = pass.batch * self.pixels;
        let length = pixels * self.channels;
        let mut gradient = take(&mut memory.gradients[self.links.gradient]);
        self.reduce_gradient(memory, &mut gradient, pixels);
        memory.gradients[self.links.gradient] = gradient;
        if let Some(inflow) = self.links.residual_inflow {
            memory.deliver(self.links.gradient, inflow, length);
        }
        self.solve(memory, pixels);
        if let Some(inflow) = self.links.inflow {
            self.spread(memory, inflow, pixels);
        }
    }
}
