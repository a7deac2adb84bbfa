//! A batch on its way into the network: bytes become numbers of one scale.

use super::{
    operation::{BLOCK, blocks},
    parallel::{Shared, parallel},
};
use crate::{Error, Input, Normalization, architecture::Shape};

impl Input<'_> {
    /// How many examples of this shape there are, if there is a whole number of them.
    pub(super) fn examples(&self, shape: Shape) -> Result<usize, Error> {
        let length = match self {
            Self::Images { pixels, .. } => pixels.len(),
            Self::Rows(numbers) => numbers.len(),
        };
        if length == 0 || !length.is_multiple_of(shape.size()) {
            let expected = format!("examples of {shape} has a multiple of {} numbers", shape.size());
            return Err(Error::Input { expected, found: length.to_string() });
        }
        if let Self::Images { normalization, .. } = self {
            normalization.check(shape.channels)?;
        }
        Ok(length / shape.size())
    }

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

    fn check(&self, channels: usize) -> Result<(), Error> {
        for (what, numbers) in [("mean", &self.mean), ("deviation", &self.deviation)] {
            if !numbers.is_empty() && numbers.len() != channels {
                let expected = format!("images has a {what} for each of {channels} channels, or none");
                return Err(Error::Input { expected, found: numbers.len().to_string() });
            }
        }
        Ok(())
    }
}
