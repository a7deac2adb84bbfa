//! A batch on its way into the network: bytes become numbers of one scale.

use super::operation::blocks;
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
                blocks(lanes, to, |at, to| {
                    let from = &pixels[at..at + to.len()];
                    for (offset, (to, &byte)) in to.iter_mut().zip(from).enumerate() {
                        let channel = (at + offset) % channels;
                        let mean = normalization.mean.get(channel).copied().unwrap_or(0.0);
                        let deviation = normalization.deviation.get(channel).copied().unwrap_or(1.0);
                        *to = (f32::from(byte) / 255.0 - mean) / deviation;
                    }
                });
            }
        }
    }
}

impl Normalization {
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
