//! Copies the numbers under a kernel into rows, so that a convolution becomes a product.

use std::ops::Range;

use super::{geometry::Geometry, kernel::GATHERED_ROW, parallel::Shared, simd::Simd};

impl Geometry {
    /// Gathers the numbers `terms` of the patches under output pixels `pixels`, zeros where a patch leaves the image.
    ///
    /// Rows lie [`GATHERED_ROW`] apart. Runs are copied in whole vectors: what is too much is overwritten by the next
    /// run, or lies in the room between two rows.
    ///
    /// # Safety
    /// `images` must be a whole buffer with its slack, which has these pixels; `rows` must have room for them all.
    #[inline(always)]
    pub(super) unsafe fn gather<S: Simd>(
        &self,
        simd: S,
        images: &[f32],
        (pixels, terms): (Range<usize>, Range<usize>),
        rows: Shared,
    ) {
        let (width, size) = (self.output.width, self.input.size());
        let mut image = &images[pixels.start / self.pixels() * size..];
        let within = pixels.start % self.pixels();
        let (mut y, mut x) = (within / width, within % width);
        for row in 0..pixels.len() {
            let corner = (y * self.stride, x * self.stride);
            // SAFETY: there is room for this row, and the image is one of the batch.
            unsafe { self.patch_of(simd, image, (corner, terms.clone()), rows.at(row * GATHERED_ROW)) };
            x += 1;
            if x == width {
                (x, y) = (0, y + 1);
            }
            if y == self.output.height {
                (y, image) = (0, image.get(size..).unwrap_or_default());
            }
        }
    }

    /// Gathers some terms of the patch whose corner lies at `corner` of the padded image.
    #[inline(always)]
    unsafe fn patch_of<S: Simd>(
        &self,
        simd: S,
        image: &[f32],
        ((y, x), terms): ((usize, usize), Range<usize>),
        row: *mut f32,
    ) {
        let channels = self.input.channels;
        let (line, before) = (self.kernel.1 * channels, self.padding * channels);
        let (mut tap, mut within, mut at) = (terms.start / line, terms.start % line, 0);
        while at < terms.len() {
            let run = (line - within).min(terms.len() - at);
            let from = (y + tap).wrapping_sub(self.padding);
            let start = x * channels + within;
            // SAFETY: the row has room for all terms and a vector more.
            let to = unsafe { row.add(at) };
            if from < self.input.height
                && start >= before
                && start + run <= self.input.width * channels + before
            {
                let start = from * self.input.width * channels + start - before;
                for number in (0..run).step_by(S::LANES) {
                    // SAFETY: the run lies in the image; a vector that ends later reads what follows or the slack.
                    unsafe { simd.store(to.add(number), simd.load(image.as_ptr().add(start + number))) };
                }
            } else {
                // SAFETY: as above, and nobody else uses the row.
                self.edge(image, (from, start), unsafe { std::slice::from_raw_parts_mut(to, run) });
            }
            (at, tap, within) = (at + run, tap + 1, 0);
        }
    }

    /// A run that begins or ends outside the image, at number `start` of the padded line `from`.
    #[inline(never)]
    fn edge(&self, image: &[f32], (from, start): (usize, usize), run: &mut [f32]) {
        run.fill(0.0);
        let (line, before) = (self.input.width * self.input.channels, self.padding * self.input.channels);
        let (first, last) = (before.max(start), (line + before).min(start + run.len()));
        if from < self.input.height && first < last {
            let numbers = &image[from * line + first - before..from * line + last - before];
            run[first - start..last - start].copy_from_slice(numbers);
        }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // What is copied is the same to the bit.
mod tests {
    use super::*;
    use crate::{
        architecture::Shape,
        cpu::{buffer::Buffer, simd::Portable},
    };

    #[test]
    fn a_patch_at_the_corner_has_zeros_where_the_image_ends() {
        let (input, output) = (Shape::image(2, 2, 1), Shape::image(2, 2, 1));
        let geometry = Geometry { input, output, kernel: (3, 3), stride: 1, padding: 1 };
        let (mut images, mut rows) = (Buffer::zeros(8), Buffer::zeros(4 * GATHERED_ROW));
        images.copy_from_slice(&[9.0, 9.0, 9.0, 9.0, 1.0, 2.0, 3.0, 4.0]);
        // SAFETY: two images of four pixels, and rows for four pixels.
        unsafe { geometry.gather(Portable, &images, (4..8, 0..9), Shared::new(&mut rows)) };
        assert_eq!(rows[..9], [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 3.0, 4.0]);
        assert_eq!(rows[3 * GATHERED_ROW..][..9], [1.0, 2.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0]);
        // SAFETY: as above.
        unsafe { geometry.gather(Portable, &images, (7..8, 1..6), Shared::new(&mut rows)) };
        assert_eq!(rows[..5], [2.0, 0.0, 3.0, 4.0, 0.0]);
    }
}
