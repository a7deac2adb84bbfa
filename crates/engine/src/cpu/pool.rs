//! Pools: the largest value or the mean under a window.

use std::{mem::take, ops::Range};

use super::{
    activation::mask,
    operation::{Inflow, Memory, Operation, Pass},
    parallel::{Shared, parallel},
    simd::Simd,
};
use crate::architecture::Shape;

/// A window that passes over images.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    pub(super) input: Shape,
    pub(super) output: Shape,
    /// Height and width of the window.
    pub(super) kernel: (usize, usize),
    pub(super) stride: usize,
    pub(super) padding: usize,
}

impl Windows {
    /// The pixels under the window of an output pixel: down, and across.
    #[inline(always)]
    fn under(&self, pixel: usize) -> (Range<usize>, Range<usize>) {
        let (y, x) = (pixel / self.output.width * self.stride, pixel % self.output.width * self.stride);
        let side = |at: usize, kernel: usize, length: usize| {
            at.saturating_sub(self.padding)..(at + kernel).saturating_sub(self.padding).min(length)
        };
        (side(y, self.kernel.0, self.input.height), side(x, self.kernel.1, self.input.width))
    }

    /// Which place of its window an input pixel is, in reading order.
    #[inline(always)]
    fn place(&self, pixel: usize, (y, x): (usize, usize)) -> u8 {
        let (top, left) = (pixel / self.output.width * self.stride, pixel % self.output.width * self.stride);
        ((y + self.padding - top) * self.kernel.1 + (x + self.padding - left)) as u8
    }
}

/// What a pool reads and writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) gradient: usize,
    pub(super) inflow: Option<Inflow>,
}

/// The largest value under each window.
#[derive(Debug)]
pub(super) struct MaxPool<S> {
    simd: S,
    windows: Windows,
    links: Links,
    /// Which place of the window was the largest, the first one where several were.
    winners: Vec<u8>,
}

/// The mean under each window, zeros around the image counted.
#[derive(Debug)]
pub(super) struct AveragePool<S> {
    pub(super) simd: S,
    pub(super) windows: Windows,
    pub(super) links: Links,
}

impl<S: Simd> MaxPool<S> {
    pub(super) fn new(simd: S, windows: Windows, links: Links, batch: usize) -> Self {
        Self { simd, windows, links, winners: vec![0; batch * windows.output.size()] }
    }
}

/// The largest numbers of one image, and where they were.
#[inline(always)]
fn largest(windows: &Windows, image: &[f32], output: &mut [f32], winners: &mut [u8]) {
    let channels = windows.input.channels;
    let pixels = output.chunks_exact_mut(channels).zip(winners.chunks_exact_mut(channels));
    for (pixel, (output, winners)) in pixels.enumerate() {
        output.fill(f32::NEG_INFINITY);
        let (down, across) = windows.under(pixel);
        for (y, x) in down.flat_map(|y| across.clone().map(move |x| (y, x))) {
            let place = windows.place(pixel, (y, x));
            let from = &image[(y * windows.input.width + x) * channels..][..channels];
            for ((best, winner), &number) in output.iter_mut().zip(winners.iter_mut()).zip(from) {
                let wins = number > *best || number.is_nan();
                *best = if wins { number } else { *best };
                *winner = if wins { place } else { *winner };
            }
        }
    }
}

/// Gives each winner of one image the gradient of its window.
#[inline(always)]
fn reward(windows: &Windows, gradient: &[f32], winners: &[u8], image: &mut [f32]) {
    let channels = windows.input.channels;
    for (pixel, (slope, winners)) in
        gradient.chunks_exact(channels).zip(winners.chunks_exact(channels)).enumerate()
    {
        let (down, across) = windows.under(pixel);
        for (y, x) in down.flat_map(|y| across.clone().map(move |x| (y, x))) {
            let place = windows.place(pixel, (y, x));
            let to = &mut image[(y * windows.input.width + x) * channels..][..channels];
            for ((to, &slope), &winner) in to.iter_mut().zip(slope).zip(winners) {
                *to += if winner == place { slope } else { 0.0 };
            }
        }
    }
}

impl<S: Simd> Operation for MaxPool<S> {
    fn forward(&mut self, memory: &mut Memory, pass: Pass) {
        let mut output = take(&mut memory.values[self.links.output]);
        let input = &memory.values[self.links.input];
        let (from, to) = (self.windows.input.size(), self.windows.output.size());
        let (shared, winners) = (Shared::new(&mut output), SharedBytes(self.winners.as_mut_ptr()));
        parallel(memory.lanes(), pass.batch, |_, image| {
            // SAFETY: an image is worked on by one piece alone.
            let (output, winners) =
                unsafe { (shared.slice(image * to..(image + 1) * to), winners.slice(image * to, to)) };
            let image = &input[image * from..(image + 1) * from];
            self.simd.run(
                #[inline(always)]
                || largest(&self.windows, image, output, winners),
            );
        });
        memory.values[self.links.output] = output;
    }

