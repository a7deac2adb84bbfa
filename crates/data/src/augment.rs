//! Random crops and flips, the same for every device and every resume.
//!
//! What happens to an image depends on (seed, step, row), or in a single pass on (seed, row), and on nothing else: not on the batch it is in, not on the
//! worker that prepares it, not on what was drawn before.

use crate::Shape;
use cleanest_core::random::Stream;
use serde::{Deserialize, Serialize};

/// How images are varied while they are learnt from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Augment {
    /// Black pixels put around an image before a piece of its old size is cut out at random.
    pub padding: usize,
    /// Whether every other image is turned left to right.
    pub flip: bool,
}

/// What happens to one image at one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop {
    /// Rows of the padded image above the piece that is cut out.
    pub top: usize,
    /// Columns of the padded image left of it.
    pub left: usize,
    /// Whether it is turned left to right.
    pub flipped: bool,
}

impl Augment {
    /// As the paper varies CIFAR: four pixels of padding, and flips.
    pub const PAPER: Self = Self { padding: 4, flip: true };

    /// The stream that crops are drawn from at a step.
    #[must_use]
    pub fn stream(seed: u64, step: u64) -> Stream {
        Stream::new(seed, "augment", step)
    }

    /// The stream that crops are drawn from in a single pass over a set.
    #[must_use]
    pub fn stream_once(seed: u64) -> Stream {
        Stream::new(seed, "augment once", 0)
    }

    /// The crop of a row at the step of the stream.
    #[must_use]
    pub fn draw(&self, stream: &Stream, row: u32) -> Crop {
        let [top, left, turn, _] = stream.at(row);
        let below = |word: u32| ((u64::from(word) * (2 * self.padding as u64 + 1)) >> 32) as usize;
        Crop { top: below(top), left: below(left), flipped: self.flip && turn >> 31 == 1 }
    }

    /// Writes the varied image into `out`, which has the size of the image.
    ///
    /// # Panics
    /// If the shape is that of a row.
    pub fn apply(&self, crop: Crop, image: &[u8], shape: Shape, out: &mut [u8]) {
        let Shape::Image { height, width, channels } = shape else { panic!("only images are cropped") };
        let bytes = width * channels;
        for (y, line) in out.chunks_exact_mut(bytes).enumerate() {
            let from = (y + crop.top).checked_sub(self.padding).filter(|&from| from < height);
            match from {
                None => line.fill(0),
                Some(from) => self.line(&image[from * bytes..][..bytes], crop.left, channels, line),
            }
            if crop.flipped {
                flip(line, channels);
            }
        }
    }

    /// One line of the image, moved sideways.
    fn line(&self, from: &[u8], left: usize, channels: usize, to: &mut [u8]) {
        let width = from.len();
        let (start, skip) = (left * channels, self.padding * channels);
        // The piece begins `start` bytes into a line that is `skip` bytes of black, the image, `skip` bytes of black.
        let (at, first) = (skip.saturating_sub(start).min(width), start.saturating_sub(skip).min(width));
        let count = (width - at).min(width - first);
        to.fill(0);
        to[at..at + count].copy_from_slice(&from[first..first + count]);
    }
}

fn flip(line: &mut [u8], channels: usize) {
    line.reverse();
    if channels > 1 {
        line.chunks_exact_mut(channels).for_each(<[u8]>::reverse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape::Image { height: 3, width: 3, channels: 1 };
    const IMAGE: [u8; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

    fn cut(top: usize, left: usize, flipped: bool) -> [u8; 9] {
        let mut out = [99; 9];
        Augment { padding: 1, flip: true }.apply(Crop { top, left, flipped }, &IMAGE, SHAPE, &mut out);
        out
    }

    #[test]
    fn the_crop_in_the_middle_is_the_image() {
        assert_eq!(cut(1, 1, false), IMAGE);
    }

    #[test]
    fn what_lies_outside_is_black() {
        assert_eq!(cut(0, 0, false), [0, 0, 0, 0, 1, 2, 0, 4, 5]);
        assert_eq!(cut(2, 2, false), [5, 6, 0, 8, 9, 0, 0, 0, 0]);
        assert_eq!(cut(2, 0, true), [5, 4, 0, 8, 7, 0, 0, 0, 0]);
    }

    #[test]
    fn a_flip_keeps_the_channels_of_a_pixel_in_order() {
        let mut line = [1, 2, 3, 4, 5, 6];
        flip(&mut line, 3);
        assert_eq!(line, [4, 5, 6, 1, 2, 3]);
    }

    #[test]
    fn a_crop_depends_on_seed_step_and_row_alone() {
        let draw = |seed, step, row| Augment::PAPER.draw(&Augment::stream(seed, step), row);
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
        let many = |seed, step| -> Vec<Crop> { (0..64).map(|row| draw(seed, step, row)).collect() };
        assert_ne!(many(1, 2), many(1, 3));
        assert_ne!(many(1, 2), many(2, 2));
    }

    #[test]
    fn every_crop_is_as_likely_as_every_other() {
        let stream = Augment::stream(1, 0);
        let mut counts = [[0_u32; 9]; 9];
        let mut flips = 0;
        for row in 0..81_000 {
            let crop = Augment::PAPER.draw(&stream, row);
            counts[crop.top][crop.left] += 1;
            flips += u32::from(crop.flipped);
        }
        let chi_square: f64 =
            counts.iter().flatten().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 124.8, "0.1 % point of chi-square with 80 degrees of freedom: {chi_square}");
        assert!((f64::from(flips) - 40_500.0).abs() < 4.0 * 142.3, "{flips}");
    }
}
