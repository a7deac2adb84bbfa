//! A batch on its way into the network: bytes become numbers of one scale.

use super::{
    operation::{BLOCK, blocks},
    parallel::{Shared, parallel},
};
use crate::{Input, Normalization};

impl Input<'_> {
    /// Writes numbers `start..` of the batch, as many as fit into `to`.
    pub(super) fn read(&self, start: usize, channels: usize, to: &mut [f32], lanes: usize) {
        match *self {
            Self::Rows(numbers) => blocks(lanes, to, |at, to| {
                to.copy_from_slice(&numbers[start + at..start + at + to.len()]);
            }),
            Self::Images { pixels, normalization } => {
                let pixels = &pixels[start..start + to.len()];
                // Blocks end between two pixels.
                let whole = (BLOCK / channels).max(1) * channels;
                let (length, to) = (to.len(), Shared::new(to));
                parallel(lanes, length.div_ceil(whole), |_, block| {
                    let range = block * whole..((block + 1) * whole).min(length);
                    // SAFETY: blocks do not overlap.
                    normalization.scale(&pixels[range.clone()], channels, unsafe { to.slice(range) });
                });
            }
            Self::Kept { .. } => unreachable!("the processor keeps no sets"),
        }
    }
}

impl Normalization {
    /// (x / 255 - mean) / deviation of each channel of some pixels.
    fn scale(&self, bytes: &[u8], channels: usize, to: &mut [f32]) {
        for (number, &byte) in to.iter_mut().zip(bytes) {
            *number = f32::from(byte) / 255.0;
        }
        for pixel in to.chunks_exact_mut(channels) {
            pixel.iter_mut().zip(&self.mean).for_each(|(number, mean)| *number -= mean);
            pixel.iter_mut().zip(&self.deviation).for_each(|(number, deviation)| *number /= deviation);
        }
    }
}