    fn backward(&mut self, memory: &mut Memory, pass: Pass) {
        let Some(inflow) = self.links.inflow else { return };
        let mut gradient = take(&mut memory.gradients[self.links.gradient]);
        let lanes = memory.lanes();
        let (into, of) = (self.windows.input.size(), self.windows.output.size());
        if inflow.activated.is_some() {
            // What won is what was put out: the ReLU before let it through where it is above zero.
            mask(self.simd, lanes, &mut gradient[..pass.batch * of], &memory.values[self.links.output]);
        }
        let shared = Shared::new(&mut memory.gradients[inflow.slot]);
        parallel(lanes, pass.batch, |_, image| {
            // SAFETY: an image is worked on by one piece alone.
            let to = unsafe { shared.slice(image * into..(image + 1) * into) };
            let range = image * of..(image + 1) * of;
            self.simd.run(
                #[inline(always)]
                || {
                    if !inflow.add {
                        to.fill(0.0);
                    }
                    reward(&self.windows, &gradient[range.clone()], &self.winners[range], to);
                },
            );
        });
        memory.gradients[self.links.gradient] = gradient;
    }
}

impl<S: Simd> AveragePool<S> {
    fn share(&self) -> f32 {
        1.0 / (self.windows.kernel.0 * self.windows.kernel.1) as f32
    }
}

impl<S: Simd> Operation for AveragePool<S> {
    fn forward(&mut self, memory: &mut Memory, pass: Pass) {
        let mut output = take(&mut memory.values[self.links.output]);
        let input = &memory.values[self.links.input];
        let (windows, channels) = (self.windows, self.windows.input.channels);
        let (from, to) = (windows.input.size(), windows.output.size());
        let shared = Shared::new(&mut output);
        parallel(memory.lanes(), pass.batch, |_, image| {
            // SAFETY: an image is worked on by one piece alone.
            let output = unsafe { shared.slice(image * to..(image + 1) * to) };
            let image = &input[image * from..(image + 1) * from];
            self.simd.run(
                #[inline(always)]
                || {
                    for (pixel, mean) in output.chunks_exact_mut(channels).enumerate() {
                        mean.fill(0.0);
                        let (down, across) = windows.under(pixel);
                        for (y, x) in down.flat_map(|y| across.clone().map(move |x| (y, x))) {
                            let from = &image[(y * windows.input.width + x) * channels..][..channels];
                            mean.iter_mut().zip(from).for_each(|(sum, number)| *sum += number);
                        }
                        for sum in mean {
                            *sum *= self.share();
                        }
                    }
                },
            );
        });
        memory.values[self.links.output] = output;
    }

    fn backward(&mut self, memory: &mut Memory, pass: Pass) {
        let Some(inflow) = self.links.inflow else { return };
        let gradient = take(&mut memory.gradients[self.links.gradient]);
        let lanes = memory.lanes();
        let (windows, channels) = (self.windows, self.windows.input.channels);
        let (into, of) = (windows.input.size(), windows.output.size());
        let shared = Shared::new(&mut memory.gradients[inflow.slot]);
        parallel(lanes, pass.batch, |_, image| {
            // SAFETY: an image is worked on by one piece alone.
            let to = unsafe { shared.slice(image * into..(image + 1) * into) };
            if !inflow.add {
                to.fill(0.0);
            }
            for (pixel, slope) in gradient[image * of..(image + 1) * of].chunks_exact(channels).enumerate() {
                let (down, across) = windows.under(pixel);
                for (y, x) in down.flat_map(|y| across.clone().map(move |x| (y, x))) {
                    let to = &mut to[(y * windows.input.width + x) * channels..][..channels];
                    to.iter_mut().zip(slope).for_each(|(to, slope)| *to += slope * self.share());
                }
            }
        });
        memory.gradients[self.links.gradient] = gradient;
    }
}

/// As [`Shared`], for bytes.
#[derive(Clone, Copy)]
struct SharedBytes(*mut u8);

// SAFETY: used only where pieces have places of their own.
unsafe impl Send for SharedBytes {}
// SAFETY: as above.
unsafe impl Sync for SharedBytes {}

impl SharedBytes {
    /// # Safety
    /// The range must lie in the bytes, and no other thread may use it meanwhile.
    unsafe fn slice<'a>(self, start: usize, length: usize) -> &'a mut [u8] {
        // SAFETY: what the caller promises.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(start), length) }
    }
}
