//! A convolution as the kernels see it. A linear layer is one too, of images with a single pixel.

use crate::architecture::Shape;

/// Shapes of a convolution. Images are [height][width][channel], filters [height][width][in][out].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) input: Shape,
    pub(super) output: Shape,
    /// Height and width of the kernel.
    pub(super) kernel: (usize, usize),
    pub(super) stride: usize,
    pub(super) padding: usize,
}

impl Geometry {
    /// Numbers under the kernel at one place: the terms of one output.
    pub(super) fn patch(&self) -> usize {
        self.kernel.0 * self.kernel.1 * self.input.channels
    }

    /// Output pixels of an image.
    pub(super) fn pixels(&self) -> usize {
        self.output.height * self.output.width
    }

    /// Copies the numbers `terms` of the patch under output pixel `pixel`, zeros where it leaves the image.
    pub(super) fn gather(&self, image: &[f32], pixel: usize, terms: std::ops::Range<usize>, row: &mut [f32]) {
        let channels = self.input.channels;
        let line = self.kernel.1 * channels;
        let (y, x) = (pixel / self.output.width * self.stride, pixel % self.output.width * self.stride);
        let mut term = terms.start;
        while term < terms.end {
            let end = (term / line * line + line).min(terms.end);
            let part = &mut row[term - terms.start..end - terms.start];
            let within = term % line;
            let in_y = (y + term / line).wrapping_sub(self.padding);
            if in_y >= self.input.height {
                part.fill(0.0);
            } else {
                let pixels = &image[in_y * self.input.width * channels..][..self.input.width * channels];
                // Where the line of the patch begins, counted from the beginning of the line of the image.
                copy_within(
                    pixels,
                    (x * channels + within).cast_signed() - (self.padding * channels).cast_signed(),
                    part,
                );
            }
            term = end;
        }
    }
}

/// Copies `line[start..]` into `part`, zeros where `start` or the end lie outside.
fn copy_within(line: &[f32], start: isize, part: &mut [f32]) {
    let before = start.min(0).unsigned_abs().min(part.len());
    let (zeros, rest) = part.split_at_mut(before);
    zeros.fill(0.0);
    let from = start.max(0).unsigned_abs().min(line.len());
    let inside = rest.len().min(line.len() - from);
    let (copied, after) = rest.split_at_mut(inside);
    // Short runs are copied in place: a call to copy them would cost more.
    if inside < 16 {
        for (to, &number) in copied.iter_mut().zip(&line[from..from + inside]) {
            *to = number;
        }
    } else {
        copied.copy_from_slice(&line[from..from + inside]);
    }
    after.fill(0.0);
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // What is copied is the same to the bit.
mod tests {
    use super::*;

    #[test]
    fn a_patch_at_the_corner_has_zeros_where_the_image_ends() {
        let (input, output) = (Shape::image(2, 2, 1), Shape::image(2, 2, 1));
        let geometry = Geometry { input, output, kernel: (3, 3), stride: 1, padding: 1 };
        let mut row = [9.0; 9];
        geometry.gather(&[1.0, 2.0, 3.0, 4.0], 0, 0..9, &mut row);
        assert_eq!(row, [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 3.0, 4.0]);
        geometry.gather(&[1.0, 2.0, 3.0, 4.0], 3, 1..6, &mut row);
        assert_eq!(row[..5], [2.0, 0.0, 3.0, 4.0, 0.0]);
    }
}
