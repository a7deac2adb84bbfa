//! The backward pass of batch norm: two sums over the batch, and then each number's share.

use std::mem::take;

use super::{
    activation::mask,
    normalize::{Normalize, rows},
    operation::{Inflow, Memory},
    parallel::{Shared, parallel},
    simd::Simd,
};

impl<S: Simd> Normalize<S> {
    /// Sums of the gradient, and of the gradient times the number's distance from the mean.
    pub(super) fn reduce_gradient(&self, memory: &mut Memory, pixels: usize) {
        let (lanes, channels) = (memory.lanes(), self.channels);
        let Memory { values, gradients, norms, .. } = memory;
        let gradient = &mut gradients[self.links.gradient];
        if self.links.relu && !self.links.finished {
            mask(self.simd, lanes, &mut gradient[..pixels * channels], &values[self.links.output]);
        }
        let (input, norm) = (&values[self.links.input], &mut norms[self.links.norm]);
        let mean = take(&mut norm.mean);
        self.reduce(norm, lanes, pixels, |range, first, second| {
            let (first, second, about) = (&mut first[..channels], &mut second[..channels], &mean[..channels]);
            let numbers = input[range.clone()].chunks_exact(channels);
            for (pixel, slopes) in numbers.zip(gradient[range].chunks_exact(channels)) {
                let (pixel, slopes) = (&pixel[..channels], &slopes[..channels]);
                for channel in 0..channels {
                    first[channel] += slopes[channel];
                    second[channel] += slopes[channel] * (pixel[channel] - about[channel]);
                }
            }
        });
        norm.mean = mean;
    }

    /// The gradients of scale and shift; then the input's gradient is `a slope + b number + c` of each channel.
    pub(super) fn solve(&mut self, memory: &mut Memory, borrowed: bool) {
        let norm = &mut memory.norms[self.links.norm];
        norm.add_up();
        // The gradients of scale and shift are this worker's part, like those of all parameters.
        for channel in 0..self.channels {
            let (slopes, products) = (norm.totals[channel], norm.totals[self.channels + channel]);
            let inverse = f64::from(norm.inverse[channel]);
            memory.slopes[self.links.scale.start + channel] = (products * inverse) as f32;
            memory.slopes[self.links.shift.start + channel] = slopes as f32;
        }
        if let Some(group) = &memory.whole {
            norm.agree(group.as_ref());
            // An example of another worker had no part in the statistics, and they give nothing back to it.
            if borrowed {
                norm.totals.fill(0.0);
            }
        }
        let count = norm.count;
        for channel in 0..self.channels {
            let (slopes, products) = (norm.totals[channel], norm.totals[self.channels + channel]);
            let (mean, inverse) = (f64::from(norm.mean[channel]), f64::from(norm.inverse[channel]));
            let scale = f64::from(memory.weights[self.links.scale.start + channel]) * inverse;
            let slant = scale * products * inverse * inverse / count;
            self.terms[0][channel] = scale as f32;
            self.terms[1][channel] = -slant as f32;
            self.terms[2][channel] = (slant * mean - scale * slopes / count) as f32;
        }
    }

    /// Writes the gradient of the input, over that of the output where they share a buffer.
    pub(super) fn spread(&self, memory: &mut Memory, inflow: Inflow, pixels: usize) {
        let lanes = memory.lanes();
        let (mut own, mut other) = memory.take_gradients(self.links.gradient, inflow.slot);
        let (input, channels, rows) = (&memory.values[self.links.input], self.channels, rows(self.channels));
        let terms = self.terms.each_ref().map(|terms| &terms[..channels]);
        let (slopes, to) = (Shared::new(&mut own), other.as_deref_mut().map(Shared::new));
        parallel(lanes, pixels.div_ceil(rows), |_, block| {
            let range = block * rows * channels..((block + 1) * rows).min(pixels) * channels;
            // SAFETY: blocks do not overlap, nor do two buffers.
            let (slopes, to) = unsafe { (slopes.slice(range.clone()), to.map(|to| to.slice(range.clone()))) };
            self.simd.run(
                #[inline(always)]
                || match to {
                    None => slant_in_place(&input[range], slopes, terms),
                    Some(to) => slant(&input[range], slopes, to, (terms, inflow.add)),
                },
            );
        });
        memory.gradients[self.links.gradient] = own;
        if let Some(other) = other {
            memory.gradients[inflow.slot] = other;
        }
    }
}

/// `slope = a slope + b number + c`, channel by channel.
#[inline(always)]
fn slant_in_place(numbers: &[f32], slopes: &mut [f32], [a, b, c]: [&[f32]; 3]) {
    let channels = a.len();
    for (slopes, pixel) in slopes.chunks_exact_mut(channels).zip(numbers.chunks_exact(channels)) {
        let (slopes, pixel, b, c) =
            (&mut slopes[..channels], &pixel[..channels], &b[..channels], &c[..channels]);
        for channel in 0..channels {
            slopes[channel] = a[channel] * slopes[channel] + b[channel] * pixel[channel] + c[channel];
        }
    }
}

/// `to (+)= a slope + b number + c`, channel by channel.
#[inline(always)]
fn slant(numbers: &[f32], slopes: &[f32], to: &mut [f32], ([a, b, c], add): ([&[f32]; 3], bool)) {
    let channels = a.len();
    let pixels = numbers.chunks_exact(channels).zip(slopes.chunks_exact(channels));
    for (to, (pixel, slopes)) in to.chunks_exact_mut(channels).zip(pixels) {
        let (to, slopes, pixel) = (&mut to[..channels], &slopes[..channels], &pixel[..channels]);
        let (b, c) = (&b[..channels], &c[..channels]);
        for channel in 0..channels {
            let before = if add { to[channel] } else { 0.0 };
            to[channel] = before + a[channel] * slopes[channel] + b[channel] * pixel[channel] + c[channel];
        }
    }
}
